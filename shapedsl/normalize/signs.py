"""Check signs: a dim that is negative for all values of its variables' declared ranges is ``negative-dim``.

A dim that only some other assumption makes negative is a contradiction between the two, and told by
`refute` with both lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from ..diagnostics import Report, Span
from ..ir import Apply, Const, Dim, Origin, Signature, Var, VariableKind
from ..ir.walk import free_vars, tensor_dims
from ..ir.write import write_dim
from .facts import fact_of
from .intervals import Bound, Interval, interval_of


def check_signs(signature: Signature, report: Report) -> None:
    """Adds ``negative-dim`` findings."""
    box = _declared_ranges(signature)
    for dim, span, highest in negative_dims(signature):
        names = dict.fromkeys(free_vars(dim))
        report.error(
            "negative-dim",
            f"the dim `{write_dim(dim)}` is negative for every size",
            at=span or signature.span,
            label="below 0" if isinstance(dim, Const) else f"at most {highest}",
            note=[f"{name} is in [{box[name].low}, {box[name].high}]" for name in names if name in box],
        )


def negative_dims(signature: Signature) -> Iterator[tuple[Dim, Span | None, Bound]]:
    """Yields each dim that is never 0 or more, its span, and the most it can be."""
    box = _declared_ranges(signature)
    if any(interval.empty for interval in box.values()):
        return  # a contradiction of the declarations themselves
    for param in signature.params:
        for dim in tensor_dims(param.type):
            if isinstance(dim, (Const, Var, Apply)):
                highest = interval_of(dim, box).high
                if highest < 0:
                    yield dim, dim.span or param.span, highest


def _declared_ranges(signature: Signature) -> dict[str, Interval]:
    box = {v.name: Interval(-inf if v.kind is VariableKind.INT else 0, inf) for v in signature.variables}
    for constraint in signature.constraints:
        fact = fact_of(constraint.predicate) if constraint.origin is Origin.DECLARED else None
        if fact is not None:
            box[fact[0]] = box.get(fact[0], Interval()).meet(fact[1])
    return box
