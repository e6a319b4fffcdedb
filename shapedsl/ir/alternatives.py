"""Alternatives: the artifacts that one spec describes, what they pad, and what valid data is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ..diagnostics import Span
from .constraints import Constraint
from .dims import Size
from .paths import Path


# What padded slots hold: an int or a float, a bool, a row of numbers, `edge`, or a size expression.
@dataclass(frozen=True, slots=True)
class Edge:
    """``edge``: repeat the last slot."""


Fill: TypeAlias = "int | float | bool | tuple[int | float, ...] | Edge | Size"


@dataclass(frozen=True, slots=True)
class Pad:
    """``mask axis 3 with false``. ``axis`` is None for every axis on which the size stands."""

    path: Path
    fill: Fill
    axis: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bucket:
    """``bucket T in {…} shared left pad … as reason``.

    Attributes:
        variable: The bucketed size.
        members: Ascending, or None where it rounds up to a multiple.
        modulus, residue: For ``multiple of m plus r``; else None and 0.
        shared: One dynamic artifact for all members.
        position: ``"end"``, ``"left"``, or the size at whose index slots are inserted.
        pads: None where nothing is padded: exactly the members.
        reason: Why padding is sound (``masked``, …).
    """

    variable: str
    members: tuple[int, ...] | None = None
    modulus: int | None = None
    residue: int = 0
    shared: bool = False
    position: Size | str = "end"
    pads: tuple[Pad, ...] | None = None
    reason: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


class Mode(str, Enum):
    """How an alternative runs."""

    COMPILED = "compiled"
    EAGER = "eager"
    BACKED = "backed"


@dataclass(frozen=True, slots=True)
class Drop:
    """``drop return[1]``, or with ``keep``: it stays padded."""

    path: Path
    keep: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One ``case``, ``otherwise``, or run of ``bucket`` lines.

    Attributes:
        keyword: ``"case"``, ``"otherwise"`` or ``"bucket"``.
        name: A case's name, if it has one.
        constraints: Its predicates; of a block, its ``where`` lines too.
        mode: How it runs.
        hints: Hints that hold in it, sorted by name.
        buckets: Joint choices, in written order.
        drops: ``drop`` and ``keep`` lines of its block.
    """

    keyword: str
    name: str | None = None
    constraints: tuple[Constraint, ...] = ()
    mode: Mode = Mode.COMPILED
    hints: tuple[tuple[str, int], ...] = ()
    buckets: tuple[Bucket, ...] = ()
    drops: tuple[Drop, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Values:
    """``values ids in [0, V - 1]`` or ``values offsets sorted from 0 to T``: what valid data is. Both ends inclusive."""

    path: Path
    low: Size
    high: Size
    sorted: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
