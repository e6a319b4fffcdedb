"""A histogram of rows of sizes in bounded memory, whose totals, bounds and relations stay exact.

Rows are counted one by one until there are more than ``limit`` different ones. Then the rarest are joined in pairs: the
two counts are added, and stay at one of the two rows, chosen with a probability in proportion to its count. So the
total never changes, every subset's expected count is the one that was seen, and frequent rows keep their own.

What `infer` concludes must hold of rows that were joined away too: a row goes only after it was *noted*, if it
tells anything new of bounds, residues, or relations that are affine. Relations that hold on the noted rows hold on all.

Source:
    D. Ting, "Data Sketches for Disaggregated Subset Sum and Frequent Item Estimation", SIGMOD 2018 (unbiased
    space saving, and the pairwise reduction by which two sketches are merged).
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator
from math import gcd
from typing import Final, TypeAlias

Sizes: TypeAlias = "tuple[int, ...]"
LIMIT: Final = 4096
_SLACK: Final = 4  # a quarter more than the limit is kept before the rarest are joined
_PRIME: Final = 2**61 - 1


class Histogram:
    """Counts of rows of equal length.

    Attributes:
        counts: Row → how often it was seen; after joining, an unbiased estimate of that.
        moved: How many calls were moved to other rows, one that was moved twice counted twice.
    """

    __slots__ = ("_extremes", "_most", "_noted", "_random", "_span", "counts", "limit", "moved")

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = max(1, limit)
        self._most = self.limit + self.limit // _SLACK
        self.counts: dict[Sizes, int] = {}
        self.moved = 0
        self._noted: list[Sizes] = []
        self._extremes: dict[tuple[int, bool], Sizes] = {}
        self._span: Span | None = None
        self._random = random.Random(0)  # repeatable

    def add(self, sizes: Sizes, times: int = 1) -> int:
        """Counts a row, and returns how often it was seen."""
        counts = self.counts
        counts[sizes] = seen = counts.get(sizes, 0) + times
        if len(counts) > self._most:
            self.reduce()
        return seen

    def merge(self, other: Histogram) -> None:
        """Adds what ``other`` counted."""
        for sizes, times in other.counts.items():
            self.counts[sizes] = self.counts.get(sizes, 0) + times
        self.note(other.noted)
        self.moved += other.moved
        if len(self.counts) > self.limit:
            self.reduce()

    def note(self, rows: Iterable[Sizes]) -> None:
        """Takes rows that were seen and are not counted."""
        for row in rows:
            self._note(row)

    @property
    def calls(self) -> int:
        """How many rows were counted, repetitions included; exact."""
        return sum(self.counts.values())

    @property
    def joined(self) -> int:
        """How many calls are counted at another row than their own, at most."""
        return min(self.moved, self.calls)

    @property
    def noted(self) -> list[Sizes]:
        """Rows that were joined away, and tell of bounds, residues or relations; their number is bounded too."""
        return list(dict.fromkeys((*self._noted, *self._extremes.values())))

    def rows(self) -> Iterator[Sizes]:
        """Yields rows that were seen: those with a count, and those that were noted. What is affine on them is so on all."""
        yield from self.counts
        for sizes in self.noted:
            if sizes not in self.counts:
                yield sizes

    def copy(self) -> Histogram:
        """Returns a histogram that goes its own way."""
        made = Histogram(self.limit)
        made.merge(self)
        return made

    def reduce(self) -> None:
        """Joins the rarest rows until there are no more than the limit."""
        heap = [(times, number, sizes) for number, (sizes, times) in enumerate(self.counts.items())]
        heapq.heapify(heap)
        number = len(heap)
        while len(heap) > self.limit:
            few, _, first = heapq.heappop(heap)
            many, _, second = heap[0]
            keeps_first = self._random.randrange(few + many) < few
            kept, gone = (first, second) if keeps_first else (second, first)
            self.moved += many if keeps_first else few
            self._note(gone)
            heapq.heapreplace(heap, (few + many, number, kept))
            number += 1
        self.counts = {sizes: times for times, _, sizes in heap}

    def _note(self, sizes: Sizes) -> None:
        if self._span is None:
            self._span = Span(len(sizes))
        if self._span.add(sizes):
            self._noted.append(sizes)
        extremes = self._extremes
        for index, size in enumerate(sizes):
            for key in ((index, False), (index, True)):
                known = extremes.get(key)
                if known is None or (size > known[index] if key[1] else size < known[index]):
                    extremes[key] = sizes


class Span:
    """What rows tell of residues and affine relations, kept so that a row which tells nothing new is known.

    Independence is tested modulo a prime of 61 bits, which is as good as over the rationals for rows that nobody
    chose in order to deceive it.
    """

    def __init__(self, width: int) -> None:
        self._origin: Sizes | None = None
        self._steps = [0] * width
        self._basis: dict[int, list[int]] = {}  # pivot → a row of the reduced basis of differences

    def add(self, row: Sizes) -> bool:
        """Takes a row; returns whether it told anything."""
        if self._origin is None:
            self._origin = row
            return True
        told = False
        for index, (size, first) in enumerate(zip(row, self._origin, strict=True)):
            step = gcd(self._steps[index], size - first)
            if step != self._steps[index]:
                self._steps[index], told = step, True
        return self._extend([size - first for size, first in zip(row, self._origin, strict=True)]) or told

    def _extend(self, difference: list[int]) -> bool:
        """Adds a vector to the basis if it is independent of it."""
        rest = [each % _PRIME for each in difference]
        for known, vector in self._basis.items():
            factor = rest[known]
            if factor:
                rest = [(a - factor * b) % _PRIME for a, b in zip(rest, vector, strict=True)]
        pivot = next((index for index, each in enumerate(rest) if each), None)
        if pivot is None:
            return False
        scale = pow(rest[pivot], -1, _PRIME)
        rest = [each * scale % _PRIME for each in rest]
        for known, vector in self._basis.items():
            factor = vector[pivot]
            if factor:
                self._basis[known] = [(a - factor * b) % _PRIME for a, b in zip(vector, rest, strict=True)]
        self._basis[pivot] = rest
        return True


def by_size(histogram: Histogram, index: int) -> dict[int, int]:
    """Returns how often each size stands at ``index``, ascending; 0 times one whose calls are counted elsewhere."""
    found: dict[int, int] = {}
    for sizes in histogram.rows():
        found[sizes[index]] = found.get(sizes[index], 0) + histogram.counts.get(sizes, 0)
    return dict(sorted(found.items()))


__all__ = ["LIMIT", "Histogram", "Sizes", "Span", "by_size"]
