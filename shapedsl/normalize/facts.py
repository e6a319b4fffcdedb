"""Facts: constraints that speak of one variable, as a range or a residue."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from ..ir import Apply, Compare, Const, Constraint, Predicate, Var, Variable, Variadic
from .domains import NOTHING, Domains
from .intervals import Interval


def fact_of(predicate: Predicate) -> tuple[str, Interval, int, int] | None:
    """Returns variable, range, modulus and residue if ``predicate`` is a fact about one variable."""
    match predicate:
        case Compare(op=op, left=Var(name=name) | Variadic(name=name), right=Const(value=value)):
            match op.name:
                case ">=":
                    return name, Interval(value, inf), 1, 0
                case "<=":
                    return name, Interval(-inf, value), 1, 0
                case "==":
                    return name, Interval(value, value), 1, 0
                case _:
                    return None
        case Compare(
            op=op,
            left=Apply(op=inner, args=(Var(name=name) | Variadic(name=name), Const(value=modulus))),
            right=Const(value=residue),
        ) if op.name == "==" and inner.name == "%" and 0 <= residue < modulus:
            return name, Interval(), modulus, residue
        case _:
            return None


def is_fact_of(domains: Domains, predicate: Predicate) -> bool:
    """Returns whether ``predicate`` is a fact about one variable that its domain says.

    One that was met with the domain is, but for a residue whose common modulus would leave int64.
    """
    fact = fact_of(predicate)
    if fact is None:
        return False
    name, interval, modulus, residue = fact
    domain = domains.domain(name)
    if domain.value is not None:
        return interval.low <= domain.value <= interval.high and (domain.value - residue) % modulus == 0
    within = interval.low <= domain.low and domain.high <= interval.high
    return within and domain.modulus % modulus == 0 and (domain.residue - residue) % modulus == 0


def stated_domains(variables: Iterable[Variable], constraints: Iterable[Constraint]) -> Domains:
    """Returns the domains that single-variable facts give, each taken for itself.

    Raises:
        Contradiction: They leave nothing for a variable.
    """
    domains = Domains.of_variables(variables)
    excluded: list[tuple[str, int]] = []
    for constraint in constraints:
        if fact := fact_of(constraint.predicate):
            name, interval, modulus, residue = fact
            domains.restrict(name, interval, NOTHING)
            if modulus > 1:
                domains.congruent(name, modulus, residue, NOTHING)
        elif edge := excluded_value(constraint.predicate):
            excluded.append(edge)
    _trim(domains, excluded)
    return domains


def excluded_value(predicate: Predicate) -> tuple[str, int] | None:
    """Returns variable and value if ``predicate`` is ``variable != value``."""
    match predicate:
        case Compare(op=op, left=Var(name=name), right=Const(value=value)) if op.name == "!=":
            return name, value
        case _:
            return None


def _trim(domains: Domains, excluded: list[tuple[str, int]]) -> None:
    """Moves the ends of ranges past excluded values, until none stands at an end."""
    moved = True
    while moved:
        moved = False
        for name, value in excluded:
            domain = domains.domain(name)
            if domain.low == value:
                domains.restrict(name, Interval(value + 1, inf), NOTHING)
                moved = True
            if domain.high == value:
                domains.restrict(name, Interval(-inf, value - 1), NOTHING)
                moved = True
