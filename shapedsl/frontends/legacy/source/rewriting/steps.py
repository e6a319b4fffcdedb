"""The statements of a file that only build values: what names each binds or changes, and where these are read.

``a = {…}`` binds ``a``; ``a["x"][0] = 2``, ``a.update(b)`` and ``a |= b`` change it, and with it what ``a`` may be a
part of: after ``a = b["x"]`` also ``b``. A loop whose body is such statements is one itself.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .pure import CHANGING, held_names, is_atom, is_pure
from .scopes import Scopes

if TYPE_CHECKING:
    import libcst as cst
    from libcst.metadata import Assignment

    from ....stubs.tree import Tree

Key: TypeAlias = "tuple[Any, str]"  # a scope, and a name in it


class Read(NamedTuple):
    """A place where a name is read."""

    start: int
    end: int
    key: Key
    node: Any


class Steps:
    """The building statements of one file.

    Attributes:
        reads: Where names are read, in the order of the text.
        names: Statement → the names that it binds or changes.
        touching: Name → the statements that bind or change it.
        blocks: Those that are loops or conditionals.
    """

    def __init__(self, tree: Tree, scopes: Scopes) -> None:
        from libcst.metadata import ImportAssignment

        self._tree = tree
        self._scopes = scopes
        self._uses: dict[Key, list[tuple[int, int]]] = {}
        self._keys: dict[cst.CSTNode, Key] = {}
        self._nodes: dict[Key, list[cst.CSTNode]] = {}
        self._sources: dict[tuple[Key, bool], list[Key] | None] = {}
        self.reads: list[Read] = []
        self.names: dict[cst.CSTNode, list[Key]] = {}
        self.touching: dict[Key, list[cst.CSTNode]] = {}
        self.blocks: set[cst.CSTNode] = set()
        for key, bindings in scopes.bindings.items():
            for node in dict.fromkeys(access.node for binding in bindings for access in binding.references):
                span = tree.extent(node)
                self.reads.append(Read(*span, key, node))
                self._uses.setdefault(key, []).append(span)
                self._keys[node] = key
                self._nodes.setdefault(key, []).append(node)
        self.reads.sort(key=lambda read: (read.start, read.end))
        for key, bindings in scopes.bindings.items():
            if not any(
                isinstance(binding, ImportAssignment) for binding in bindings
            ):  # `except ImportError: Dim = None`
                for binding in bindings:
                    self._bound(key, binding)
        for read in self.reads:
            self._changed(read)

    def uses(self, key: Key) -> list[tuple[int, int]]:
        """Returns where a name is read."""
        return self._uses.get(key, [])

    # -------------------------------------------------------------------------------- bindings

    def _bound(self, key: Key, binding: Assignment) -> None:
        """Notes the statement that binds a name, if binding names is all it does."""
        statement = self._binder(binding.node)
        if statement is not None and self._may_go(statement):
            self._note(statement, key)

    def _note(self, statement: cst.CSTNode, key: Key) -> None:
        import libcst as cst

        if key not in self.names.setdefault(statement, []):
            self.names[statement].append(key)
            self.touching.setdefault(key, []).append(statement)
        if isinstance(statement, cst.For):
            self.blocks.add(statement)
        for outer in self._scopes.above(statement):
            if isinstance(outer, (cst.For, cst.If)) and self._may_go(outer):
                self.blocks.add(outer)
                self.names.setdefault(outer, [])
            elif isinstance(outer, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
                break

    def _binder(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Returns the statement that binds a name; None for what is not a plain assignment, a loop or a function."""
        import libcst as cst

        if isinstance(node, cst.FunctionDef):
            return node
        below = node
        for each in self._scopes.above(node) if isinstance(node, cst.Name) else ():
            if isinstance(each, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
                return each
            if isinstance(each, cst.For):
                return each if each.target is below else None
            if not isinstance(each, (cst.AssignTarget, cst.Tuple, cst.List, cst.Element)):
                return None
            below = each
        return None

    # --------------------------------------------------------------------------------- changes

    def _changed(self, read: Read) -> None:
        """Notes the statement that changes what a name holds, or unbinds it, if that is all it does."""
        forgets = _del_of(read.node, self._scopes)
        if forgets is not None:
            self._note(forgets, read.key)
            return
        statement, is_deep = self._step(read.node)
        if statement is None or not self._may_go(statement):
            return
        keys = self._parts(read.key, is_deep, set())
        if keys is not None:
            for key in keys:
                self._note(statement, key)

    def _parts(self, key: Key, is_deep: bool, seen: set[Key]) -> list[Key] | None:
        """Returns a name and those whose values it may be a part of, or, if a change goes deep, may hold.

        Returns:
            None if that is not known, as of a parameter.
        """
        if key in seen:
            return []
        seen.add(key)
        origins = self._origins(key, is_deep)
        if origins is None:
            return None
        found = [key]
        for source in origins:
            rest = self._parts(source, is_deep, seen)
            if rest is None:
                return None
            found += rest
        return found

    def _origins(self, key: Key, is_deep: bool) -> list[Key] | None:
        """Returns the names whose values a name's may be, or hold; None if it is bound by something else."""
        import libcst as cst

        known = self._sources.get((key, is_deep))
        if known is not None or (key, is_deep) in self._sources:
            return known
        self._sources[key, is_deep] = None
        values: list[cst.CSTNode] = []
        for binding in self._scopes.bindings.get(key, ()):
            statement = self._binder(binding.node)
            value = statement.iter if isinstance(statement, cst.For) else getattr(statement, "value", None)
            if value is None:
                return None
            values.append(value)
        if is_deep:
            values += [step.value for step in self._steps_of(key)]
        found: list[Key] = []
        for value in values:
            if is_deep or not isinstance(value, (cst.Dict, cst.List, cst.Tuple)):  # a display itself is new
                found += [self._keys[name] for name in held_names(value) if name in self._keys and self._plain(name)]
        self._sources[key, is_deep] = found
        return found

    def _steps_of(self, key: Key) -> Iterator[Any]:
        for node in self._nodes.get(key, ()):
            step, _ = self._step(node)
            if step is not None:
                yield step

    def _plain(self, name: cst.CSTNode) -> bool:
        """Returns whether a name that is read may hold what a step changes: no import does, no number, no Dim."""
        import libcst as cst

        for binding in self._scopes.bindings.get(self._keys[name], ()):
            statement = self._binder(binding.node)
            if not isinstance(statement, (cst.Assign, cst.AnnAssign)) or not is_atom(statement.value):
                return not isinstance(binding.node, (cst.Import, cst.ImportFrom))
        return False

    def _step(self, node: cst.CSTNode) -> tuple[Any, bool]:
        """Returns the statement ``node[…] = …``, ``del node[…]``, ``node.update(…)``, and whether it changes a part."""
        import libcst as cst

        below = node
        links = 0
        for each in self._scopes.above(node):
            is_on_it = getattr(each, "value", getattr(each, "func", None)) is below
            is_method = isinstance(below, cst.Attribute) and below.attr.value in CHANGING
            if isinstance(each, cst.Assign) and isinstance(below, cst.AssignTarget):
                return each, links > 1
            if isinstance(each, cst.Del) and isinstance(below, cst.Subscript):
                return each, links > 1
            if isinstance(each, cst.AugAssign) and each.target is below:
                return each, links > 0
            if isinstance(each, cst.Expr) and isinstance(below, cst.Call):
                return each, links > 1
            is_link = isinstance(each, cst.Subscript) or (isinstance(each, cst.Call) and is_method)
            links += is_link
            is_link = is_link or isinstance(each, cst.Attribute)
            if not (isinstance(each, cst.AssignTarget) or (is_link and is_on_it)):
                return None, False
            if isinstance(below, cst.Attribute) and not isinstance(each, cst.Call):
                return None, False
            below = each
        return None, False

    # ------------------------------------------------------------------------------ statements

    def _may_go(self, statement: cst.CSTNode) -> bool:
        """Returns whether a statement has no other effect than on the names at its left; of a block, its head."""
        import libcst as cst
        from libcst.metadata import ClassScope

        scope = self._scopes.scope(statement)
        if isinstance(scope, ClassScope):
            return False  # an attribute, which is read in other ways
        if isinstance(statement, cst.FunctionDef):
            is_local = scope is not self._scopes.top or statement.name.value.startswith("_")
            return is_local and not statement.decorators and statement.asynchronous is None
        if isinstance(statement, cst.Assign):
            return all(_is_place(target.target) for target in statement.targets) and self._pure(
                statement.value, *(target.target for target in statement.targets)
            )
        if isinstance(statement, (cst.AnnAssign, cst.AugAssign)):
            return (
                _is_place(statement.target)
                and statement.value is not None
                and self._pure(statement.value, statement.target)
            )
        if isinstance(statement, cst.Expr):
            return self._pure(statement.value)
        if isinstance(statement, cst.Del):
            return _is_place(statement.target) and self._pure(statement.target)
        if isinstance(statement, cst.For):
            plain = _is_place(statement.target) and statement.asynchronous is None
            return plain and self._pure(statement.iter, statement.target)
        if isinstance(statement, cst.If):
            return self._pure(statement.test)
        return False

    def _pure(self, *nodes: cst.CSTNode) -> bool:
        return all(is_pure(node, self._scopes) for node in nodes)


def _del_of(name: cst.CSTNode, scopes: Scopes) -> cst.Del | None:
    """Returns the ``del a, b`` that unbinds a name, if it does nothing else than unbind names."""
    import libcst as cst

    above = scopes.parent(name)
    if isinstance(above, cst.Element):
        above = scopes.parent(above)
        if not isinstance(above, (cst.Tuple, cst.List)) or not all(
            isinstance(each.value, cst.Name) for each in above.elements
        ):
            return None
        above = scopes.parent(above)
    return above if isinstance(above, cst.Del) else None


def _is_place(target: cst.CSTNode) -> bool:
    """Returns whether assigning to a target changes only what names hold: names, tuples of names, subscripts."""
    import libcst as cst

    if isinstance(target, (cst.Tuple, cst.List)):
        return all(_is_place(each.value) for each in target.elements)
    while isinstance(target, cst.Subscript):
        target = target.value
    if isinstance(target, cst.Call):  # `a.setdefault("x", {})[0] = b`
        return isinstance(target.func, cst.Attribute) and target.func.attr.value in CHANGING
    return isinstance(target, cst.Name)


def is_whole(node: cst.CSTNode, scopes: Scopes, going: Container[cst.CSTNode], deleted: Container[cst.CSTNode]) -> bool:
    """Returns whether all that a loop or a conditional holds goes; true for any other statement.

    Args:
        node: The statement.
        scopes: Of its file.
        going: Statements that go.
        deleted: Others that go.
    """
    import libcst as cst

    if isinstance(node, cst.For):
        return node.orelse is None and _goes(node.body, going, deleted)
    if isinstance(node, cst.If):
        branch: cst.BaseCompoundStatement | None = node
        if isinstance(scopes.parent(node), cst.If):  # an `elif` goes with its `if`
            return False
        while isinstance(branch, cst.If):
            if not is_pure(branch.test, scopes) or not _goes(branch.body, going, deleted):
                return False
            branch = branch.orelse  # type: ignore[assignment]  # an If or an Else
        return branch is None or _goes(branch.body, going, deleted)
    return True


def _goes(body: cst.BaseSuite, going: Container[cst.CSTNode], deleted: Container[cst.CSTNode]) -> bool:
    """Returns whether every statement of a block goes."""
    import libcst as cst

    for line in body.body:
        for each in line.body if isinstance(line, cst.SimpleStatementLine) else (line,):
            if not (each in going or each in deleted or isinstance(each, (cst.Pass, cst.Continue))):
                return False
    return True


__all__ = ["Key", "Read", "Steps", "is_whole"]
