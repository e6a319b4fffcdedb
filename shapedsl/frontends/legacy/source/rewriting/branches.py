"""Imports in branches: whether what stands beside one is there wherever it is used.

Before::

    try:
        from torch.export import Dim, export
        HAS_EXPORT = True
    except ImportError:
        HAS_EXPORT = False
    …
    if HAS_EXPORT:
        export(net, args, dynamic_shapes={"x": {0: Dim("b")}})      # runs only where the import did

A use is served by an import in a branch if it stands there too, or reads a name that nothing but that branch gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree
    from .scopes import Scopes


class Branches:
    """Answers about one file."""

    def __init__(self, tree: Tree, scopes: Scopes) -> None:
        self._tree = tree
        self._scopes = scopes
        self._needs: dict[tuple[cst.CSTNode, cst.CSTNode], bool] = {}

    def serves(self, statement: cst.CSTNode, at: int) -> bool:
        """Returns whether an import beside ``statement`` has run whenever the code at ``at`` does.

        Args:
            statement: An import.
            at: A place behind it, in its function or in one that sees its names.
        """
        branches = [each for each in self._scopes.above(statement) if self._is_branch(each)]
        for branch in branches:
            start, end = self._tree.extent(branch)
            if not start <= at < end and not self._reads_from(self._line(at), branch):
                return False
        return True

    def _is_branch(self, block: cst.CSTNode) -> bool:
        """Returns whether a block may be left out, and what follows it still runs."""
        import libcst as cst

        holder = self._scopes.parent(block)
        if not isinstance(block, (cst.IndentedBlock, cst.SimpleStatementSuite)):
            return False
        if isinstance(holder, (cst.Try, cst.TryStar)):
            return not all(_leaves(handler.body) for handler in holder.handlers)
        if isinstance(holder, cst.If):
            return not (isinstance(holder.orelse, cst.Else) and _leaves(holder.orelse.body))
        if isinstance(holder, cst.Else):
            above = self._scopes.parent(holder)
            return not (isinstance(above, cst.If) and _leaves(above.body))
        return isinstance(holder, (cst.ExceptHandler, cst.ExceptStarHandler, cst.For, cst.While, cst.MatchCase))

    def _line(self, at: int) -> cst.CSTNode | None:
        """Returns the innermost statement at a place: a line, or the head of a compound one."""
        import libcst as cst

        found, begins = None, -1
        for node in self._scopes.nodes:
            if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                start, end = self._tree.extent(node)
                if begins < start <= at < end:
                    found, begins = node, start
        return found

    def _reads_from(self, line: cst.CSTNode | None, branch: cst.CSTNode) -> bool:
        """Returns whether a statement, or what it stands in, reads a name that it has from a branch alone."""
        if line is None:
            return False
        key = line, branch
        if key not in self._needs:
            self._needs[key] = False  # a name of a loop is no reason
            self._needs[key] = any(self._is_from(node, branch) for node in self._names(line))
        return self._needs[key]

    def _names(self, line: cst.CSTNode) -> list[cst.Name]:
        import libcst as cst
        from libcst import matchers

        within = line if isinstance(line, cst.SimpleStatementLine) else getattr(line, "test", None)
        if within is None:
            return []
        return [node for node in matchers.findall(within, matchers.Name()) if isinstance(node, cst.Name)]

    def _is_from(self, name: cst.Name, branch: cst.CSTNode) -> bool:
        """Returns whether a name that is read has its value from a branch, or from a line that itself needs one."""
        scope = self._scopes.scope(name)
        if scope is None:
            return False
        bindings = [each for each in scope[name.value] if any(name is access.node for access in each.references)]
        nodes = [getattr(each, "node", None) for each in bindings]
        return bool(nodes) and all(node is not None and self._comes_from(node, name, branch) for node in nodes)

    def _comes_from(self, binding: cst.CSTNode, read: cst.Name, branch: cst.CSTNode) -> bool:
        import libcst as cst

        above = [binding, *self._scopes.above(binding)]
        if branch in above:
            return True
        if self._is_used(read) and any(
            isinstance(each, cst.Assign) and isinstance(each.value, cst.Name) and each.value.value == "None"
            for each in above
        ):
            return True  # `except ImportError: Dim = None`, which nobody can call
        line = next((each for each in above if isinstance(each, cst.SimpleStatementLine)), None)
        return line is not None and self._reads_from(line, branch)

    def _is_used(self, read: cst.Name) -> bool:
        """Returns whether a name is called, or an attribute of it is read."""
        import libcst as cst

        above = self._scopes.parent(read)
        return isinstance(above, (cst.Call, cst.Attribute)) and read in (
            getattr(above, "func", None),
            getattr(above, "value", None),
        )


def _leaves(body: cst.BaseSuite) -> bool:
    """Returns whether what follows a block is not reached from its end."""
    import libcst as cst

    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, (cst.Raise, cst.Return, cst.Continue, cst.Break))


__all__ = ["Branches"]
