"""The canonical form of a predicate: no `not`, flat, sorted, without what always holds and duplicates.

Before and after::

    not (S < B or B > 100)             S >= B and B <= 100, as B <= S and B <= 100
    B == 4 or B == 2                   B in {2, 4}
    D == 1 or S % B == 0               the same: see below

A part of an `and` or `or` that divides by a variable keeps its place behind the others: whether
``S % B == 0`` is asked at all may depend on ``B == 0`` standing before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from ..ir import COMPARISONS, And, Apply, Compare, Const, Not, Or, Predicate
from ..ir.write import write_dim, write_predicate
from .algebra import NO_BOX
from .comparisons import FALSE, TRUE, canonical_comparison, conjunction, divides_by_variable
from .intervals import Box

_ORDER = {name: at for at, name in enumerate((">=", "<=", "==", "!=", ">", "<"))}


def simplify_predicate(predicate: Predicate, box: Box = NO_BOX) -> Predicate:
    """Returns ``predicate`` in canonical form: `TRUE`, `FALSE`, a comparison, an `And` or an `Or`; never a `Not`."""
    return _simplified(predicate) if not box else _simplify(predicate, True, box)


@lru_cache(maxsize=4096)
def _simplified(predicate: Predicate) -> Predicate:
    return _simplify(predicate, True, NO_BOX)


def _simplify(predicate: Predicate, positive: bool, box: Box) -> Predicate:
    """Returns ``predicate``, or its negation where ``positive`` is False."""
    match predicate:
        case Compare(op=op):
            written = predicate if positive else replace(predicate, op=COMPARISONS[op.negated])
            return _ordered(canonical_comparison(written, box))
        case Not(arg=arg):
            return _simplify(arg, not positive, box)
        case And(args=args) | Or(args=args):
            parts = [_simplify(arg, positive, box) for arg in args]
            return _ordered(conjunction(parts) if isinstance(predicate, And) == positive else disjunction(parts))


def disjunction(parts: Iterable[Predicate]) -> Predicate:
    """Returns ``or`` of canonical ``parts``: flat, `FALSE` dropped, duplicates gone; the order is kept."""
    flat: dict[Predicate, None] = {}
    for part in parts:
        if part == TRUE:
            return TRUE
        flat.update(dict.fromkeys(part.args if isinstance(part, Or) else (part,)))
    if len(flat) == 1:
        return next(iter(flat))
    return Or(tuple(flat)) if flat else FALSE


def _ordered(predicate: Predicate) -> Predicate:
    """Sorts the parts; those that may divide by 0 stay behind the others, in their order."""
    if not isinstance(predicate, (And, Or)) or len(predicate.args) < 2:
        return predicate
    parts = [_ordered(arg) for arg in predicate.args]
    safe = sorted((part for part in parts if not may_divide(part)), key=predicate_key)
    return replace(predicate, args=(*safe, *(part for part in parts if may_divide(part))))


def may_divide(predicate: Predicate) -> bool:
    """Returns whether ``predicate`` divides by more than a constant."""
    match predicate:
        case Compare(left=left, right=right):
            return divides_by_variable(left) or divides_by_variable(right)
        case And(args=args) | Or(args=args):
            return any(may_divide(arg) for arg in args)
        case Not(arg=arg):
            return may_divide(arg)


def predicate_key(predicate: Predicate) -> tuple[object, ...]:
    """Returns what predicates are sorted by: comparisons first, by their left side, then numbers by value."""
    match predicate:
        case Compare(op=op, left=left, right=Const(value=value)):
            return 0, isinstance(left, Apply), write_dim(left), _ORDER[op.name], 0, value, ""
        case Compare(op=op, left=left, right=right):
            return 0, isinstance(left, Apply), write_dim(left), _ORDER[op.name], 1, 0, write_dim(right)
        case _:
            return 1, False, write_predicate(predicate), 0, 0, 0, ""


def split(predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns the conjuncts of a canonical predicate; none for `TRUE`."""
    return predicate.args if isinstance(predicate, And) else (predicate,)
