"""Types and parameters → canonical text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .dims import Const, Size, Var
from .dtypes import dtype_name
from .paths import quote
from .specs import Param, ParamKind
from .types import (
    AnyType,
    Dtype,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    TensorType,
    Type,
)
from .walk import subtypes
from .write_sizes import write_dim


def write_type(type_: Type) -> str:
    """Returns ``type_`` as it stands in a signature, e.g. ``[float32[B, 2 * D]] * 3 | None``."""
    match type_:
        case TensorType(dims=dims, dtype=dtype):
            head = "Tensor" if dtype is None else dtype.variable or dtype.name
            if dims is None:
                return head
            return f"{head}[{', '.join(write_dim(dim) for dim in dims) or '()'}]"
        case ScalarType(size=size):
            return "Scalar" if size is None else f"Scalar[{write_dim(size)}]"
        case SequenceType():
            return _sequence(type_)
        case MappingType(entries=entries):
            return f"{{{', '.join(f'{quote(key)}: {write_type(entry)}' for key, entry in entries)}}}"
        case ObjectType(fields=fields, name=name):
            return f"{_class_name(name)}({', '.join(f'{key}: {write_type(field)}' for key, field in fields)})"
        case OptionalType(inner=inner):
            return f"{write_type(inner)} | None"
        case AnyType():
            return "_"
        case NoneType():
            return "None"


def _sequence(type_: SequenceType) -> str:
    items = [write_type(item) for item in type_.items]
    if type_.rest is not Rest.NONE:
        items.append("*_" if type_.rest is Rest.STATIC else "...")
    inside = ", ".join(items)
    if type_.kind == "list":
        text = f"[{inside}]"
    else:
        text = f"({inside},)" if len(items) == 1 and type_.rest is Rest.NONE else f"({inside})"
    return text if type_.times is None else f"{text} * {_factor(type_.times)}"


def _factor(size: Size) -> str:
    text = write_dim(size)
    return text if isinstance(size, (Const, Var)) else f"({text})"


def _class_name(name: str) -> str:
    """Returns an object type's name if it can be written: a class inside a function is just an ``object``."""
    plain = name.isascii() and all(part.isidentifier() for part in name.split("."))
    reserved = name in ("Tensor", "Scalar", "_", "None", "and", "or", "not", "in", "inf", "true", "false")
    return name if plain and not reserved and dtype_name(name) is None else "object"


def write_params(params: Iterable[Param], receiver: str | None = None) -> list[str]:
    """Returns what stands between the commas of a def's parentheses, ``/`` and ``*`` among it.

    Args:
        params: In order.
        receiver: ``self`` or ``cls``, if it is none of them.
    """
    params = list(params)
    written: list[str] = [] if receiver is None or (params and params[0].name == receiver) else [receiver]
    open_slash = starred = False
    for param in params:
        if open_slash and param.kind is not ParamKind.POSITIONAL_ONLY:
            written.append("/")
        open_slash = param.kind is ParamKind.POSITIONAL_ONLY
        if param.kind is ParamKind.KEYWORD_ONLY and not starred:
            written.append("*")
        starred = starred or param.kind in (ParamKind.KEYWORD_ONLY, ParamKind.VAR_POSITIONAL)
        stars = {ParamKind.VAR_POSITIONAL: "*", ParamKind.VAR_KEYWORD: "**"}.get(param.kind, "")
        type_ = _element(param.type) if stars == "*" else param.type
        written.append(f"{stars}{param.name}: {write_type(type_)}{' = _' if param.default else ''}")
    return [*written, "/"] if open_slash else written


def _element(type_: Type) -> Type:
    """Returns ``T`` for the type ``[T, ...]`` of ``*args: T``."""
    match type_:
        case SequenceType(items=(item,), rest=Rest.REPEAT, times=None) if not isinstance(item, (SequenceType, AnyType)):
            return item
        case _:
            return type_


def dtypes(types: Iterable[Type]) -> Iterator[Dtype]:
    """Yields every dtype in ``types``."""
    for type_ in types:
        if isinstance(type_, TensorType) and type_.dtype is not None:
            yield type_.dtype
        yield from dtypes(subtypes(type_))
