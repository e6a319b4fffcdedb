"""Which sizes are one size, which follow from others, which are constant, and which have a residue.

A relation is taken from calls only if enough of them could have broken it: two sizes are one if they agreed at three
different values, one follows from another by ``m * x + c`` after four, from two others by ``x + y + c`` after five, and a
residue must be unlikely to have come by chance. What fits but was seen too rarely is told, not taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import gcd
from typing import Final, TypeAlias

from ....ir import OPERATORS, Apply, Const, Size, Var

# A column's value in each row; None where the row has none, or several.
Values: TypeAlias = "tuple[int | None, ...]"

EQUAL: Final = 3  # different values at which two sizes agreed
EQUAL_PAIR: Final = 8  # calls, where there were two values
AFFINE: Final = 4
SUM: Final = 5
CONSTANT_ROWS: Final = 4  # different calls in which a size stayed, before it is written as a number
CONSTANT_CALLS: Final = 16
_CHANCE: Final = 1024  # one in so many: what a residue by chance must be rarer than
_MOST_SUMMANDS: Final = 24  # classes among which sums are looked for


@dataclass(slots=True, eq=False)
class Group:
    """Columns that are one size.

    Attributes:
        members: Indices of the columns.
        values: Their value in each row.
        size: What it is: a number, or an expression in names of bases; None until it is decided.
        name: Of a base.
        modulus, residue: Of a base: 1 where it has none.
    """

    members: list[int]
    values: Values
    size: Size | None = None
    name: str = ""
    modulus: int = 1
    residue: int = 0
    notes: list[str] = field(default_factory=list[str])

    @property
    def seen(self) -> set[int]:
        """The values that it had."""
        return {value for value in self.values if value is not None}


@dataclass(frozen=True, slots=True)
class Derived:
    """``factor * first + second + offset``, in groups; ``second`` may be missing."""

    first: Group
    factor: int
    second: Group | None
    offset: int

    def size(self, first: Size, second: Size | None) -> Size:
        """Returns it as an expression."""
        made: Size = first if self.factor == 1 else Apply(OPERATORS["*"], (Const(self.factor), first))
        if second is not None:
            made = Apply(OPERATORS["+"], (made, second))
        if self.offset:
            sign = OPERATORS["+"] if self.offset > 0 else OPERATORS["-"]
            made = Apply(sign, (made, Const(abs(self.offset))))
        return made


def group(columns: Sequence[Values], weights: Sequence[int]) -> tuple[list[Group], list[tuple[int, int]]]:
    """Returns the columns grouped by what is one size, in order, and pairs of groups that agreed, but too rarely to tell.

    Args:
        columns: Each column's values.
        weights: How many calls each row stands for.
    """
    exact: dict[Values, list[int]] = {}
    for index, values in enumerate(columns):
        exact.setdefault(values, []).append(index)
    groups: list[Group] = []
    close: list[tuple[int, int]] = []
    for values, members in exact.items():
        alike = len({value for value in values if value is not None}) == 1
        for index in members if not alike else ():
            home = _home(groups, columns[index], weights, close)
            if home is None:
                groups.append(Group([index], columns[index]))
            else:
                home.members.append(index)
                home.values = tuple(a if a is not None else b for a, b in zip(home.values, values, strict=True))
        if alike:
            groups += [Group([index], values) for index in members]
    groups.sort(key=lambda each: each.members[0])
    for each in groups:
        each.members.sort()
    return groups, close


def _home(
    groups: Sequence[Group], values: Values, weights: Sequence[int], close: list[tuple[int, int]]
) -> Group | None:
    """Returns the group to which a column belongs."""
    for each in groups:
        if len(each.seen) == 1:
            continue
        pairs = [(a, w) for a, b, w in zip(each.values, values, weights, strict=True) if a is not None and a == b]
        clash = any(a is not None and b is not None and a != b for a, b in zip(each.values, values, strict=True))
        if clash or not pairs:
            continue
        distinct = len({a for a, _ in pairs})
        if distinct >= EQUAL or (distinct == 2 and sum(w for _, w in pairs) >= EQUAL_PAIR):
            return each
        close.append((each.members[0], distinct))
    return None


def derive(groups: Sequence[Group]) -> dict[int, Derived]:
    """Returns which groups follow from others, by position; those that do not are the bases."""
    varying = [g for g in groups if len(g.seen) > 1]
    found: dict[int, Derived] = {}
    taken: set[int] = set()  # groups that others are made of stay bases

    def settle(each: Group, made: Derived) -> None:
        found[id(each)] = made
        taken.add(id(made.first))
        if made.second is not None:
            taken.add(id(made.second))

    for each in varying:  # a multiple follows from what it is a multiple of, wherever that stands
        if id(each) in taken:
            continue
        for base in varying:
            line = None if base is each or id(base) in found else affine(base.values, each.values)
            if line is not None and (line[0] > 1 or varying.index(base) < varying.index(each)):
                settle(each, Derived(base, line[0], None, line[1]))
                break
    bases = [g for g in varying if id(g) not in found]
    for each in sorted(bases, key=lambda g: -max(g.seen)):
        others = [b for b in bases if b is not each and id(b) not in found][:_MOST_SUMMANDS]
        if id(each) in taken:
            continue
        for first, second in combinations(others, 2):
            offset = sum_offset(first.values, second.values, each.values)
            if offset is not None:
                settle(each, Derived(first, 1, second, offset))
                break
    position = {id(g): index for index, g in enumerate(groups)}
    return {position[key]: made for key, made in found.items()}


def affine(xs: Values, ys: Values) -> tuple[int, int] | None:
    """Returns ``(m, c)`` with ``y == m * x + c`` in all rows and ``m >= 1``; None if there are none, or too few rows tell."""
    points = {(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None}
    if len({x for x, _ in points}) < AFFINE or len(points) != len({x for x, _ in points}):
        return None
    if sum(1 for y in ys if y is not None) > sum(
        1 for x, y in zip(xs, ys, strict=True) if x is not None and y is not None
    ):
        return None  # there are calls in which x is not known
    (x0, y0), (x1, y1) = sorted(points)[:2]
    m, rest = divmod(y1 - y0, x1 - x0)
    c = y0 - m * x0
    return (m, c) if not rest and m >= 1 and all(y == m * x + c for x, y in points) else None


def sum_offset(xs: Values, ys: Values, zs: Values) -> int | None:
    """Returns ``c`` with ``z == x + y + c`` in all rows; None if there is none, or too few rows tell."""
    points: set[tuple[int, int, int]] = set()
    for x, y, z in zip(xs, ys, zs, strict=True):
        if z is None:
            continue
        if x is None or y is None:
            return None
        points.add((x, y, z))
    offsets = {z - x - y for x, y, z in points}
    if len(offsets) != 1 or len(points) < SUM:
        return None
    return offsets.pop() if len({p[0] for p in points}) >= EQUAL and len({p[1] for p in points}) >= EQUAL else None


def residue(seen: set[int]) -> tuple[int, int]:
    """Returns ``(m, r)`` with ``x % m == r`` for all of ``seen``; ``(1, 0)`` if there is none that chance would not explain."""
    ordered = sorted(seen)
    if len(ordered) < AFFINE:
        return 1, 0
    modulus = 0
    for value in ordered[1:]:
        modulus = gcd(modulus, value - ordered[0])
    if modulus < 2 or modulus ** min(len(ordered) - 1, 64) < _CHANCE:
        return 1, 0
    return modulus, ordered[0] % modulus


def expression(each: Group, sizes: dict[int, Size]) -> Size:
    """Returns what a group is in names."""
    return sizes.get(id(each)) or Var(each.name)


__all__ = [
    "AFFINE",
    "CONSTANT_CALLS",
    "CONSTANT_ROWS",
    "EQUAL",
    "EQUAL_PAIR",
    "SUM",
    "Derived",
    "Group",
    "Values",
    "affine",
    "derive",
    "group",
    "residue",
    "sum_offset",
]
