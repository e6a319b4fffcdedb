"""A call that a program refused under torch's own names: which condition failed, in the words of places or of the spec.

Before::

    AssertionError: Guard failed on the same frame it was created. … Guard fail reason: 1/1: y.size()[0] == x.size()[0]
    RuntimeError: Runtime assertion failed for expression Eq(Mod(u0, 4), 0) on node 'eq'

After::

    error[shape-violation]: this program needs `x.shape[0] == y.shape[0]`      without a spec
    error[extra-assumption]: the program needs `B % 4 == 0`, which the spec does not promise
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..diagnostics import Diagnostic, Severity, ShapeError
from ..ir import Ellipsis, Fresh, Predicate, Size, Static, Var
from ..ir.expanded import Lowered
from ..ir.walk import free_vars, substitute
from ..ir.write import write_predicate
from .calls import graph_symbols
from .errors import condition_of, run_failure, said
from .printed import read_printed
from .symbolic import Unreadable
from .traces import chain


def refused(error: BaseException, *, anywhere: bool) -> ShapeError | None:
    """Returns what the refusal of a call means, in the words of places; None if ``error`` is no refusal.

    Args:
        error: What the call raised.
        anywhere: Whether it came out of torch; others may speak of guards, too, and mean no sizes.
    """
    symbols = graph_symbols(error)
    for each in chain(error):
        if anywhere or re.search(r"\.size\(\)\[|\.shape\[|\b[us]\d+\b", str(each)):
            told = run_failure(each, symbols)
            if told is not None:
                return told
    return None


def demanded(error: BaseException, lowered: Lowered) -> ShapeError | None:
    """Returns what the refusal of a call that satisfies the spec means, in the names of the spec; None if it has none.

    Args:
        error: What the call raised.
        lowered: The spec.
    """
    for predicate, each in _demands(error, lowered):
        reasoner = lowered.reasoner
        written = write_predicate(predicate if reasoner is None else reasoner.shorter(predicate))
        message = f"the program needs `{written}`, which the spec does not promise"
        helps = (f"add `where {written}`, or `Tensor[…]` dims that say so",)
        notes = (f"torch: {said(each)}",)
        return ShapeError([Diagnostic("extra-assumption", Severity.ERROR, message, notes=notes, helps=helps)])
    return None


def demand_of(error: BaseException, lowered: Lowered) -> Predicate | None:
    """Returns what a program needs that refused a call which satisfies the spec, or None if it does not say so."""
    return next((predicate for predicate, _ in _demands(error, lowered)), None)


def _demands(error: BaseException, lowered: Lowered) -> Iterator[tuple[Predicate, BaseException]]:
    symbols = graph_symbols(error)
    dims: dict[str, Size] = {
        leaf.place(axis): dim
        for leaf in lowered.expanded.leaves
        for axis, dim in enumerate(leaf.dims)
        if not isinstance(dim, (Static, Ellipsis, Fresh)) and next(free_vars(dim), None) is not None
    }
    for each in chain(error):
        condition = condition_of(each)
        if condition is None:
            continue
        predicate = _read(condition, symbols, dims)
        if predicate is not None:
            yield predicate, each


def _read(condition: str, symbols: Mapping[str, Size], dims: Mapping[str, Size]) -> Predicate | None:
    def lookup(operand: str) -> Size:
        return symbols.get(operand, Var(operand))

    try:
        predicate = substitute(read_printed(condition, lookup), dims)
    except Unreadable:
        return None
    known = {name for dim in dims.values() for name in free_vars(dim)}
    return predicate if known.issuperset(free_vars(predicate)) else None


__all__ = ["demand_of", "demanded", "refused"]
