"""Assumptions that decide a condition which a spec leaves open, and what they take from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .dims import Predicate

CureKind: TypeAlias = Literal["bound", "disequality", "equality", "residue", "upper-bound"]


@dataclass(frozen=True, slots=True)
class Cure:
    """Assumptions under which a condition always holds, or never.

    Attributes:
        add: The assumptions; comparisons, all of which are to be assumed.
        holds: Whether the condition holds then.
        excludes: The sizes that the spec loses by it, as briefly as the spec allows; None if it loses none.
        cases: For each part of ``excludes``, the predicates of a case that would have it.
        holds_hint: Whether the hints satisfy ``add``. Not where they leave that open.
        kind: ``bound`` (a lower one, or between sizes), ``upper-bound``, ``disequality``, ``equality``, ``residue``.
    """

    add: tuple[Predicate, ...]
    holds: bool
    excludes: Predicate | None
    cases: tuple[tuple[Predicate, ...], ...]
    holds_hint: bool
    kind: CureKind


__all__ = ["Cure", "CureKind"]
