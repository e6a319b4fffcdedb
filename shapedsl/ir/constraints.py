"""Constraints: predicates with what is to be said of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum

from ..diagnostics import Span
from .dims import Predicate


class Origin(str, Enum):
    """Where a constraint comes from."""

    DECLARED = "declared"  # dim B in [lo, hi] multiple of m
    DIM = "dim"  # a tensor dim is never negative
    WHERE = "where"


class Level(IntEnum):
    """Whose statement a constraint comes from: what stands further out is asked of more specs."""

    FILE = 0
    CLASS = 1
    DEF = 2


@dataclass(frozen=True, slots=True)
class Constraint:
    """A predicate that every input satisfies.

    Attributes:
        predicate: Never an `And`: conjunctions are split into several constraints.
        message: What to say when it does not hold.
        origin: Where it comes from.
        text: The constraint as the user would write it (with the names of lets); what ``core`` lists.
        notes: Secondary spans with labels (the let that a name came by).
        level: Whose statement it comes from.
        part: Its number among the constraints that the predicate of the text is.
    """

    predicate: Predicate
    message: str | None = None
    origin: Origin = field(default=Origin.WHERE, compare=False)
    text: str = field(default="", compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    notes: tuple[tuple[Span, str], ...] = field(default=(), compare=False, repr=False)
    level: Level = field(default=Level.DEF, compare=False, repr=False)
    part: int = field(default=0, compare=False, repr=False)
