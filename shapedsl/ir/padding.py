"""What grows with a bucket, and what its slots hold: pads matched with the tensors that they name.

Before, at the structure of a call with two caches::

    def f(ids: int64[B, S], caches: [Tensor[B, 8]] * 2, n: Scalar[S]):
        bucket B in {2, 4} pad ids with 0, caches with 1
        bucket S in {64} pad ids with -1

After, in the order in which slots are filled::

    B: ids axis 0 with 0, caches[0] axis 0 with 1, caches[1] axis 0 with 1
    S: ids axis 1 with -1, n

A dim grows by its own difference: `2*S` by 48 where S grows by 24. The longest path that names a tensor
counts, and one with an axis before one without. A Python int is rounded up, whether a pad names it or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from ..diagnostics import Report
from .alternatives import Alternative, Bucket, Fill, Pad
from .dims import Apply, Dim, Size, Var
from .expanded import Leaf
from .paths import Path
from .specs import Signature
from .walk import free_vars
from .write_sizes import write_dim


@dataclass(frozen=True, slots=True)
class Grown:
    """A size of an argument that grows with a bucket.

    Attributes:
        bucket: Its number in the alternative.
        leaf: Counts `Expanded.leaves`.
        axis: 0 for a Python int.
        dim: What is there, with the bucketed size in it.
        fill: What the new slots hold; None for a Python int.
    """

    bucket: int
    leaf: int
    axis: int
    dim: Size
    fill: Fill | None


def grown(alternative: Alternative, leaves: Sequence[Leaf], report: Report) -> tuple[Grown, ...]:
    """Returns what grows, in the order in which slots are filled.

    Args:
        alternative: Of a signature.
        leaves: At one structure.
        report: Receives ``unpadded-argument`` and ``wrong-pad``.
    """
    found: list[Grown] = []
    for number, bucket in enumerate(alternative.buckets):
        if bucket.pads is None:
            continue
        ranked: list[tuple[int, Grown]] = []
        for at, leaf in enumerate(leaves):
            for axis, dim in _mentions(leaf, bucket.variable):
                rank = _pad_of(leaf, axis, bucket, report)
                if rank is None and not leaf.scalar:
                    _unpadded(leaf, axis, bucket, report)
                    continue
                fill = None if leaf.scalar or rank is None else bucket.pads[rank].fill
                ranked.append((len(bucket.pads) if rank is None else rank, Grown(number, at, axis, dim, fill)))
        for pad in bucket.pads:
            _check_pad(pad, bucket, leaves, report)
        ranked.sort(key=lambda each: each[0])  # as listed; leaves and axes in their order
        found += [each for _, each in ranked]
    return tuple(found)


def names(pad: Path, leaf: Path) -> bool:
    """Returns whether ``pad`` names ``leaf`` or a container around it."""
    return pad.root == leaf.root and leaf.steps[: len(pad.steps)] == pad.steps


def mentions(dim: Dim, variable: str) -> bool:
    """Returns whether ``dim`` changes with ``variable``."""
    return isinstance(dim, (Var, Apply)) and variable in free_vars(dim)


def needs_return(signature: Signature, alternative: Alternative) -> bool:
    """Returns whether ``alternative`` pads, and nothing says what of the result is valid."""
    padded = any(bucket.pads is not None for bucket in alternative.buckets)
    return padded and signature.returns is None and not alternative.drops and not signature.drops


def _mentions(leaf: Leaf, variable: str) -> Iterator[tuple[int, Size]]:
    for axis, dim in enumerate(leaf.dims):
        if mentions(dim, variable):
            yield axis, cast("Size", dim)


def _pad_of(leaf: Leaf, axis: int, bucket: Bucket, report: Report) -> int | None:
    """Returns the number of the pad for this axis, if there is one."""
    best: int | None = None
    for rank, pad in enumerate(bucket.pads or ()):
        if not names(pad.path, leaf.path) or pad.axis not in (None, axis):
            continue
        if best is None or _weight(pad) > _weight((bucket.pads or ())[best]):
            best = rank
        elif _weight(pad) == _weight((bucket.pads or ())[best]):
            report.error(
                "wrong-pad",
                f"the bucket of `{bucket.variable}` pads `{leaf.path}` twice on axis {axis}",
                at=pad.span or bucket.span,
                also=[(first, "first here")] if (first := (bucket.pads or ())[best].span) is not None else [],
                help="delete one of them, or name an axis in each",
            )
    return best


def _weight(pad: Pad) -> tuple[int, bool]:
    return len(pad.path.steps), pad.axis is not None


def _unpadded(leaf: Leaf, axis: int, bucket: Bucket, report: Report) -> None:
    report.error(
        "unpadded-argument",
        f"`{leaf.path}` holds `{bucket.variable}` on axis {axis}, and no pad of its bucket names it",
        at=bucket.span,
        label=f"pads `{bucket.variable}`",
        also=[(leaf.span, "grows with it")] if leaf.span is not None else [],
        help=f"add `{leaf.path} with 0` to its pads, with what the new slots are to hold",
    )


def _check_pad(pad: Pad, bucket: Bucket, leaves: Sequence[Leaf], report: Report) -> None:
    """Reports a pad that has no effect, unless what it names is absent from this call."""
    mine = [leaf for leaf in leaves if names(pad.path, leaf.path)]
    axes = {axis for leaf in mine for axis, _ in _mentions(leaf, bucket.variable)}
    if not mine or pad.axis in axes or (pad.axis is None and axes):
        return
    if pad.axis is None:
        message, help_ = f"`{pad.path}` does not hold `{bucket.variable}`", "delete this pad"
    else:
        shown = ", ".join(write_dim(dim) for dim in mine[0].dims)
        message = f"axis {pad.axis} of `{pad.path}`, [{shown}], does not hold `{bucket.variable}`"
        help_ = "axes count from 0"
    report.error("wrong-pad", message, at=pad.span or bucket.span, label="nothing to pad here", help=help_)


__all__ = ["Grown", "grown", "mentions", "names", "needs_return"]
