"""Find the tightest range and residue of a size that can be proved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from ...ir import Predicate, Size, Variable
from ..algebra import terms
from ..polynomial import terms_interval
from ..predicates import simplify_predicate, split
from ..propagate import propagate, residue_of
from .search import WORK
from .verdict import Range


def range_of(
    variables: Iterable[Variable], given: Sequence[Predicate], size: Size, *, work: int = WORK
) -> Range | None:
    """Returns what ``size`` can be, or None if nothing satisfies ``given``.

    Args:
        variables: Their kinds count.
        given: What may be assumed.
        size: Over the variables.
        work: How hard to try, for each question.
    """
    flat = [part for each in given for part in split(simplify_predicate(each))]
    domains = propagate(variables, flat)
    polynomial = terms(size)
    interval = terms_interval(polynomial, domains.box)
    modulus, residue = residue_of(domains, polynomial)
    low = None if interval.low == -inf else int(interval.low)
    high = None if interval.high == inf else int(interval.high)
    return Range(low, high, modulus, residue)
