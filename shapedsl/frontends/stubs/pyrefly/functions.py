"""The functions of a stub that speak Pyrefly's dialect: which these are, and what is known of them beside annotations.

- An untyped ``self`` of a tensor class is a tensor of the class's shape.
- A class's size parameters are ``const N = _`` in its methods: one object has one of each. In a ``staticmethod`` or
  ``classmethod``, which no object is at hand for, they are sizes like the others.
- A file for another version than the one that is read is not read; a comment in it, ``# shapedsl: pyrefly 1.4``,
  says that it is one for this version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import libcst as cst

from ....diagnostics import Report, Severity, Source, Span
from ....surface.facts import Facts
from ....surface.forms import Form
from ..scope import Imported, Scope
from ..tree import Tree
from .dims import code, unquoted
from .files import VERSION, Files
from .interpret import PyreflyInterpreter
from .names import FUNCTIONS, MARKERS, MODULE, Class, Kind, Names, members
from .speaking import note, own_tensor, says_shapes

if TYPE_CHECKING:
    from ..files import File
    from ..functions import Found

_TRACE: Final = re.compile(rf"\b{MODULE}\b|\b_shapes\b|\bTensor\[\[")
_LITERALS: Final = frozenset({"typing.Literal", "typing_extensions.Literal"})
_BUILT: Final = frozenset({"__init__", "__new__", "__post_init__"})  # where an object's sizes are only chosen


class Dialect:
    """The dialect in one file."""

    def __init__(self, tree: Tree, scope: Scope, report: Report) -> None:
        """Args:
        tree: The file.
        scope: Its names.
        report: Receives what of it is not read.
        """
        self._tree = tree
        self._report = report
        self._files = Files(tree)
        self._scope = scope
        self._readable: bool | None = None
        self._spoken: dict[int, bool] = {}

    def mine(self, found: Found) -> bool:
        """Whether a function speaks the dialect."""
        key = id(found.node)
        if key not in self._spoken:
            names = self._names(found)
            own = self._own(found, names)
            self._spoken[key] = any(says_shapes(node, names, own) for node in annotations_of(found.node))
        return self._spoken[key]

    def skips(self, found: Found) -> bool:
        """Whether nothing is read of a function, for it is one of shapes, or of another version; this is told."""
        if not self.mine(found):
            return False
        if self._is_shape_function(found.node, self._names(found)):
            at = self._tree.span(found.node.name)
            message = f"`{found.name}` is a shape function: it is evaluated where types call it, and is no spec itself"
            self._report.emit(Severity.NOTE, "inexpressible", message, at=at)
            return True
        if self._readable is None:
            self._readable = self._look()
        return not self._readable

    def interpreter(
        self, found: Found, source_of: Callable[[cst.CSTNode, str], Source], file: File | None = None
    ) -> PyreflyInterpreter:
        """Returns what interprets the annotations of a function."""
        self._files.start()
        names = self._names(found)

        def unsaid(node: cst.CSTNode, message: str) -> None:
            note(self._report, self._tree, found.node.name, node, message)

        return PyreflyInterpreter(names, source_of, unsaid, self._own(found, names), file)

    def receiver(self, found: Found, annotations: dict[str, object]) -> None:
        """Gives ``self`` its type: a tensor's shape; none where the class is no tensor, whatever is written there."""
        first = next(iter([*found.node.params.posonly_params, *found.node.params.params]), None)
        if found.owner is None or first is None or first.name.value != "self" or _is_static(found.node):
            return
        names = self._names(found)
        own = self._own(found, names)
        if own is not None:
            annotations.setdefault("self", own)
        elif first.annotation is not None:
            if says_shapes(first.annotation, names, None) or _fixes_sizes(unquoted(first.annotation.annotation), names):
                message = f"`{code(first.annotation.annotation)}` is no tensor; what it says of `self` is not read"
                note(self._report, self._tree, first, first.annotation.annotation, message)
            annotations.pop("self", None)

    def facts(self, found: Found, facts: Facts | None) -> Facts:
        """Returns what is said of a function: that the sizes of its class are one object's."""
        facts = facts or Facts(None)
        names = self._names(found)
        self._literals(found, names)
        if found.owner is None or found.node.name.value in _BUILT or self._own(found, names) is not None:
            return facts
        if _has_no_object(found.node):
            return facts
        own = {row.name for row in names.parameters(found.node)}
        shared = {row.name for row in names.parameters(found.owner) if row.kind in (Kind.SIZE, Kind.INT)} - own
        used = {name for node in annotations_of(found.node, returns=False) for name in _names_in(node)}
        fixed = [name for name in _sorted(shared, found.owner) if name in used and name not in facts.consts]
        if fixed:
            facts.say(consts=dict.fromkeys(fixed))
        return facts

    # ------------------------------------------------------------------------------- steps

    def _literals(self, found: Found, names: Names) -> None:
        """Notes parameters for whose one value a spec holds, as those of overloads often have."""
        for row in parameters_of(found.node):
            node = None if row.annotation is None else row.annotation.annotation
            for member in () if node is None else members(unquoted(node)):
                if isinstance(member, cst.Subscript) and names.qualified(member.value) in _LITERALS:
                    message = (
                        f"the spec holds where `{row.name.value}` is {_values(member)}, which the language cannot say"
                    )
                    note(self._report, self._tree, row, member, message)

    def _names(self, found: Found) -> Names:
        return Names(found.scope, self._files)

    def _own(self, found: Found, names: Names) -> Form | None:
        return None if found.owner is None else own_tensor(found.owner, names)

    def _is_shape_function(self, node: cst.FunctionDef, names: Names) -> bool:
        return any(
            names.qualified(decorator.decorator) == f"{MODULE}.type_shape_dsl_function" for decorator in node.decorators
        )

    def _look(self) -> bool:
        """Returns whether the file is one of the version that is read, and says so if it is not."""
        for name, binding in self._scope.names.items():
            if isinstance(binding, Imported) and binding.qualified.startswith(f"{MODULE}."):
                marker = binding.qualified.split(".")[1]
                if marker not in MARKERS | FUNCTIONS:
                    self._report.warning(
                        "unknown-dialect",
                        f"`{marker}` is no name of {MODULE} {VERSION}; what it says is not read",
                        at=self._place(name),
                    )
        version = self._files.version
        if version is None or version.known:
            return True
        self._report.warning(
            "unknown-dialect",
            f"this stub is one for Pyrefly {version.number}, and the notation of {VERSION} is read: its shapes are not",
            at=self._place(MODULE),
            note=f"the version is told by {version.told}",
            help=f"if it is written as {VERSION} is, say so in a comment: `# shapedsl: pyrefly {VERSION}`",
        )
        return False

    def _place(self, text: str) -> Span:
        start = max(self._tree.source.text.find(text), 0)
        return self._tree.source.span(start, min(start + len(text), len(self._tree.source.text)))


def dialect_of(tree: Tree, scope: Scope, report: Report) -> Dialect | None:
    """Returns the dialect of a file; None if nothing of it stands there.

    Args:
        tree: The file.
        scope: Its names.
        report: Receives what of it is not read.
    """
    return Dialect(tree, scope, report) if _TRACE.search(tree.source.text) else None


def parameters_of(node: cst.FunctionDef) -> list[cst.Param]:
    """Returns the parameters of a function, in order."""
    rows = node.params
    every = [*rows.posonly_params, *rows.params, rows.star_arg, *rows.kwonly_params, rows.star_kwarg]
    return [row for row in every if isinstance(row, cst.Param)]


def annotations_of(node: cst.FunctionDef, *, returns: bool = True) -> Iterator[cst.BaseExpression]:
    """Yields the annotations of a function, the return type last."""
    for row in parameters_of(node):
        if row.annotation is not None:
            yield row.annotation.annotation
    if returns and node.returns is not None:
        yield node.returns.annotation


def _values(node: cst.Subscript) -> str:
    return " or ".join(f"`{code(item.slice)}`" for item in node.slice)


def _fixes_sizes(node: cst.BaseExpression, names: Names) -> bool:
    """Whether an annotation of ``self`` says what the sizes of its class are: ``Net[3]``."""
    if not isinstance(node, cst.Subscript):
        return False
    found = names.meaning(node.value)
    return isinstance(found, Class) and any(row.kind is not Kind.OTHER for row in names.parameters(found.node))


def _is_static(node: cst.FunctionDef) -> bool:
    return any(code(decorator.decorator).endswith("staticmethod") for decorator in node.decorators)


def _has_no_object(node: cst.FunctionDef) -> bool:
    """Whether a method is called on the class, so that its objects' sizes are not fixed."""
    return _is_static(node) or any(code(decorator.decorator).endswith("classmethod") for decorator in node.decorators)


def _names_in(node: cst.CSTNode) -> Iterator[str]:
    if isinstance(node, cst.Name):
        yield node.value
    inner = unquoted(node) if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)) else node
    for child in node.children if inner is node else (inner,):
        yield from _names_in(child)


def _sorted(names: set[str], owner: cst.ClassDef) -> list[str]:
    """Returns names as they follow each other in the class's head."""
    head = [name for name in _names_in(owner.type_parameters or cst.Name("_")) if name in names]
    return [*dict.fromkeys([*head, *sorted(names)])]


__all__ = ["Dialect", "annotations_of", "dialect_of"]
