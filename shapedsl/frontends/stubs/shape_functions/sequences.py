"""Items and parts of shapes, from either end of a block of unknown length."""

from __future__ import annotations

from collections.abc import Sequence

from . import sums
from .answers import Stop
from .logic import compare
from .sums import Number, Sum
from .values import Block, Slice, Span, Value, has_blocks, lengths, rank, text


def pick(sequence: Value, index: Value) -> Value:
    """Returns ``sequence[index]``.

    Raises:
        Stop: There is no such item, or which one it is is not known.
    """
    if not isinstance(sequence, tuple):
        raise Stop(f"an item of {text(sequence)}")
    match index:
        case int() if not has_blocks(sequence):
            if -len(sequence) <= index < len(sequence):
                return sequence[index]
            raise Stop(f"{text(sequence)} has no item {index}")
        case int() | Sum():
            place = _place(sequence, index)
            if place is not None and place < len(sequence) and not isinstance(sequence[place], Block):
                return sequence[place]
        case Span(start=start, length=length):
            place = _place(sequence, start)
            if place is not None and place < len(sequence):
                entry = sequence[place]
                if isinstance(entry, Block) and entry.length == length:
                    return entry
        case _:
            pass
    raise Stop(f"which dim of {text(sequence)} has the index {text(index)} is not known")


def _place(shape: Sequence[Value], index: Number) -> int | None:
    """Returns before which entry of a shape the dim ``index`` begins; None if it is not known."""
    _, high = sums.bounds(index)
    if high is not None and high < 0:
        index = sums.add(index, rank(shape))
    offset: Number = 0
    for place, number in enumerate((*lengths(shape), 0)):
        if compare("==", offset, index) is True:
            return place
        offset = sums.add(offset, number)
    return None


def cut(sequence: Value, part: Slice) -> Value:
    """Returns ``sequence[start:stop:step]``.

    Raises:
        Stop: Where it begins or ends is not known.
    """
    match sequence, part:
        case tuple(), Slice(start=int() | None as start, stop=int() | None as stop, step=int() | None as step):
            if step == 0:
                raise Stop("a step of 0")
            if not has_blocks(sequence):
                return sequence[start:stop:step]
        case tuple(), Slice(start=int() | Sum() | None, stop=int() | Sum() | None, step=None | 1):
            pass
        case _:
            raise Stop(f"a part of {text(sequence)} that is not known")
    if part.step not in (None, 1):
        raise Stop(f"steps of {text(part.step)} through {text(sequence)}")
    first = 0 if part.start is None else _edge(sequence, part.start)
    last = len(sequence) if part.stop is None else _edge(sequence, part.stop)
    return sequence[first:last]


def _edge(shape: tuple[Value, ...], index: Number) -> int:
    """Returns the place of a bound, which Python moves to the nearest end if it lies outside."""
    total = rank(shape)
    _, high = sums.bounds(index)
    if high is not None and high < 0:
        index = sums.add(index, total)
    if compare("<", index, 0) is True:
        return 0
    if compare(">=", index, total) is True:
        return len(shape)
    place = _place(shape, index) if compare(">=", index, 0) is True else None
    if place is None:
        raise Stop(f"where {text(index)} stands in {text(shape)} is not known")
    return place
