"""Check the names, kinds, hints, divisors and signs of an assembled signature. Nothing is changed.

The frontends have expanded imports, consts, lets and types; what a name *means* is settled. What is
left to check is whether every size can be known, asked and positive:

- `names`: ``unbound-name``, ``duplicate-name``, ``similar-name``
- `hints`: ``hint-out-of-range``
- `divisors`: ``maybe-zero-divisor``
- here: ``negative-dim``, a dim that is negative for all values of its variables' declared ranges
"""

from __future__ import annotations

from math import inf

from ..diagnostics import Report
from ..ir import Apply, Const, Origin, Signature, Var, VariableKind
from ..ir.walk import free_vars, tensor_dims
from ..ir.write import write_dim
from .divisors import check_divisors
from .facts import fact_of
from .hints import check_hints
from .intervals import Interval, interval_of
from .names import check_names


def resolve(signature: Signature, report: Report) -> Signature:
    """Returns ``signature`` unchanged.

    Args:
        signature: From `frontends.assemble`.
        report: Receives the findings listed above.
    """
    check_names(signature, report)
    check_hints(signature, report)
    check_divisors(signature, report)
    _check_signs(signature, report)
    return signature


def _check_signs(signature: Signature, report: Report) -> None:
    box = {v.name: Interval(-inf if v.kind is VariableKind.INT else 0, inf) for v in signature.variables}
    for constraint in signature.constraints:
        fact = fact_of(constraint.predicate) if constraint.origin is Origin.DECLARED else None
        if fact is not None:
            box[fact[0]] = box.get(fact[0], Interval()).meet(fact[1])
    if any(interval.empty for interval in box.values()):
        return  # a contradiction, told by `refute`
    for param in signature.params:
        for dim in tensor_dims(param.type):
            if not isinstance(dim, (Const, Var, Apply)):
                continue
            highest = interval_of(dim, box).high
            if highest < 0:
                text = write_dim(dim)
                ranges = [
                    f"{name} <= {box[name].high}" for name in dict.fromkeys(free_vars(dim)) if box[name].high < inf
                ]
                report.error(
                    "negative-dim",
                    f"the dim `{text}` is negative for every size",
                    at=dim.span or param.span,
                    label=f"at most {highest}" if ranges or not isinstance(dim, Const) else "below 0",
                    note=ranges,
                )
