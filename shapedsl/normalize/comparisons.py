"""The canonical form of one comparison: ``p <= 0`` or ``p == 0``, divided out, and split for print.

Before and after::

    2 * B <= 5                 B <= 2            the content is divided out, the constant rounded
    B < S                      B + 1 <= S        strict becomes non-strict
    2 * B == 5                 false             the content does not divide
    3 + 2 * B == D             D == 2 * B + 1    the side that only adds is on the right
    B // 8 >= 3                B >= 24           a floor is opened where that is exact
    max(A, B) <= 8             A <= 8 and B <= 8, unless that makes too many
    (B + 5) % 8 == 3           B % 8 == 6
    3 * B % 8 == 2             B % 8 == 6        times the inverse of 3
"""

from __future__ import annotations

from math import gcd
from typing import Final

from ..ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Or, Predicate, Size, Var, Variadic
from ..ir.orient import orient
from .algebra import LARGEST, NO_BOX, TooLarge, difference, spreads, terms, tidied
from .intervals import Box
from .polynomial import (
    Terms,
    add,
    atom_key,
    build,
    constant,
    content,
    is_constant,
    leading,
    linear_atoms,
    scale,
    terms_interval,
)

TRUE: Final = And(())
FALSE: Final = Or(())
MOST_CASES: Final = 64  # a sum of n maxima is 2**n comparisons: a longer one stays closed


def canonical_comparison(compare: Compare, box: Box = NO_BOX) -> Predicate:
    """Returns ``compare`` in canonical form: a comparison, a conjunction of some, `TRUE` or `FALSE`.

    Args:
        compare: Any comparison.
        box: Ranges that the algebra may use; they never decide the comparison itself.
    """
    try:
        polynomial = difference(compare.left, compare.right, box)
        match compare.op.name:
            case "==":
                return equal(polynomial)
            case "!=":
                return _unequal(polynomial)
            case "<=":
                return at_most(polynomial)
            case "<":
                return at_most(add(polynomial, {(): 1}))
            case ">=":
                return at_most(scale(polynomial, -1))
            case _:
                return at_most(add(scale(polynomial, -1), {(): 1}))
    except TooLarge:
        return orient(compare)


def _truth(value: bool) -> Predicate:
    return TRUE if value else FALSE


# --------------------------------------------------------------------------------------- p <= 0


def at_most(polynomial: Terms) -> Predicate:
    """Returns ``polynomial <= 0`` in canonical form.

    Raises:
        TooLarge: A number leaves int64.
    """
    polynomial = tidied(polynomial)
    common = content(polynomial)
    if not common:
        return _truth(constant(polynomial) <= 0)
    # g*q + c <= 0 is q + ceil(c / g) <= 0
    reduced = {m: c // common for m, c in polynomial.items() if m}
    if offset := -(-constant(polynomial) // common):
        reduced[()] = offset
    everywhere = terms_interval(reduced, NO_BOX)
    if everywhere.high <= 0 or everywhere.low > 0:
        return _truth(everywhere.high <= 0)
    if everywhere.low == 0:
        return equal(reduced)
    opened = _opened(reduced) if _cases(reduced) <= MOST_CASES else None
    return opened if opened is not None else _written_at_most(reduced)


def _cases(polynomial: Terms) -> int:
    """Returns how many comparisons `_opened` makes of one, or a number above `MOST_CASES`."""
    total = 1
    for atom, coefficient in linear_atoms(polynomial).items():
        match atom:
            case Apply(op=op, args=(dividend, Const(value=by))) if op.name == "//" and by > 0:
                total *= _cases(scale(terms(dividend), coefficient))
            case Apply(op=op, args=args) if op.name == ("max" if coefficient > 0 else "min"):
                total *= sum(_cases(scale(terms(arg), coefficient)) for arg in args)
            case _:
                pass
        if total > MOST_CASES:
            break
    return total


def _opened(polynomial: Terms) -> Predicate | None:
    """Opens the first floor, min or max for which ``polynomial <= 0`` is a conjunction without it."""
    for atom, coefficient in linear_atoms(polynomial).items():
        match atom:
            case Apply(op=op, args=(dividend, Const(value=by))) if op.name == "//" and by > 0 and abs(coefficient) == 1:
                rest = add(polynomial, {(atom,): -coefficient})
                inner = terms(dividend)
                if coefficient == 1:  # a // m <= -rest  is  a <= m*-rest + m - 1
                    return at_most(add(add(inner, rest, by), {(): 1 - by} if by > 1 else {}))
                return at_most(add(scale(rest, by), inner, -1))  # rest <= a // m  is  m*rest <= a
            case Apply(op=op, args=args) if op.name == ("max" if coefficient > 0 else "min") and not any(
                map(spreads, args)
            ):
                rest = add(polynomial, {(atom,): -coefficient})
                return conjunction([at_most(add(rest, terms(arg), coefficient)) for arg in args])
            case _:
                pass
    return None


def _written_at_most(polynomial: Terms) -> Predicate:
    positive, negative = _split(polynomial)
    offset = constant(polynomial)
    if not negative:
        return _compare("<=", positive, _number(-offset))
    if not positive:
        return _compare(">=", negative, _number(offset))
    if offset > 0:
        positive[()] = offset
    elif offset < 0:
        negative[()] = -offset
    return _compare("<=", positive, negative)


def _split(polynomial: Terms) -> tuple[Terms, Terms]:
    """Returns the positive and the negated negative monomials, the constant left out."""
    return (
        {m: c for m, c in polynomial.items() if m and c > 0},
        {m: -c for m, c in polynomial.items() if m and c < 0},
    )


def _number(value: int) -> Terms:
    return {(): value} if value else {}


def _compare(op: str, left: Terms, right: Terms) -> Predicate:
    if any(abs(coefficient) > LARGEST for side in (left, right) for coefficient in side.values()):
        raise TooLarge
    return orient(Compare(COMPARISONS[op], build(left), build(right)))


# --------------------------------------------------------------------------------------- p == 0


def equal(polynomial: Terms) -> Predicate:
    """Returns ``polynomial == 0`` in canonical form.

    Raises:
        TooLarge: A number leaves int64.
    """
    polynomial = tidied(polynomial)
    common = content(polynomial)
    if not common:
        return _truth(constant(polynomial) == 0)
    if constant(polynomial) % common:
        return FALSE
    reduced = {m: c // common for m, c in polynomial.items()}
    if leading(reduced) < 0:
        reduced = scale(reduced, -1)
    everywhere = terms_interval(reduced, NO_BOX)
    if everywhere.low > 0 or everywhere.high < 0:
        return FALSE
    match [m for m in reduced if m]:
        case [(Apply(op=op, args=(dividend, Const(value=by))),)] if by > 0 and op.name in ("%", "//"):
            value = -constant(reduced)
            if op.name == "%":
                return congruent(terms(dividend), by, value)
            inner = terms(dividend)  # a // m == k  is  m*k <= a <= m*k + m - 1
            low, high = _number(value * by), _number(value * by + by - 1)
            return conjunction([at_most(add(low, inner, -1)), at_most(add(inner, high, -1))])
        case _:
            return _written_equal(reduced, "==")


def congruent(polynomial: Terms, modulus: int, residue: int) -> Predicate:
    """Returns ``polynomial % modulus == residue`` in canonical form: no constant, no common factor, first coefficient 1.

    Raises:
        TooLarge: A number leaves int64.
    """
    if not 0 <= residue < modulus:
        return FALSE
    residue = (residue - constant(polynomial)) % modulus
    moving = {m: c for m, c in polynomial.items() if m}
    common = gcd(content(moving), modulus)
    if residue % common:
        return FALSE
    modulus, residue = modulus // common, residue // common
    if modulus == 1:
        return TRUE
    moving = {m: c // common for m, c in moving.items()}
    first = leading(moving)
    inverse = pow(first, -1, modulus) if gcd(first, modulus) == 1 else 1
    inner = terms(Apply(OPERATORS["%"], (build(scale(moving, inverse)), Const(modulus))))
    return _written_equal(add(inner, _number(residue * inverse % modulus), -1), "==")


def _unequal(polynomial: Terms) -> Predicate:
    match equal(polynomial):
        case Compare(op=op, left=left, right=right) if op.name == "==":
            return orient(Compare(COMPARISONS["!="], left, right))
        case And(args=()):
            return FALSE
        case Or(args=()):
            return TRUE
        case _:  # a // m != k stays: opened it would be a disjunction
            common = content(polynomial) * (1 if leading(polynomial) > 0 else -1)
            return _written_equal({m: c // common for m, c in polynomial.items()}, "!=")


def _written_equal(polynomial: Terms, op: str) -> Predicate:
    """Splits ``polynomial == 0`` for print: a variable that equals a sum, else two sides without a minus.

    torch replaces the left side by the right, and decides ``B < D`` from ``D == B + 2`` but not from
    ``B == D - 2``; so of several variables one whose right side only adds is chosen.
    """
    positive, negative = _split(polynomial)
    candidates: list[tuple[bool, tuple[bool, str], Size, Terms]] = []
    for atom, coefficient in linear_atoms(polynomial).items():
        if isinstance(atom, (Var, Variadic)) and abs(coefficient) == 1:
            rest = scale(add(polynomial, {(atom,): -coefficient}), -coefficient)
            if not is_constant(rest) and all(value > 0 for monomial, value in rest.items() if monomial):
                candidates.append((constant(rest) < 0, atom_key(atom), atom, rest))
    if candidates:
        _, _, atom, rest = min(candidates, key=lambda each: each[:2])
        return _compare(op, {(atom,): 1}, rest)
    offset = constant(polynomial)
    if not negative or not positive:
        sign = -1 if positive else 1
        return _compare(op, positive or negative, _number(sign * offset))
    if offset > 0:
        positive[()] = offset
    elif offset < 0:
        negative[()] = -offset
    return _compare(op, positive, negative)


# ------------------------------------------------------------------------------------------ and


def conjunction(parts: list[Predicate]) -> Predicate:
    """Returns ``and`` of canonical ``parts``: flat, `TRUE` dropped, duplicates gone; the order is kept."""
    flat: dict[Predicate, None] = {}
    for part in parts:
        if part == FALSE:
            return FALSE
        flat.update(dict.fromkeys(part.args if isinstance(part, And) else (part,)))
    return next(iter(flat)) if len(flat) == 1 else And(tuple(flat))


def divides_by_variable(size: Size) -> bool:
    """Returns whether the value of ``size`` may be undefined: something in it is divided by more than a constant."""
    match size:
        case Apply(op=op, args=args):
            unsafe = op.defined == "{1} != 0" and not (isinstance(args[1], Const) and args[1].value)
            return unsafe or any(divides_by_variable(arg) for arg in args)
        case _:
            return False


__all__ = [
    "FALSE",
    "TRUE",
    "at_most",
    "canonical_comparison",
    "congruent",
    "conjunction",
    "divides_by_variable",
    "equal",
]
