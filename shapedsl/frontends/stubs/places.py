"""Where the parts of a stub's function stand; found when a message asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...diagnostics import Source
from ..annotated.places import AnnotationSource, Found, find_within
from .tree import Tree

if TYPE_CHECKING:
    import libcst as cst


class StubPlaces:
    """Finds the parts of one function; see `annotated.places.CallablePlaces`."""

    def __init__(self, tree: Tree, node: cst.FunctionDef, decorators: Iterable[cst.Decorator] = ()) -> None:
        """Args:
        tree: The file.
        node: The function.
        decorators: More decorators whose texts may be asked for: the class's.
        """
        self._tree = tree
        self._node = node
        self._decorators = (*node.decorators, *decorators)

    def parameter(self, name: str, text: str) -> Source:
        """Returns the source of what stands behind parameter ``name``."""
        import libcst as cst

        rows = self._node.params
        every = [*rows.posonly_params, *rows.params, *rows.kwonly_params, rows.star_arg, rows.star_kwarg]
        for each in every:
            if isinstance(each, cst.Param) and each.name.value == name:
                nodes = (each.name,) if each.annotation is None else (each.annotation, each.name)
                return source_in(self._tree, text, *nodes)
        return self.function(text)

    def returns(self, text: str) -> Source:
        """Returns the source of what stands behind ``->``."""
        return source_in(self._tree, text, self._node.returns or self._node.name)

    def decorator(self, text: str) -> Source:
        """Returns the source of ``text``, an argument of ``shapes`` or ``where``."""
        return source_in(self._tree, text, *self._decorators, self._node.name)

    def function(self, text: str) -> Source:
        """Returns the source of the function's name."""
        return source_in(self._tree, text, self._node.name)

    def shape_vars(self) -> str | None:
        """Returns the names that Pyrefly's ``shape_vars`` over the function and its class declares; None without both."""
        found = [declared_shape_vars(decorator) for decorator in self._decorators]
        texts = [text for text in found if text is not None]
        return ", ".join(texts) if texts else None


class DecoratedClass:
    """Finds what the decorators of a class say."""

    def __init__(self, tree: Tree, node: cst.ClassDef) -> None:
        """Args:
        tree: The file.
        node: The class.
        """
        self._tree = tree
        self._node = node
        self._sources: dict[str, Source] = {}

    def decorator(self, text: str) -> Source:
        """Returns the source of ``text``, an argument of ``shapes`` or ``where``: the same for all methods.

        So what is wrong with the class has one place, and is told once.
        """
        if text not in self._sources:
            self._sources[text] = source_in(self._tree, text, *self._node.decorators, self._node.name)
        return self._sources[text]


def declared_shape_vars(decorator: cst.Decorator) -> str | None:
    """Returns the text in ``@shape_vars("B, *rest")``; None if it is another decorator."""
    import libcst as cst

    call = decorator.decorator
    if not isinstance(call, cst.Call):
        return None
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    if not isinstance(name, cst.Name) or name.value != "shape_vars":
        return None
    texts = [arg.value.evaluated_value for arg in call.args if isinstance(arg.value, cst.SimpleString)]
    return ", ".join(text for text in texts if isinstance(text, str))


def source_in(tree: Tree, text: str, *nodes: cst.CSTNode) -> Source:
    """Returns the source of a text that stands in the first of ``nodes`` that holds it."""

    def locate(wanted: str) -> Found:
        first: Found | None = None
        for node in nodes:
            found = find_within(wanted, tree.source, *tree.extent(node))
            if found.file is not None:
                return found
            first = first or found
        return first or Found(1)

    return AnnotationSource(tree.source.name, text, locate)


__all__ = ["DecoratedClass", "StubPlaces", "declared_shape_vars", "source_in"]
