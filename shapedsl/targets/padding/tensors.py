"""Pad one tensor: into a buffer that is used again, or, where autograd or a subclass must see it, by new tensors.

Before and after, ``x`` of 3 rows padded to 4 with 0, then run by a callee that adds 1 to it::

    buffer route      copy rows 0 to 2 into memory we have, write row 3
    new route         torch.cat((x, zeros)): gradients flow back through it
    afterwards        rows 0 to 2 of the padded tensor are copied back to x, since it was written to
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters

from ...ir import Edge
from ...runtime.slots import wrong_pad
from .buffers import Buffer, Pool, stream_of
from .fills import no_edge, number_in, row_in
from .geometry import Filled, LeafGeometry

_PLAIN = (torch.Tensor, torch.nn.Parameter)


class Lent:
    """One padded tensor of a call.

    Attributes:
        original: The caller's tensor.
        padded: What the callee gets.
        geometry: How it grew.
        buffer: Its memory, or None where it is a tensor of its own.
        place: What messages call it.
    """

    __slots__ = ("_changes", "_key", "buffer", "geometry", "original", "padded", "place")

    def __init__(
        self,
        original: torch.Tensor,
        padded: torch.Tensor,
        geometry: LeafGeometry,
        place: str,
        key: Hashable = None,
        buffer: Buffer | None = None,
    ) -> None:
        self.original = original
        self.place = place
        self.padded: torch.Tensor | None = padded
        self.geometry = geometry
        self.buffer = buffer
        self._key = key
        self._changes = _changes(padded)

    def take_back(self, others: Sequence[Lent]) -> None:
        """Copies what the callee wrote into the real region back to the caller's tensor.

        Args:
            others: All padded tensors of the call.

        Raises:
            ShapeError: ``wrong-pad``: another one is padded from the same memory, and did not see the change.
        """
        padded = self.padded
        assert padded is not None  # it is called once, before `release`
        if _changes(padded) == self._changes:
            return
        for other in others:
            if other is not self and _share(other.original, self.original):
                raise wrong_pad(
                    f"the callee writes to `{self.place}`, which shares its memory with `{other.place}`; both are padded",
                    "pass a copy of one of them",
                )
        for inside, outside in self.geometry.regions():
            _cut(self.original, outside).copy_(_cut(padded, inside))

    def release(self, pool: Pool) -> None:
        """Gives the buffer back, if nobody else holds its memory."""
        self.padded = None
        # memory that autograd writes history into serves no other call
        if self.buffer is not None and not self.buffer.flat.requires_grad and self.buffer.is_free:
            pool.give(self._key, self.buffer)


def lend(value: torch.Tensor, geometry: LeafGeometry, place: str, leaf: int, pool: Pool) -> Lent:
    """Returns ``value`` padded.

    Args:
        value: The caller's.
        geometry: How it grows.
        place: What messages call it.
        leaf: Its number: two tensors of a call never share a buffer.
        pool: Where buffers come from.

    Raises:
        ShapeError: ``wrong-pad``: it cannot hold what it is to be filled with.
    """
    if value.layout is not torch.strided or value.is_nested or value.is_quantized:
        raise wrong_pad(f"`{place}` is not a dense tensor, and cannot be padded", "pass a dense tensor")
    if not _is_plain(value):
        return Lent(value, _new(value, geometry, place), geometry, place)
    dtype, device = value.dtype, value.device
    key = (leaf, dtype, device, 0 if value.is_cpu else stream_of(device))
    layout = (geometry, value.shape, _order(value))
    buffer = pool.take(key)
    prepared: _Prepared | None = None if buffer is None else buffer.views.get(layout)
    if buffer is None or prepared is None:
        shape = geometry.shape(value.shape)
        elements = prod(shape)
        if buffer is None or buffer.flat.numel() < elements:
            buffer = Buffer(elements, dtype, device)
        prepared = _Prepared(buffer, shape, _strides(shape, layout[2]), geometry, place)
        buffer.keep(layout, prepared)
    prepared.write(value)
    return Lent(value, buffer.lend(prepared.shape, prepared.strides), geometry, place, key, buffer)


class _Prepared:
    """The views of a buffer that one layout is written through."""

    def __init__(
        self, buffer: Buffer, shape: list[int], strides: list[int], geometry: LeafGeometry, place: str
    ) -> None:
        self.shape = shape
        self.strides = strides
        whole = torch.as_strided(buffer.flat, shape, strides)
        self.real: list[tuple[torch.Tensor, Mapping[int, tuple[int, int]] | None]] = []
        regions = geometry.regions()
        for inside, outside in regions:
            self.real.append((_cut(whole, inside), None if len(regions) == 1 else outside))
        self.constant: list[tuple[torch.Tensor, Any, torch.Tensor | None]] = []
        for filled in geometry.fills:
            axis = geometry.axes[filled.axis]
            for start, length in axis.final(filled.insertion):
                slots = whole.narrow(filled.axis, start, length)
                if isinstance(filled.value, Edge):
                    at = axis.final_edge(filled.insertion)
                    if at is None:
                        raise no_edge(filled.bucket, place, filled.axis)
                    self.constant.append((slots, None, whole.narrow(filled.axis, at, 1).expand_as(slots)))
                elif isinstance(filled.value, tuple):
                    row = row_in(filled.value, slots, filled.axis, filled.bucket, place)
                    self.constant.append((slots, None, row))
                else:
                    self.constant.append((slots, number_in(filled.value, slots.dtype, filled.bucket, place), None))

    def write(self, value: torch.Tensor) -> None:
        for into, outside in self.real:
            into.copy_(value if outside is None else _cut(value, outside))
        for slots, number, source in self.constant:
            if source is None:
                slots.fill_(number)
            else:
                slots.copy_(source)


def _new(value: torch.Tensor, geometry: LeafGeometry, place: str) -> torch.Tensor:
    """Returns ``value`` padded by operations that autograd and subclasses see."""
    if torch.is_inference_mode_enabled():  # changes of an inference tensor are not counted
        with torch.inference_mode(False), torch.no_grad():
            return _new(value, geometry, place)
    padded = value
    for filled in geometry.fills:
        padded = _grown(padded, filled, place)
    return padded


def _grown(value: torch.Tensor, filled: Filled, place: str) -> torch.Tensor:
    axis, insertion = filled.axis, filled.insertion
    shape = list(value.shape)
    shape[axis] = insertion.length
    slots: torch.Tensor
    if isinstance(filled.value, Edge):
        if insertion.edge is None:
            raise no_edge(filled.bucket, place, axis)
        slots = value.narrow(axis, max(insertion.start - 1, 0), 1).expand(shape)
    elif isinstance(filled.value, tuple):
        empty = value.detach().new_empty(shape)
        slots = row_in(filled.value, empty, axis, filled.bucket, place).expand(shape)
    else:
        number = number_in(filled.value, value.dtype, filled.bucket, place)
        slots = value.detach().new_full(shape, number)
    before = value.narrow(axis, 0, insertion.start)
    after = value.narrow(axis, insertion.start, value.shape[axis] - insertion.start)
    return torch.cat([before, slots, after], axis)


def _cut(tensor: torch.Tensor, where: Mapping[int, tuple[int, int]]) -> torch.Tensor:
    for axis, (start, length) in where.items():
        tensor = tensor.narrow(axis, start, length)
    return tensor


def _is_plain(value: torch.Tensor) -> bool:
    """Returns whether nothing but its numbers matters: no gradient, no transform, no class of its own."""
    return (
        type(value) in _PLAIN
        and not (value.requires_grad and torch.is_grad_enabled())
        and not retrieve_all_functorch_interpreters()
        and torch.autograd.forward_ad._current_level < 0
    )


def _share(left: torch.Tensor, right: torch.Tensor) -> bool:
    try:
        return bool(left.untyped_storage()._cdata == right.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):  # a tensor of a kind that has none
        return left is right


def _changes(tensor: torch.Tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # an inference tensor does not count; ours are none
        return -1


def _order(value: torch.Tensor) -> tuple[int, ...] | None:
    """Returns the axes from the largest stride to the smallest, or None where they are in order."""
    if value.is_contiguous():
        return None
    strides = value.stride()
    if any(stride == 0 and size > 1 for stride, size in zip(strides, value.shape, strict=True)):
        return None  # expanded: it has no order
    order = tuple(sorted(range(value.dim()), key=lambda axis: -strides[axis]))
    return None if order == tuple(range(value.dim())) else order


def _strides(shape: Sequence[int], order: Sequence[int] | None) -> list[int]:
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return strides


__all__ = ["Lent", "lend"]
