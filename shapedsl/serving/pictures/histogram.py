"""Traffic against buckets: how often each size came, and what padding it costs.

Before::

    sizes 3, 3, 60, 65, 100     members 64, 128

After::

    3       2 calls   → 64
    60      1 call    → 64    waste 66 %
    65      1 call    → 128
    100     1 call    → 128   waste 36 %

A bin is one size where sizes are few. Else bins end where members do, so that none is padded to two of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final

MOST_BINS: Final = 28


@dataclass(frozen=True, slots=True)
class Bin:
    """Sizes from ``low`` to ``high``, both inclusive.

    Attributes:
        low, high: Sizes.
        count: Calls with a size among them.
        member: What they are padded to; None beyond the largest member, and without buckets.
    """

    low: int
    high: int
    count: int
    member: int | None = None

    @property
    def text(self) -> str:
        """The sizes, for a reader."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}-{self.high:,}"


@dataclass(frozen=True, slots=True)
class Padding:
    """What padding to one member costs.

    Attributes:
        member: The padded size.
        calls: How many are padded to it.
        real: The sum of their sizes.
    """

    member: int
    calls: int
    real: int

    @property
    def waste(self) -> float:
        """The padded part of what is computed, from 0 to 1."""
        whole = self.member * self.calls
        return (whole - self.real) / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often sizes came.

    Attributes:
        variable: Whose sizes they are.
        bins: Ascending; without empty ones at either end, and without any where each is one size.
        paddings: One for each member, ascending; empty without buckets.
        calls: All of them.
        beyond: Calls with a size above the largest member.
    """

    variable: str
    bins: tuple[Bin, ...]
    paddings: tuple[Padding, ...]
    calls: int
    beyond: int = 0

    @property
    def waste(self) -> float:
        """The padded part of all that buckets compute, from 0 to 1."""
        whole = sum(each.member * each.calls for each in self.paddings)
        return (whole - sum(each.real for each in self.paddings)) / whole if whole else 0.0


def histogram(variable: str, counts: Mapping[int, int], members: Sequence[int] = ()) -> Histogram:
    """Returns the histogram of ``counts``.

    Args:
        variable: The name of the sizes.
        counts: Size → calls.
        members: Padded sizes, if any.
    """
    sizes = sorted(size for size, count in counts.items() if count > 0)
    members = sorted(set(members))
    ends = _ends(sizes, members)
    bins: list[Bin] = []
    at = 0
    low = min([0, *sizes[:1]])
    for end in ends:
        count = 0
        while at < len(sizes) and sizes[at] <= end:
            count += counts[sizes[at]]
            at += 1
        bins.append(Bin(low, end, count, _member(end, members)))
        low = end + 1
    if len({*sizes, *members}) <= MOST_BINS:
        bins = [each for each in bins if each.count]
    while bins and not bins[0].count:
        del bins[0]
    while bins and not bins[-1].count:
        del bins[-1]
    paddings = tuple(_paddings(sizes, counts, members))
    whole = sum(counts[size] for size in sizes)
    beyond = whole - sum(each.calls for each in paddings) if members else 0
    return Histogram(variable, tuple(bins), paddings, whole, beyond)


def _member(size: int, members: Sequence[int]) -> int | None:
    at = bisect_left(members, size)
    return members[at] if at < len(members) else None


def _paddings(sizes: Sequence[int], counts: Mapping[int, int], members: Sequence[int]) -> list[Padding]:
    found: list[Padding] = []
    for below, member in pairwise([None, *members]):
        assert member is not None  # only the first is
        mine = [size for size in sizes if size <= member and (below is None or size > below)]
        found.append(Padding(member, sum(counts[s] for s in mine), sum(s * counts[s] for s in mine)))
    return found


def _ends(sizes: Sequence[int], members: Sequence[int]) -> list[int]:
    """Returns the last size of each bin: each size where they are few, else members and steps between them."""
    if not sizes:
        return []
    if len({*sizes, *members}) <= MOST_BINS:
        exact = {end for size in sizes for end in (size - 1, size)}
        return sorted({*exact, *(m for m in members if m <= sizes[-1])})
    walls = [m for m in members if sizes[0] <= m < sizes[-1]]
    if len(walls) >= MOST_BINS:  # a bin for each is too fine to look at
        walls = walls[:: -(-len(walls) // MOST_BINS)]
    ends = {sizes[0] - 1} - {-1}
    spans = list(pairwise([max(sizes[0] - 1, 0), *walls, sizes[-1]]))
    # sizes are compared by their ratios, so bins are as wide as each other on a logarithmic axis
    step = log((sizes[-1] + 1) / (sizes[0] + 1)) / MOST_BINS
    for low, high in spans:
        parts = max(1, round(log((high + 1) / (low + 1)) / step))
        ends |= {
            max(low, round((low + 1) * ((high + 1) / (low + 1)) ** (part / parts)) - 1) for part in range(1, parts)
        }
        ends.add(high)
    return sorted(ends)


def calls(count: int) -> str:
    """Returns a number of calls, for a reader."""
    return f"{count:,} call{'' if count == 1 else 's'}"


__all__ = ["Bin", "Histogram", "Padding", "calls", "histogram"]
