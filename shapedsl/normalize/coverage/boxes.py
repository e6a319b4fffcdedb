"""What can be seen of predicates at a glance: ranges and residues of variables, and ranges of other sizes.

A size that several predicates speak of (``B * S``, ``max(B, S)``, ``S - B``) has a range as a variable has one.

Before and after::

    B <= 8, S % 2 == 0, B * S <= 800     B in [0, 8], S even, B * S in [-inf, 800]

In that box ``B < 20`` and ``B * S <= 900`` hold, and ``B * S >= 801`` does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import gcd, inf
from typing import TypeAlias

from ...ir import And, Or, Predicate, Variable
from ..comparisons import FALSE
from ..domains import Contradiction, Domain, Domains
from ..facts import is_fact_of
from ..intervals import EVERYTHING, Interval
from ..polynomial import Monomial, Terms, constant, scale, terms_interval
from ..propagate import propagate, residue_of
from ..rows import Apart, AtMost, Congruent, Equal, OneOf, Row, rows_of

Form: TypeAlias = "frozenset[tuple[Monomial, int]]"  # a polynomial without its constant


@dataclass(slots=True)
class Bounds(Domains):
    """What predicates say at a glance.

    Attributes:
        forms: Ranges of polynomials without a constant.
    """

    forms: dict[Form, Interval] = field(default_factory=dict[Form, Interval])


def bounds_of(variables: Iterable[Variable], parts: Sequence[Predicate]) -> Bounds | None:
    """Returns what is seen where all of ``parts`` hold, or None if nothing can satisfy them.

    Args:
        variables: Their kinds count.
        parts: Canonical, split.
    """
    if FALSE in parts:
        return None
    forms: dict[Form, Interval] = {}
    for part in parts:
        for row in rows_of(part) if not isinstance(part, Or) else ():
            for form, interval in _says(row):
                forms[form] = interval.meet(forms.get(form, EVERYTHING))
    if any(interval.empty for interval in forms.values()):
        return None
    try:
        domains = propagate(variables, parts)
    except Contradiction:
        return None
    return Bounds(domains.of, domains.box, domains.changed, forms)


def _says(row: Row) -> list[tuple[Form, Interval]]:
    """Returns the range that a row gives a polynomial, said of it and of its opposite."""
    match row:
        case AtMost(polynomial=polynomial) if len(polynomial) > 1:
            interval = Interval(-inf, -constant(polynomial))
        case Equal(polynomial=polynomial) if len(polynomial) > 1:
            interval = Interval(-constant(polynomial), -constant(polynomial))
        case _:
            return []
    return [(_form(polynomial), interval), (_form(scale(polynomial, -1)), interval.scaled(-1))]


def _form(polynomial: Terms) -> Form:
    return frozenset((monomial, factor) for monomial, factor in polynomial.items() if monomial)


# ---------------------------------------------------------------------------------------- truth


def truth(part: Predicate, box: Bounds) -> bool | None:
    """Returns whether ``part`` holds all over ``box``, or nowhere in it; None if neither is seen."""
    match part:
        case And(args=args):
            several = [truth(arg, box) for arg in args]
            return False if False in several else None if None in several else True
        case Or(args=args):
            several = [truth(arg, box) for arg in args]
            return True if True in several else None if None in several else False
        case _:
            pass
    if is_fact_of(box, part):
        return True
    rows = rows_of(part)
    return _row_truth(rows[0], box) if len(rows) == 1 else None


def _row_truth(row: Row, box: Bounds) -> bool | None:
    match row:
        case AtMost(polynomial=polynomial):
            interval = _range(polynomial, box)
            return True if interval.high <= 0 else False if interval.low > 0 else None
        case Equal(polynomial=polynomial):
            interval = _range(polynomial, box)
            modulus, residue = residue_of(box, polynomial)
            never = not interval.low <= 0 <= interval.high or (residue % modulus if modulus else residue) != 0
            return False if never else True if interval.low == interval.high else None
        case Congruent(polynomial=polynomial, modulus=by):
            modulus, residue = residue_of(box, polynomial)
            common = gcd(modulus, by)
            return False if residue % common else True if common == by else None
        case Apart(name=name, value=value):
            domain = box.domain(name)
            if domain.value is not None:
                return domain.value != value
            met = domain.low <= value <= domain.high and (value - domain.residue) % domain.modulus == 0
            return None if met else True
        case OneOf():
            return None


def _range(polynomial: Terms, box: Bounds) -> Interval:
    interval = terms_interval(polynomial, box.box)
    stated = box.forms.get(_form(polynomial)) if box.forms else None
    return (
        interval if stated is None else interval.meet(stated.plus(Interval(constant(polynomial), constant(polynomial))))
    )


def apart(left: Domains, right: Domains) -> bool:
    """Returns whether no sizes are in both boxes."""
    return any(_apart(domain, right.domain(name)) for name, domain in left.of.items())


def _apart(left: Domain, right: Domain) -> bool:
    low, high = max(left.low, right.low), min(left.high, right.high)
    if low > high:
        return True
    common = gcd(left.modulus, right.modulus)
    if (left.residue - right.residue) % common:
        return True
    least = first_in_both(left, right, low)
    return least is not None and least > high


def first_in_both(left: Domain, right: Domain, low: float) -> int | None:
    """Returns the least number from ``low`` on with both residues, which agree; None without a ``low``."""
    if low == -inf:
        return None
    common = gcd(left.modulus, right.modulus)
    rest = right.modulus // common
    steps = (right.residue - left.residue) // common * pow(left.modulus // common, -1, rest) % rest
    return int(low) + (left.residue + left.modulus * steps - int(low)) % (left.modulus * rest)


__all__ = ["Bounds", "apart", "bounds_of", "first_in_both", "truth"]
