"""Choose sizes at which padding shows what it does.

Of one joint choice::

    bucket S in {8, 16} pad …
    bucket B in {4} pad …

the sizes, in turn::

    S = 7,  B = 4     S alone, one slot
    S = 4,  B = 3     both
    S = 9,  B = 4     S alone, to the next member
    S = 8,  B = 3     B alone
    …

Where one size fits exactly, nothing is spare: an edge that points at the last node then meets a real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ....ir import COMPARISONS, Alternative, Bucket, Compare, Const, Path, Predicate, Var
from ....ir.dims import Apply
from ....ir.expanded import Expanded
from ....ir.operators import MOD
from ....ir.taking import asked_by, negation
from ....ir.walk import free_vars, holds
from ....normalize.sampling import points
from ....runtime.explain import value_at
from ....targets.inputs import elements
from ..joint import Joint, chooser

MOST_ELEMENTS: Final = 2**24  # of all padded tensors of a call
_USUAL: Final = 3  # a size that nothing is said about: not empty, and not one that broadcasts
_EQ, _LE, _GE = (COMPARISONS[name] for name in ("==", "<=", ">="))


@dataclass(frozen=True, slots=True)
class Point:
    """Sizes, and what they are padded to.

    Attributes:
        sizes: By variable.
        chosen: The padded size of each bucket, in written order.
        padded: The numbers of the buckets that grow.
    """

    sizes: Mapping[str, int]
    chosen: tuple[int, ...]
    padded: tuple[int, ...]


@dataclass
class Chooser:
    """Which alternative takes a call of one structure, and how it pads.

    Attributes:
        expanded: The structure.
        like: Arguments that have the static sizes.
    """

    expanded: Expanded
    like: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.alternatives = self.expanded.signature.alternatives
        self.joints: list[Joint] = [chooser(each, self.expanded) for each in self.alternatives]
        self.bound = {name for leaf in self.expanded.leaves for dim in leaf.dims for name in free_vars(dim)}
        self.bound |= {name for name, _ in self.expanded.lengths}

    def chosen(self, position: int, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
        """Returns what an alternative pads sizes to, or None: it does not match."""
        if not self._holds(self.alternatives[position], sizes):
            return None
        if not self.alternatives[position].buckets:
            return ()
        joint = self.joints[position]
        static = (self._static(path, axis) for path, axis in joint.places)
        return joint.choose(*(sizes[name] for name in joint.needs), *static)

    def taken(self, sizes: Mapping[str, int]) -> int | None:
        """Returns the position of the alternative that takes ``sizes``; None if there is none."""
        every = range(len(self.alternatives))
        return next((at for at in every if self.chosen(at, sizes) is not None), None)

    def point(self, position: int, sizes: Mapping[str, int]) -> Point | None:
        """Returns how ``sizes`` are padded in an alternative, if it takes them and pads any."""
        if self.taken(sizes) != position:
            return None
        chosen = self.chosen(position, sizes)
        if not chosen:
            return None
        buckets = self.alternatives[position].buckets
        grows = [
            at
            for at, (bucket, size) in enumerate(zip(buckets, chosen, strict=True))
            if bucket.pads is not None and sizes.get(bucket.variable, size) != size
        ]
        return Point(dict(sizes), chosen, tuple(grows)) if grows else None

    def _holds(self, alternative: Alternative, sizes: Mapping[str, int]) -> bool:
        names = {f"{bucket.variable}_pad" for bucket in alternative.buckets}
        plain = [c.predicate for c in alternative.constraints if names.isdisjoint(free_vars(c.predicate))]
        try:
            return all(holds(each, sizes) for each in plain if self.bound.issuperset(free_vars(each)))
        except ZeroDivisionError:
            return False

    def after(self, point: Point, position: int) -> dict[str, int]:
        """Returns the padded sizes."""
        buckets = self.alternatives[position].buckets
        grown = {buckets[at].variable: point.chosen[at] for at in point.padded}
        return {**point.sizes, **grown}

    def _static(self, path: Path, axis: int) -> int:
        value: Any = value_at(path, self.like)
        return int(value.shape[axis])

    def _elements(self, sizes: Mapping[str, int]) -> int:
        return elements(self.expanded, sizes, like=self.like)

    def points(
        self, position: int, n: int, seed: int, fixed: Mapping[str, int], asked: Sequence[Predicate] = ()
    ) -> list[Point]:
        """Returns up to ``n`` different sizes that an alternative pads, each bucket alone and all of them together.

        Args:
            position: Of the alternative.
            n: How many, at most.
            seed: Of what is random.
            fixed: Sizes that are given.
            asked: What has to hold besides.
        """
        alternative = self.alternatives[position]
        known = self.expanded.signature
        given = [c.predicate for c in asked_by(alternative).conditions]
        given += [negation(each) for each in self.alternatives[:position] if asked_by(each).exact]
        given = [each for each in given if self.bound.issuperset(free_vars(each))]
        found: dict[tuple[tuple[str, int], ...], Point] = {}

        def accept(sizes: Mapping[str, int]) -> bool:
            point = self.point(position, sizes)
            return point is not None and self._elements(self.after(point, position)) <= MOST_ELEMENTS

        def take(count: int, near: Mapping[str, int] | None, more: Sequence[Predicate]) -> None:
            drawn = points(known, count, seed, near=near, fixed=fixed, given=[*given, *asked, *more], accept=accept)
            for sizes in drawn:
                point = self.point(position, sizes)
                assert point is not None  # it was accepted
                found.setdefault(tuple(sorted(sizes.items())), point)

        # a hint may be large, and small sizes tell as much
        others = {v.name: _USUAL if v.hint is None else min(v.hint, 4 * _USUAL) for v in known.variables}
        for wish in _wishes([b for b in alternative.buckets if b.variable in self.bound]):
            if len(found) >= n:
                break
            take(1, {**others, **wish.near}, wish.given)
        if len(found) < n:
            take(n, None, ())
        return list(found.values())[:n]


@dataclass(frozen=True, slots=True)
class _Wish:
    near: Mapping[str, int]
    given: tuple[Predicate, ...]


def _wishes(buckets: Sequence[Bucket]) -> Iterator[_Wish]:
    """Yields what sizes are wanted, the most telling first."""
    pads = [bucket for bucket in buckets if bucket.pads is not None]
    for round_ in range(3):
        for bucket in pads:
            others = [other for other in buckets if other is not bucket]
            near = {bucket.variable: _inside(bucket, round_)}
            given = [*_padded(bucket, round_), *(_exact(other, round_) for other in others)]
            near.update((other.variable, _first(other, round_)) for other in others)
            yield _Wish(near, tuple(given))
        if len(pads) > 1:
            both = {bucket.variable: _inside(bucket, round_ + 1) for bucket in pads}
            yield _Wish(both, tuple(each for bucket in pads for each in _padded(bucket, round_ + 1)))
    for bucket in pads:  # where the others cannot fit exactly
        yield _Wish({bucket.variable: _inside(bucket, 1)}, tuple(_padded(bucket, 0)))


def _members(bucket: Bucket) -> list[int]:
    return list(bucket.members or ())


def _first(bucket: Bucket, round_: int) -> int:
    """Returns a size that fits exactly: of the first members, or of the multiples."""
    members = _members(bucket)
    if members:
        return members[min(round_ // 2, len(members) - 1)]
    return bucket.residue + (bucket.modulus or 1) * (round_ + 1)


def _exact(bucket: Bucket, round_: int) -> Predicate:
    if bucket.members is not None:
        return Compare(_EQ, Var(bucket.variable), Const(_first(bucket, round_)))
    return Compare(_EQ, _rest(bucket), Const(bucket.residue))


def _rest(bucket: Bucket) -> Apply:
    return Apply(MOD, (Var(bucket.variable), Const(bucket.modulus or 1)))


def _inside(bucket: Bucket, round_: int) -> int:
    """Returns a size to be padded: one slot, half of them, all but one behind the member before."""
    members, modulus = _members(bucket), bucket.modulus or 1
    if not members:
        return bucket.residue + modulus * (1 + round_ // 2) - (1, modulus // 2)[round_ % 2]
    if round_ % 3 == 2 and len(members) > 1:
        return members[0] + 1
    return members[0] - 1 if round_ % 3 == 0 else (members[0] + 1) // 2


def _padded(bucket: Bucket, round_: int) -> Iterator[Predicate]:
    size, members = Var(bucket.variable), _members(bucket)
    if not members:
        yield Compare(COMPARISONS["!="], _rest(bucket), Const(bucket.residue))
    elif round_ % 3 == 2 and len(members) > 1:
        yield Compare(_GE, size, Const(members[0] + 1))
        yield Compare(_LE, size, Const(max(members[1] - 1, members[0] + 1)))
    else:
        yield Compare(_LE, size, Const(members[0] - 1))


__all__ = ["MOST_ELEMENTS", "Chooser", "Point"]
