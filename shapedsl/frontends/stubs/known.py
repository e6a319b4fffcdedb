"""What names of well-known modules stand for: the very objects that Python would give, without an import.

A name of a module that is not listed is a class of which nothing is known (`foreign`): its
annotation says nothing of shapes.
"""

from __future__ import annotations

import builtins
import collections.abc
import string
import types
import typing
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import typing_extensions

from ...ir.dtypes import ALIASES, DTYPES, FAMILIES, dtype_name
from ...surface.facts import Predicates, predicate_text
from ...surface.forms import Form, Scalar, Shape, Tensor
from ...surface.symbols import Symbol
from ..dialects.stand_ins import STAND_INS


class _Dtype:
    """A ``torch.dtype``, which the reader knows by its class's name and its text."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


_Dtype.__name__, _Dtype.__module__ = "dtype", "torch"

_NAMES: Final = {name: dtype_name(name) or name for name in (*DTYPES, *ALIASES)}
_SPECIAL: Final[dict[str, object]] = {
    **{
        f"{module}.{form.name}": form
        for form in (Tensor, Scalar, Shape)
        for module in ("shapedsl", "shapedsl.annotations")
    },
    **{f"shapedsl.dtypes.{name}": Form(dtype) for name, dtype in _NAMES.items()},
    **{f"shapedsl.dtypes.{name}": Form(name) for name in FAMILIES},
    **{f"torch.{name}": _Dtype(dtype) for name, dtype in _NAMES.items()},
    **{f"jaxtyping.{name}": family for name, family in STAND_INS.items()},
    "shape_extensions.Shaped": typing.Annotated,  # unlike jaxtyping's of the same name
    "types.NoneType": type(None),
    "types.EllipsisType": type(...),
}
# Classes of torch's that derive from its tensor: `Float[nn.Parameter, "d"]` is one of those.
_TENSORS: Final = frozenset(
    f"torch.nn.{module}{prefix}{name}"
    for module in ("", "parameter.")
    for prefix in ("", "Uninitialized")
    for name in ("Parameter", "Buffer")
) | {"torch._tensor.Tensor"}
_MODULES: Final = {
    "typing": typing,
    "typing_extensions": typing_extensions,
    "collections.abc": collections.abc,
    "builtins": builtins,
    "types": types,
}
SHAPES: Final = {f"shapedsl{module}.shapes" for module in ("", ".annotations", ".decorators")}
WHERE: Final = {f"shapedsl{module}.where" for module in ("", ".annotations", ".decorators")}


def where(*predicates: object) -> Predicates:
    """Returns what ``where(…)`` is as metadata and as a decorator.

    Raises:
        TypeError: One is no predicate.
    """
    return Predicates(tuple(predicate_text(predicate) for predicate in predicates))


def known(qualified: str) -> object:
    """Returns what a dotted name stands for.

    Args:
        qualified: With its module, as ``typing.Optional``.
    """
    if qualified in _SPECIAL:
        return _SPECIAL[qualified]
    module, _, name = qualified.rpartition(".")
    if module == "shapedsl.dims" and not name.startswith("__"):
        return Symbol(name)
    if qualified in WHERE:
        return where
    if module in _MODULES and not name.startswith("_"):
        found: Any = getattr(_MODULES[module], name, None)
        if found is None and module == "typing":
            found = getattr(typing_extensions, name, None)  # of a newer Python
        # of what is in these modules, only typing's functions can stand in an annotation
        if found is not None and (module.startswith("typing") or isinstance(found, type)):
            return found
    return foreign(qualified, foreign("torch.Tensor")) if qualified in _TENSORS else foreign(qualified)


def star(module: str) -> Iterable[str]:
    """Returns what ``from module import *`` binds; nothing for a module that is not known."""
    match module:
        case "typing" | "typing_extensions" | "collections.abc":
            return [name for name in _MODULES[module].__all__ if name not in vars(builtins)]
        case "shapedsl.dims":
            return string.ascii_uppercase
        case "jaxtyping":
            return STAND_INS
        case "shapedsl" | "shapedsl.annotations" | "shapedsl.dtypes" | "torch":
            named = {*_SPECIAL, *SHAPES, *WHERE, "torch.Tensor", "shapedsl.dims", "shapedsl.dtypes"}
            return [name for inner, _, name in (each.rpartition(".") for each in named) if inner == module]
        case _:
            return ()


@cache
def foreign(qualified: str, *bases: type) -> type:
    """Returns a class of which nothing is known but its name, and what it inherits."""
    module, _, name = qualified.rpartition(".")
    body: dict[str, Any] = {"__module__": module, "__class_getitem__": classmethod(types.GenericAlias)}
    return type(name, bases, body)


__all__ = ["SHAPES", "WHERE", "foreign", "known", "star", "where"]
