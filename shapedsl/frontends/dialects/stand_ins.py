"""jaxtyping's names where jaxtyping is not there: imported for type checkers only, or read from source text.

They are subscripted as jaxtyping's are, and give what its annotations have: a class with ``dim_str``,
``dtypes`` and ``array_type``. Classes, because `typing` and ``|`` take those on every Python.
"""

from __future__ import annotations

import typing
from typing import Any, Final, cast

_SIGNED: Final = ("int2", "int4", "int8", "int16", "int32", "int64")
_UNSIGNED: Final = ("uint2", "uint4", "uint8", "uint16", "uint32", "uint64")
_FLOATS: Final = ("bfloat16", "float16", "float32", "float64")
_FLOAT8: Final = ("float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
_COMPLEX: Final = ("complex64", "complex128")
_SMALL_FLOATS: Final = ("float4_e2m1fn", *_FLOAT8)
_ANY: Final = None  # no names: any dtype

_DTYPES: Final[dict[str, tuple[str, ...] | None]] = {
    "Bool": ("bool",),
    "UInt": _UNSIGNED,
    "Int": _SIGNED,
    "Integer": (*_UNSIGNED, *_SIGNED),
    "Float": (*_SMALL_FLOATS, *_FLOATS),
    "Complex": _COMPLEX,
    "Inexact": (*_SMALL_FLOATS, *_FLOATS, *_COMPLEX),
    "Real": (*_SMALL_FLOATS, *_FLOATS, *_UNSIGNED, *_SIGNED),
    "Num": (*_SMALL_FLOATS, *_FLOATS, *_UNSIGNED, *_SIGNED, *_COMPLEX),
    "Shaped": _ANY,
    "Key": ("prng_key",),
    "BFloat16": ("bfloat16",),
    "Float16": ("float16",),
    "Float32": ("float32",),
    "Float64": ("float64",),
    "Complex64": ("complex64",),
    "Complex128": ("complex128",),
    **{name.replace("u", "U", 1).replace("i", "I", 1): (name,) for name in (*_SIGNED, *_UNSIGNED)},
    **{name.replace("f", "F", 1).replace("_", ""): (name,) for name in _SMALL_FLOATS},
}


class _Family(type):
    """The class of ``Float``, ``Int32``, …: subscripted with an array type and a text."""

    dtypes: tuple[str, ...] | None

    def __getitem__(cls, item: Any) -> Any:
        """Returns the annotation ``Float[array_type, dim_str]``.

        Raises:
            TypeError: ``item`` is no such pair.
        """
        pair: list[Any] = [*item] if type(item) is tuple else []
        if len(pair) != 2 or not isinstance(pair[1], str):
            raise TypeError(f"{cls.__name__}[…] takes an array type and a text")
        array_type: Any = pair[0]
        while type(array_type).__name__ == "TypeAliasType":
            array_type = array_type.__value__
        dim_str: str = pair[1]
        if cls.__name__ == "Shaped" and (array_type is int or _is_bracketed(dim_str)):
            return typing.Annotated[array_type, dim_str]  # Pyrefly's
        name = getattr(typing.get_origin(array_type), "__name__", "")
        if name in ("Union", "UnionType"):
            members = tuple([cls[each, dim_str] for each in typing.get_args(array_type)])
            return typing.Union[members]  # noqa: UP007  # objects, not classes
        return _annotation(cls, array_type, dim_str.strip())


def _is_bracketed(text: str) -> bool:
    return text.strip().startswith("[")


def _annotation(family: _Family, array_type: Any, dim_str: str) -> Any:
    if array_type in _PYTHON:
        return array_type  # a plain number
    dtypes = family.dtypes
    if hasattr(array_type, "dim_str"):  # an alias of one: its axes come behind
        dim_str = f"{dim_str} {array_type.dim_str}"
        inner = cast("tuple[str, ...] | None", array_type.dtypes)
        if isinstance(inner, tuple):  # jaxtyping's own has an object for "any"
            both = inner if dtypes is None else tuple([each for each in dtypes if each in inner])
            if not both:
                raise TypeError(f"no dtype is of {family.__name__} and of what it extends")
            dtypes = both
        array_type = array_type.array_type
    shown = getattr(array_type, "__name__", None) or repr(array_type)
    made: dict[str, Any] = {"dim_str": dim_str, "dtypes": dtypes, "array_type": array_type}
    made["__module__"] = "jaxtyping"  # which messages name
    return type(f"{family.__name__}[{shown}, {dim_str!r}]", (), made)


class _Trees(type):
    """The class of ``PyTree``."""

    def __getitem__(cls, item: Any) -> Any:
        """Returns ``PyTree[leaf]`` or ``PyTree[leaf, structure]``."""
        pair: list[Any] = [*item] if type(item) is tuple else [item]
        return type("PyTree", (), {"leaftype": pair[0], "structure": pair[1:]})


_PYTHON: Final = (bool, int, float, complex)
STAND_INS: Final[dict[str, Any]] = {
    **{name: _Family(name, (), {"dtypes": dtypes}) for name, dtypes in _DTYPES.items()},
    "PyTree": _Trees("PyTree", (), {}),
}

__all__ = ["STAND_INS"]
