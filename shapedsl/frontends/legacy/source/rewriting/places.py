"""Where a definition may be written, so that every use of it sees it, and where a definition is seen.

Before::

    class Net: forward = lambda self, x: export(self, (x,), dynamic_shapes={"x": {0: Dim("b"), 1: Dim("b")}})

After (a lambda does not see the names of the class around it)::

    b = ShapeVar("b")
    class Net: forward = lambda self, x: export(self, (x,), dynamic_shapes=ShapesSpec({"x": TensorSpec([b, b])}))
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import libcst as cst

    from .scopes import Scopes

    Comprehension: TypeAlias = cst.GeneratorExp | cst.ListComp | cst.SetComp | cst.DictComp


def _is_deferred(node: cst.CSTNode) -> bool:
    """Whether what stands in a node has a scope of its own, which does not see a class's names."""
    import libcst as cst

    kinds = (cst.FunctionDef, cst.Lambda, cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp)
    return isinstance(node, kinds)


class Places:
    """Answers about one file."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes

    def chain(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Returns a node and what it stands in, the nearest first."""
        return [node, *self._scopes.above(node)]

    def statement(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Returns the statement of a node that a line can be written above, and whose names the node sees."""
        import libcst as cst

        found: cst.CSTNode | None = None
        deferred = False
        chain = self.chain(node)
        for inner, outer in pairwise(chain):
            if found is None and isinstance(outer, cst.IndentedBlock | cst.Module | cst.SimpleStatementSuite):
                found = inner
            if found is None:
                deferred = deferred or _is_deferred(inner)
            elif isinstance(inner, cst.ClassDef) and deferred:
                found = None  # the class's names are not seen from within; go on above it
                if isinstance(outer, cst.IndentedBlock | cst.Module | cst.SimpleStatementSuite):
                    found = inner
            elif isinstance(inner, cst.FunctionDef):
                return found
        return found

    def above_all(self, nodes: Iterable[cst.CSTNode]) -> cst.CSTNode | None:
        """Returns the statement before which a definition is made before each of the nodes, and seen by it."""
        statements = [self.statement(node) for node in nodes]
        if any(each is None for each in statements):
            return None
        found = [each for each in dict.fromkeys(statements) if each is not None]
        for candidate in found:
            if all(self.is_above(candidate, other) for other in found):
                return candidate
        return None

    def is_above(self, statement: cst.CSTNode, node: cst.CSTNode) -> bool:
        """Returns whether ``statement`` runs before ``node`` whenever that is reached, and its names are seen there.

        It is so where the block of the statement also holds the node, later, with no class between that hides names.
        """
        import libcst as cst

        if statement is node:
            return True
        block = self._scopes.parent(statement)
        chain = self.chain(node)
        if block is None or block not in chain:
            return False
        within = chain[chain.index(block) - 1] if chain.index(block) else node
        holder = self._scopes.parent(block)
        if isinstance(holder, cst.ClassDef) and any(_is_deferred(each) for each in chain[: chain.index(block)]):
            return False
        siblings: list[cst.CSTNode] = list(getattr(block, "body", ()))
        if within not in siblings or statement not in siblings:
            return False
        return siblings.index(statement) <= siblings.index(within)

    def is_repeated(self, node: cst.CSTNode, call: cst.CSTNode) -> bool:
        """Returns whether ``node`` may run several times before ``call`` runs once: in a loop or a function of its own."""
        import libcst as cst

        around = set(self.chain(call))
        loops = (cst.For, cst.While)
        return any(each not in around and (_is_deferred(each) or isinstance(each, loops)) for each in self.chain(node))

    def is_once(self, node: cst.CSTNode, use: cst.CSTNode) -> bool:
        """Returns whether what ``node`` gave is what it gave last where ``use`` stands: no loop runs it again.

        It is asked of a node in the module, or in the function that ``use`` stands in.
        """
        import libcst as cst

        around = self.chain(use)
        for each in self.chain(node):
            if isinstance(each, cst.For | cst.While | cst.ClassDef):
                return False
            if _is_deferred(each):
                return each in around and each is next(outer for outer in around if _is_deferred(outer))
        return True

    def defined(self, node: cst.CSTNode, at: int | None = None) -> cst.Name | None:
        """Returns the name that a statement of a block binds to all of what ``node`` gives, or to its item ``at``."""
        import libcst as cst

        element = self._scopes.parent(node)
        display = self._scopes.parent(element) if isinstance(element, cst.Element) else None
        if (
            at is None and isinstance(element, cst.Element) and isinstance(display, cst.Tuple | cst.List)
        ):  # `b, s = Dim("b"), Dim("s")`
            at = list(display.elements).index(element)
            node = display
        match self._scopes.parent(node):
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if value is node:
                pass
            case cst.AnnAssign(target=target, value=value) if value is node:
                pass
            case _:
                return None
        if at is not None:
            if not isinstance(target, cst.Tuple | cst.List) or at >= len(target.elements):
                return None
            if not all(isinstance(each, cst.Element) for each in target.elements):
                return None
            found: cst.CSTNode = target.elements[at].value
        else:
            found = target
        return found if isinstance(found, cst.Name) else None

    def sees(self, node: cst.CSTNode, name: cst.Name) -> bool:
        """Returns whether the name that is assigned at ``name`` means that, and nothing else, where ``node`` stands."""
        here = self._scopes.scope(node)
        bindings = list(here[name.value]) if here is not None else []
        if len(bindings) != 1 or getattr(bindings[0], "node", None) is not name:
            return False
        statement = self.statement(name)
        return statement is not None and (self.is_above(statement, node) or here is not self._scopes.scope(name))


__all__ = ["Places"]
