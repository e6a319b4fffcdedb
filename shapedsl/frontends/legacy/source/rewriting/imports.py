"""Import what the new specs are made of, and drop what only the old ones used.

Before::

    from torch import nn
    from torch.export import Dim, export

After::

    from torch import nn
    from torch.export import export
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec

A new import stands beside the one that gave the old names, in the same block: what was imported in a function or in a
``try`` still is. A name is dropped if it was used, all its uses are edited away, and nobody can rely on it otherwise.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Final

from .dead import Stretches, gone_spans, kept_words
from .imported import Given, given_names, is_conditional, module_of
from .placing import insert
from .plan import TORCH_SPECS
from .scopes import Scopes, scopes_of

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree
    from .plan import Plan

_CLASSES: Final = ("DictSpec", "IntVar", "ObjectSpec", "ParamsSpec", "SeqSpec", "ShapesSpec", "ShapeVar", "TensorSpec")
_UNUSED: Final = re.compile(r"#.*\bnoqa\b(?!:(?!.*F401))", re.IGNORECASE)


def known(tree: Tree) -> dict[str, str]:
    """Returns what the whole file knows from imports at its top: qualified name → how the file writes it.

    Names that anything else binds too, in whatever scope, are left out.
    """
    import libcst as cst

    scopes = scopes_of(tree)
    counts: dict[str, int] = {}
    for _, name in scopes.bindings:
        counts[name] = counts.get(name, 0) + 1
    found: dict[str, str] = {}
    for given in given_names(scopes):
        line = scopes.parent(given.statement)
        is_top = given.scope is scopes.top and line is not None and isinstance(scopes.parent(line), cst.Module)
        if is_top and counts.get(given.local) == 1 and len(scopes.bindings[given.scope, given.local]) == 1:
            found.setdefault(given.qualified, given.local)
    module = found.get(TORCH_SPECS)
    if module is not None:
        for name in _CLASSES:
            found.setdefault(f"{TORCH_SPECS}.{name}", f"{module}.{name}")
    return found


def settle(plan: Plan) -> None:
    """Edits the imports of a file, the last stage of its plan."""
    scopes = scopes_of(plan.tree)
    gone = Stretches(gone_spans(plan))
    uses = _Uses(plan.tree, scopes)
    given = list(given_names(scopes))
    lost = {each.statement for each in given if any(gone.holds(span) for span in uses.of(each))}
    while _drop(plan, scopes, given, uses, Stretches(gone_spans(plan))):  # what a dropped block asked for may go too
        pass
    before = known(plan.tree)
    missing = {name: local for name, local in plan.needed.items() if before.get(name) != local}
    insert(plan, scopes, given, lost, missing)


class _Uses:
    """Where the imported names of a file are read."""

    def __init__(self, tree: Tree, scopes: Scopes) -> None:
        self._tree = tree
        self._scopes = scopes

    def of(self, given: Given) -> list[tuple[int, int]]:
        """Returns where a name is read; of ``import a.b``, where ``a.b`` is."""
        bindings = self._scopes.bindings.get((given.scope, given.name), ())
        nodes = dict.fromkeys(access.node for each in bindings for access in each.references)
        return [self._tree.extent(node) for node in nodes]


def _drop(plan: Plan, scopes: Scopes, given: Iterable[Given], uses: _Uses, gone: Stretches) -> bool:
    """Deletes the imports that lost their last use; returns whether blocks of them went as a whole."""
    if os.path.basename(plan.tree.source.name) == "__init__.py":
        return False  # what others import from here
    if scopes.is_reflective:
        return False
    words = kept_words(plan, scopes)
    going: dict[cst.CSTNode, list[cst.ImportAlias]] = {}
    for each in given:
        if _may_drop(plan.tree, scopes, each, words):
            spans = uses.of(each)
            if spans and all(map(gone.holds, spans)):
                going.setdefault(each.statement, []).append(each.alias)
    for statement, aliases in going.items():
        if len(aliases) < len(statement.names):  # type: ignore[attr-defined]  # an Import or an ImportFrom
            for alias in aliases:
                plan.delete(alias)
        elif not is_conditional(scopes, statement):  # else it may ask whether a version has the name
            plan.delete(statement)
    blocks = [_checking(plan, scopes, statement) for statement in going]
    for block in blocks:
        if block is not None:
            plan.delete(block)
    return any(blocks)


def _checking(plan: Plan, scopes: Scopes, statement: cst.CSTNode) -> cst.If | None:
    """Returns the ``if TYPE_CHECKING:`` around an import, if all that it holds goes."""
    import libcst as cst

    around = next((each for each in scopes.above(statement) if isinstance(each, cst.If)), None)
    if around is None or around in plan.deleted or around.orelse is not None:
        return None
    if not plan.tree.code(around.test).endswith("TYPE_CHECKING"):
        return None
    lines = [line for line in around.body.body if isinstance(line, cst.SimpleStatementLine)]
    goes = len(lines) == len(around.body.body) and all(each in plan.deleted for line in lines for each in line.body)
    return around if goes else None


def _may_drop(tree: Tree, scopes: Scopes, given: Given, words: Container[str]) -> bool:
    """Returns whether an import serves nothing but the uses of its name."""
    root = module_of(given.statement, given.alias).partition(".")[0]
    if root != "torch" and root not in sys.stdlib_module_names:
        return False  # it may do more than give a name
    if given.local in words or root == "__future__":
        return False
    alias = given.alias.asname
    if alias is not None and tree.code(alias.name) == tree.code(given.alias.name):
        return False  # `import a as a`: for others
    end = tree.extent(given.alias)[1]
    line = tree.source.text[end : tree.source.text.find("\n", end) + 1 or None]
    if _UNUSED.search(line):
        return False
    others = [each for each in scopes.bindings.get((given.scope, given.local), ()) if each.node is not given.statement]
    # `import torch._dynamo` also binds `torch`, which another import must still give.
    return bool(others) if given.name != given.local else not others


__all__ = ["known", "settle"]
