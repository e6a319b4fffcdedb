"""What padding does at one tuple of sizes: worked out once, then looked up.

Before and after, for ``mask: bool[B, P + 1]`` at ``B = 3, P = 7`` padded to 4 and 12, ``at P``::

    axis 0: 4     real [0, 3)              new slots [3, 4) with true
    axis 1: 13    real [0, 7), [12, 13)    new slots [7, 12) with false
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from ...ir import Bucket, Path, Size
from ...ir.expanded import Expanded
from ...ir.padding import Grown
from ...ir.walk import evaluate
from ...runtime.slots import Axis, Insertion, padded_axis, padded_sizes
from .fills import Value, value_of


@dataclass(frozen=True, eq=False)
class Filled:
    """New slots of one axis of a tensor.

    Attributes:
        axis: Which.
        insertion: Where.
        value: What they hold.
        bucket: Whose they are.
    """

    axis: int
    insertion: Insertion
    value: Value
    bucket: Bucket


@dataclass(frozen=True, eq=False)
class LeafGeometry:
    """How one tensor is padded.

    Attributes:
        axes: Those that grow.
        fills: In the order in which slots are filled: later ones own the corners. Empty where nothing grows.
        layouts: What was worked out for shapes and strides.
    """

    axes: Mapping[int, Axis]
    fills: tuple[Filled, ...]
    layouts: dict[object, Any] = field(default_factory=dict["object", "Any"])

    def shape(self, shape: Sequence[int]) -> list[int]:
        """Returns the padded shape."""
        made = list(shape)
        for at, axis in self.axes.items():
            made[at] = axis.size
        return made

    @cached_property
    def regions(self) -> list[tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]]:
        """Returns ``(in the padded tensor, in the caller's)`` of each region of real data: axis → start, length."""
        runs = [[(at, run) for run in axis.real] for at, axis in self.axes.items()]
        return [
            (
                {at: (start, length) for at, (start, _, length) in chosen},
                {at: (source, length) for at, (_, source, length) in chosen},
            )
            for chosen in product(*runs)
        ]


@dataclass(eq=False)
class Geometry:
    """What padding does to one call.

    Attributes:
        sizes: The caller's sizes, and the padded ones as ``S_pad``.
        leaves: Tensors that grow at some sizes, by their number in `Expanded.leaves`.
        scalars: Python ints that grow, likewise.
        changed: Whether anything grows.
        results: How axes of results grew, by what is known of them.
    """

    buckets: Sequence[Bucket]
    real: Mapping[str, int]
    chosen: tuple[int, ...]
    sizes: Mapping[str, int]
    leaves: Mapping[int, LeafGeometry]
    scalars: Mapping[int, int]
    changed: bool
    results: dict[object, list[tuple[int, Size, Axis]]] = field(
        default_factory=dict["object", "list[tuple[int, Size, Axis]]"]
    )
    _axes: dict[Size, Axis] = field(default_factory=dict["Size", Axis])

    def axis(self, dim: Size, at: int, path: Path) -> Axis:
        """Returns how axis ``at`` of a result at ``path`` grew, that is ``dim`` for the caller."""
        found = self._axes.get(dim)
        if found is None:
            place = f"axis {at} of `{path}`"
            found = self._axes[dim] = padded_axis(dim, self.buckets, self.real, self.chosen, place)
        return found

    def padded(self, size: Size) -> int:
        """Returns the value of ``size`` at the padded sizes."""
        return evaluate(size, self._after)

    def before(self, size: Size) -> int:
        """Returns the value of ``size`` at the caller's sizes."""
        return evaluate(size, self.real)

    @property
    def _after(self) -> dict[str, int]:
        return {**self.real, **{b.variable: n for b, n in zip(self.buckets, self.chosen, strict=True)}}


def geometry(
    expanded: Expanded,
    buckets: Sequence[Bucket],
    grown: Sequence[Grown],
    real: Mapping[str, int],
    chosen: tuple[int, ...],
) -> Geometry:
    """Returns what padding does at ``real`` sizes.

    Raises:
        ShapeError: ``wrong-pad``.
    """
    sizes = {**real, **padded_sizes(buckets, chosen)}
    made = Geometry(buckets, real, chosen, sizes, {}, {}, changed=False)
    axes: dict[int, dict[int, Axis]] = {}
    fills: dict[int, list[Filled]] = {}
    scalars: dict[int, int] = {}
    for each in grown:
        leaf = expanded.leaves[each.leaf]
        if leaf.scalar:
            scalars[each.leaf] = made.padded(each.dim)
            continue
        axis = axes.setdefault(each.leaf, {}).get(each.axis)
        if axis is None:
            place = f"axis {each.axis} of `{leaf.path}`"
            axis = axes[each.leaf][each.axis] = padded_axis(each.dim, buckets, real, chosen, place)
        for insertion in axis.insertions:
            if insertion.bucket == each.bucket and each.fill is not None:
                value = value_of(each.fill, sizes)
                filled = Filled(each.axis, insertion, value, buckets[each.bucket])
                fills.setdefault(each.leaf, []).append(filled)
    leaves: dict[int, LeafGeometry] = {}
    equal: dict[object, LeafGeometry] = {}
    for at, every in axes.items():
        own = {number: axis for number, axis in every.items() if axis.insertions}
        found = fills.get(at, ())
        key = (*own.items(), *((filled.axis, filled.insertion, type(filled.value), filled.value) for filled in found))
        leaves[at] = equal.setdefault(key, LeafGeometry(own, tuple(found)))
    pairs = zip(buckets, chosen, strict=True)
    changed = any(bucket.variable in real and real[bucket.variable] != size for bucket, size in pairs)
    return Geometry(buckets, real, chosen, sizes, leaves, scalars, changed)


__all__ = ["Filled", "Geometry", "LeafGeometry", "geometry"]
