"""The functions of Python that shape functions call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Final

from . import sums
from .answers import Stop
from .logic import any_of, negate, truth
from .sums import Number, Sum
from .values import UNKNOWN, Block, Builtin, SymbolicRange, Unknown, Value, has_blocks, rank, text

if TYPE_CHECKING:
    from .interpret import Machine


def sequence(value: Value) -> tuple[Value, ...]:
    """Returns a value as a tuple.

    Raises:
        Stop: It is none.
    """
    if isinstance(value, tuple):
        return value
    raise Stop(f"{text(value)} is no sequence whose items are known")


def number(value: Value) -> Number | None:
    """Returns a value as an int; None if it is one that is not known.

    Raises:
        Stop: It is none.
    """
    match value:
        case int() | Sum():
            return value
        case Unknown():
            return None
        case _:
            raise Stop(f"{text(value)} is no single int")


def _len(_: Machine, value: Value) -> Value:
    return len(value) if isinstance(value, str) else rank(sequence(value))


def _range(machine: Machine, first: Value, second: Value = None, step: Value = 1) -> Value:
    start, stop = (0, first) if second is None else (first, second)
    match start, stop, step:
        case int(), int(), int() if step != 0:
            found = range(start, stop, step)
            machine.work(len(found))
            return tuple(found)
        case int() | Sum(), int() | Sum(), 1:
            return SymbolicRange(start, stop)
        case _:
            raise Stop(f"`range` from {text(start)} to {text(stop)} by {text(step)}")


def _tuple(_: Machine, value: Value = ()) -> Value:
    return sequence(value)


def _zip(_: Machine, *values: Value) -> Value:
    return tuple(_rows([sequence(value) for value in values]))


def _rows(columns: list[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
    if not columns:
        return
    for row in zip(*columns, strict=False):
        blocks = {item.length for item in row if isinstance(item, Block)}
        if len(blocks) > 1 or (blocks and not all(isinstance(item, Block) for item in row)):
            raise Stop(f"which dims of {' and '.join(map(text, columns))} belong together is not known")
        yield row
    shortest = min(map(len, columns))
    if any(len(column) > shortest and has_blocks(column[shortest:]) for column in columns):
        return  # what is behind the end of another is not looked at, however much it is


def _enumerate(_: Machine, values: Value, start: Value = 0) -> Value:
    items = sequence(values)
    if has_blocks(items) or not isinstance(start, int):
        raise Stop(f"`enumerate` of {text(values)}")
    return tuple(enumerate(items, start))


def _reversed(_: Machine, values: Value) -> Value:
    items = sequence(values)
    if has_blocks(items):
        raise Stop(f"`reversed` of {text(values)}")  # a block reversed is another block
    return items[::-1]


def _folded(name: str, fold: Callable[[Number, Number], Number]) -> Builtin:
    def builtin(_: Machine, *values: Value) -> Value:
        items = sequence(values[0]) if len(values) == 1 else values
        if has_blocks(items) or not items:
            raise Stop(f"`{name}` of {text(items)}")
        found = [number(item) for item in items]
        known = [item for item in found if item is not None]
        return reduce(fold, known) if len(known) == len(found) else UNKNOWN

    return builtin


def _sum(_: Machine, values: Value, start: Value = 0) -> Value:
    return total((*sequence(values), start))


def total(items: tuple[Value, ...]) -> Value:
    """Returns the sum of sizes."""
    if has_blocks(items):
        return UNKNOWN
    result: Number = 0
    for item in items:
        value = number(item)
        if value is None:
            return UNKNOWN
        result = sums.add(result, value)
    return result


def _any(_: Machine, values: Value) -> Value:
    return any_of(map(truth, sequence(values)))


def _all(_: Machine, values: Value) -> Value:
    return negate(any_of(negate(truth(value)) for value in sequence(values)))


def _abs(_: Machine, value: Value) -> Value:
    known = number(value)
    return UNKNOWN if known is None else sums.greatest(known, sums.multiply(known, -1))


def _int(_: Machine, value: Value) -> Value:
    known = number(value)
    if known is None:
        return UNKNOWN
    return int(known) if isinstance(known, int) else known


def _bool(_: Machine, value: Value) -> Value:
    return truth(value)


PYTHON: Final[dict[str, Builtin]] = {
    "len": _len,
    "range": _range,
    "tuple": _tuple,
    "list": _tuple,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _reversed,
    "min": _folded("min", sums.least),
    "max": _folded("max", sums.greatest),
    "sum": _sum,
    "any": _any,
    "all": _all,
    "abs": _abs,
    "int": _int,
    "bool": _bool,
}
