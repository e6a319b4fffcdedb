"""One structure of a signature, with every variable computable: else a check would skip what it cannot compute.

What reading dims one after the other does not find is asked of a `Solve`, which `normalize` is (it
knows algebra, and this package does not). Without an answer the structure is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ..diagnostics import Report
from ..ir import Signature
from ..ir.expand import expand
from ..ir.expanded import Expanded
from ..ir.write import write_dim
from .plan import plan, unsolved
from .tensors import Tensors

# Adds a `Solution`, or reports why there is none and returns None.
Solve: TypeAlias = Callable[[Expanded, Report], "Expanded | None"]


def at_structure(
    signature: Signature,
    arguments: Mapping[str, object] | None,
    tensors: Tensors,
    report: Report,
    solve: Solve | None,
) -> Expanded | None:
    """Returns ``signature`` at the structure of ``arguments``, with a solution where one is needed.

    Args:
        signature: Not expanded.
        arguments: As `expand` takes them.
        tensors: What a tensor is.
        report: Receives what `expand` reports, and ``not-invertible``.
        solve: Who knows algebra.

    Returns:
        None if an error was reported.
    """
    expanded = expand(signature, arguments, is_tensor=tensors.is_tensor, report=report)
    return None if expanded is None else solved(expanded, report, solve)


def solved(expanded: Expanded, report: Report, solve: Solve | None) -> Expanded | None:
    """Returns ``expanded`` with a solution where one is needed, or None if ``report`` says why there is none."""
    missing = unsolved(expanded, plan(expanded))
    if not missing:
        return expanded
    if solve is not None:
        return solve(expanded, report)
    for name, slot in missing.items():
        dim = None if slot is None else expanded.leaves[slot.leaf].dims[slot.axis]
        use = "" if dim is None else f" from `{write_dim(dim)}`"
        report.error(
            "not-invertible",
            f"`{name}` cannot be computed{use}",
            at=None if dim is None else dim.span,
            help=f"write a bare `{name}` in some dim",
        )
    return None


__all__ = ["Solve", "at_structure", "solved"]
