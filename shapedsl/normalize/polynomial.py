"""Polynomials over integers as plain data, and their one way to be written.

A monomial is a sorted tuple of atoms: variables, and what the algebra cannot open (``B // 2``,
``max(A, B)``). ``2 * B + 1`` is ``{(B,): 2, (): 1}``. Coefficients are never 0.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from typing import TypeAlias

from ..ir import OPERATORS, Apply, Const, Size, Var
from ..ir.write import write_dim
from .intervals import Box, Interval, interval_of

Monomial: TypeAlias = "tuple[Size, ...]"
Terms: TypeAlias = "dict[Monomial, int]"


@lru_cache(maxsize=4096)
def atom_key(atom: Size) -> tuple[bool, str]:
    """Returns what atoms are sorted by: variables first, then by text."""
    return not isinstance(atom, Var), write_dim(atom)


def monomial_key(monomial: Monomial) -> tuple[int, list[tuple[bool, str]]]:
    """Returns what monomials are sorted by: higher degrees first, then their atoms; the constant is last."""
    return -len(monomial), [atom_key(atom) for atom in monomial]


def constant(terms: Terms) -> int:
    """Returns the constant term."""
    return terms.get((), 0)


def is_constant(terms: Terms) -> bool:
    """Returns whether nothing but a constant is left."""
    return not terms or (len(terms) == 1 and () in terms)


def add(left: Terms, right: Terms, factor: int = 1) -> Terms:
    """Returns ``left + factor * right``."""
    total = dict(left)
    for monomial, coefficient in right.items():
        value = total.get(monomial, 0) + factor * coefficient
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def scale(terms: Terms, factor: int) -> Terms:
    """Returns ``factor * terms``."""
    return {monomial: factor * coefficient for monomial, coefficient in terms.items()} if factor else {}


def content(terms: Terms) -> int:
    """Returns the gcd of the coefficients, the constant left out; 0 if there are none."""
    return gcd(*(coefficient for monomial, coefficient in terms.items() if monomial))


def leading(terms: Terms) -> int:
    """Returns the coefficient of the first monomial in written order, the constant left out; 0 if there is none."""
    monomials = [monomial for monomial in terms if monomial]
    return terms[min(monomials, key=monomial_key)] if monomials else 0


def linear_atoms(terms: Terms) -> dict[Size, int]:
    """Returns atom → coefficient, for each atom that stands in one monomial only, alone and to the first power."""
    uses: dict[Size, int] = {}
    for monomial in terms:
        for atom in monomial:
            uses[atom] = uses.get(atom, 0) + 1
    return {m[0]: c for m, c in terms.items() if len(m) == 1 and uses[m[0]] == 1}


def terms_interval(terms: Terms, box: Box) -> Interval:
    """Returns an interval that contains every value of ``terms``."""
    total = Interval(0, 0)
    for monomial, coefficient in terms.items():
        total = total.plus(monomial_interval(monomial, box).scaled(coefficient))
    return total


def monomial_interval(monomial: Monomial, box: Box) -> Interval:
    """Returns an interval that contains every value of the product of ``monomial``; even powers are never negative."""
    if len(monomial) == 1:  # most are
        return interval_of(monomial[0], box)
    product = Interval(1, 1)
    powers: dict[Size, int] = {}
    for atom in monomial:
        powers[atom] = powers.get(atom, 0) + 1
    for atom, power in powers.items():
        once = interval_of(atom, box)
        each = once
        for _ in range(power - 1):
            each = each.times(once)
        if power % 2 == 0 and each.low < 0:
            each = Interval(0, each.high)
        product = product.times(each)
    return product


def build(terms: Terms) -> Size:
    """Returns ``terms`` as a size, in the one written order: ``2 * B + 1``, ``20 - B``.

    Positive terms come first, higher degrees before lower, then by name; a constant is last unless
    only it is positive.
    """
    ordered = sorted((m for m in terms if m), key=lambda m: (terms[m] < 0, monomial_key(m)))
    rest = constant(terms)
    total: Size | None = None
    if rest > 0 and ordered and terms[ordered[0]] < 0:
        total, rest = Const(rest), 0
    for monomial in ordered:
        coefficient = terms[monomial]
        if total is None:
            total = _product(monomial, coefficient)
        elif coefficient > 0:
            total = Apply(OPERATORS["+"], (total, _product(monomial, coefficient)))
        else:
            total = Apply(OPERATORS["-"], (total, _product(monomial, -coefficient)))
    if total is None:
        return Const(rest)
    if rest:
        total = Apply(OPERATORS["+" if rest > 0 else "-"], (total, Const(abs(rest))))
    return total


def _product(monomial: Monomial, coefficient: int) -> Size:
    """Returns ``coefficient * monomial``; a minus goes to the first factor: ``-B * S``, ``-2 * B``."""
    factors: list[Size] = [] if abs(coefficient) == 1 else [Const(coefficient)]
    at = 0
    while at < len(monomial):
        power = monomial.count(monomial[at])
        base = monomial[at]
        factors.append(base if power == 1 else Apply(OPERATORS["**"], (base, Const(power))))
        at += power
    if coefficient == -1:
        factors[0] = Apply(OPERATORS["neg"], (factors[0],))
    product = factors[0]
    for factor in factors[1:]:
        product = Apply(OPERATORS["*"], (product, factor))
    return product
