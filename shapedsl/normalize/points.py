"""Sizes that were met in a space: which alternative takes them, and which others ask for them.

One size that `first` takes and `second` asks for answers a question that would otherwise need a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from math import inf

from .domains import Domain, Domains
from .regions import Space, first_in_both

MOST_TRIED = 12  # corners of one box


class Points:
    """The sizes that were met in ``space``."""

    __slots__ = ("_always", "_met", "_shared", "_space")

    def __init__(self, space: Space) -> None:
        self._space = space
        self._met: set[tuple[tuple[str, int], ...]] = set()
        self._shared: dict[int, dict[int, tuple[tuple[str, int], ...]]] = {}  # taker, asking: the first such sizes
        self._always: dict[int, set[int]] = {}  # taker: what asks for all of them

    def add(self, sizes: Mapping[str, int]) -> None:
        """Keeps ``sizes`` in mind, if they are accepted."""
        key = tuple(sorted((variable.name, sizes.get(variable.name, 0)) for variable in self._space.variables))
        if key in self._met:
            return
        self._met.add(key)
        known = dict(key)
        if not self._space.accepts(known):
            return
        asking = [at for at, region in enumerate(self._space.regions) if region.asks(known)]
        if not asking or not all(region.exact for region in self._space.regions[: asking[0] + 1]):
            return
        shared = self._shared.setdefault(asking[0], {})
        for at in asking:
            shared.setdefault(at, key)
        self._always[asking[0]] = self._always.get(asking[0], set(asking)) & set(asking)

    def takes(self, at: int) -> bool:
        """Returns whether sizes were met that alternative ``at`` takes."""
        return at in self._always

    def shares(self, first: int, second: int) -> bool:
        """Returns whether sizes were met that ``first`` takes and ``second`` asks for."""
        return second in self._shared.get(first, ())

    def differs(self, first: int, second: int) -> bool:
        """Returns whether sizes were met that ``first`` takes and ``second`` does not ask for."""
        return first in self._always and second not in self._always[first]

    def shared_sizes(self, first: int, second: int) -> tuple[tuple[str, int], ...]:
        """Returns the sizes for which `shares` is true."""
        return self._shared[first][second]

    def try_corners(self, box: Domains, other: Domains | None = None) -> None:
        """Adds corners of ``box``, or of what it has in common with ``other``."""
        for corner in islice(_corners(box, other), MOST_TRIED):
            self.add(corner)


def _corners(box: Domains, other: Domains | None) -> Iterator[dict[str, int]]:
    """Yields the lowest corner, the highest, and those that differ from the lowest in one size."""
    ends = {name: _ends(domain, other.domain(name) if other else domain) for name, domain in box.of.items()}
    lowest = {name: low for name, (low, _) in ends.items()}
    yield lowest
    yield {name: high for name, (_, high) in ends.items()}
    for name, (_, high) in ends.items():
        yield {**lowest, name: high}


def _ends(one: Domain, other: Domain) -> tuple[int, int]:
    """Returns the least and the largest number in both domains, or one near the least where there is no end."""
    low, high = max(one.low, other.low), min(one.high, other.high)
    if low == -inf:
        low = min(0, high)
    least = first_in_both(one, other, low)
    if least is None:
        return 0, 0
    step = one.modulus * other.modulus
    return least, least + step if high == inf else least + max(0, int(high) - least) // step * step
