"""Sizes that were met in a space: which alternative takes them, and which others ask for them.

One size that ``first`` takes and ``second`` asks for answers a question that would otherwise need a proof.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import inf

from ..domains import Domain, Domains
from .boxes import first_in_both
from .regions import Space

Sizes = tuple[tuple[str, int], ...]  # by name, sorted
Limits = list[tuple[str, "int | float", "int | float", int, int]]  # name, low, high, modulus, residue


class Points:
    """The sizes that were met in ``space``."""

    __slots__ = ("_always", "_limits", "_met", "_seen", "_shared", "_space")

    def __init__(self, space: Space) -> None:
        self._space = space
        self._limits = [None if region.box is None else _limits(region.box, space.box) for region in space.regions]
        self._seen: set[Sizes] = set()
        self._met: list[frozenset[int]] = []  # of each, what asks for it
        self._shared: dict[int, dict[int, Sizes]] = {}  # taker, asking: the first such sizes
        self._always: dict[int, frozenset[int]] = {}  # taker: what asks for all of them

    def add(self, sizes: Mapping[str, int]) -> None:
        """Keeps ``sizes`` in mind, if they are accepted."""
        known = {variable.name: sizes.get(variable.name, 0) for variable in self._space.variables}
        key = tuple(sorted(known.items()))
        if key in self._seen:
            return
        self._seen.add(key)
        if not self._space.accepts(known):
            return
        asking = self._asking(known)
        if not asking or not all(region.exact for region in self._space.regions[: asking[0] + 1]):
            return
        taker, all_asking = asking[0], frozenset(asking)
        self._met.append(all_asking)
        shared = self._shared.setdefault(taker, {})
        for at in asking:
            shared.setdefault(at, key)
        self._always[taker] = self._always.get(taker, all_asking) & all_asking

    def taker(self, sizes: Mapping[str, int]) -> int | None:
        """Returns which alternative takes ``sizes``; None if they are not accepted, or none is known to."""
        known = {variable.name: sizes.get(variable.name, 0) for variable in self._space.variables}
        if not self._space.accepts(known):
            return None
        asking = self._asking(known)
        exact = asking and all(region.exact for region in self._space.regions[: asking[0] + 1])
        return asking[0] if exact else None

    def _asking(self, sizes: Mapping[str, int]) -> list[int]:
        found: list[int] = []
        for at, limits in enumerate(self._limits):
            if limits is None:
                continue
            for name, low, high, modulus, residue in limits:
                size = sizes[name]
                if size < low or size > high or size % modulus != residue:
                    break
            else:
                if self._space.regions[at].asks(sizes):
                    found.append(at)
        return found

    def asked(self, at: int) -> bool:
        """Returns whether sizes were met that alternative ``at`` asks for."""
        return any(at in asking for asking in self._met)

    def takes(self, at: int) -> bool:
        """Returns whether sizes were met that alternative ``at`` takes."""
        return at in self._always

    def shares(self, first: int, second: int) -> bool:
        """Returns whether sizes were met that ``first`` takes and ``second`` asks for."""
        return second in self._shared.get(first, ())

    def differs(self, first: int, second: int) -> bool:
        """Returns whether sizes were met that ``first`` takes and ``second`` does not ask for."""
        return first in self._always and second not in self._always[first]

    def needed(self, at: int, rivals: Collection[int]) -> set[int]:
        """Returns those of ``rivals`` without which sizes that were met would be left for ``at``."""
        among = frozenset(rivals)
        alone = (asking & among for asking in self._met if at in asking)
        return {next(iter(few)) for few in alone if len(few) == 1}

    def shared_sizes(self, first: int, second: int) -> dict[str, int]:
        """Returns the sizes for which `shares` is true."""
        return dict(self._shared[first][second])


def corners(box: Domains, other: Domains | None = None) -> Iterator[dict[str, int]]:
    """Yields corners of ``box``, or of what it has in common with ``other``, which is something.

    First the lowest, then the highest, then those that differ from the lowest in one size.
    """
    ends = {name: _ends(domain, other.domain(name) if other else domain) for name, domain in box.of.items()}
    lowest = {name: low for name, (low, _) in ends.items()}
    yield lowest
    yield {name: high for name, (_, high) in ends.items()}
    for name, (low, high) in ends.items():
        if low != high:
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


def _limits(box: Domains, everything: Domains | None) -> Limits:
    """Returns what ``box`` says more than ``everything``."""
    limits: Limits = []
    for name, domain in box.of.items():
        general = Domain() if everything is None else everything.domain(name)
        tighter = domain.low > general.low or domain.high < general.high or domain.modulus != general.modulus
        if tighter:
            limits.append((name, domain.low, domain.high, domain.modulus, domain.residue))
    return limits


__all__ = ["Points", "Sizes", "corners"]
