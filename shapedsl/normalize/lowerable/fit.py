"""The nearest number to a hint that a domain allows, and other assumptions about the same size."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import Predicate
from ...ir.walk import holds
from ..domains import Domain

FARTHEST = 4096  # steps of the modulus


def fitting(value: int, domain: Domain, name: str, predicates: Sequence[Predicate] = ()) -> int:
    """Returns the member of ``domain`` nearest to ``value`` that satisfies ``predicates``.

    Of two at one distance the smaller is taken; if none is near, the nearest of the domain.

    Args:
        value: The wish.
        domain: Not empty; finite ends are members.
        name: What ``predicates`` call the size.
        predicates: About ``name`` alone: ``B in {2, 4, 16}``, ``B != 8``.
    """
    nearest = _in_domain(value, domain)
    for step in range(FARTHEST):
        near = (nearest - step * domain.modulus, nearest + step * domain.modulus)
        fits = [each for each in near if domain.low <= each <= domain.high and _all_hold(each, name, predicates)]
        if fits:
            return min(fits, key=lambda each: (abs(each - value), each))
    return nearest


def _all_hold(value: int, name: str, predicates: Sequence[Predicate]) -> bool:
    try:
        return all(holds(predicate, {name: value}) for predicate in predicates)
    except ZeroDivisionError:
        return False


def _in_domain(value: int, domain: Domain) -> int:
    if value <= domain.low:
        return int(domain.low)
    if value >= domain.high:
        return int(domain.high)
    below = value - (value - domain.residue) % domain.modulus
    above = below + domain.modulus
    if below < domain.low:
        return above
    if above > domain.high or value - below <= above - value:
        return below
    return above
