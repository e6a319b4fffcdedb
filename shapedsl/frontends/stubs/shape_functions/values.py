"""The values that shape functions compute with, and the way from the IR's dims to them and back.

A shape is a tuple. Among its sizes may stand a `Block` for the dims of a variadic, of which nothing is known,
not even how many there are; a size that is not known is `Unknown`. Comparing what is not known gives neither
true nor false but `Undecided`, which says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ....ir import Apply, Const, Dim, Ellipsis, Fresh, Static, Var, Variadic
from ....ir.write_sizes import write_dim
from . import sums
from .answers import Answer, Stop
from .sums import Number, Sum


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value of which nothing is known; as a size of a result it is written ``dim``."""

    dim: Dim = field(default_factory=Static)


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Block:
    """The dims of a variadic, or (``stated`` is false) any number of unknown dims, which are only like themselves."""

    name: str
    stated: bool = True

    @property
    def length(self) -> Sum:
        """How many dims it stands for."""
        return sums.length(self.name)


@dataclass(frozen=True, slots=True)
class Span:
    """Each of the ints from ``start`` up to ``start + length``, not included: a loop variable over a block."""

    start: Number
    length: Sum

    @property
    def stop(self) -> Number:
        """The int behind the last."""
        return sums.add(self.start, self.length)


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither true nor false."""

    reason: str


@dataclass(frozen=True, slots=True)
class SymbolicRange:
    """``range`` over as many ints as variadics have dims."""

    start: Number
    stop: Number


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step``, as an index of a shape or of a tensor; of values, or in an argument of the IR's sizes."""

    start: Any = None
    stop: Any = None
    step: Any = None


@dataclass(frozen=True, slots=True)
class IndexTensor:
    """A tensor as an index of a tensor: ints, or a mask of bools; of values, or in an argument of the IR's dims."""

    shape: tuple[Any, ...]
    mask: bool = False


Value: TypeAlias = (
    int
    | str
    | Sum
    | Unknown
    | Block
    | Span
    | Undecided
    | SymbolicRange
    | Slice
    | IndexTensor
    | Mapping[str, "Value"]
    | tuple["Value", ...]
    | None
)
Argument: TypeAlias = (
    int
    | str
    | Const
    | Var
    | Apply
    | Variadic
    | Static
    | Ellipsis
    | Fresh
    | Unknown
    | Slice
    | IndexTensor
    | Mapping[str, "Argument"]
    | Sequence["Argument"]
    | None
)


class Names:
    """Gives names to blocks that stand for any dims, so that two of them are never alike."""

    def __init__(self) -> None:
        self._count = 0

    def block(self) -> Block:
        """Returns a block that is like no other."""
        self._count += 1
        return Block(f"...{self._count}", stated=False)


def take_in(argument: Argument, names: Names) -> Value:
    """Returns an argument as a value.

    Raises:
        Stop: It is nothing that a shape function can be called with.
    """
    match argument:
        case None | int() | str() | Unknown():
            return argument
        case Const(value=value):
            return value
        case Var() | Apply():
            return sums.from_size(argument)
        case Variadic(name=name):
            return Block(name)
        case Static() | Fresh():
            return Unknown(argument)
        case Ellipsis():
            return names.block()
        case Slice(start=start, stop=stop, step=step):
            return Slice(take_in(start, names), take_in(stop, names), take_in(step, names))
        case IndexTensor(shape=shape, mask=mask):
            return IndexTensor(tuple(take_in(dim, names) for dim in shape), mask)
        case Mapping():
            return {name: take_in(value, names) for name, value in argument.items()}
        case Sequence():
            return tuple(take_in(item, names) for item in argument)
        case _:
            raise Stop(f"a {type(argument).__name__} is no argument of shape functions")


def give_back(value: Value, *, top: bool = True) -> Answer:
    """Returns a value as dims of the IR.

    Raises:
        Stop: It is no size, no shape and no tuple of shapes.
    """
    match value:
        case bool() | None:
            raise Stop(f"the result is {value}, no size and no shape")
        case int() | Sum() | Unknown():
            return _dim(value)
        case tuple() if top and any(isinstance(item, tuple) for item in value):
            return tuple(give_back(item, top=False) for item in value)  # type: ignore[return-value]
        case tuple():
            return tuple(_dim(item) for item in value)
        case _:
            raise Stop(f"the result is {text(value)}, no size and no shape")


def _dim(value: Value) -> Dim:
    match value:
        case bool() | None:
            raise Stop(f"the result has a dim that is {value}")
        case int():
            return Const(value)
        case Sum():
            return Static() if sums.is_ranked(value) else sums.to_size(value)
        case Unknown(dim=dim):
            return dim
        case Block(name=name, stated=stated):
            return Variadic(name) if stated else Ellipsis()
        case _:
            raise Stop(f"the result has a dim that is {text(value)}")


def text(value: Value) -> str:
    """Returns a value as messages quote it."""
    match value:
        case Sum():
            return value.key if sums.is_ranked(value) else write_dim(sums.to_size(value))
        case Unknown(dim=dim):
            return write_dim(dim)
        case Block(name=name, stated=stated):
            return f"*{name}" if stated else "..."
        case Span(start=start):
            return f"each int from {text(start)} on"
        case Undecided():
            return "undecided"
        case SymbolicRange(start=start, stop=stop):
            return f"range({text(start)}, {text(stop)})"
        case tuple():
            return f"({', '.join(map(text, value))}{',' * (len(value) == 1)})"
        case Slice() | IndexTensor() | Mapping():
            return "an index"
        case _:
            return repr(value)


def lengths(shape: Sequence[Value]) -> Iterator[Number]:
    """Yields, for each entry of a shape, how many dims it stands for."""
    for entry in shape:
        yield entry.length if isinstance(entry, Block) else 1


def rank(shape: Sequence[Value]) -> Number:
    """Returns how many dims a shape has."""
    total: Number = 0
    for number in lengths(shape):
        total = sums.add(total, number)
    return total


def has_blocks(shape: Sequence[Value]) -> bool:
    """Returns whether the number of a shape's dims is not known."""
    return any(isinstance(entry, Block) for entry in shape)


def weight(value: Value) -> int:
    """Returns how much there is of a value, for what looks at all of it."""
    match value:
        case tuple():
            return len(value) + sum(map(weight, value))
        case Sum(terms=terms):
            return len(terms)
        case _:
            return 0


def join(left: Value, right: Value) -> Value:
    """Returns what is known where a value is one of two: sizes on which they differ are unknown.

    Raises:
        Stop: They are not even of one form.
    """
    if left == right and not isinstance(left, Unknown):
        return left
    match left, right:
        case (bool(), _) | (_, bool()):
            pass
        case (int() | Sum() | Unknown(), int() | Sum() | Unknown()):
            return UNKNOWN
        case (tuple(), tuple()) if len(left) == len(right):
            return tuple(map(join, left, right))
        case _:
            pass
    raise Stop(f"it would be {text(left)} or {text(right)}")


Builtin: TypeAlias = Callable[..., Value]
