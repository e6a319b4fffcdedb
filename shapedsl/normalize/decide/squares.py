"""Solve what one comparison with products says on its own, exactly.

What is returned is true for the same integers as the comparison, so it may take its place, or stand
beside it. Nothing is guessed and nothing depends on other comparisons.

Before, and after::

    x*x - 5*x + 4 >= 0         x <= 1 or x >= 4         one variable: any degree
    x*x == 49                  x == -7 or x == 7
    x*x == 2*y*y               x == 0 and y == 0        no square is twice a square
    x*x*x >= 8*y*y*y           x >= 2*y
    x*x - y*y == 7             x - y == 1 and x + y == 7, or …
    x*y == x + y + 5           x - 1 == 1 and y - 1 == 6, or …
    x*y - 3*x >= 0             x == 0, or x >= 1 and y - 3 >= 0, or …
    x*x - 3*y*y == 2           never: squares are 0 or 1 modulo 3

The quadratic cases are those of a binary form ``a*x*x + b*x*y + c*y*y``: where ``b*b - 4*a*c`` is no
square the form is 0 at 0 only; where it is one, the form is a product of two linear ones, and the
divisors of the constant are what they can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import gcd, isqrt

from .formula import EQ, FALSE, GE, NE, Atom, Formula, Polynomial, atom, every, negated, plus, some

HIGHEST_DEGREE = 8
MOST_DIVISORS = 128
LARGEST_DIVIDED = 10**10  # is factored by trying divisors up to its root
MODULI = (3, 4, 5, 7, 8, 9, 11, 13, 16)
MOST_RESIDUES = 4096  # tuples of residues that are tried for one modulus


@lru_cache(maxsize=4096)
def solved(unsolved: Atom) -> Formula | None:
    """Returns a formula that holds for the same integers as ``unsolved`` and is simpler, or None if none is known."""
    if unsolved.op == NE:
        opposite = solved(Atom(EQ, unsolved.terms, unsolved.constant))
        return None if opposite is None else negated(opposite)
    if all(len(monomial) == 1 for monomial, _ in unsolved.terms):
        return None
    names = sorted({name for monomial, _ in unsolved.terms for name in monomial})
    if len(names) == 1:
        return _univariate(unsolved, names[0])
    shared = _common_factor(unsolved)
    if shared:
        return _factored(unsolved, shared)
    powers = _powers(unsolved)
    if powers is not None:
        return powers
    if unsolved.op == EQ:
        if len(names) == 2:
            found = _binary(unsolved, names[0], names[1])
            if found is not None:
                return found
        if _obstructed(unsolved, names):
            return FALSE
    return None


# --------------------------------------------------------------------------------- one variable


def _univariate(unsolved: Atom, name: str) -> Formula | None:
    degree = max(len(monomial) for monomial, _ in unsolved.terms)
    if degree > HIGHEST_DEGREE:
        return None
    coefficients = [0] * (degree + 1)
    coefficients[0] = unsolved.constant
    for monomial, value in unsolved.terms:
        coefficients[len(monomial)] = value
    x: Polynomial = {(name,): 1}
    if unsolved.op == EQ:
        roots = [at for at, after in _segments(coefficients) for at in _root(coefficients, at, after)]
        return some(atom(EQ, plus(x, {(): 1}, -root)) for root in roots)
    return some(_within(x, low, high) for low, high in _non_negative(coefficients))


def _within(x: Polynomial, low: int | None, high: int | None) -> Formula:
    ends: list[Formula] = []
    if low is not None:
        ends.append(atom(GE, plus(x, {(): 1}, -low)))
    if high is not None:
        ends.append(atom(GE, plus({(): high} if high else {}, x, -1)))
    return every(ends)


def _value(coefficients: Sequence[int], x: int) -> int:
    total = 0
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _segments(coefficients: Sequence[int]) -> list[tuple[int, int]]:
    """Returns runs of integers, both ends inclusive, on each of which the polynomial is monotone; all roots are in them."""
    leading = abs(coefficients[-1])
    reach = 1 + max(map(abs, coefficients)) // leading + 1  # Cauchy's bound: all roots are nearer to 0
    if len(coefficients) <= 2:
        return [(-reach, reach)]
    slope = [power * coefficient for power, coefficient in enumerate(coefficients)][1:]
    found: list[tuple[int, int]] = []
    start = -reach
    for cut in _cuts(slope):  # the slope changes its sign between cut and cut + 1, or at one of them
        if start <= cut < reach:
            found.append((start, cut))
            start = cut + 1
    found.append((start, reach))
    return found


def _cuts(coefficients: Sequence[int]) -> list[int]:
    """Returns integers, ascending: between any two neighbors (one excluded) the polynomial does not change its sign."""
    cuts: list[int] = []
    for low, high in _segments(coefficients):
        at = _first(coefficients, low, high)
        if at is not None:
            cuts += [at - 1, at] if _value(coefficients, at) == 0 else [at - 1]
        cuts.append(high)
    return sorted(set(cuts))


def _first(coefficients: Sequence[int], low: int, high: int) -> int | None:
    """Returns the first integer of a monotone run that is a root, or before which one lies."""
    at_start = _value(coefficients, low)
    if at_start == 0:
        return low
    rising = at_start < 0

    def changed(x: int) -> bool:
        value = _value(coefficients, x)
        return value >= 0 if rising else value <= 0

    if not changed(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if changed(middle) else (middle + 1, high)
    return low


def _root(coefficients: Sequence[int], low: int, high: int) -> Iterator[int]:
    at = _first(coefficients, low, high)
    if at is not None and _value(coefficients, at) == 0:
        yield at


def _non_negative(coefficients: Sequence[int]) -> list[tuple[int | None, int | None]]:
    """Returns the maximal runs of integers where the polynomial is not negative."""
    runs: list[tuple[int, int]] = []
    segments = _segments(coefficients)
    for low, high in segments:
        first, last = _value(coefficients, low) >= 0, _value(coefficients, high) >= 0
        if first and last:
            run = low, high
        elif first or last:
            cut = _last_of(coefficients, low, high, first)
            run = (low, cut) if first else (cut + 1, high)
        else:
            continue
        if runs and runs[-1][1] + 1 == run[0]:
            runs[-1] = runs[-1][0], run[1]
        else:
            runs.append(run)
    start, end = segments[0][0], segments[-1][1]
    return [(None if low == start else low, None if high == end else high) for low, high in runs]


def _last_of(coefficients: Sequence[int], low: int, high: int, non_negative: bool) -> int:
    """Returns the last integer of a monotone run at which being not negative is still as it is at its start."""
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (middle, high) if (_value(coefficients, middle) >= 0) == non_negative else (low, middle)
    return low


# -------------------------------------------------------------------------------- common factors


def _common_factor(unsolved: Atom) -> str:
    """Returns the first variable that every term has as a factor, or nothing."""
    first, *rest = [set(monomial) for monomial, _ in unsolved.terms]
    return min(first.intersection(*rest), default="")


def _factored(unsolved: Atom, shared: str) -> Formula | None:
    """Solves ``shared * rest + constant``."""
    rest: Polynomial = {}
    for monomial, value in unsolved.terms:
        at = monomial.index(shared)
        rest[monomial[:at] + monomial[at + 1 :]] = value
    x: Polynomial = {(shared,): 1}
    if unsolved.constant == 0:
        zero = atom(EQ, x)
        if unsolved.op == EQ:
            return some([zero, atom(EQ, rest)])
        above = every([atom(GE, plus(x, {(): -1})), atom(GE, rest)])
        below = every([atom(GE, plus({(): -1}, x, -1)), atom(GE, plus({}, rest, -1))])
        return some([zero, above, below])
    if unsolved.op == EQ:
        return _product_is(x, rest, -unsolved.constant)
    return None


def _product_is(left: Polynomial, right: Polynomial, number: int) -> Formula | None:
    """Returns when ``left * right == number``; None if ``number`` has too many divisors."""
    if number == 0:
        return some([atom(EQ, left), atom(EQ, right)])
    divisors = divisors_of(abs(number))
    if divisors is None or len(divisors) > MOST_DIVISORS:
        return None
    signed = [sign * each for each in divisors for sign in (1, -1)]
    return some(
        every([atom(EQ, plus(left, {(): 1}, -each)), atom(EQ, plus(right, {(): 1}, -(number // each)))])
        for each in signed
    )


def divisors_of(number: int) -> list[int] | None:
    """Returns the divisors of ``number`` (above 0), ascending, or None if it is too large to be factored."""
    found = [1]
    factor = 2
    while number > 1:
        if factor * factor > number:
            factor = number
        elif factor * factor > LARGEST_DIVIDED:
            return None
        power = 1
        base = found
        while number % factor == 0:
            number //= factor
            power *= factor
            found = found + [each * power for each in base]
        factor += 1 if factor == 2 else 2
    return sorted(found)


# --------------------------------------------------------------------------------- two variables


def _binary(unsolved: Atom, x: str, y: str) -> Formula | None:
    """Solves ``a*x*x + b*x*y + c*y*y + d*x + e*y + f == 0`` where its form is a product, or 0 at 0 only."""
    known = {(x, x), (x, y), (y, y), (x,), (y,)}
    terms = dict(unsolved.terms)
    if not terms.keys() <= known:
        return None
    a, b, c = terms.get((x, x), 0), terms.get((x, y), 0), terms.get((y, y), 0)
    d, e, f = terms.get((x,), 0), terms.get((y,), 0), unsolved.constant
    square = b * b - 4 * a * c
    root = isqrt(square) if square >= 0 else 0
    if square <= 0 or root * root != square:
        if d or e or f or square == 0:
            return None
        return every([atom(EQ, {(x,): 1}), atom(EQ, {(y,): 1})])
    if a == 0 and c != 0:
        x, y, a, c, d, e = y, x, c, a, e, d
    if a == 0:  # b * (b*x*y + d*x + e*y + f) is a product but for a number
        return _product_is(_sum(x, b, y, 0, e), _sum(x, 0, y, b, d), d * e - b * f)
    # 4*a * form is (2*a*x + (b - root)*y + p) * (2*a*x + (b + root)*y + q) but for a number, where
    # p + q == 2*d and (b + root)*p + (b - root)*q == 4*a*e; if need be both are scaled
    half = 2 * a * e - b * d  # root * (p - q) / 2
    scale = root if half % root else 1
    p, q = scale * d + half * scale // root, scale * d - half * scale // root
    left = _sum(x, scale * 2 * a, y, scale * (b - root), p)
    right = _sum(x, scale * 2 * a, y, scale * (b + root), q)
    return _product_is(left, right, p * q - 4 * a * f * scale * scale)


def _sum(x: str, a: int, y: str, b: int, number: int) -> Polynomial:
    return {monomial: value for monomial, value in (((x,), a), ((y,), b), ((), number)) if value}


def _powers(unsolved: Atom) -> Formula | None:
    """Solves ``a * x**n`` compared with ``b * y**n``."""
    if len(unsolved.terms) != 2 or unsolved.constant:
        return None
    (first, a), (second, b) = unsolved.terms
    degree = len(first)
    if degree != len(second) or len(set(first)) != 1 or len(set(second)) != 1 or first == second:
        return None
    if a < 0 < b:
        first, second, a, b = second, first, b, a
    if a < 0 or b > 0:
        return None  # both are of one sign
    # a * x**n against -b * y**n, with a and -b coprime
    p, q = _root_of(a, degree), _root_of(-b, degree)
    if p is None or q is None:  # no power is such a multiple of another
        zero = every([atom(EQ, {(first[0],): 1}), atom(EQ, {(second[0],): 1})])
        return zero if unsolved.op == EQ else None
    x: Polynomial = {(first[0],): p}
    y: Polynomial = {(second[0],): q}
    less, more = plus(x, y, -1), plus(x, y)
    if degree % 2:
        return atom(unsolved.op, less)
    if unsolved.op == EQ:
        return some([atom(EQ, less), atom(EQ, more)])
    above = every([atom(GE, less), atom(GE, more)])
    below = every([atom(GE, plus({}, less, -1)), atom(GE, plus({}, more, -1))])
    return some([above, below])


def _root_of(number: int, degree: int) -> int | None:
    """Returns the root of a positive number, if it is an integer."""
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**degree >= number else (middle + 1, high)
    return low if low**degree == number else None


# -------------------------------------------------------------------------------------- residues


def _obstructed(unsolved: Atom, names: Sequence[str]) -> bool:
    """Returns whether an equality fails for all residues by some small modulus."""
    at = {name: index for index, name in enumerate(names)}
    terms = [(value, [at[name] for name in monomial]) for monomial, value in unsolved.terms]
    for modulus in MODULI:
        if modulus ** len(names) > MOST_RESIDUES:
            continue
        if gcd(modulus, *(value for value, _ in terms)) > 1:
            continue
        if not any(
            _vanishes(terms, unsolved.constant, residues, modulus)
            for residues in product(range(modulus), repeat=len(names))
        ):
            return True
    return False


def _vanishes(terms: Sequence[tuple[int, list[int]]], total: int, residues: Sequence[int], modulus: int) -> bool:
    for value, factors in terms:
        for factor in factors:
            value *= residues[factor]
        total += value
    return total % modulus == 0
