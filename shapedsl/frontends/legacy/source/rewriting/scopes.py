"""Which uses a name of a file has: libcst's scopes, asked by node.

A file is only looked at in this way when something in it changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from ....stubs.room import with_room
from ....stubs.spans import parents_of

if TYPE_CHECKING:
    import libcst as cst
    from libcst.metadata import Assignment, Scope

    from ....stubs.tree import Tree

# Where these are called, a name may be read that nobody spells.
_REFLECTION: Final = frozenset(("globals", "locals", "vars", "eval", "exec"))

# Blanks and punctuation.
_NAMELESS: Final = frozenset(
    [
        "AssignEqual",
        "Colon",
        "Comma",
        "Comment",
        "Dot",
        "EmptyLine",
        "Float",
        "Integer",
        "LeftCurlyBrace",
        "LeftParen",
        "LeftSquareBracket",
        "Newline",
        "ParenthesizedWhitespace",
        "RightCurlyBrace",
        "RightParen",
        "RightSquareBracket",
        "Semicolon",
        "SimpleWhitespace",
        "TrailingWhitespace",
    ]
)

_KNOWN: Final[WeakKeyDictionary[Tree, Scopes]] = WeakKeyDictionary()


def scopes_of(tree: Tree) -> Scopes:
    """Returns the scopes of a file, which are found once."""
    found = _KNOWN.get(tree)
    if found is None:
        found = _KNOWN[tree] = Scopes(tree)
    return found


class Scopes:
    """The names of one file.

    Attributes:
        module: The file.
        imported: The names that other files import from it; ``*`` for every one.
    """

    def __init__(self, tree: Tree) -> None:
        self.module = tree.module
        self._scopes = with_room(lambda: _scopes_by_node(tree.module))
        self._parents = parents_of(tree.module)
        self.imported: frozenset[str] = frozenset()

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Returns what a node stands in; None for the module."""
        return self._parents.get(node)

    @cached_property
    def _by_kind(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for node in self._parents:
            found.setdefault(type(node).__name__, []).append(node)
        return found

    def of(self, *kinds: str) -> Iterable[Any]:
        """Yields the nodes of some kinds, by the names of their classes."""
        for kind in kinds:
            yield from self._by_kind.get(kind, ())

    @property
    def nodes(self) -> Iterable[cst.CSTNode]:
        """Every node below the module."""
        return self._parents

    def above(self, node: cst.CSTNode) -> Iterable[cst.CSTNode]:
        """Yields what a node stands in, the nearest first."""
        found = self._parents.get(node)
        while found is not None:
            yield found
            found = self._parents.get(found)

    def scope(self, node: cst.CSTNode) -> Scope | None:
        """Returns the scope that a node stands in."""
        for each in (node, *self.above(node)):
            if each in self._scopes:
                return self._scopes[each]
        return None

    @cached_property
    def all(self) -> list[Scope]:
        """Every scope of the file, in order of first use."""
        return [scope for scope in dict.fromkeys(self._scopes.values()) if scope is not None]

    @property
    def top(self) -> Scope | None:
        """The file's own scope; None for an empty file."""
        return self.all[0].globals if self.all else None

    @cached_property
    def bindings(self) -> dict[tuple[Scope, str], list[Assignment]]:
        """What binds each name of each scope, builtins left out."""
        from libcst.metadata import Assignment

        found: dict[tuple[Scope, str], list[Assignment]] = {}
        for scope in self.all:
            for binding in scope.assignments:
                if isinstance(binding, Assignment) and binding.scope is scope:
                    found.setdefault((scope, binding.name), []).append(binding)
        return found

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names that are not the file's alone: the strings of ``__all__``, and what other files import."""
        import libcst as cst
        from libcst import matchers

        found: set[str] = set()
        for binding in self.bindings.get((self.top, "__all__"), ()) if self.top is not None else ():
            statement = next(
                (each for each in self.above(binding.node) if isinstance(each, cst.BaseSmallStatement)), None
            )
            if statement is not None:
                for text in matchers.findall(statement, matchers.SimpleString()):
                    if isinstance(text, cst.SimpleString):
                        found.add(str(text.evaluated_value))
        if "*" in self.imported:
            found.update(name for scope, name in self.bindings if scope is self.top)
        return frozenset(found | self.imported)

    @cached_property
    def is_reflective(self) -> bool:
        """Whether a name of the file may be read that nobody spells: ``globals()``, ``sys.modules[__name__]``."""
        import libcst as cst

        for node in self.of("Attribute", "Arg"):
            match node:
                case cst.Attribute(value=cst.Name(value="sys"), attr=cst.Name(value="modules")):
                    return True
                case cst.Arg(value=cst.Name(value="__name__")):  # `import_module(__name__)`; a logger reads no names
                    call = self.parent(node)
                    named = call.func if isinstance(call, cst.Call) else None
                    last = named.attr if isinstance(named, cst.Attribute) else named
                    if isinstance(last, cst.Name) and last.value in ("import_module", "__import__", "reload"):
                        return True
                case _:
                    pass
        return any(self._is_reflection(access.node) for scope in self.all for access in scope.accesses)

    @cached_property
    def is_seeded(self) -> bool:
        """Whether the file seeds a generator of random numbers, so that each number that is drawn counts."""
        import libcst as cst

        return any(isinstance(node, cst.Name) and "seed" in node.value.lower() for node in self.nodes)

    @cached_property
    def spelled(self) -> frozenset[str] | None:
        """The attributes that are read by their names as text, as ``getattr(x, "b")`` does; None if any may be."""
        import libcst as cst

        found: set[str] = set()
        for node in self.of("Call", "Attribute", "Name"):
            match node:
                case cst.Call(func=cst.Name(value="getattr" | "delattr"), args=[_, cst.Arg(value=name), *_]):
                    if not isinstance(name, cst.SimpleString):
                        return None
                    found.add(str(name.evaluated_value))
                case cst.Call(func=cst.Name(value="vars" | "dir" | "asdict" | "astuple" | "fields")):
                    return None
                case cst.Attribute(
                    attr=cst.Name(
                        value="__dict__" | "getmembers" | "asdict" | "astuple" | "attrgetter" | "__getattribute__"
                    )
                ):
                    return None
                case cst.Name(value="attrgetter" | "getmembers"):
                    return None
                case _:
                    pass
        return frozenset(found)

    @cached_property
    def nonlocals(self) -> frozenset[str]:
        """The names of ``nonlocal`` statements, which need a function around them that binds them."""
        return frozenset(item.name.value for statement in self.of("Nonlocal") for item in statement.names)

    def _is_reflection(self, node: cst.CSTNode) -> bool:
        """Returns whether a name that is read stands for one of `_REFLECTION`; ``vars(args)`` is of an object."""
        import libcst as cst

        if not isinstance(node, cst.Name) or node.value not in _REFLECTION:
            return False
        above = self.parent(node)
        return not (node.value == "vars" and isinstance(above, cst.Call) and above.func is node and above.args)


def _scopes_by_node(module: cst.Module) -> Mapping[cst.CSTNode, Scope | None]:
    """Returns what libcst's provider of scopes finds.

    Its wrapper would visit the whole file once more for each provider, for methods that neither has, and its visitors
    go into blanks and punctuation, which hold no names, and look for methods of fields, which they do not have.
    """
    from libcst.metadata import ExpressionContext, ExpressionContextProvider, ScopeProvider
    from libcst.metadata.expression_context_provider import ExpressionContextVisitor
    from libcst.metadata.scope_provider import ScopeVisitor

    contexts: Any = ExpressionContextProvider()
    module.visit(_quick(ExpressionContextVisitor, has_scope=False)(contexts, ExpressionContext.LOAD))
    scopes: Any = ScopeProvider()
    scopes.metadata = {ExpressionContextProvider: contexts._computed}
    visitor = _quick(ScopeVisitor, has_scope=True)(scopes)
    module.visit(visitor)
    visitor.infer_accesses()
    found: Mapping[cst.CSTNode, Scope | None] = scopes._computed
    return found


def _quick(visitor: Any, *, has_scope: bool) -> Any:
    """Returns a visitor of libcst that passes by what holds no names."""

    class Quick(visitor):  # type: ignore[misc]  # the class is one that is given
        def on_visit(self, node: cst.CSTNode) -> bool:
            return type(node).__name__ not in _NAMELESS and bool(visitor.on_visit(self, node))

        def on_leave(self, original_node: cst.CSTNode) -> None:
            if type(original_node).__name__ not in _NAMELESS:
                visitor.on_leave(self, original_node)
            elif has_scope:
                self.provider.set_metadata(original_node, self.scope)

        def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
            pass

        def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
            pass

    return Quick


__all__ = ["Scopes", "scopes_of"]
