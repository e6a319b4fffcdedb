"""Pad one tensor: into a buffer that is used again, or, where autograd or a subclass must see it, by new tensors.

Before and after, ``x`` of 3 rows padded to 4 with 0, then run by a callee that adds 1 to it::

    buffer route      copy rows 0 to 2 into memory we have, write row 3
    new route         torch.cat((x, zeros)): gradients flow back through it
    afterwards        rows 0 to 2 of the padded tensor are copied back to x, since it was written to

Torch compiles again for a tensor of other strides or another class, for one that requires gradients, and for one
that was made in inference mode. So a tensor that is as large as a member already goes to the callee only if it is
what padding would have made; else as a view that is, or a copy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, Final

import torch
from torch.autograd import forward_ad

from ...ir import Edge
from ...runtime.slots import wrong_pad
from .buffers import Buffer, Pool, memory_of, stream_of
from .fills import no_edge, number_in, row_in
from .geometry import Filled, LeafGeometry

MOST_LAYOUTS: Final = 64  # of one geometry

_is_inference = torch.is_inference_mode_enabled
_is_transformed = torch._C._are_functorch_transforms_active

_PLAIN = (torch.Tensor, torch.nn.Parameter)


class Lent:
    """One tensor of a call that the callee gets another one for.

    Attributes:
        original: The caller's tensor; None between calls.
        padded: What the callee gets; None between calls.
        geometry: How it grew.
        places: The arguments that it is.
        memory: Of the buffer that ``padded`` lies in, as torch numbers it; 0 where it is in none.
    """

    __slots__ = ("_before", "_changes", "geometry", "memory", "original", "padded", "places")

    def __init__(self, geometry: LeafGeometry) -> None:
        self.geometry = geometry
        self.memory = 0
        self.original: Any = None
        self.padded: Any = None

    def begin(self, original: torch.Tensor, padded: torch.Tensor, place: str) -> None:
        """Notes what is lent to a call."""
        self.original, self.padded, self.places = original, padded, [place]
        self._changes = _changes(padded)
        self._before = _changes(original)

    @property
    def changed(self) -> bool:
        """Whether the callee wrote to it, or to a tensor that shares the memory of the caller's."""
        return _changes(self.padded) != self._changes or _changes(self.original) != self._before

    def take_back(self, others: Sequence[tuple[str, torch.Tensor]]) -> Callable[[], None]:
        """Returns what copies what the callee wrote into the real region back to the caller's tensor.

        Args:
            others: All tensors of the call, as the caller has them, with their places.

        Raises:
            ShapeError: ``wrong-pad``: another one has the same memory, and did not see the change.
        """
        padded, original = self.padded, self.original
        written = _changes(padded) != self._changes
        if share(padded, original):  # a view of it
            return _nothing
        for place, other in others:
            if place not in self.places and overlap(other, original):
                wrote, seen = (self.places[0], place) if written else (place, self.places[0])
                raise wrong_pad(
                    f"the callee writes to `{wrote}`, which shares its memory with `{seen}`, and padding parts them",
                    "pass a copy of one of them",
                )
        return partial(_copy_back, self.geometry, original, padded) if written else _nothing

    def end(self) -> None:
        """Ends the loan."""
        self.original = self.padded = None

    def drop(self) -> None:
        """Ends the loan; the memory is not used again."""
        self.original = self.padded = None


class Reused(Lent):
    """One layout of a buffer, which is lent to one call after the other."""

    __slots__ = ("buffer", "constant", "real", "stack", "whole")

    def __init__(self, buffer: Buffer, layout: Layout, geometry: LeafGeometry, place: str) -> None:
        super().__init__(geometry)
        self.stack: deque[Buffer] | None = None  # where it waits
        self.buffer = buffer
        self.memory = buffer.memory
        with torch.inference_mode(False), torch.no_grad():
            self.whole = whole = torch.as_strided(buffer.flat, layout.shape, layout.strides)
            # where real data goes, and where in the caller's tensor it is: None for all of it
            self.real: list[tuple[Callable[[torch.Tensor], object], Mapping[int, tuple[int, int]] | None]] = []
            for inside, outside in geometry.regions:
                self.real.append((_cut(whole, inside).copy_, None if len(geometry.regions) == 1 else outside))
            self.constant: list[tuple[Callable[[Any], object], Any]] = []
            for filled in geometry.fills:
                axis = geometry.axes[filled.axis]
                for start, length in axis.final(filled.insertion):
                    slots = whole.narrow(filled.axis, start, length)
                    at = axis.final_edge(filled.insertion)
                    self.constant.append(_content(filled, slots, whole, at, place))

    def begin(self, original: torch.Tensor, padded: torch.Tensor, place: str) -> None:
        """Notes what is lent to a call."""
        self.original, self.padded, self.places = original, padded, [place]
        self._changes = padded._version
        self._before = -1 if original.is_inference() else original._version

    @property
    def changed(self) -> bool:
        """See `Lent`; this one is asked in each call."""
        before = self._before
        return self.padded._version != self._changes or (before >= 0 and self.original._version != before)

    def end(self) -> None:
        """Gives the buffer back, if nobody else holds its memory."""
        self.original = self.padded = None
        if self.stack is not None and self.buffer.is_free:
            self.stack.append(self.buffer)
        else:
            self.buffer.views.clear()  # those refer to it

    def drop(self) -> None:
        """Ends the loan; the memory is not used again."""
        self.original = self.padded = None
        self.buffer.views.clear()


def lend(value: torch.Tensor, geometry: LeafGeometry, place: str, leaf: int, pool: Pool) -> Lent | None:
    """Returns ``value`` padded; None where it is what the callee gets.

    Args:
        value: The caller's.
        geometry: How it grows, if it does.
        place: What messages call it.
        leaf: Its number: two tensors of a call never share a buffer.
        pool: Where buffers come from.

    Raises:
        ShapeError: ``wrong-pad``: it cannot hold what it is to be filled with.
    """
    if value.layout is not torch.strided or value.is_nested or value.is_quantized:
        if not geometry.fills:
            return None
        raise wrong_pad(f"`{place}` is not a dense tensor, and cannot be padded", "pass a dense tensor")
    inference = _is_inference()
    if (
        type(value) not in _PLAIN
        or (value.requires_grad and not inference)
        or _is_transformed()
        or forward_ad._current_level >= 0
    ):
        made = _made(value, geometry, place, inference)
        return None if made is value else _begun(geometry, value, made, place)
    key = (leaf, value.shape, value.stride(), value.dtype, value.device)
    layout = geometry.layouts.get(key)
    if layout is None:
        if len(geometry.layouts) >= MOST_LAYOUTS:
            geometry.layouts.clear()
        layout = geometry.layouts[key] = Layout(value, geometry)
        if value.is_cpu:
            layout.stack = pool.stack((leaf, value.dtype))
    if not geometry.fills:
        own = _as_padded(value, layout, inference)
        if own is not None:
            return None if own is value else _begun(geometry, value, own, place)
    stack = layout.stack
    if stack is None:
        stack = pool.stack((leaf, value.dtype, value.device, stream_of(value.device)))
    try:
        buffer = stack.pop()
        lent = buffer.views.get(layout)
    except IndexError:
        buffer = lent = None
    if lent is None:
        if buffer is None or buffer.flat.numel() < layout.elements:
            buffer = Buffer(layout.elements, value.dtype, value.device)
        lent = Reused(buffer, layout, geometry, place)
        buffer.keep(layout, lent)
    for copy, outside in lent.real:
        copy(value if outside is None else _cut(value, outside))
    for write, what in lent.constant:
        write(what)
    lent.stack = stack
    lent.begin(value, lent.whole.detach(), place)
    return lent


def _begun(geometry: LeafGeometry, original: torch.Tensor, padded: torch.Tensor, place: str) -> Lent:
    lent = Lent(geometry)
    lent.begin(original, padded, place)
    return lent


def _copy_back(geometry: LeafGeometry, original: torch.Tensor, padded: torch.Tensor) -> None:
    for inside, outside in geometry.regions:
        _cut(original, outside).copy_(_cut(padded, inside))


class Layout:
    """How a padded tensor lies in memory: densely, with its axes in the order of the caller's.

    Attributes:
        shape, strides: Of the padded tensor.
        elements: How many it has.
        own: Whether the caller's tensor has these strides where it has this shape.
        near: Whether it has, but for axes on which strides mean nothing.
        stack: Where its buffers wait; None where that is not known from the tensor alone.
    """

    __slots__ = ("elements", "near", "own", "shape", "stack", "strides")

    def __init__(self, value: torch.Tensor, geometry: LeafGeometry) -> None:
        self.shape = geometry.shape(value.shape)
        self.strides = _strides(self.shape, _order(value))
        self.elements = prod(self.shape)
        self.stack: deque[Buffer] | None = None
        strides = value.stride()
        self.own = strides == self.strides
        pairs = zip(strides, self.strides, self.shape, strict=True)
        self.near = not self.elements or all(size == 1 or theirs == ours for theirs, ours, size in pairs)


def _content(
    filled: Filled, slots: torch.Tensor, whole: torch.Tensor, edge: int | None, place: str
) -> tuple[Callable[[Any], object], Any]:
    """Returns what writes slots, and with what."""
    if isinstance(filled.value, Edge):
        if edge is None:
            raise no_edge(filled.bucket, place, filled.axis)
        return slots.copy_, whole.narrow(filled.axis, edge, 1).expand_as(slots)
    if isinstance(filled.value, tuple):
        return slots.copy_, row_in(filled.value, slots, filled.axis, filled.bucket, place)
    return slots.fill_, number_in(filled.value, slots.dtype, filled.bucket, place)


# ---------------------------------------------------------------------------------------- tensors of a member's size


def _as_padded(value: torch.Tensor, layout: Layout, inference: bool) -> torch.Tensor | None:
    """Returns ``value``, or a view of it, that is to torch what a padded one is; None: only a copy is."""
    if not layout.near or value.is_conj() or value.is_neg():
        return None
    if value.is_inference():
        if not inference:  # autograd may save it, and would not see that it changes
            return None
        with torch.inference_mode(False):
            empty = torch.empty(0, dtype=value.dtype, device=value.device)
            return empty.set_(value.untyped_storage(), value.storage_offset(), layout.shape, layout.strides)
    if value.requires_grad or type(value) is not torch.Tensor:
        value = value.detach()
    return value if layout.own else torch.as_strided(value, layout.shape, layout.strides)


# ---------------------------------------------------------------------------------------- new tensors


def _made(value: torch.Tensor, geometry: LeafGeometry, place: str, inference: bool) -> torch.Tensor:
    """Returns ``value`` padded by operations that autograd and subclasses see; itself, if it is that already."""
    if inference:  # changes of an inference tensor are not counted
        with torch.inference_mode(False), torch.no_grad():
            return _made(value, geometry, place, inference=False)
    if not value.requires_grad or torch.is_grad_enabled():
        return _new(value, geometry, place)
    with torch.enable_grad():  # the callee may enable it, too
        return _new(value, geometry, place)


def _new(value: torch.Tensor, geometry: LeafGeometry, place: str) -> torch.Tensor:
    made = value
    for filled in geometry.fills:
        made = _grown(made, filled, place)
    if type(value) not in _PLAIN or _is_transformed():
        return made
    if type(made) is not torch.Tensor:
        made = made.view_as(made)
    layout = Layout(value, geometry)
    if made.is_conj() or made.is_neg() or made.stride() != layout.strides:
        if layout.near and not geometry.fills and not made.is_conj() and not made.is_neg():
            return torch.as_strided(made, layout.shape, layout.strides)
        return made.new_empty_strided(layout.shape, layout.strides).copy_(made)
    return made


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


# ---------------------------------------------------------------------------------------- memory


def _nothing() -> None:
    pass


def _cut(tensor: torch.Tensor, where: Mapping[int, tuple[int, int]]) -> torch.Tensor:
    for axis, (start, length) in where.items():
        tensor = tensor.narrow(axis, start, length)
    return tensor


def share(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Returns whether two tensors lie in the same memory, though maybe in other parts of it."""
    memory = memory_of(left)
    return left is right if memory < 0 else memory == memory_of(right)


def overlap(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Returns whether two tensors may have elements in common; not for slices of one that lie apart."""
    if not share(left, right) or not left.numel() or not right.numel():
        return False
    rows = {_WHOLE, *(stride * each.element_size() for each in (left, right) for stride in each.stride() if stride)}
    for row in rows:
        ours, theirs = _window(left, row), _window(right, row)
        if ours and theirs and (ours[1] <= theirs[0] or theirs[1] <= ours[0]):
            return False
    return True


_WHOLE: Final = 1 << 62  # a row that no memory is longer than


def _window(tensor: torch.Tensor, row: int) -> tuple[int, int] | None:
    """Returns which bytes of each ``row`` of bytes a tensor has elements in, begin and end, if it is the same in all."""
    size = tensor.element_size()
    steps = [(n - 1, stride * size) for n, stride in zip(tensor.shape, tensor.stride(), strict=True) if n > 1]
    if any(stride >= row and stride % row for _, stride in steps):
        return None
    start = int(tensor.storage_offset()) * size % row
    end = start + size + sum(count * stride for count, stride in steps if stride < row)
    return (start, end) if end <= row else None


def _changes(tensor: torch.Tensor) -> int:
    return -1 if tensor.is_inference() else tensor._version  # an inference tensor does not count


def _order(value: torch.Tensor) -> tuple[int, ...] | None:
    """Returns the axes from the largest stride to the smallest, or None where they are in order.

    Axes of size 1 have their place, too: other calls have more there.
    """
    strides = value.stride()
    if 0 in strides:  # expanded: it has no order
        return None
    order = tuple(sorted(range(len(strides)), key=lambda axis: -strides[axis]))
    return None if order == tuple(range(len(strides))) else order


def _strides(shape: Sequence[int], order: Sequence[int] | None) -> tuple[int, ...]:
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


__all__ = ["Layout", "Lent", "lend", "overlap", "share"]
