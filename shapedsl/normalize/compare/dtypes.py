"""Which dtypes a tensor may have, and which tensors must have the same one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ...ir import (
    Attribute,
    Dtype,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Param,
    Path,
    SequenceType,
    TensorType,
    Type,
)
from ...ir.dtypes import DTYPES

_PREFIXES = {
    "floating": ("float", "bfloat"),
    "complexfloating": ("complex", "bcomplex"),
    "integral": ("int", "uint"),  # bool is a dtype of its own; qint8 and bits8 are no numbers
}


@cache
def members(name: str | None) -> frozenset[str]:
    """Returns the dtypes that a name admits; all of them for None."""
    if name is None:
        return DTYPES
    if name == "number":
        return frozenset().union(*map(members, _PREFIXES))
    if name in _PREFIXES:
        return frozenset(dtype for dtype in DTYPES if dtype.startswith(_PREFIXES[name]))
    return frozenset((name,))


def dtypes_of(params: tuple[Param, ...]) -> Iterator[tuple[str, TensorType]]:
    """Yields each tensor of parameters at one structure, with its path."""
    for param in params:
        yield from _tensors(param.type, Path(param.name))


def _tensors(type_: Type, path: Path) -> Iterator[tuple[str, TensorType]]:
    def at(step: Attribute | Item) -> Path:
        return Path(path.root, (*path.steps, step))

    match type_:
        case TensorType():
            yield str(path), type_
        case SequenceType(items=items):
            for index, item in enumerate(items):
                yield from _tensors(item, at(Item(index)))
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from _tensors(entry, at(Item(key)))
        case ObjectType(fields=fields):
            for name, inner in fields:
                yield from _tensors(inner, at(Attribute(name)))
        case OptionalType(inner=inner):
            yield from _tensors(inner, path)
        case _:
            pass


def written(dtype: Dtype | None) -> str:
    """Returns how a dtype reads; ``any dtype`` where none is demanded."""
    if dtype is None:
        return "any dtype"
    return f"{dtype.variable} (a {dtype.name})" if dtype.variable else dtype.name
