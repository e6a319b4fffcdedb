"""What names of well-known modules stand for: the very objects that Python would give, without an import.

A name of a module that is not listed is a class of which nothing is known (`foreign`): its
annotation says nothing of shapes.
"""

from __future__ import annotations

import builtins
import collections.abc
import typing
from functools import cache
from typing import Any, Final

import typing_extensions

from ...ir.dtypes import ALIASES, DTYPES, FAMILIES, dtype_name
from ...surface.facts import Predicates, predicate_text
from ...surface.forms import Form, Scalar, Shape, Tensor
from ...surface.symbols import Symbol

_DTYPES: Final = {name: Form(dtype_name(name) or name) for name in (*DTYPES, *ALIASES)}
_SPECIAL: Final[dict[str, object]] = {
    "shapedsl.Tensor": Tensor,
    "shapedsl.Scalar": Scalar,
    "shapedsl.Shape": Shape,
    **{f"shapedsl.annotations.{form.name}": form for form in (Tensor, Scalar, Shape)},
    **{f"shapedsl.dtypes.{name}": form for name, form in _DTYPES.items()},
    **{f"shapedsl.dtypes.{name}": Form(name) for name in FAMILIES},
    **{f"torch.{name}": form for name, form in _DTYPES.items()},  # as metadata in `Annotated`
    "types.NoneType": type(None),
}
# What may stand in an annotation; a function of these modules may not.
_TYPES: Final = ("typing", "typing_extensions", "collections.abc", "builtins")
_MODULES: Final = {
    "typing": typing,
    "typing_extensions": typing_extensions,
    "collections.abc": collections.abc,
    "builtins": builtins,
}


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
    if module == "shapedsl.dims":
        return Symbol(name)
    if qualified in ("shapedsl.where", "shapedsl.annotations.where"):
        return where
    if module in _TYPES and not name.startswith("_"):
        found: Any = getattr(_MODULES[module], name, None)
        if found is None and module == "typing":
            found = getattr(typing_extensions, name, None)
        if found is not None and (module.startswith("typing") or isinstance(found, type)):
            return found
    return foreign(qualified)


@cache
def foreign(qualified: str) -> type:
    """Returns a class of which nothing is known but its name."""
    module, _, name = qualified.rpartition(".")
    return type(name, (), {"__module__": module, "__class_getitem__": classmethod(_subscript)})


def _subscript(cls: type, items: Any) -> Any:
    import types

    return types.GenericAlias(cls, items)


__all__ = ["foreign", "known", "where"]
