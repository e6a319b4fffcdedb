"""Add the user's names to the assertions of a program, so that a refused input is told in them wherever it runs.

torch's text is kept: it is where `program` reads the condition, and the only trace of it in a saved program.

Before::

    _assert_scalar(eq, "Runtime assertion failed for expression Eq(u2, 2*u0) on node 'eq'")

After::

    _assert_scalar(eq, "Runtime assertion failed for expression Eq(u2, 2*u0) on node 'eq':
        `y.shape[0] == 2 * B` is needed, where x.shape[0] is B")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..ir import Size, Var
from ..ir.expanded import Lowered
from ..ir.write import write_predicate
from .printed import read_printed
from .program import names_of
from .symbolic import Unreadable

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import GraphModule

_ASSERTION = re.compile(r"Runtime assertion failed for expression (?P<condition>.+?) on node '[^']*'$", re.DOTALL)


def name_assertions(program: ExportedProgram | GraphModule, lowered: Lowered) -> None:
    """Says in the assertions of ``program`` what they need, in the variables of its spec.

    Args:
        program: From export, or a graph from our make_fx; changed in place. An assertion about data
            (``.item()``) is left as it is.
        lowered: The spec that it was made with.
    """
    symbols, homes = names_of(program, lowered)
    root: Any = getattr(program, "graph_module", program)
    for module in root.modules():
        if not hasattr(module, "graph"):
            continue
        changed = False
        for node in module.graph.nodes:
            if node.op == "call_function" and "_assert_scalar" in str(node.target) and len(node.args) > 1:
                said = _needed(str(node.args[1]), symbols, homes)
                if said is not None:
                    node.args = (node.args[0], said, *node.args[2:])
                    changed = True
        if changed:
            module.recompile()


def _needed(text: str, symbols: Mapping[str, Size], homes: Mapping[str, str]) -> str | None:
    """Returns ``text`` with what it means; None if it is not torch's, or speaks of something else than sizes."""
    match = _ASSERTION.fullmatch(text)
    if match is None:
        return None
    said: dict[str, Size] = {}
    notes: list[str] = []
    for name in dict.fromkeys(re.findall(r"\b[us]\d+\b", match["condition"])):
        if name in homes:
            size, home = symbols[name], homes[name]
            said[name] = size if isinstance(size, Var) else Var(home)  # `2 * B == 2 * B` would say nothing
            if isinstance(size, Var) and size.name != home:
                notes.append(f"{home} is {size.name}")
    try:
        needed = write_predicate(read_printed(match["condition"], said.get))
    except Unreadable:
        return None
    where = f", where {' and '.join(notes)}" if notes else ""
    # AOTInductor writes the text into a C++ string as it is
    return f"{text}: `{needed}` is needed{where}".replace('"', "'").replace("\\", "/")
