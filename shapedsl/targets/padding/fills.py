"""What new slots hold, in a tensor's own dtype.

Before and after::

    false in a bool tensor              False
    -1.5 in an int64 tensor             error: it holds integers
    [0, 0, 1, 1] on axis 0 of [K, 4]    each new row is 0, 0, 1, 1
    N_pad - 1                           one less than the size that N was padded to
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

import torch

from ...ir import Apply, Bucket, Const, Edge, Fill, Var, Variadic
from ...ir.walk import evaluate
from ...runtime.slots import PaddingError, wrong_pad

Number: TypeAlias = "int | float | bool"
Value: TypeAlias = "Number | tuple[int | float, ...] | Edge"  # a fill without names


def value_of(fill: Fill, names: Mapping[str, int]) -> Value:
    """Returns ``fill`` with numbers for its names: real sizes, and padded ones."""
    return evaluate(fill, names) if isinstance(fill, (Const, Var, Apply, Variadic)) else fill


def number_in(number: Number, dtype: torch.dtype, bucket: Bucket, place: str) -> Number:
    """Returns ``number`` as a tensor of ``dtype`` takes it.

    Raises:
        ShapeError: ``wrong-pad``: it does not hold that number.
    """
    if dtype is torch.bool:
        if number in (0, 1):
            return bool(number)
        raise _unfit(number, dtype, "write `true` or `false`", bucket, place)
    if not (dtype.is_floating_point or dtype.is_complex):
        limits = torch.iinfo(dtype)
        if isinstance(number, float) and not number.is_integer():
            raise _unfit(number, dtype, "write an integer", bucket, place)
        if not limits.min <= number <= limits.max:
            raise _unfit(number, dtype, f"it holds {limits.min} to {limits.max}", bucket, place)
        return int(number)
    limit = torch.finfo(dtype).max
    if math.isfinite(number) and abs(number) > limit:
        raise _unfit(number, dtype, f"it holds numbers up to {limit:g}", bucket, place)
    return number


def row_in(row: Sequence[Number], slots: torch.Tensor, axis: int, bucket: Bucket, place: str) -> torch.Tensor:
    """Returns ``row`` in a shape that broadcasts to ``slots``: it runs along their last axis but ``axis``.

    Raises:
        ShapeError: ``wrong-pad``: a slot is not as long as the row.
    """
    others = [each for each in range(slots.dim()) if each != axis]
    if not others or slots.shape[others[-1]] != len(row):
        found = f"has {slots.shape[others[-1]]} elements" if others else "is one number"
        raise wrong_pad(
            f"a row of {len(row)} does not fill `{place}`, of which a slot {found}",
            "write a row as long as the tensor's last axis, or one number",
            bucket,
        )
    cells = [number_in(cell, slots.dtype, bucket, place) for cell in row]
    made = torch.tensor(cells, dtype=slots.dtype, device=slots.device)
    return made.reshape([len(row) if each == others[-1] else 1 for each in range(slots.dim())])


def no_edge(bucket: Bucket, place: str, axis: int) -> PaddingError:
    """Returns the error of ``edge`` where there is no slot to repeat."""
    return wrong_pad(
        f"`{place}` has no slot on axis {axis} that `edge` could repeat",
        f"write a number, or ask for `{bucket.variable} >= 1` in the alternative",
        bucket,
    )


def _unfit(number: Number, dtype: torch.dtype, help_: str, bucket: Bucket, place: str) -> PaddingError:
    shown = cast("object", str(number).lower() if isinstance(number, bool) else number)
    name = str(dtype).removeprefix("torch.")
    return wrong_pad(f"`{place}` is a {name} tensor, which cannot be filled with {shown}", help_, bucket)
