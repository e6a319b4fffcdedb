"""What a question about integers is answered with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Proved:
    """Every shape that satisfies the constraints satisfies the predicate.

    Attributes:
        core: Which of the constraints it follows from, ascending; where minimal, without any one of
            them it was not found to follow. Empty: it always holds.
    """

    core: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Refuted:
    """A shape satisfies the constraints and not the predicate.

    Attributes:
        witness: Its sizes, by variable, sorted by name.
    """

    witness: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither was found.

    Attributes:
        reason: Why, for the user.
    """

    reason: str


Verdict: TypeAlias = "Proved | Refuted | Unknown"


@dataclass(frozen=True, slots=True)
class Range:
    """What the values of a size are in.

    Attributes:
        low: The least of them that is proved, or None if none is.
        high: The largest, or None.
        modulus: A number that all differences of two values are multiples of; 1 says nothing, 0 that there is one value.
        residue: The values modulo it; the value itself where the modulus is 0.
        exact: Whether nothing tighter is true of the ends: ``low`` and ``high`` are values it takes, and
            where one is None it takes values as far away as anyone asks.
        low_core, high_core, residue_core: Which of the constraints each comes from, ascending; empty
            if it was not asked for, or follows from none (a dim is never negative).
    """

    low: int | None
    high: int | None
    modulus: int = 1
    residue: int = 0
    exact: bool = False
    low_core: tuple[int, ...] = ()
    high_core: tuple[int, ...] = ()
    residue_core: tuple[int, ...] = ()
