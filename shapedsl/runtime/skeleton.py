"""What of the arguments decides their structure, as plain constants; and stand-ins for arguments made from it.

Generated code that a tracer runs cannot hand tensors to what chooses a function for their structure, since
that is no part of the program: it hands over this.

Before::

    def f(x: Tensor[*batch, D], mask: Tensor[D] | None, kvs: [Tensor[N], ...])

After::

    (len(x.shape), None if mask is None else len(mask.shape), [[len(v.shape) for v in kvs]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..ir import (
    Attribute,
    Const,
    Ellipsis,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    Step,
    TensorType,
    Type,
)
from .code import Code

_MISSING = "missing"


class StandIn:
    """A tensor of which only the rank is known."""

    def __init__(self, rank: int) -> None:
        self.shape = (0,) * rank


class _Attributes:
    def __init__(self, values: Mapping[str, object]) -> None:
        vars(self).update(values)


def is_stand_in(value: object) -> bool:
    """Returns whether ``value`` stands for a tensor."""
    return isinstance(value, StandIn)


def skeleton(type_: Type, value: str, code: Code) -> str:
    """Returns a Python expression of constants that `stand_in` makes a value of that structure of.

    Args:
        type_: The declared type.
        value: The Python expression of the value.
        code: The function in which the text will stand.
    """
    match type_:
        case OptionalType(inner=inner):
            return f"(None if {value} is None else {skeleton(inner, value, code)})"
        case TensorType():
            return f"{code.use(len, 'len')}({value}.shape)"
        case SequenceType(items=items) if _is_repeated(type_):
            each = code.local("each")
            parts = [
                f"[{skeleton(item, each, code)} for {each} in {value}[{index}::{len(items)}]]"
                for index, item in enumerate(items)
            ]
            return f"({code.use(len, 'len')}({value}), {''.join(f'{part}, ' for part in parts)})"
        case SequenceType(items=items):
            parts = [skeleton(item, code.step(value, Item(index)), code) for index, item in enumerate(items)]
            return f"({code.use(len, 'len')}({value}), {''.join(f'{part}, ' for part in parts)})"
        case MappingType(entries=entries):
            parts = [
                f"({skeleton(entry, code.step(value, Item(key)), code)} if {key!r} in {value} else {_MISSING!r})"
                for key, entry in entries
            ]
            return f"({''.join(f'{part}, ' for part in parts)})"
        case ObjectType(fields=fields):
            parts = [skeleton(inner, code.step(value, Attribute(name)), code) for name, inner in fields]
            return f"({''.join(f'{part}, ' for part in parts)})"
        case _:
            return "0"


def stand_in(type_: Type, found: object) -> object:
    """Returns a value with the structure that `skeleton` wrote down."""
    match type_:
        case OptionalType(inner=inner):
            return None if found is None else stand_in(inner, found)
        case TensorType():
            return StandIn(cast("int", found))
        case ScalarType():
            return 0
        case SequenceType(items=items):
            length, *repeats = cast("Sequence[Any]", found)
            values: list[object] = [None] * length
            for index, (item, part) in enumerate(zip(items, repeats, strict=True)):
                if _is_repeated(type_):
                    values[index :: len(items)] = [stand_in(item, each) for each in part]
                else:
                    values[index] = stand_in(item, part)
            return values
        case MappingType(entries=entries):
            parts = cast("Sequence[object]", found)
            return {
                key: stand_in(entry, part)
                for (key, entry), part in zip(entries, parts, strict=True)
                if part != _MISSING
            }
        case ObjectType(fields=fields):
            parts = cast("Sequence[object]", found)
            return _Attributes({name: stand_in(inner, part) for (name, inner), part in zip(fields, parts, strict=True)})
        case _:
            return None


def smallest(type_: Type) -> object:
    """Returns a stand-in for a value of ``type_``: what may be absent is there, what may be repeated is there once."""
    match type_:
        case OptionalType(inner=inner):
            return smallest(inner)
        case TensorType(dims=dims):
            return StandIn(sum(not isinstance(dim, Ellipsis) for dim in dims or ()))
        case ScalarType():
            return 0
        case SequenceType(items=items, times=times):
            return [smallest(item) for item in items * (times.value if isinstance(times, Const) else 1)]
        case MappingType(entries=entries):
            return {key: smallest(entry) for key, entry in entries}
        case ObjectType(fields=fields):
            return _Attributes({name: smallest(inner) for name, inner in fields})
        case _:
            return None


def value_of(value: object, step: Step) -> object:
    """Returns a part of a stand-in."""
    part: object = getattr(value, step.name) if isinstance(step, Attribute) else cast("Any", value)[step.key]
    return part


def _is_repeated(type_: SequenceType) -> bool:
    return type_.rest is Rest.REPEAT or type_.times is not None
