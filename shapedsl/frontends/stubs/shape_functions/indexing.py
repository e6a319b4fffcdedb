"""What is left of a shape when a tensor is indexed: ``x[:, 0, None, 1:n]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import sums
from .answers import Refused, Stop
from .broadcasting import broadcast_all
from .pythons import sequence
from .sums import Number, Sum
from .values import UNKNOWN, Block, IndexTensor, Slice, Unknown, Value, has_blocks, text

if TYPE_CHECKING:
    from .interpret import Machine

Shape = tuple[Value, ...]


def index_shape(_: Machine, shape: Value, index: Value) -> Value:
    """Returns the shape of a tensor under an index.

    An index is an int, `Slice`, None, ``...``, `IndexTensor`, or a tuple of these.

    Raises:
        Refused: There is no such item.
        Stop: It is not known what is indexed.
    """
    dims = sequence(shape)
    parts: tuple[Value, ...] = index if isinstance(index, tuple) else (index,)
    dots = [place for place, part in enumerate(parts) if isinstance(part, Block) and not part.stated]
    if len(dots) > 1:
        raise Refused("an index can have one `...`")
    if dots:
        front, back = parts[: dots[0]], parts[dots[0] + 1 :]
    else:
        front, back = parts, ()
    before, after = _taken(front), _taken(back)
    if has_blocks(dims[:before]) or (after and has_blocks(dims[len(dims) - after :])):
        raise Stop(f"which dims of {text(dims)} are indexed is not known")
    if before + after > len(dims):
        raise Refused(f"too many indices for {text(dims)}")
    return _Indexed(dims, front, back, len(dims) - after).result()


def _taken(parts: Shape) -> int:
    """Returns how many dims indices take."""
    return sum(
        0 if part is None else len(part.shape) if isinstance(part, IndexTensor) and part.mask else 1 for part in parts
    )


class _Indexed:
    """Goes through the dims of a tensor and its indices. Tensors among them broadcast to one run of dims."""

    def __init__(self, dims: Shape, front: Shape, back: Shape, behind: int) -> None:
        self._dims = dims
        self._found: list[Value] = []
        self._tensors: list[Shape] = []
        self._runs: list[int] = []  # where in `_found` tensors stand
        place = 0
        for part in front:
            place += self._index(part, place)
        self._found.extend(dims[place:behind])
        place = behind
        for part in back:
            place += self._index(part, place)

    def _index(self, part: Value, place: int) -> int:
        """Indexes the dims from ``place`` on; returns how many."""
        match part:
            case None:
                self._found.append(1)
                return 0
            case bool():
                raise Stop("a bool as an index")
            case int() | Sum():
                self._check(part, self._dims[place])
                return 1
            case Slice():
                self._found.append(_part(self._dims[place], part))
                return 1
            case IndexTensor(shape=shape, mask=False):
                self._runs.append(len(self._found))
                self._tensors.append(shape)
                return 1
            case _:
                raise Stop(f"the index {text(part)}")

    def _check(self, index: Number, dim: Value) -> None:
        if isinstance(index, int) and isinstance(dim, int) and not -dim <= index < dim:
            raise Refused(f"index {index} is out of range for size {dim}")

    def result(self) -> Shape:
        """Returns the dims that are left."""
        if not self._tensors:
            return tuple(self._found)
        start = self._runs[0] if len(set(self._runs)) == 1 else 0  # tensors apart from each other: in front
        return (*self._found[:start], *broadcast_all(self._tensors), *self._found[start:])


def _part(dim: Value, part: Slice) -> Value:
    """Returns the size of ``dim`` under a slice; of a size that is 0 or more, as all sizes of tensors are."""
    bounds = (part.start, part.stop, part.step)
    if bounds == (None, None, None) or bounds == (0, None, None):
        return dim
    if isinstance(dim, (Unknown, Block)) or any(isinstance(bound, Unknown) for bound in bounds):
        return UNKNOWN
    if not isinstance(dim, (int, Sum)):
        raise Stop(f"a slice of {text(dim)}")
    step = 1 if part.step is None else part.step
    if not isinstance(step, int) or step < 1:
        raise Refused("the step of a slice must be positive")
    return sums.floor_divide(sums.add(_extent(dim, part.start, part.stop), step - 1), step)


def _extent(dim: Number, start: Value, stop: Value) -> Number:
    """Returns how many of ``dim`` positions lie between two bounds; simple ones in simple words."""
    if start is None or start == 0:
        return dim if stop is None else _bound(stop, dim)
    if stop is None and isinstance(start, int):
        return sums.least(dim, -start) if start < 0 else sums.greatest(sums.subtract(dim, start), 0)
    end = dim if stop is None else _bound(stop, dim)
    return sums.greatest(sums.subtract(end, _bound(start, dim)), 0)


def _bound(bound: Value, dim: Number) -> Number:
    if not isinstance(bound, int):
        raise Stop(f"the sizes do not decide whether {text(bound)} is negative")
    if bound < 0:
        return sums.greatest(sums.add(dim, bound), 0)
    return sums.least(dim, bound)
