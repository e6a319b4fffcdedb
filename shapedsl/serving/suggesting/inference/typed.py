"""Merged structures, whose sizes are decided → types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ....ir import (
    AnyType,
    Const,
    Dim,
    Dtype,
    Ellipsis,
    Fresh,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    Static,
    TensorType,
    Type,
)
from ....ir.dtypes import DTYPES
from .merged import (
    Column,
    EntriesShape,
    IntShape,
    NoneShape,
    OptionalShape,
    SequenceShape,
    Shape,
    StaticShape,
    TensorShape,
)


class Typer:
    """Writes types.

    Args:
        size: What a column is.
        notes: Receives what cannot be said, one line each.
        returned: Whether these are outputs, of which None is a type of its own.
    """

    def __init__(self, size: Callable[[Column], Dim], notes: list[str], *, returned: bool = False) -> None:
        self._size = size
        self._notes = notes
        self._returned = returned

    def type(self, shape: Shape) -> Type:
        """Returns the type of a merged structure."""
        match shape:
            case TensorShape(dtypes=dtypes, columns=None, ranks=ranks):
                self._notes.append(f"a tensor of {' or '.join(map(str, ranks))} dims is written without its dims")
                return TensorType(None, dtype_of(dtypes))
            case TensorShape(dtypes=dtypes, columns=columns):
                assert columns is not None
                return TensorType(tuple(map(self._size, columns)), dtype_of(dtypes))
            case IntShape(column=column):
                size = self._size(column)
                return ScalarType(None if isinstance(size, (Static, Fresh, Ellipsis, Const)) else size)
            case SequenceShape(kind=kind, items=items, repeat=True):
                return SequenceType(kind, (self.type(items[0]),), Rest.REPEAT)
            case SequenceShape(kind=kind, items=items):
                types = tuple(map(self.type, items))
                if len(types) > 2 and all(each == types[0] for each in types):
                    return SequenceType(kind, types[:1], times=Const(len(types)))
                return SequenceType(kind, types)
            case EntriesShape(name=None, entries=entries):
                return MappingType(tuple((key, self.type(entry)) for key, entry in entries))
            case EntriesShape(name=name, entries=entries):
                return ObjectType(tuple((str(key), self.type(entry)) for key, entry in entries), name or "object")
            case OptionalShape(inner=inner):
                made = self.type(inner)
                return made if isinstance(made, AnyType) else OptionalType(made)
            case NoneShape():
                return NoneType() if self._returned else AnyType()
            case StaticShape(why=why):
                if why:
                    self._notes.append(f"an argument {why}; it is written `_`")
                return AnyType()


def dtypes_by_path(shapes: Iterable[Shape]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the dtypes of each tensor by its path."""
    for shape in shapes:
        match shape:
            case TensorShape(dtypes=dtypes, columns=columns) if columns:
                yield str(columns[0].path), dtypes
            case SequenceShape(items=items):
                yield from dtypes_by_path(items)
            case EntriesShape(entries=entries):
                yield from dtypes_by_path([entry for _, entry in entries])
            case OptionalShape(inner=inner):
                yield from dtypes_by_path([inner])
            case _:
                pass


def is_index(dtypes: Sequence[str]) -> bool:
    """Returns whether a tensor holds ints or bools."""
    return bool(dtypes) and all(name == "bool" or name.startswith(("int", "uint")) for name in dtypes)


def dtype_of(dtypes: Sequence[str]) -> Dtype | None:
    """Returns what is written of dtypes: of ints, bools and complex numbers. Floats change with autocast and devices."""
    if len(dtypes) == 1 and dtypes[0] in DTYPES and not dtypes[0].startswith(("float", "bfloat")):
        return Dtype(dtypes[0])
    if dtypes and all(name.startswith(("int", "uint")) for name in dtypes):
        return Dtype("integral")
    return None


__all__ = ["Typer", "dtype_of", "dtypes_by_path", "is_index"]
