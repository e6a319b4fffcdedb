"""What is being run: a module or a function, and the loops in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Callable, Value
    from .heap import Delta, Scope


@dataclass(eq=False, slots=True)
class Loop:
    """A loop that is being run: where it began, and the states in which it was left."""

    level: int
    turn: int = 0
    breaks: list[Delta] = field(default_factory=list["Delta"])
    continues: list[Delta] = field(default_factory=list["Delta"])


@dataclass(eq=False, slots=True)
class Activation:
    """A module or a function that is being run.

    Attributes:
        level: The journal that it began.
        calls: As `Frame.calls`.
        path: The statements that are being run, the outermost first.
        returns: What it returned, and the state it left.
        loops: That are being run in it.
        unknown_loops: How many of those are not unrolled.
        made: The functions that were defined in it, which are run once more when it is over.
    """

    scope: Scope
    name: str
    node: cst.CSTNode | None
    level: int
    calls: tuple[cst.CSTNode, ...]
    path: list[cst.CSTNode] = field(default_factory=list["cst.CSTNode"])
    returns: list[tuple[Value, Delta]] = field(default_factory=list["tuple[Value, Delta]"])
    loops: list[Loop] = field(default_factory=list["Loop"])
    unknown_loops: int = 0
    made: list[tuple[Callable, Scope | None]] = field(default_factory=list["tuple[Callable, Scope | None]"])


__all__ = ["Activation", "Loop"]
