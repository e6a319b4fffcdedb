"""The functions of a file in its order, each with the names around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from .bindings import Body, dotted, names_of, placed
from .meanings import body_scope
from .scope import Imported, Scope, parameters_of


@dataclass(slots=True)
class Found:
    """A function where it stands.

    Attributes:
        name: With the classes that it stands in; of a function within a function what stands behind ``<locals>.``.
        node: The function.
        scope: The names around its annotations.
        decorators: Those of its class.
        owner: Its class.
        nested: Whether it stands in a function.
        overloaded: Whether it is one of several ``@overload``.
        shadowed: The function that takes its place, for the same block defines its name again.
    """

    name: str
    node: cst.FunctionDef
    scope: Scope
    decorators: Sequence[cst.Decorator] = field(default=())
    owner: cst.ClassDef | None = None
    nested: bool = False
    overloaded: bool = False
    shadowed: cst.FunctionDef | None = None


def functions_of(
    body: Body, scope: Scope, prefix: str = "", owner: cst.ClassDef | None = None, nested: bool = False
) -> Iterator[Found]:
    """Yields the functions of a block, those of its classes and functions too.

    Args:
        body: The block.
        scope: The names in it.
        prefix: The classes that it stands in, each with its dot.
        owner: The class whose body it is.
        nested: Whether it stands in a function.
    """
    decorators = () if owner is None else owner.decorators
    last: dict[tuple[int, str], cst.FunctionDef] = {}
    rows = list(placed(body))
    for statement, block in rows:
        if isinstance(statement, cst.FunctionDef):
            last[id(block), statement.name.value] = statement
    for statement, block in rows:
        match statement:
            case cst.FunctionDef(name=cst.Name(value=name), type_parameters=params):
                inner = scope.inside(parameters_of(params))
                overloaded = is_decorated(statement, scope, _OVERLOAD)
                final = last[id(block), name]
                stays = final is statement or overloaded or is_decorated(statement, scope, _SHARING)
                shadowed = None if stays or is_decorated(final, scope, _SHARING) else final
                yield Found(prefix + name, statement, inner, decorators, owner, nested, overloaded, shadowed)
                if isinstance(statement.body, cst.IndentedBlock):
                    local = inner.inside(names_of(statement.body.body))
                    yield from functions_of(statement.body.body, local, nested=True)
            case cst.ClassDef(name=cst.Name(value=name), body=inside):
                within = body_scope(statement, scope)
                yield from functions_of(inside.body, within, f"{prefix}{name}.", statement, nested)
            case _:
                pass


def is_decorated(node: cst.FunctionDef, scope: Scope, names: frozenset[str]) -> bool:
    """Whether one of a function's decorators has one of the names, its module or object left out.

    Args:
        node: The function.
        scope: The names around it: one that is imported under another name has its own.
        names: The names.
    """
    for decorator in node.decorators:
        called = decorator.decorator
        written = dotted(called.func if isinstance(called, cst.Call) else called)
        first, _, rest = written.partition(".")
        binding = None if rest else scope.find(first)
        imported = binding.qualified if isinstance(binding, Imported) else ""
        if not names.isdisjoint(name.rpartition(".")[2] for name in (written, imported)):
            return True
    return False


def is_property(found: Found) -> bool:
    """Whether a function is called by naming an attribute."""
    return is_decorated(found.node, found.scope, PROPERTIES)


_OVERLOAD: Final = frozenset({"overload"})
PROPERTIES: Final = frozenset({"property", "cached_property", "getter", "setter", "deleter"})
_SHARING: Final = PROPERTIES | {"register"}  # decorators of functions that share a name

__all__ = ["Found", "functions_of", "is_property"]
