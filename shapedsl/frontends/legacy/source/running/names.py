"""Which names each scope of a module binds: what Python's compiler finds out before it runs anything.

Before::

    def build(wide):
        global SPEC
        SPEC = {0: (n := Dim("n"))}

After: ``build`` binds ``wide`` and ``n``; ``SPEC`` is the module's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, cast

from ....stubs.nodes import IS_NODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import libcst as cst


@dataclass(slots=True)
class Names:
    """What one scope binds.

    Attributes:
        bound: Names of its own.
        outer: Names that statements take to another scope, with ``global`` or ``nonlocal``.
        is_generator: Whether it is a function that yields.
        nodes: How many nodes it has.
    """

    bound: set[str] = field(default_factory=set[str])
    outer: dict[str, str] = field(default_factory=dict[str, str])
    is_generator: bool = False


@dataclass(slots=True)
class Index:
    """What a walk over the module found.

    Attributes:
        scopes: Function, lambda, class or comprehension → its names; None → the module's.
        stored: The names of attributes that are assigned or deleted anywhere, with how often.
        size: How many nodes there are.
    """

    scopes: dict[cst.CSTNode | None, Names]
    stored: dict[str, int]
    size: int


_FIELDS: dict[type, tuple[str, ...]] = {}
_SKIPPED = (
    "whitespace",
    "lpar",
    "rpar",
    "leading_lines",
    "trailing",
    "header",
    "footer",
    "indent",
    "comma",
    "semicolon",
)


# The kinds of nodes that open scopes or bind names.
_BINDING = frozenset(
    [
        "AnnAssign",
        "AssignTarget",
        "AugAssign",
        "Await",
        "ClassDef",
        "CompFor",
        "Del",
        "DictComp",
        "ExceptHandler",
        "ExceptStarHandler",
        "For",
        "FunctionDef",
        "GeneratorExp",
        "Global",
        "Import",
        "ImportFrom",
        "Lambda",
        "ListComp",
        "MatchAs",
        "MatchMapping",
        "MatchStar",
        "NamedExpr",
        "Nonlocal",
        "SetComp",
        "TypeAlias",
        "WithItem",
        "Yield",
    ]
)


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yields the nodes below one, in order, without blanks and punctuation."""
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(f.name for f in fields(kind) if not f.name.startswith(_SKIPPED))
    for name in names:
        value = getattr(node, name)
        if IS_NODE[type(value)]:
            yield value
        elif isinstance(value, (list, tuple)):
            for each in cast("Sequence[object]", value):
                if IS_NODE[type(each)]:
                    yield cast("cst.CSTNode", each)


def index(module: cst.Module) -> Index:
    """Returns what each scope of a module binds."""
    import libcst as cst

    found = Index({None: Names()}, {}, 0)
    # Each entry: a node, the scope it is in, and the one that takes walruses (a comprehension's is the one around it).
    todo: list[tuple[cst.CSTNode, Names, Names]] = [(module, found.scopes[None], found.scopes[None])]
    comprehensions = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
    while todo:
        node, here, walrus = todo.pop()
        found.size += 1
        if type(node).__name__ not in _BINDING:  # nearly all: the classes are abstract, and slow to ask about
            todo.extend((each, here, walrus) for each in children(node))
        elif isinstance(node, (cst.FunctionDef, cst.Lambda)):
            inner = found.scopes[node] = Names()
            params = node.params
            for param in _params(params):
                inner.bound.add(param.name.value)
                todo.extend((each, here, walrus) for each in (param.default, param.annotation) if each is not None)
            if isinstance(node, cst.FunctionDef):
                here.bound.add(node.name.value)
                todo.extend((each, here, walrus) for each in node.decorators)
                if node.returns is not None:
                    todo.append((node.returns, here, walrus))
            todo.append((node.body, inner, inner))
        elif isinstance(node, cst.ClassDef):
            here.bound.add(node.name.value)
            inner = found.scopes[node] = Names()
            todo.extend((each, here, walrus) for each in (*node.decorators, *node.bases, *node.keywords))
            todo.append((node.body, inner, inner))
        elif isinstance(node, comprehensions):
            inner = found.scopes[node] = Names()
            todo.extend((each, inner, walrus) for each in children(node))
        elif isinstance(node, cst.CompFor):
            targets(node.target, here, found)
            todo.extend((each, here, walrus) for each in children(node) if each is not node.target)
            todo.append((node.target, here, walrus))
        else:
            binds(node, here, walrus, found)
            todo.extend((each, here, walrus) for each in children(node))
    for scope in found.scopes.values():
        scope.bound -= scope.outer.keys()
    return found


def binds(node: cst.CSTNode, here: Names, walrus: Names, found: Index) -> None:
    """Notes what a node that opens no scope binds."""
    import libcst as cst

    if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For)):
        targets(node.target, here, found)
    elif isinstance(node, cst.NamedExpr):
        targets(node.target, walrus, found)
    elif isinstance(node, cst.Del):
        targets(node.target, here, found)
    elif isinstance(node, (cst.WithItem, cst.ExceptHandler, cst.ExceptStarHandler)):
        alias = node.asname if isinstance(node, cst.WithItem) else node.name
        if alias is not None:
            targets(alias.name, here, found)
    elif isinstance(node, (cst.Import, cst.ImportFrom)):
        for each in () if isinstance(node.names, cst.ImportStar) else node.names:
            here.bound.add(imported_as(each))
    elif isinstance(node, (cst.Global, cst.Nonlocal)):
        kind = "global" if isinstance(node, cst.Global) else "nonlocal"
        here.outer.update((item.name.value, kind) for item in node.names)
    elif isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
        here.bound.add(node.name.value)
    elif isinstance(node, cst.MatchMapping) and node.rest is not None:
        here.bound.add(node.rest.value)
    elif isinstance(node, cst.TypeAlias):
        here.bound.add(node.name.value)
    elif isinstance(node, (cst.Yield, cst.Await)):
        here.is_generator = True


def targets(target: cst.BaseExpression, here: Names, found: Index) -> None:
    import libcst as cst

    todo: list[cst.BaseExpression] = [target]
    while todo:
        node = todo.pop()
        if isinstance(node, cst.Name):
            here.bound.add(node.value)
        elif isinstance(node, (cst.Tuple, cst.List)):
            todo.extend(element.value for element in node.elements)
        elif isinstance(node, cst.StarredElement):
            todo.append(node.value)
        elif isinstance(node, cst.Attribute):
            found.stored[node.attr.value] = found.stored.get(node.attr.value, 0) + 1


def _params(params: cst.Parameters) -> list[cst.Param]:
    import libcst as cst

    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    every.extend(each for each in (params.star_arg, params.star_kwarg) if isinstance(each, cst.Param))
    return every


def imported_as(alias: cst.ImportAlias) -> str:
    """Returns the name that an import binds."""
    import libcst as cst

    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value
    return dotted(alias.name).partition(".")[0]


def dotted(node: cst.BaseExpression) -> str:
    """Returns ``a.b.c`` of a dotted name; empty for another expression."""
    import libcst as cst

    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    return ".".join([node.value, *reversed(parts)]) if isinstance(node, cst.Name) else ""


__all__ = ["Index", "Names", "children", "dotted", "imported_as", "index"]
