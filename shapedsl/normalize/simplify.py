"""Write dims and predicates in canonical form, so that equal up to algebra is equal.

Before::

    def f(x: Tensor[B + B, 1 + S]):
        where not (S < B or B > 100), B == 4 or B == 2, 0 <= B * 2

After::

    def f(x: Tensor[2 * B, S + 1]):
        where B <= S, B <= 100, B in {2, 4}

Conjunctions are split into constraints, what always holds is dropped, duplicates go. A dim stays as
it was written where nothing else would hold one of its variables: ``cdiv(B, B)`` is no 1 then.

Invariant: the set of accepted sizes does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..diagnostics import Report
from ..ir import (
    And,
    Apply,
    Compare,
    Constraint,
    Dim,
    Ellipsis,
    Fresh,
    Not,
    Or,
    Origin,
    Param,
    Predicate,
    Signature,
    Static,
    Type,
)
from ..ir.walk import free_vars, map_dims, scalar_sizes, tensor_dims
from .algebra import NO_BOX, canonical
from .comparisons import FALSE
from .domains import Contradiction
from .facts import stated_domains
from .intervals import Box
from .predicates import may_divide, predicate_key, simplify_predicate, split

MOST_ROUNDS = 4


def simplify_dim(dim: Dim, box: Box = NO_BOX, keep: frozenset[str] = frozenset()) -> Dim:
    """Returns ``dim`` in canonical form; what is no size, or holds a name in ``keep``, is returned as it is."""
    if isinstance(dim, (Static, Ellipsis, Fresh)) or not keep.isdisjoint(free_vars(dim)):
        return dim
    return canonical(dim, box)


def simplify_type(type_: Type, box: Box = NO_BOX, keep: frozenset[str] = frozenset()) -> Type:
    """Returns ``type_`` with canonical sizes, see `simplify_dim`."""
    return map_dims(type_, lambda dim: simplify_dim(dim, box, keep))


def simplify_constraint(constraint: Constraint, box: Box = NO_BOX) -> list[Constraint]:
    """Returns ``constraint`` as canonical constraints that keep its text, span and message; none if it always holds."""
    parts = split(simplify_predicate(constraint.predicate, box))
    if len(parts) == 1 and parts[0] == constraint.predicate:
        return [constraint]  # as most are: nobody writes ``not (S < B)``
    return [replace(constraint, predicate=part) for part in parts]


def simplify(signature: Signature, _report: Report) -> Signature:
    """Returns ``signature`` with canonical sizes and canonical constraints; each keeps its text, span and message.

    Args:
        signature: Resolved.
        _report: Receives nothing.
    """
    bound = _bound(signature.params)
    simplified = _with_ranges(signature, NO_BOX, bound)
    if not _ranges_matter(simplified):
        return simplified
    for _ in range(MOST_ROUNDS):  # a simpler constraint may give a tighter range, and that a simpler dim
        try:
            box = stated_domains(simplified.variables, simplified.constraints).box
        except Contradiction:
            return simplified
        again = _with_ranges(simplified, box, bound)
        if again == simplified:
            break
        simplified = again
    return simplified


def _bound(params: Iterable[Param]) -> frozenset[str]:
    """Returns the names that parameters hold."""
    sizes: list[Dim] = [s for p in params for s in (*tensor_dims(p.type), *scalar_sizes(p.type))]
    return frozenset(name for size in sizes for name in free_vars(size))


def _typed(param: Param, type_: Type) -> Param:
    return param if type_ is param.type else replace(param, type=type_)


def _with_ranges(signature: Signature, box: Box, bound: frozenset[str]) -> Signature:
    params = tuple(_typed(param, simplify_type(param.type, box)) for param in signature.params)
    lost = bound - _bound(params)
    if lost:
        params = tuple(replace(param, type=simplify_type(param.type, box, lost)) for param in signature.params)
    constraints: dict[Constraint, Constraint] = {}
    for constraint in signature.constraints:
        for part in simplify_constraint(constraint, box):
            if (
                part not in constraints or constraints[part].origin is Origin.DIM
            ):  # what was said outlives what is implied
                constraints[part] = part
    return replace(
        signature,
        params=params,
        returns=None if signature.returns is None else simplify_type(signature.returns, box),
        constraints=tuple(constraints.values()),
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
