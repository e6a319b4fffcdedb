"""What names mean in a stub: imports, classes, aliases and type parameters, found by reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that an import binds: ``qualified`` is what it stands for, with its module."""

    qualified: str


@dataclass(frozen=True, slots=True)
class Aliased:
    """A name that an assignment or a ``type`` statement binds.

    Attributes:
        value: The expression.
        params: The type parameters of a ``type`` statement.
    """

    value: cst.BaseExpression
    params: cst.TypeParameters | None = None


@dataclass(frozen=True, slots=True)
class Defined:
    """A class of the file."""

    node: cst.ClassDef


@dataclass(frozen=True, slots=True)
class TypeParam:
    """A type parameter.

    Attributes:
        name: Its name.
        kind: ``TypeVar``, ``TypeVarTuple`` or ``ParamSpec``.
        bound: What stands behind the colon.
        default: What stands behind the equals sign.
    """

    name: str
    kind: str
    bound: cst.BaseExpression | None = None
    default: cst.BaseExpression | None = None


@dataclass(frozen=True, slots=True)
class Opaque:
    """A function, of which an annotation can say nothing."""

    name: str


Binding = Imported | Aliased | Defined | TypeParam | Opaque


@dataclass(slots=True)
class Scope:
    """The names of one block: a module, a class, or a function's type parameters.

    Attributes:
        names: What is bound here.
        outer: The scope around it.
    """

    names: dict[str, Binding] = field(default_factory=dict[str, Binding])
    outer: Scope | None = None

    def locate(self, name: str) -> tuple[Binding, Scope] | None:
        """Returns what ``name`` is bound to, here or further out, and in which scope; None if nowhere."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name], scope
            scope = scope.outer
        return None

    def find(self, name: str) -> Binding | None:
        """Returns what ``name`` is bound to, here or further out; None if nowhere."""
        located = self.locate(name)
        return None if located is None else located[0]

    def inside(self, names: Mapping[str, Binding] | None = None) -> Scope:
        """Returns a scope within this one."""
        return Scope(dict(names or {}), self)


def parameters_of(params: cst.TypeParameters | None) -> dict[str, Binding]:
    """Returns the bindings of ``[B, *S, N: IntVar]``."""
    found: dict[str, Binding] = {}
    for each in () if params is None else params.params:
        name = each.param.name.value
        found[name] = TypeParam(name, type(each.param).__name__, getattr(each.param, "bound", None), each.default)
    return found


__all__ = ["Aliased", "Binding", "Defined", "Imported", "Opaque", "Scope", "TypeParam", "parameters_of"]
