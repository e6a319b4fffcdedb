"""What padded slots may hold besides the declared fill, if the reason for padding is true.

A reason such as ``masked`` claims that padded slots are not looked at. So results must not change when they
hold something else: large numbers of either sign, other ids. What the claim says nothing about stays as it is:

- what does the hiding: bool tensors, arguments called ``…mask…``, those with ``values … in [0, 1]``, and
  fills such as ``-inf``;
- structure: Python ints, offsets (``values … sorted``), fills that are computed (``N_pad - 1``) or repeated
  (``edge``, of ints) or rows, and ids outside of the valid ones (``-100``, one past the last);
- everything, where the reason speaks of this fill (``neutral``) or claims nothing (``approximate``).

Ids stay in range: a lookup comes before the mask that hides it, so an index error would say nothing. The range is
that of ``values``, else the least and the largest id of the real data.

NaN hides nowhere: a weight of 0 times NaN is NaN. Slots never hold it, so what it does is a note, no fault; so
is a large number that overflows where a moderate one is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....ir import Alternative, Bucket, Edge, Pad, Values
from ....ir.expanded import Expanded, Leaf
from ....ir.padding import Grown
from ....ir.walk import evaluate
from ....runtime.valid import values_at

LARGE: Final = 1e4
_CLAIMS: Final = (None, "masked", "rows_independent", "causal_right")


@dataclass(frozen=True, slots=True)
class Contents:
    """What real data at a leaf are.

    Attributes:
        kind: ``"float"``, ``"int"``, ``"bool"`` or ``"other"``.
        low, high: The least and the largest number; 0 where there is none.
    """

    kind: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Dose:
    """What one kind of slot is to hold.

    Attributes:
        what: Which slots.
        high, low: The two poisons.
        moderate: A number of the size of the real ones, for floats; else None.
    """

    what: Grown
    high: float | int
    low: float | int
    moderate: float | None


def doses(
    alternative: Alternative,
    padded: Sequence[int],
    grown: Sequence[Grown],
    expanded: Expanded,
    sizes: Mapping[str, int],
    contents: Callable[[Leaf], Contents],
) -> list[Dose]:
    """Returns which slots may be poisoned, and with what.

    Args:
        alternative: At the structure of ``expanded``.
        padded: The numbers of the buckets that grow.
        grown: What grows with each bucket.
        expanded: The structure of the call.
        sizes: Of the call.
        contents: What the real data at a leaf are.
    """
    found: list[Dose] = []
    for each in grown:
        leaf = expanded.leaves[each.leaf]
        bucket = alternative.buckets[each.bucket]
        if leaf.scalar or each.bucket not in padded or bucket.reason not in _CLAIMS:
            continue
        dose = _dose(each, leaf, contents(leaf), list(_ranges(expanded, leaf, sizes)))
        if dose is not None:
            found.append(dose)
    return found


def _ranges(expanded: Expanded, leaf: Leaf, sizes: Mapping[str, int]) -> Iterator[tuple[int, int, Values]]:
    for values in values_at(expanded.signature, leaf):
        try:
            yield evaluate(values.low, sizes), evaluate(values.high, sizes), values
        except (KeyError, ZeroDivisionError):  # in terms of what the arguments do not tell
            continue


def hides(leaf: Leaf, fill: object, expanded: Expanded, sizes: Mapping[str, int]) -> bool:
    """Returns whether a tensor is known to be a mask in which ``fill`` hides a slot and 1 shows it."""
    if fill not in (0, False):
        return False
    ranges = list(_ranges(expanded, leaf, sizes))
    named = "mask" in str(leaf.path).lower()
    return _is_bool(leaf) or (named and not ranges) or any((low, high) == (0, 1) for low, high, _ in ranges)


def _is_bool(leaf: Leaf) -> bool:
    return leaf.dtype is not None and leaf.dtype.name == "bool"


def _dose(each: Grown, leaf: Leaf, real: Contents, ranges: Sequence[tuple[int, int, Values]]) -> Dose | None:
    """Returns the poison for one axis of one tensor; None where there is none that is fair."""
    fill = each.fill
    if real.kind not in ("float", "int") or "mask" in str(leaf.path).lower():
        return None
    if any(values.sorted for _, _, values in ranges):
        return None
    low = max((low for low, _, _ in ranges), default=None)
    high = min((high for _, high, _ in ranges), default=None)
    if low is not None and high is not None and low >= 0 and high <= 1:
        return None
    if isinstance(fill, Edge):
        fill = None
    elif isinstance(fill, bool) or not isinstance(fill, (int, float)):
        return None
    if fill is not None and low is not None and high is not None and not low <= fill <= high:
        return None  # it tells that a slot is none
    if real.kind == "float":
        if fill is not None and (math.isinf(fill) or fill <= -LARGE):
            return None
        if low is not None and high is not None:
            return Dose(each, high, low, None)
        size = max(abs(real.low), abs(real.high))
        return Dose(each, LARGE, -LARGE, 3 * min(size, LARGE) + 1)
    if fill is None:  # a repeated id is structure: the end of a segment
        return None
    least = int(real.low) if low is None else low
    most = int(real.high) if high is None else high
    if not least <= fill <= most or most <= 1:
        return None
    return Dose(each, most, least, None)


def poisoned(
    alternative: Alternative, grown: Sequence[Grown], expanded: Expanded, held: Mapping[Grown, float | int]
) -> Alternative:
    """Returns ``alternative`` with other fills.

    Args:
        alternative: At the structure of ``expanded``.
        grown: What grows.
        expanded: The structure.
        held: What some slots hold in place of their fills.
    """
    buckets: list[Bucket] = []
    for number, bucket in enumerate(alternative.buckets):
        if bucket.pads is None:
            buckets.append(bucket)
            continue
        pads: list[Pad] = []
        for each in grown:
            if each.bucket == number and each.fill is not None:
                leaf = expanded.leaves[each.leaf]
                pads.append(Pad(leaf.path, held.get(each, each.fill), each.axis, bucket.span))
        buckets.append(replace(bucket, pads=tuple(pads)))
    return replace(alternative, buckets=tuple(buckets))


__all__ = ["LARGE", "Contents", "Dose", "doses", "hides", "poisoned"]
