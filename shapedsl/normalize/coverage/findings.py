"""What can be said of the alternatives of a signature, as data."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir import Constraint


@dataclass(frozen=True, slots=True)
class Unreachable:
    """An alternative that takes nothing.

    Attributes:
        at: Which.
        taken_by: The earlier alternatives that take all it asks for; without any one of them something
            would be left. Empty: it asks for nothing that is accepted.
        core: The assumptions and conditions that show it, as far as they are needed.
    """

    at: int
    taken_by: tuple[int, ...]
    core: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """An alternative that shares sizes with earlier ones, where neither contains the other.

    Attributes:
        at: Which.
        earlier: The others, ascending, as far as they were looked for.
        witness: Sizes that the first of them takes, and that this one asks for too; sorted by name.
    """

    at: int
    earlier: tuple[int, ...]
    witness: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """Hints of an alternative that no sizes it takes have.

    Attributes:
        at: Which alternative.
        hints: One of them, or all of them, where each alone fits.
        taken_by: An earlier alternative that takes some such sizes; None if the alternative asks for none.
        nearest: What is used in place of a single one, where that is known.
    """

    at: int
    hints: tuple[tuple[str, int], ...]
    taken_by: int | None = None
    nearest: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the alternatives of a signature do with the accepted sizes.

    Attributes:
        gap: Accepted sizes that no alternative takes, the smallest that were found, sorted by name.
        unreachable: Alternatives that take nothing, ascending.
        overlaps: Ascending by `Overlap.at`.
        misfits: Hints of alternatives that no sizes they take have.
        undecided: What could not be decided, and why: ``"gap"``, or the index of an alternative.
    """

    gap: tuple[tuple[str, int], ...] | None = None
    unreachable: tuple[Unreachable, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    undecided: tuple[tuple[str | int, str], ...] = ()
