"""Two sizes that are padded together: members of each, whose product is the artifacts.

Given the members of one, the best members of the other are the exact optimum of `optimum`. So

- where one of the two has few sizes, all its choices are tried, each with the best of the other: the optimum;
- else the two take turns until neither improves, from several beginnings: an upper bound. What is padded at least is
  known too: over one size alone, the other as it is, nobody pads less than the exact optimum of that one.

Before, with four artifacts, of B in 1..8 and S in 1..512::

    B {8}, S {97, 180, 301, 512}        B {2, 8}, S {150, 512}        B {1, 2, 4, 8}, S {512}

After: the one of these that pads fewest elements in total.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

from ..profiles.traffic import Call
from .optimum import choices

_STEPS: Final = 2_000_000  # of the inner program, for trying all choices of one size
_ROUNDS: Final = 12


@dataclass(frozen=True, slots=True)
class Joint:
    """Members of two sizes.

    Attributes:
        members: Of each variable, ascending, in the order in which they were given.
        cost: Elements of all calls once they are padded.
        least: No choice of as many artifacts has fewer; equal to ``cost`` where this is the optimum.
    """

    members: tuple[tuple[int, ...], tuple[int, ...]]
    cost: int
    least: int

    @property
    def exact(self) -> bool:
        """Whether it is the optimum."""
        return self.cost == self.least

    @property
    def artifacts(self) -> int:
        """How many artifacts it takes."""
        return len(self.members[0]) * len(self.members[1])


def joint_choices(calls: Sequence[Call], first: str, second: str, most: int) -> list[Joint]:
    """Returns the best choice found of at most 1, 2, …, ``most`` artifacts.

    Args:
        calls: Each has both sizes.
        first: A size.
        second: Another.
        most: At most so many artifacts, members of the one times members of the other.
    """
    search = _Search(_terms(calls, first, second), most)
    best: list[Joint] = []
    for artifacts in range(1, most + 1):
        found = [search.split(a, artifacts // a) for a in range(1, artifacts + 1)]
        made = min(found, key=lambda joint: joint.cost)
        least = min(joint.least for joint in found)
        best.append(Joint(made.members, made.cost, least))
    return best


class _Search:
    def __init__(self, terms: Sequence[_Term], most: int) -> None:
        self.terms = terms
        self.sizes = [sorted({term.sizes[axis] for term in terms}) for axis in (0, 1)]
        # of each size, what padding it alone costs at least
        self.alone = [self._line(axis, lambda size: size) for axis in (0, 1)]
        self.own = [choices(line, most) for line in self.alone]
        self.known: dict[tuple[int, int], Joint] = {}

    def split(self, of_first: int, of_second: int) -> Joint:
        """Returns the best members found, at most so many of each."""
        counts = min(of_first, len(self.sizes[0])), min(of_second, len(self.sizes[1]))
        if counts not in self.known:
            self.known[counts] = self._split(counts)
        return self.known[counts]

    def _split(self, counts: tuple[int, int]) -> Joint:
        few = min((0, 1), key=lambda axis: self._effort(axis, counts))
        if self._effort(few, counts) <= _STEPS:
            top = self.sizes[few][-1]
            tried = combinations(self.sizes[few][:-1], counts[few] - 1)
            joint = min((self._given(few, (*own, top), counts) for own in tried), key=lambda joint: joint.cost)
            return Joint(joint.members, joint.cost, joint.cost)
        best: Joint | None = None
        for axis, begin in self._beginnings(counts):
            joint = self._given(axis, begin, counts)
            turn = 1 - axis
            for _ in range(_ROUNDS):
                better = self._given(turn, joint.members[turn], counts)
                if better.cost >= joint.cost:
                    break
                joint, turn = better, 1 - turn
            if best is None or joint.cost < best.cost:
                best = joint
        assert best is not None
        least = max(self.own[axis][counts[axis] - 1].cost for axis in (0, 1))
        return Joint(best.members, best.cost, min(least, best.cost))

    def _effort(self, axis: int, counts: tuple[int, int]) -> int:
        other = len(self.sizes[1 - axis])
        each = 4 * len(self.terms) + counts[1 - axis] * other * max(1, other.bit_length())
        return comb(len(self.sizes[axis]) - 1, counts[axis] - 1) * each

    def _beginnings(self, counts: tuple[int, int]) -> Iterator[tuple[int, tuple[int, ...]]]:
        for axis in (0, 1):
            sizes = self.sizes[axis]
            yield axis, self.own[axis][counts[axis] - 1].members
            yield axis, tuple(sizes[(len(sizes) * (i + 1)) // counts[axis] - 1] for i in range(counts[axis]))

    def _given(self, axis: int, members: tuple[int, ...], counts: tuple[int, int]) -> Joint:
        """Returns the exact best members of the other size, where this one is padded to ``members``."""
        line = self._line(1 - axis, lambda size: members[bisect_left(members, size)])
        choice = choices(line, counts[1 - axis])[-1]
        pair = (members, choice.members) if axis == 0 else (choice.members, members)
        return Joint(pair, choice.cost, 0)

    def _line(self, axis: int, other: Callable[[int], int]) -> dict[int, tuple[int, ...]]:
        """Returns what padding one size costs, where ``other`` says what the other one is padded to."""
        found: dict[int, list[int]] = {}
        for term in self.terms:
            padded = other(term.sizes[1 - axis])
            own = found.setdefault(term.sizes[axis], [0] * (1 + max(powers[axis] for powers, _ in term.products)))
            for powers, factor in term.products:
                own.extend([0] * (powers[axis] + 1 - len(own)))
                own[powers[axis]] += factor * padded ** powers[1 - axis]
        return {size: tuple(own) for size, own in found.items()}


@dataclass(frozen=True, slots=True)
class _Term:
    """All calls of one pair of sizes: the sum of ``factor * first**p * second**q`` is their elements."""

    sizes: tuple[int, int]
    products: tuple[tuple[tuple[int, int], int], ...]


def _terms(calls: Sequence[Call], first: str, second: str) -> list[_Term]:
    found: dict[tuple[int, int], dict[tuple[int, int], int]] = {}
    for call in calls:
        own = found.setdefault((call.sizes[first], call.sizes[second]), {(0, 0): 0})
        for shape, dims in zip(call.shapes, call.dims, strict=True):
            powers = dims.count(first), dims.count(second)
            if powers == (0, 0):
                continue
            factor = call.times
            for length, name in zip(shape, dims, strict=True):
                factor *= 1 if name in (first, second) else length
            own[powers] = own.get(powers, 0) + factor
    return [_Term(sizes, tuple(products.items())) for sizes, products in found.items()]


__all__ = ["Joint", "joint_choices"]
