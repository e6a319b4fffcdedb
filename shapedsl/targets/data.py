"""Random data of a dtype, within limits: what tensors of examples hold.

Numbers are drawn on the CPU whatever the default device is, so that one seed gives the same data everywhere. A mask is
mostly true, and true at the start of each row, since one that hides everything makes softmax NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

FARTHEST: Final = 2**62  # a number with a fraction is drawn no farther from 0


def filled(shape: Sequence[int], dtype: Any, limits: tuple[int, int, bool] | None, generator: Any) -> Any:
    """Returns a tensor on the CPU with random data.

    Args:
        shape: Its sizes.
        dtype: torch's.
        limits: The least and the largest value, and whether values ascend from the one to the other; None where
            nothing is said of them.
        generator: Of random numbers.

    Raises:
        RuntimeError: torch cannot fill tensors of this dtype; also NotImplementedError or TypeError.
    """
    import torch

    if limits is not None:
        return _within(shape, dtype, *limits, generator)
    if dtype == torch.bool:
        mask = torch.rand(shape, generator=generator, device="cpu", dtype=torch.float32) < 0.75
        if mask.dim() and mask.shape[-1]:
            mask[..., 0] = True  # a mask that hides everything makes softmax NaN
        return mask
    if dtype.is_complex:
        part = torch.complex64 if dtype != torch.complex128 else dtype
        return torch.randn(shape, generator=generator, device="cpu", dtype=part).to(dtype)
    if dtype.is_floating_point:
        exact = torch.float64 if dtype == torch.float64 else torch.float32
        return torch.randn(shape, generator=generator, device="cpu", dtype=exact).to(dtype)
    return torch.randint(0, 2, shape, generator=generator, device="cpu").to(dtype)


def _within(shape: Sequence[int], dtype: Any, low: int, high: int, in_order: bool, generator: Any) -> Any:
    import torch

    if not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool):
        info = torch.iinfo(dtype)
        low, high = max(low, info.min), min(high, info.max)
    else:
        low, high = max(low, -FARTHEST), min(high, FARTHEST)
    if low > high or 0 in shape:
        # of no element nothing is asked
        return torch.zeros(shape, device="cpu").to(dtype)
    if dtype.is_floating_point and not in_order:
        return (low + (high - low) * torch.rand(shape, generator=generator, device="cpu", dtype=torch.float64)).to(
            dtype
        )
    top = min(high, 2**63 - 2)
    drawn = torch.randint(min(low, top), top + 1, shape, generator=generator, device="cpu")
    if in_order and drawn.dim():
        drawn = drawn.sort(dim=-1).values
        drawn[..., -1] = high
        drawn[..., 0] = low
    return drawn.to(dtype)


__all__ = ["filled"]
