"""The parts of a result beside the parts of a type that claims what they are.

Before::

    (Tensor[B, D], [Tensor[B], ...])        (a tensor, [a tensor, a tensor])

After::

    Tensor[B, D]  return[0]      Tensor[B]  return[1][0]      Tensor[B]  return[1][1]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...ir import (
    Attribute,
    Const,
    Dim,
    Ellipsis,
    Item,
    MappingType,
    ObjectType,
    Path,
    Rest,
    SequenceType,
    Size,
    Static,
    Type,
    Var,
    Variadic,
)
from ...targets.enforced.model import Output


class Missing:
    """Stands for a part that a result lacks."""


MISSING: Final = Missing()


def parts_of(
    type_: Type, value: object, path: Path, lengths: Mapping[str, int]
) -> list[tuple[Type, object, Path]] | None:
    """Returns the parts of a container with what is claimed of each; None if ``value`` is none like it."""
    if isinstance(value, Output):
        return None
    match type_:
        case SequenceType():
            if not isinstance(value, (list, tuple)):
                return None
            return _items(type_, cast("Sequence[object]", value), path, lengths)
        case MappingType(entries=entries):
            if not isinstance(value, Mapping):
                return None
            known = cast("Mapping[object, object]", value)
            return [(inner, known.get(key, MISSING), _at(path, Item(key))) for key, inner in entries]
        case ObjectType(fields=fields):
            return [(inner, getattr(value, name, MISSING), _at(path, Attribute(name))) for name, inner in fields]
        case _:
            return None


def _items(
    type_: SequenceType, values: Sequence[object], path: Path, lengths: Mapping[str, int]
) -> list[tuple[Type, object, Path]] | None:
    count, there = len(type_.items), len(values)
    times = type_.times
    if times is not None:
        number = (
            times.value if isinstance(times, Const) else lengths.get(times.name) if isinstance(times, Var) else None
        )
        if number is not None and there != number * count:
            return None
    repeated = times is not None or type_.rest is Rest.REPEAT
    if repeated and count and there % count:
        return None
    if not repeated and (there < count or (there > count and type_.rest is Rest.NONE)):
        return None
    wanted = there if repeated else count
    return [(type_.items[at % count], values[at], _at(path, Item(at))) for at in range(wanted if count else 0)]


def _at(path: Path, step: Item | Attribute) -> Path:
    return Path(path.root, (*path.steps, step))


def paired(
    dims: Sequence[Dim], sizes: Sequence[Size | None], stars: dict[str, tuple[Size | None, ...]]
) -> list[tuple[Dim, Size | None]] | None:
    """Returns the dims beside the sizes; None if there are more or fewer. What one dim stands for is written out."""
    opened = [at for at, dim in enumerate(dims) if isinstance(dim, (Ellipsis, Variadic))]
    if not opened:
        return list(zip(dims, sizes, strict=True)) if len(dims) == len(sizes) else None
    at = opened[0]
    count = len(sizes) - len(dims) + 1
    if len(opened) > 1 or count < 0:
        return None
    middle: list[Dim] = [Static()] * count
    star = dims[at]
    if isinstance(star, Variadic):
        known = stars.setdefault(star.name, tuple(sizes[at : at + count]))
        if len(known) != count:
            return None
        middle = [Var(f"{star.name}[{axis}]", star.span) for axis in range(count)]
    return list(zip((*dims[:at], *middle, *dims[at + 1 :]), sizes, strict=True))


def scalar_of(value: Output) -> Size | None:
    """Returns what an output is that is an int; None for another one."""
    if value.kind == "int":
        return value.sizes[0]
    plain = type(value.value) is int
    return Const(cast("int", value.value)) if value.kind == "constant" and plain else None


def is_none(value: object) -> bool:
    """Whether an output is None."""
    return isinstance(value, Output) and value.kind == "constant" and value.value is None


def described(value: object) -> str:
    """Returns what messages call a part of a result: ``a tensor of 2 dims``."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Output):
        kind: Any = type(value)
        length = f" of {len(cast('Sequence[object]', value))}" if isinstance(value, (list, tuple)) else ""
        return f"a {kind.__name__}{length}"
    if value.kind == "tensor":
        return f"a tensor of {dims_text(len(value.sizes))}"
    if value.kind == "constant":
        return repr(value.value)
    return "an int" if value.kind == "int" else "something else"


def dims_text(count: int) -> str:
    """Returns a number of dims as messages have it."""
    return "1 dim" if count == 1 else f"{count} dims"


def kind_text(type_: Type) -> str:
    """Returns what messages call the container that a type is: ``a tuple of 2``."""
    match type_:
        case SequenceType(kind=kind, items=items, rest=rest, times=times):
            length = "" if rest is not Rest.NONE or times is not None else f" of {len(items)}"
            return f"a {kind}{length}"
        case MappingType():
            return "a dict"
        case ObjectType(name=name):
            return f"an object `{name}`"
        case _:
            return "something else"


__all__ = ["MISSING", "described", "dims_text", "is_none", "kind_text", "paired", "parts_of", "scalar_of"]
