"""What a name stands for: a binding of this file or of a neighbor, or the dotted name of something outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import libcst as cst

from .bindings import names_of
from .scope import Aliased, Binding, Defined, Imported, Opaque, Scope, parameters_of

if TYPE_CHECKING:
    from .files import File

_DEEPEST: Final = 40  # names that stand for names


@dataclass(frozen=True, slots=True)
class Meaning:
    """A definition.

    Attributes:
        binding: What binds the name; no import.
        scope: The scope it stands in.
        file: The file it stands in; None where neighbors are not looked at.
    """

    binding: Binding
    scope: Scope
    file: File | None


def meaning_of(node: cst.BaseExpression, scope: Scope, file: File | None, depth: int = 0) -> Meaning | str | None:
    """Returns the definition of a name or attribute; its dotted name if it comes from outside; None if nobody knows.

    Args:
        node: The expression.
        scope: The names around it.
        file: The file it stands in.
        depth: How many names have been looked through.
    """
    if depth > _DEEPEST:
        return None
    match node:
        case cst.Name(value=name):
            located = scope.locate(name)
            if located is None:
                return _starred(name, file)
            binding, inner = located
            return (
                _followed(binding.qualified, file) if isinstance(binding, Imported) else Meaning(binding, inner, file)
            )
        case cst.Attribute(value=value, attr=cst.Name(value=name)):
            base = meaning_of(value, scope, file, depth + 1)
            if isinstance(base, str):
                return _followed(f"{base}.{name}", file)
            return None if base is None else _attribute(base, name, depth)
        case _:
            return None


def qualified_of(node: cst.BaseExpression, scope: Scope, file: File | None, depth: int = 0) -> str | None:
    """Returns the dotted name of what a name finally stands for, aliases looked through; None if it is the file's own."""
    found = meaning_of(node, scope, file, depth)
    if isinstance(found, Meaning) and isinstance(found.binding, Aliased):
        if depth > _DEEPEST:
            return None
        return qualified_of(found.binding.value, found.scope, found.file, depth + 1)
    if found is None and isinstance(node, cst.Name) and node.value in _BUILTINS:
        return f"builtins.{node.value}"
    return found if isinstance(found, str) else None


def body_scope(node: cst.ClassDef, scope: Scope) -> Scope:
    """Returns the scope of a class's body; a method called ``size`` is no size there."""
    names = {name: binding for name, binding in names_of(node.body.body).items() if not isinstance(binding, Opaque)}
    return scope.inside({**parameters_of(node.type_parameters), **names})


def _followed(qualified: str, file: File | None, steps: int = 0) -> Meaning | str:
    """Returns what an imported name stands for, through the files of the package that import it from each other."""
    found = None if file is None or steps > _DEEPEST else file.find(qualified)
    if file is None or found is None:
        return qualified if file is None else file.absolute(qualified)
    where, binding = found
    if isinstance(binding, Imported):
        return _followed(binding.qualified, where, steps + 1)
    return Meaning(binding, where.scope, where)


def _starred(name: str, file: File | None) -> Meaning | str | None:
    """Returns what a neighbor's ``import *`` binds."""
    for module in () if file is None else file.stars:
        qualified = f"{module}{'' if module.endswith('.') else '.'}{name}"
        if file is not None and file.find(qualified) is not None:
            return _followed(qualified, file)
    return None


def _attribute(base: Meaning, name: str, depth: int) -> Meaning | str | None:
    if isinstance(base.binding, Defined):
        inner = body_scope(base.binding.node, base.scope)
        binding = inner.names.get(name)
        if isinstance(binding, Imported):
            return _followed(binding.qualified, base.file)
        return None if binding is None else Meaning(binding, inner, base.file)
    if isinstance(base.binding, Aliased):
        found = meaning_of(base.binding.value, base.scope, base.file, depth + 1)
        if isinstance(found, str):
            return f"{found}.{name}"
        return None if found is None else _attribute(found, name, depth + 1) if depth < _DEEPEST else None
    return None


_BUILTINS: Final = frozenset(
    [
        "bool",
        "bytearray",
        "bytes",
        "complex",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "memoryview",
        "object",
        "range",
        "set",
        "slice",
        "str",
        "tuple",
        "type",
        "classmethod",
        "property",
        "staticmethod",
    ]
)

__all__ = ["Meaning", "body_scope", "meaning_of", "qualified_of"]
