"""Write dims and predicates in canonical form, so that equal up to algebra is equal.

Before::

    def f(x: Tensor[B + B, 1 + S]):
        where not (S < B or B > 100), B == 4 or B == 2, 0 <= B * 2

After::

    def f(x: Tensor[2 * B, S + 1]):
        where B <= S, B <= 100, B in {2, 4}

`not` is pushed in, conjunctions are split into constraints, what always holds is dropped, duplicates
go. A part of an `or` that divides by a variable keeps its place behind the others: whether
``S % B == 0`` is asked at all may depend on ``B == 0`` standing before it.

Invariant: the set of accepted sizes does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from ..diagnostics import Report
from ..ir import (
    COMPARISONS,
    And,
    Apply,
    Compare,
    Const,
    Constraint,
    Dim,
    Ellipsis,
    Fresh,
    Not,
    Or,
    Predicate,
    Signature,
    Static,
    Type,
)
from ..ir.walk import map_dims, scalar_sizes, tensor_dims
from ..ir.write import write_dim, write_predicate
from .algebra import NO_BOX, canonical
from .comparisons import FALSE, TRUE, canonical_comparison, conjunction, divides_by_variable
from .domains import Contradiction
from .facts import stated_domains
from .intervals import Box

MOST_ROUNDS = 4
_ORDER = {name: at for at, name in enumerate((">=", "<=", "==", "!=", ">", "<"))}


def simplify_dim(dim: Dim, box: Box = NO_BOX) -> Dim:
    """Returns ``dim`` in canonical form; what is no size is returned as it is."""
    if isinstance(dim, (Static, Ellipsis, Fresh)):
        return dim
    return canonical(dim, box)


def simplify_type(type_: Type, box: Box = NO_BOX) -> Type:
    """Returns ``type_`` with canonical sizes."""
    return map_dims(type_, lambda dim: simplify_dim(dim, box))


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


def simplify_constraint(constraint: Constraint, box: Box = NO_BOX) -> list[Constraint]:
    """Returns ``constraint`` as canonical constraints that keep its text, span and message; none if it always holds."""
    parts = split(simplify_predicate(constraint.predicate, box))
    return [replace(constraint, predicate=part) for part in parts]


def simplify(signature: Signature, _report: Report) -> Signature:
    """Returns ``signature`` with canonical sizes and canonical constraints; each keeps its text, span and message.

    Args:
        signature: Resolved.
        _report: Receives nothing.
    """
    simplified = _with_ranges(signature, NO_BOX)
    if not _ranges_matter(simplified):
        return simplified
    for _ in range(MOST_ROUNDS):  # a simpler constraint may give a tighter range, and that a simpler dim
        try:
            box = stated_domains(simplified.variables, simplified.constraints).box
        except Contradiction:
            return simplified
        again = _with_ranges(simplified, box)
        if again == simplified:
            break
        simplified = again
    return simplified


def _with_ranges(signature: Signature, box: Box) -> Signature:
    constraints = [part for each in signature.constraints for part in simplify_constraint(each, box)]
    return replace(
        signature,
        params=tuple(replace(param, type=simplify_type(param.type, box)) for param in signature.params),
        returns=None if signature.returns is None else simplify_type(signature.returns, box),
        constraints=tuple(dict.fromkeys(constraints)),
        values=tuple(
            replace(value, low=canonical(value.low, box), high=canonical(value.high, box)) for value in signature.values
        ),
        alternatives=tuple(
            replace(each, constraints=_simplify_alternative(each.constraints, box)) for each in signature.alternatives
        ),
    )


def _ranges_matter(signature: Signature) -> bool:
    """Returns whether a range could make something simpler: a min, a max, or a floor is there."""
    types = (*(param.type for param in signature.params), *([signature.returns] if signature.returns else []))
    sizes: list[Dim] = [size for type_ in types for size in (*tensor_dims(type_), *scalar_sizes(type_))]
    sizes += [size for value in signature.values for size in (value.low, value.high)]
    predicates = [constraint.predicate for constraint in signature.constraints]
    predicates += [constraint.predicate for each in signature.alternatives for constraint in each.constraints]
    return any(map(_opaque, sizes)) or any(map(_opaque, predicates))


def _opaque(node: Dim | Predicate) -> bool:
    match node:
        case Apply(op=op, args=args):
            return op.name in ("min", "max", "//", "%") or any(map(_opaque, args))
        case Compare(left=left, right=right):
            return _opaque(left) or _opaque(right)
        case And(args=args) | Or(args=args):
            return any(map(_opaque, args))
        case Not(arg=arg):
            return _opaque(arg)
        case _:
            return False


def _simplify_alternative(constraints: tuple[Constraint, ...], box: Box) -> tuple[Constraint, ...]:
    """Returns a case's constraints in canonical form; what always or never holds stays written, so that it can be read."""
    kept: dict[Constraint, None] = {}
    for constraint in constraints:
        parts = simplify_constraint(constraint, box)
        if not parts or any(part.predicate == FALSE for part in parts):
            parts = [constraint]
        kept.update(dict.fromkeys(parts))
    safe = sorted((c for c in kept if not may_divide(c.predicate)), key=lambda c: predicate_key(c.predicate))
    return (*safe, *(c for c in kept if may_divide(c.predicate)))
