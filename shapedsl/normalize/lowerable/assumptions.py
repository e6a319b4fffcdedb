"""Choose what torch is told beside the ranges of its variables, and in which order.

What the ranges and residues say already is left out; residues come first, then equalities, since torch
replaces the left side of ``v == 2 * u + 1`` by the right in all that it hears later.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...ir import Compare, Predicate
from ...ir.expanded import TorchVariable
from ..domains import Domains
from ..facts import excluded_value, is_fact_of
from ..polynomial import terms_interval
from ..predicates import may_divide, predicate_key
from ..propagate import residue_of
from ..rows import AtMost, Congruent, rows_of
from .consequences import product_signs, residues, with_consequences


def assumptions_of(
    variables: tuple[TorchVariable, ...], domains: Domains, told: Iterable[Predicate]
) -> Iterable[Predicate]:
    """Yields what torch should assume beside the ranges, in the order it should hear it.

    Residues and equalities come first: torch replaces the left side of ``v == 2 * u + 1`` by the right
    in all that it hears later.
    """
    seen: dict[Predicate, None] = {}
    for variable in variables:
        domain = domains.domain(variable.name)
        if domain.modulus > 1:
            seen.update(dict.fromkeys(residues(variable.name, domain.modulus, domain.residue)))
    rest = [predicate for predicate in told if not _in_domains(predicate, domains)]
    rest.sort(key=lambda each: (not _is_equality(each), may_divide(each), predicate_key(each)))
    seen.update(dict.fromkeys(with_consequences(rest)))
    seen.update(dict.fromkeys(product_signs(rest, domains)))
    return seen


def _is_equality(predicate: Predicate) -> bool:
    return isinstance(predicate, Compare) and predicate.op.name == "=="


def _in_domains(predicate: Predicate, domains: Domains) -> bool:
    """Returns whether the ranges and residues, which torch is told anyway, already say it."""
    if is_fact_of(domains, predicate):
        return True
    if edge := excluded_value(predicate):
        name, value = edge
        domain = domains.domain(name)
        return not domain.low <= value <= domain.high or (value - domain.residue) % domain.modulus != 0
    match rows_of(predicate):
        case (AtMost(polynomial=polynomial),):
            return terms_interval(polynomial, domains.box).high <= 0
        case (Congruent(polynomial=polynomial, modulus=modulus),):
            known, residue = residue_of(domains, polynomial)
            return known % modulus == 0 and residue % modulus == 0
        case _:
            return False
