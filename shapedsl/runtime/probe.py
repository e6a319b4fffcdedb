"""Generate the expression that tells structures apart: None-ness, lengths, ranks, omitted defaults.

It is finer than `Expanded.structure` (every rank that a variadic shows in is looked at), and cheap.
A signature without open structure has none.

Before::

    def f(x: Tensor[*batch, D], mask: Tensor[D] | None, kvs: [KV, ...])

After::

    (len(x.shape), mask is None, len(kvs))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from ..ir import (
    Attribute,
    Ellipsis,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Rest,
    SequenceType,
    Signature,
    TensorType,
    Type,
    Variadic,
)
from ..ir.walk import subtypes
from .code import Code


class Probe:
    """What is open in one signature."""

    def __init__(self, signature: Signature) -> None:
        self._ranks = {name for name, _ in signature.ranks}

    def is_open(self, type_: Type) -> bool:
        """Returns whether values of ``type_`` may differ in structure."""
        return self.opens(type_) or any(self.is_open(inner) for inner in subtypes(type_))

    def opens(self, type_: Type) -> bool:
        """Returns whether values of ``type_`` may differ in structure, what is inside them left aside."""
        match type_:
            case OptionalType():
                return True
            case TensorType(dims=dims) if dims is not None:
                return any(
                    isinstance(dim, Ellipsis) or (isinstance(dim, Variadic) and dim.name not in self._ranks)
                    for dim in dims
                )
            case SequenceType():
                return type_.rest is not Rest.NONE or (type_.times is not None and not hasattr(type_.times, "value"))
            case _:
                return False

    def parts(self, type_: Type, value: str, code: Code) -> Iterator[str]:
        """Yields Python expressions whose values tell the structures of ``type_`` apart.

        Args:
            type_: The declared type.
            value: The Python expression of the value.
            code: The function in which the text will stand.
        """
        if not self.is_open(type_):
            return
        match type_:
            case OptionalType(inner=inner):
                inside = ", ".join(self.parts(inner, value, code))
                yield f"{value} is None or ({inside},)" if inside else f"{value} is None"
            case TensorType():
                yield f"{code.use(len, 'len')}({value}.shape)"
            case SequenceType(items=items):
                if self.opens(type_):
                    yield f"{code.use(len, 'len')}({value})"
                if type_.rest is Rest.REPEAT or type_.times is not None:
                    if any(self.is_open(item) for item in items):
                        yield f"{code.use(self.reader(type_), 'structure')}({value})"
                else:
                    for index, item in enumerate(items):
                        yield from self.parts(item, code.step(value, Item(index)), code)
            case MappingType(entries=entries):
                for key, entry in entries:
                    at = f"{value}.get({key!r})" if isinstance(entry, OptionalType) else code.step(value, Item(key))
                    yield from self.parts(entry, at, code)
            case ObjectType(fields=fields):
                for name, inner in fields:
                    yield from self.parts(inner, code.step(value, Attribute(name)), code)
            case _:
                pass

    def reader(self, type_: Type) -> Callable[[object], object]:
        """Returns a function that reads the structure of a value, for what is open inside a repeated sequence."""
        return lambda value: self._read(type_, value)

    def _read(self, type_: Type, value: Any) -> object:
        match type_:
            case OptionalType(inner=inner):
                return value is None or (self._read(inner, value),)
            case TensorType():
                return len(value.shape) if self.opens(type_) else None
            case SequenceType(items=items):
                values = cast("list[Any]", value)
                return len(values), *(
                    self._read(items[at % len(items)], each) for at, each in enumerate(values) if items
                )
            case MappingType(entries=entries):
                mapping = cast("Mapping[str | int, Any]", value)
                return tuple(self._read(entry, mapping.get(key)) for key, entry in entries)
            case ObjectType(fields=fields):
                return tuple(self._read(inner, getattr(value, name)) for name, inner in fields)
            case _:
                return None
