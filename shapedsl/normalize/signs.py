"""Check signs: a dim that is negative for all values of its variables' declared ranges is ``negative-dim``.

A dim that only some other assumption makes negative is a contradiction between the two, and told by
`refute` with both lines.

Before::

    dim B in [0, 8]

    def f(x: Tensor[B - 10]): ...           # error: [negative-dim] at most -2
    def g(x: Tensor[B - 2 * B - 1]): ...    # error: [negative-dim] at most -1
    def h(x: Tensor[B - 8]): ...            # fine: B == 8
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from ..diagnostics import Report, Span
from ..ir import COMPARISONS, Apply, Compare, Const, Dim, Origin, Predicate, Signature, Size, Var, VariableKind
from ..ir.walk import evaluate, free_vars, tensor_dims
from ..ir.write import write_dim
from .decide import find_sizes, range_of
from .facts import fact_of
from .intervals import Bound, Interval, interval_of

FAR = 2**40  # stands for the end of a range that has none


def check_signs(signature: Signature, report: Report) -> None:
    """Adds ``negative-dim`` findings."""
    box = _declared_ranges(signature)
    for dim, span, highest in negative_dims(signature):
        names = dict.fromkeys(free_vars(dim))
        report.error(
            "negative-dim",
            f"the dim `{write_dim(dim)}` is negative for every size",
            at=span or signature.span,
            label="below 0" if isinstance(dim, Const) or highest == inf else f"at most {highest}",
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
                highest = _highest_below_zero(dim, signature, box)
                if highest is not None:
                    yield dim, dim.span or param.span, highest


def _highest_below_zero(dim: Size, signature: Signature, box: dict[str, Interval]) -> Bound | None:
    """Returns the most that ``dim`` can be, if that is below 0."""
    around = interval_of(dim, box)
    if around.high < 0:
        return around.high
    if around.low >= 0 or _is_somewhere_positive(dim, box):
        return None
    declared = [c.predicate for c in signature.constraints if c.origin is Origin.DECLARED]
    if _is_possible(signature, declared, dim):
        return None
    found = range_of(signature.variables, declared, dim)
    return found.high if found is not None and found.high is not None else inf


def _is_possible(signature: Signature, declared: Sequence[Predicate], dim: Size) -> bool:
    """Returns whether ``dim`` was not refuted to be 0 or more within the declared ranges."""
    nonnegative = Compare(COMPARISONS[">="], dim, Const(0))
    if find_sizes(signature.variables, [*declared, nonnegative]) is not None:
        return True
    return find_sizes(signature.variables, declared) is None  # a contradiction of the declarations themselves


def _is_somewhere_positive(dim: Size, box: dict[str, Interval]) -> bool:
    """Returns whether ``dim`` is 0 or more at a corner of the declared ranges."""
    names = list(dict.fromkeys(free_vars(dim)))
    for far in (False, True):
        for flipped in (None, *names):
            sizes = {name: _end(box.get(name, Interval()), far != (name == flipped)) for name in names}
            try:
                if evaluate(dim, sizes) >= 0:
                    return True
            except (ZeroDivisionError, TypeError):  # not there; a variadic has no one size
                continue
    return False


def _end(interval: Interval, far: bool) -> int:
    low = int(interval.low) if interval.low > -inf else -FAR
    return low if not far else int(interval.high) if interval.high < inf else FAR


def _declared_ranges(signature: Signature) -> dict[str, Interval]:
    box = {v.name: Interval(-inf if v.kind is VariableKind.INT else 0, inf) for v in signature.variables}
    for constraint in signature.constraints:
        fact = fact_of(constraint.predicate) if constraint.origin is Origin.DECLARED else None
        if fact is not None:
            box[fact[0]] = box.get(fact[0], Interval()).meet(fact[1])
    return box
