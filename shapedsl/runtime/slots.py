"""Where slots are inserted on one axis, and where real data then lies: plain integers.

Before::

    P = 7 is padded to 12, `at P`; a tensor's axis is P + 1

After::

    [0, 7) real   [7, 12) new slots   [12, 13) real

Buckets insert one after the other, in written order; each counts positions on what the one before left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..diagnostics import Annotation, Diagnostic, Severity, ShapeError
from ..ir import Bucket, Size
from ..ir.taking import padded_name
from ..ir.walk import evaluate
from ..ir.write_sizes import write_dim


@dataclass(frozen=True, slots=True)
class Insertion:
    """New slots of one bucket.

    Attributes:
        bucket: Its number.
        start: Where they are, once this bucket has inserted its slots and no later one has.
        length: How many.
        edge: The slot that ``edge`` repeats, counted likewise: the one before them, or behind where they
            begin the axis; None where the axis has no slot.
    """

    bucket: int
    start: int
    length: int
    edge: int | None


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis, padded.

    Attributes:
        size: In the end.
        real: ``(start in the padded axis, start in the caller's, length)`` of each run of real data.
        insertions: In order; those of no slot are left out.
    """

    size: int
    real: tuple[tuple[int, int, int], ...]
    insertions: tuple[Insertion, ...]

    def final(self, insertion: Insertion) -> list[tuple[int, int]]:
        """Returns ``(start, length)`` of the slots in the end: later ones may have parted them."""
        pieces = [(insertion.start, insertion.length)]
        for later in self._after(insertion):
            moved: list[tuple[int, int]] = []
            for start, length in pieces:
                if start < later.start < start + length:
                    first = later.start - start
                    moved += [(start, first), (later.start + later.length, length - first)]
                else:
                    moved.append((start + later.length if start >= later.start else start, length))
            pieces = moved
        return pieces

    def final_edge(self, insertion: Insertion) -> int | None:
        """Returns where the slot that ``edge`` repeats is in the end."""
        if insertion.edge is None:
            return None
        at = insertion.edge
        for later in self._after(insertion):
            at = at + later.length if at >= later.start else at
        return at

    def _after(self, insertion: Insertion) -> tuple[Insertion, ...]:
        return self.insertions[self.insertions.index(insertion) + 1 :]


def padded_axis(
    dim: Size, buckets: Sequence[Bucket], sizes: Mapping[str, int], chosen: Sequence[int], place: str
) -> Axis:
    """Returns how an axis grows.

    Args:
        dim: What is there.
        buckets: Of an alternative.
        sizes: The caller's.
        chosen: The padded size of each bucket.
        place: What messages call the axis.

    Raises:
        ShapeError: ``wrong-pad``: the size shrinks, or the slots' position is not on the axis.
    """
    known = dict(sizes)
    positions = {**sizes, **padded_sizes(buckets, chosen)}
    real = [(0, 0, evaluate(dim, known))]
    length = real[0][2]
    insertions: list[Insertion] = []
    for number, (bucket, size) in enumerate(zip(buckets, chosen, strict=True)):
        if known.get(bucket.variable, size) == size:
            continue
        before, known[bucket.variable] = known[bucket.variable], size
        after = evaluate(dim, known)
        new = after - length
        if new < 0:
            raise wrong_pad(
                f"{place}, `{write_dim(dim)}`, shrinks from {length} to {after} where "
                f"`{bucket.variable}` is padded from {before} to {size}",
                "bucket only sizes that tensors grow with",
                bucket,
            )
        if new == 0:
            continue
        match bucket.position:
            case "end":
                at = length
            case "left":
                at = 0
            case str():
                raise ValueError(bucket.position)
            case position:
                at = evaluate(position, positions)
                if not 0 <= at <= length:
                    raise wrong_pad(
                        f"the bucket of `{bucket.variable}` puts slots at index {at} of {place}, which has {length}",
                        "let its position be at most the smallest size that it pads",
                        bucket,
                    )
        edge = at - 1 if at else new if length else None
        insertions.append(Insertion(number, at, new, edge))
        real = [piece for run in real for piece in _parted(run, at, new)]
        length = after
    return Axis(length, tuple(run for run in real if run[2]), tuple(insertions))


def padded_sizes(buckets: Sequence[Bucket], chosen: Sequence[int]) -> dict[str, int]:
    """Returns the padded sizes by the names that predicates and fills have for them."""
    return {padded_name(bucket): size for bucket, size in zip(buckets, chosen, strict=True)}


class PaddingError(ShapeError):
    """A call cannot be padded, or its result not be cropped; the artifact that was to run is not to blame."""


def wrong_pad(message: str, help_: str, bucket: Bucket | None = None) -> PaddingError:
    """Returns a ``wrong-pad`` error about a call."""
    at = () if bucket is None or bucket.span is None else (Annotation(bucket.span, ""),)
    return PaddingError([Diagnostic("wrong-pad", Severity.ERROR, message, at, helps=(help_,))])


def _parted(run: tuple[int, int, int], at: int, new: int) -> list[tuple[int, int, int]]:
    start, source, length = run
    if at <= start:
        return [(start + new, source, length)]
    if at >= start + length:
        return [run]
    return [(start, source, at - start), (at + new, source + at - start, length - (at - start))]


__all__ = ["Axis", "Insertion", "PaddingError", "padded_axis", "padded_sizes", "wrong_pad"]
