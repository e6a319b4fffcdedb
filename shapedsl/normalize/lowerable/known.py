"""Take out what is known: static sizes, pinned variables, and all but one of equal variables.

Before (``HD`` is 64 at the example)::

    x: Tensor[B, HD], y: Tensor[S, N]       where B == S, N == 3, B <= HD

After::

    x: [B, _], y: [B, 3]                    B <= 64         HD = 64, S = B, N = 3

``A == B`` becomes one variable where both stand bare: torch then sees one size, and guards it for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ...diagnostics import Report
from ...ir import Compare, Const, Constraint, Predicate, Size, Var, Variable, VariableKind
from ...ir.expanded import Expanded, Leaf
from ...ir.walk import free_vars, substitute
from ..domains import Domains
from ..predicates import simplify_predicate, split
from ..propagate import propagate
from ..refute import Refutation, predicates_of, refutation_or_domains, report_contradiction
from .fit import fitting
from .slots import known_leaves
from .tell import tell_missing_constants


@dataclass(frozen=True, slots=True)
class Known:
    """The signature without its static and pinned sizes.

    Attributes:
        variables: Those that are left, by name.
        values: Each name that left, as a constant or as the variable that stands for it.
        predicates: Canonical, over what is left.
        leaves: With ``values`` substituted.
        domains: Propagated.
        hints: Of the variables that have one, moved to the nearest size that fits.
        pinned: Whether a variable turned out to be one number: ``predicates`` then say more than ``domains`` know.
    """

    variables: Mapping[str, Variable]
    values: Mapping[str, Size]
    predicates: tuple[Predicate, ...]
    leaves: list[Leaf]
    domains: Domains
    hints: Mapping[str, int]
    pinned: bool = False


def settle(expanded: Expanded, report: Report, statics: Mapping[str, int]) -> Known | None:
    """Returns ``expanded`` without its static and pinned sizes, or None if it cannot be satisfied or known.

    Args:
        expanded: At one structure.
        report: Receives ``contradiction`` and ``not-constant``.
        statics: The value of each ``const X = _`` at the example.
    """
    signature = expanded.signature
    constants = {v.name for v in signature.variables if v.kind is VariableKind.CONST}
    values: dict[str, Size] = {name: Const(statics[name]) for name in sorted(constants & statics.keys())}
    constraints = [_substituted(constraint, values) for constraint in signature.constraints]
    missing = constants - statics.keys()
    if tell_missing_constants(expanded, constraints, missing, report):
        return None
    if missing:  # what is still said of them is said of nothing else: the example will tell, and torch sees no size
        constraints = [c for c in constraints if missing.isdisjoint(free_vars(c.predicate))]
    variables = [v for v in signature.variables if v.kind is not VariableKind.CONST]
    refutation = refutation_or_domains(variables, constraints)
    if isinstance(refutation, Refutation):
        used = sorted({name for c in signature.constraints for name in free_vars(c.predicate)} & values.keys())
        example = [f"the example has {', '.join(f'{name} = {statics[name]}' for name in used)}"] if used else []
        report_contradiction(refutation, signature, report, notes=example)
        return None
    stated = predicates_of(constraints)
    predicates = _without_aliases(stated, expanded, values)
    left = [v for v in variables if v.name not in values]
    domains = refutation if predicates is stated else propagate(left, predicates)
    pinned = {name: Const(domain.value) for name, domain in domains.of.items() if domain.value is not None}
    for name, value in list(values.items()):
        if isinstance(value, Var) and value.name in pinned:
            values[name] = pinned[value.name]
    values.update(pinned)
    predicates = predicates_of_substituted(predicates, pinned)
    hints = {v.name: v.hint for v in left if v.hint is not None}
    for variable in signature.variables:  # what was made one variable may have its hint by another name
        alias = values.get(variable.name)
        if variable.hint is not None and isinstance(alias, Var):
            hints.setdefault(alias.name, variable.hint)
    about: dict[str, list[Predicate]] = {}
    for predicate in predicates if hints else ():
        if len(names := set(free_vars(predicate))) == 1:
            about.setdefault(names.pop(), []).append(predicate)
    hints = {name: fitting(wish, domains.domain(name), name, about.get(name, ())) for name, wish in hints.items()}
    leaves = known_leaves(expanded, values, frozenset(constants), domains.box)
    variables_left = {v.name: v for v in left if v.name not in pinned}
    return Known(variables_left, values, tuple(predicates), leaves, domains, hints, bool(pinned))


def _substituted(constraint: Constraint, values: Mapping[str, Size]) -> Constraint:
    if not values or not any(name in values for name in free_vars(constraint.predicate)):
        return constraint
    return replace(constraint, predicate=substitute(constraint.predicate, values))


def predicates_of_substituted(predicates: Iterable[Predicate], values: Mapping[str, Size]) -> list[Predicate]:
    """Returns ``predicates`` with ``values`` substituted, as canonical conjuncts without duplicates."""
    if not values:
        return list(dict.fromkeys(predicates))
    substituted = [simplify_predicate(substitute(each, values)) for each in predicates]
    return list(dict.fromkeys(part for each in substituted for part in split(each)))


def _without_aliases(predicates: list[Predicate], expanded: Expanded, values: dict[str, Size]) -> list[Predicate]:
    """Makes ``A == B`` one variable where both stand bare: torch then sees one size, and guards it for nothing."""
    order: dict[str, int] = {}
    for leaf in expanded.leaves:
        for dim in leaf.dims:
            if isinstance(dim, Var) and dim.name not in values:
                order.setdefault(dim.name, len(order))
    while True:
        for predicate in predicates:
            match predicate:
                case Compare(op=op, left=Var(name=left), right=Var(name=right)) if (
                    op.name == "==" and left in order and right in order
                ):
                    keep, drop = sorted((left, right), key=order.__getitem__)
                    break
                case _:
                    pass
        else:
            return predicates
        for name, value in values.items():
            if value == Var(drop):
                values[name] = Var(keep)
        values[drop] = Var(keep)
        predicates = predicates_of_substituted(predicates, {drop: Var(keep)})
