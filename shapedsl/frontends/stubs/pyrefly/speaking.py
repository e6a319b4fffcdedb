"""Which annotations speak Pyrefly's dialect, and what is said about those that cannot be read."""

from __future__ import annotations

from typing import Final

import libcst as cst

from ....diagnostics import Report, Severity
from ....ir import Dim, Ellipsis, Variadic
from ....ir.write_sizes import write_dim
from ....surface.forms import Form, Tensor
from ....surface.symbols import Symbol
from ..tree import Tree
from .dims import NotReadError, last_name, unquoted
from .names import Alias, Class, Kind, Names, Parameter

DEEPEST: Final = 40  # aliases and classes in one another
_FIELDED: Final = frozenset({"NamedTuple", "TypedDict", "dataclass"})
_SAYING: Final = frozenset(
    {"Int", "IntTuple", "IntTuples", "IntTupleOrList", "IntListLiteral", "MapIntTuples", "RegularNestedList", "Index"}
)


def tensor_of(dims: tuple[Dim, ...] | None) -> Form:
    """Returns ``Tensor[…]`` with these dims; bare if they are not known.

    Raises:
        NotReadError: There are two runs of dims.
    """
    if dims is not None and sum(isinstance(dim, (Variadic, Ellipsis)) for dim in dims) > 1:
        raise NotReadError(f"`{', '.join(map(write_dim, dims))}` has two runs of dims, of which a tensor can have one")
    return Tensor if dims is None else Form("Tensor", tuple(Symbol(write_dim(dim)) for dim in dims))


def own_tensor(owner: cst.ClassDef, names: Names) -> Form | None:
    """Returns what ``Self`` is in a class: a tensor of the class's shape; None if the class is no tensor."""
    if not names.is_tensor_class(owner):
        return None
    shapes = [row.name for row in names.parameters(owner) if row.kind is Kind.SHAPE]
    return tensor_of((Variadic(shapes[0]),)) if shapes else Tensor


def says_shapes(node: cst.CSTNode, names: Names, own: Form | None) -> bool:
    """Whether an annotation says something of shapes in the dialect."""
    match node:
        case cst.Subscript(value=head) if names.is_tensor(head):
            return True
        case cst.Name() | cst.Attribute():
            meaning = names.meaning(node)
            if isinstance(meaning, Parameter):
                return meaning.kind not in (Kind.FLAG, Kind.OTHER)
            if meaning in ("typing.Self", "typing_extensions.Self"):
                return own is not None
            if isinstance(meaning, Class):
                return _fields_say(meaning)
            if isinstance(meaning, Alias) and meaning.names.depth <= DEEPEST:
                return says_shapes(meaning.value, meaning.names, None)
            return names.marker(node) in _SAYING
        case cst.SimpleString() | cst.ConcatenatedString():
            inner = unquoted(node)
            return inner is not node and says_shapes(inner, names, own)
        case cst.Subscript(value=head) if last_name(head) == "Literal":
            return False
        case cst.Subscript(value=head, slice=items):
            return says_shapes(head, names, own) or any(says_shapes(item, names, own) for item in items)
        case _:
            return any(says_shapes(child, names, own) for child in node.children)


def _fields_say(found: Class) -> bool:
    """Whether a class with fields says something of shapes in one of them."""
    node, names = found.node, found.names
    marks = [*(base.value for base in node.bases), *(decorator.decorator for decorator in node.decorators)]
    heads = {last_name(mark.func if isinstance(mark, cst.Call) else mark) for mark in marks}
    if heads.isdisjoint(_FIELDED) or names.depth > DEEPEST or id(node) in names.opened:
        return False
    inner = names.within(names.scope, names.given, node)
    return any(
        says_shapes(small.annotation.annotation, inner, None)
        for line in node.body.body
        for small in (line.body if isinstance(line, cst.SimpleStatementLine) else ())
        if isinstance(small, cst.AnnAssign)
    )


def note(report: Report, tree: Tree, around: cst.CSTNode, node: cst.CSTNode, message: str) -> None:
    """Adds a note about a part of an annotation, at ``node``, or at ``around`` if that stands in another file."""
    extent = tree.extent(node)
    at = tree.span(node if extent != (0, 0) else around)
    report.emit(Severity.NOTE, "inexpressible", message, at=at)


__all__ = ["DEEPEST", "note", "own_tensor", "says_shapes", "tensor_of"]
