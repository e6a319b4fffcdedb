"""What the interpreter tells of a run, and what it can be told back."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import libcst as cst

    from .values import Callable, Value


@dataclass(frozen=True, eq=False, slots=True)
class Argument:
    """One argument of a call, evaluated.

    A ``functools.partial`` is taken apart: its arguments come first, with their nodes in the ``partial(…)`` call.

    Attributes:
        name: Of a keyword; None for a positional one and for ``*`` and ``**``.
        star: How it is unpacked. What is known to be unpacked still comes as one.
        value: As it is at the call: what the program changes later does not change it.
        node: Where it is written.
    """

    name: str | None
    star: Literal["", "*", "**"]
    value: Value
    node: cst.Arg


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """Where a call is reached.

    One call is reported once for each context that is told apart: for each turn of a loop over a literal, for each
    call of its function that the file shows, and once for callers that it does not show. All of them hold.

    Attributes:
        name: Of the function, dotted, as `Signature.name`; empty for the module.
        function: The innermost function, lambda or class body; None for the module.
        statement: The innermost statement, or a part of one that stands in a line with others.
        path: All statements around it, the outermost first, ``statement`` last; those of its own function only.
        calls: The calls in this file through which its function was entered, the outermost first; empty at the
            module's level and for callers that the file does not show: there, parameters are `Unknown`.
        in_loop: Whether a loop around it was not unrolled.
        lookup: The value of a name here; `Unknown` for one that is not bound.
    """

    name: str
    function: cst.CSTNode | None
    statement: cst.CSTNode
    path: tuple[cst.CSTNode, ...]
    calls: tuple[cst.CSTNode, ...]
    in_loop: bool
    lookup: Function[[str], Value]


class Observer(Protocol):
    """What listens to a run."""

    def call(self, node: cst.Call, callee: Value, args: list[Argument], frame: Frame) -> Value | None:
        """Hears of a call that is reached.

        Args:
            node: The call.
            callee: What is called; a `Fork` where it may be one of several.
            args: In the order they are written.
            frame: Where.

        Returns:
            The call's result, a new object; None for what the interpreter makes of it.
        """
        ...

    def decorated(self, node: cst.FunctionDef | cst.ClassDef, decorators: list[Value], made: Callable) -> None:
        """Hears of a definition with decorators; ``decorators`` in the order they are written."""
        ...


__all__ = ["Argument", "Frame", "Observer"]
