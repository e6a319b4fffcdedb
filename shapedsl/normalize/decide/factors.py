"""Draw conclusions for the columns of a product: bounds both ways, signs, squares, residues."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, isqrt

from .bounds import Bound, Bounds
from .formula import Monomial
from .rows import at_least, congruence


@dataclass(slots=True, eq=False)
class Product:
    """A column that is the product of two others."""

    column: Monomial
    left: Monomial
    right: Monomial


def factors(bounds: Bounds, product: Product) -> None:
    """Draws conclusions from ``column == left * right``.

    Raises:
        Clash: It cannot hold.
    """
    bounds.budget.spend(8)
    column, left, right = product.column, product.left, product.right
    for mine, other in ((left, right), (right, left)):
        fixed = bounds.fixed(mine)
        if fixed is not None:
            value, why = fixed
            if value == 0:
                bounds.raise_low(column, 0, why)
                bounds.lower_high(column, 0, why)
                return
            terms = ((column, 1), (other, -value))
            at_least(bounds, terms, 0, why, 1)
            at_least(bounds, terms, 0, why, -1)
            congruence(bounds, terms, 0, why)
            return
    if left == right:
        _square(bounds, column, left)
    else:
        _multiply(bounds, column, left, right)
        _divide(bounds, column, left, right)
        _divide(bounds, column, right, left)
    first, second = bounds.residues.get(left, (1, 0, 0)), bounds.residues.get(right, (1, 0, 0))
    modulus = gcd(first[0] * second[0], first[0] * second[1], first[1] * second[0])
    if modulus > 1:
        bounds.set_residue(column, modulus, first[1] * second[1], first[2] | second[2])


def _square(bounds: Bounds, column: Monomial, root: Monomial) -> None:
    low, high = bounds.lows.get(root), bounds.highs.get(root)
    top, bottom = bounds.highs.get(column), bounds.lows.get(column)
    bounds.raise_low(column, 0, 0)
    if low is not None and low[0] >= 0:
        bounds.raise_low(column, low[0] ** 2, low[1])
    elif high is not None and high[0] <= 0:
        bounds.raise_low(column, high[0] ** 2, high[1])
    if low is not None and high is not None:
        bounds.lower_high(column, max(low[0] ** 2, high[0] ** 2), low[1] | high[1])
    if top is not None:
        bounds.lower_high(root, isqrt(top[0]), top[1])
        bounds.raise_low(root, -isqrt(top[0]), top[1])
    if bottom is not None and bottom[0] > 0:
        least = isqrt(bottom[0] - 1) + 1
        if low is not None and low[0] > -least:
            bounds.raise_low(root, least, low[1] | bottom[1])
        elif high is not None and high[0] < least:
            bounds.lower_high(root, -least, high[1] | bottom[1])


def _multiply(bounds: Bounds, column: Monomial, left: Monomial, right: Monomial) -> None:
    a, b = bounds.lows.get(left), bounds.highs.get(left)
    c, d = bounds.lows.get(right), bounds.highs.get(right)
    if a is not None and b is not None and c is not None and d is not None:
        why = a[1] | b[1] | c[1] | d[1]
        corners = (a[0] * c[0], a[0] * d[0], b[0] * c[0], b[0] * d[0])
        if a[0] >= 0 and c[0] >= 0:
            bounds.raise_low(column, corners[0], a[1] | c[1])
            bounds.lower_high(column, corners[3], why)
        else:
            bounds.raise_low(column, min(corners), why)
            bounds.lower_high(column, max(corners), why)
        return
    if a is not None and a[0] >= 0:
        _half_open(bounds, column, a, b, c, d)
    elif c is not None and c[0] >= 0:
        _half_open(bounds, column, c, d, a, b)
    elif b is not None and b[0] <= 0 and d is not None and d[0] <= 0:
        bounds.raise_low(column, b[0] * d[0], b[1] | d[1])


def _half_open(bounds: Bounds, column: Monomial, a: Bound, b: Bound | None, c: Bound | None, d: Bound | None) -> None:
    """Bounds the product of a column in [a, b], not negative, and one in [c, d]; not all are bounds."""
    if c is not None:
        if c[0] >= 0:
            bounds.raise_low(column, a[0] * c[0], a[1] | c[1])
        elif b is not None:
            bounds.raise_low(column, b[0] * c[0], a[1] | b[1] | c[1])
    if d is not None:
        if d[0] <= 0:
            bounds.lower_high(column, a[0] * d[0], a[1] | d[1])
        elif b is not None:
            bounds.lower_high(column, b[0] * d[0], a[1] | b[1] | d[1])


def _divide(bounds: Bounds, column: Monomial, mine: Monomial, other: Monomial) -> None:
    """Bounds ``mine`` by ``column``, which is ``mine * other``."""
    low, high = bounds.lows.get(other), bounds.highs.get(other)
    bottom, top = bounds.lows.get(column), bounds.highs.get(column)
    if low is not None and low[0] >= 1:
        if top is not None:
            if top[0] >= 0:
                bounds.lower_high(mine, top[0] // low[0], top[1] | low[1])
            elif high is not None:
                bounds.lower_high(mine, top[0] // high[0], top[1] | low[1] | high[1])
            else:
                bounds.lower_high(mine, -1, top[1] | low[1])
        if bottom is not None:
            if bottom[0] <= 0:
                bounds.raise_low(mine, -(-bottom[0] // low[0]), bottom[1] | low[1])
            elif high is not None:
                bounds.raise_low(mine, -(-bottom[0] // high[0]), bottom[1] | low[1] | high[1])
            else:
                bounds.raise_low(mine, 1, bottom[1] | low[1])
    elif low is not None and low[0] == 0:
        if bottom is not None and bottom[0] > 0:
            bounds.raise_low(other, 1, low[1] | bottom[1])
            bounds.raise_low(mine, 1, low[1] | bottom[1])
        elif top is not None and top[0] < 0:
            bounds.raise_low(other, 1, low[1] | top[1])
            bounds.lower_high(mine, -1, low[1] | top[1])
