"""What varies between the structures of two specs, and which combinations of it are looked at.

A point is one thing that varies: a rank, a length, whether something is None. Levels that both specs
take are combined. A level that only one of them takes is looked at in a call of that spec: everything
else in it is as that spec takes it, with one length a name, and as some sizes allow.

Before, ranks of ``x`` and ``y``::

    old   x: Tensor[*s], y: Tensor[*s, D]      x: 0, 1, 2, …      y: 1, 2, 3, …
    new   x: Tensor[A], y: Tensor[A, D]        x: 1               y: 2

After::

    (1, 2) taken by both      (0, 1) (2, 3) … taken by the old one
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Final, TypeAlias

Level: TypeAlias = "bool | int"  # a rank or length; or whether something is absent
Levels: TypeAlias = "tuple[Level, ...]"
Chosen: TypeAlias = "Mapping[object, Level]"
Needs: TypeAlias = "tuple[tuple[object, tuple[Level, Level]], ...]"  # point → its level in either spec

MOST: Final = 480  # structures; each takes a few milliseconds


@dataclass(frozen=True, slots=True)
class Named:
    """A rank or a length as ``fixed + per * name``."""

    name: str
    fixed: int
    per: int = 1


@dataclass(frozen=True, slots=True)
class Point:
    """Something that varies between structures.

    Attributes:
        common: Levels that both specs take, the most absent first.
        alone: Levels that only the old one takes, and those that only the new one does.
        needs: Levels of other points without which this one does not matter.
        named: What gives the level in either spec, if a name does.
    """

    common: Levels
    alone: tuple[Levels, Levels] = ((), ())
    needs: Needs = ()
    named: tuple[Named | None, Named | None] = (None, None)

    def lowest(self, side: int) -> Level:
        """Returns the most absent level that both specs take, else that one does."""
        return (*self.common, *self.alone[side], *self.alone[1 - side])[0]

    def most_absent(self, side: int) -> Level:
        """Returns the most absent level that one spec takes."""
        levels = (*self.common, *self.alone[side]) or self.alone[1 - side]
        return True if any(level is True for level in levels) else min(levels)

    def reaching(self, at: int) -> tuple[Level, Level]:
        """Returns a length of more than ``at`` items in either spec; one that both take if there is one."""
        found: list[Level] = []
        for side in (0, 1):
            levels = (*self.common, *self.alone[side], *self.alone[1 - side])
            found.append(next(level for level in levels if int(level) > at))
        return found[0], found[1]


def of_side(levels: Levels, *, new: bool) -> tuple[Levels, Levels]:
    """Returns ``levels`` as those that only the new spec takes, or only the old one."""
    return ((), levels) if new else (levels, ())


class Points(dict[object, Point]):
    """The points of two specs by key.

    Attributes:
        complete: Whether `choices` yielded enough of them for a proof.
    """

    def __init__(self) -> None:
        super().__init__()
        self.complete = True
        self._bases: dict[int, Chosen] = {}

    def vary(
        self,
        key: object,
        old: Collection[int],
        new: Collection[int],
        needs: Needs,
        named: tuple[Named | None, Named | None] = (None, None),
    ) -> None:
        """Adds a point whose levels are numbers; of several parts that vary together, all levels."""
        before = self.get(key)
        if before is not None:
            old = {*old, *map(int, (*before.common, *before.alone[0]))}
            new = {*new, *map(int, (*before.common, *before.alone[1]))}
            needs = min(needs, before.needs, key=len)  # where it matters for one of them
        was, now = set(old), set(new)
        alone = tuple(sorted(was - now)), tuple(sorted(now - was))
        self[key] = Point(tuple(sorted(was & now)), alone, needs, named)

    def taken(self, side: int, chosen: Chosen) -> None:
        """Says that the old spec (0) or the new one (1) accepts some calls of a structure."""
        self._bases.setdefault(side, chosen)

    def choices(self, needed: int) -> Iterator[Chosen]:
        """Yields what both take, then what one of them takes, beside what it is known to take.

        Args:
            needed: How many points one question can speak of.
        """
        varying = {key: point for key, point in self.items() if len(point.common) > 1}
        few = prod(len(point.common) for point in varying.values()) <= MOST
        lowest = [self._together(side, {}) for side in (0, 1)]
        apart = any(not point.common for point in self.values())
        for side in (0, 1) if apart else (0,):
            if few:
                keys = list(varying)[::-1]
                for values in product(*(varying[key].common for key in keys)):
                    yield {**lowest[side], **dict(zip(keys, values, strict=True))}
            else:
                yield lowest[side]
                yield self._together(side, {key: point.common[-1] for key, point in varying.items()})
                yield from self._few(side, varying, needed)
        for side in (0, 1):
            yield lowest[side]
            yield self._together(side, {key: point.most_absent(side) for key, point in self.items()})
            for key, point in self.items():
                for level in point.alone[side]:
                    yield self._together(side, {**_levels(point.needs, side), key: level})

    def _few(self, side: int, varying: Mapping[object, Point], needed: int) -> Iterator[Chosen]:
        """Yields what differs from the lowest in as many points as one question can speak of."""
        counts = [1]  # how many choices differ in none, one, two, … points
        for point in varying.values():
            more = len(point.common) - 1
            counts = [here + more * before for here, before in zip((*counts, 0), (0, *counts), strict=True)]
        yielded = 2
        for several in range(1, min(needed, len(varying)) + 1):
            yielded += counts[several]
            if several > 1 and yielded > MOST:
                self.complete = False
                return
            for keys in combinations(varying, several):
                needs = {key: level for each in keys for key, level in _levels(varying[each].needs, side).items()}
                for values in product(*(varying[key].common[1:] for key in keys)):
                    yield self._together(side, {**needs, **dict(zip(keys, values, strict=True))})

    def _together(self, side: int, chosen: Chosen) -> dict[object, Level]:
        """Returns a level of each point: those chosen, else those that go with them in one spec.

        Where a call is known that the spec takes, the others are as they are there.
        """
        base = self._bases.get(side) or {key: point.lowest(side) for key, point in self.items()}
        levels = {**base, **chosen}
        values: dict[str, int] = {}
        for key in (*chosen, *(key for key in self if key not in chosen)):
            named = self[key].named[side]
            if named is None or not named.per:
                continue
            if named.name not in values:
                values[named.name] = (int(levels[key]) - named.fixed) // named.per
            elif key not in chosen:
                levels[key] = named.fixed + named.per * values[named.name]
        return levels


def _levels(needs: Needs, side: int) -> dict[object, Level]:
    return {key: levels[side] for key, levels in needs}
