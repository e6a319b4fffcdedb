"""Solve an equation by division: a factor leaves, and what is smaller than it is the rest.

Before (``S`` and ``N`` are known, ``u`` is the slot)::

    S * B == u               S >= 1
    N * A + B == u           0 <= B < N
    6 * A + 4 * B == u       0 <= B < 3

After::

    B is u // S              u % S == 0
    A is u // N              B == u % N, which is the next equation
    B is -(u // 2) % 3       u % 2 == 0, since 3 divides 3 * A

The second is mixed radix: ``256 * A + 16 * B + C`` with ``B`` and ``C`` below 16 is solved from the left.

A divisor that torch could meet as 0, for sizes that some other assumption rejects, is told as ``max(N, 1)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd, inf

from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size
from ...ir.walk import free_vars, substitute_size
from ..algebra import TooLarge, canonical, terms
from ..intervals import Box
from ..polynomial import Terms, add, build, constant, content, is_constant, scale, terms_interval
from .equations import Equation, factor_of, unknown_in, variable_of
from .given import Given
from .hermite import Row
from .quotient import Quotient, reduced, translate


@dataclass(frozen=True, slots=True)
class Found:
    """What one equation gave.

    Attributes:
        name: Of the variable.
        value: Over the slots' names.
        exact: What must hold for the division to leave no rest, if one leaves none.
        rest: What is left to be solved. With it, or with ``exact``, the equation holds.
    """

    name: str
    value: Quotient
    exact: Predicate | None = None
    rest: Equation | None = None


def divided(row: Row, definitions: Mapping[str, Quotient], given: Given, box: Box) -> Found | None:
    """Returns a variable that ``row`` gives by division, with or without a rest.

    Args:
        row: With something unknown.
        definitions: What is known.
        given: Shows that a divisor is positive, and that a rest is smaller.
        box: Ranges of the slots, as torch is told them.
    """
    for name in unknown_in((atom for monomial in row.unknowns for atom in monomial), definitions):
        split = factor_of(row, name)
        if split is None:
            continue
        factor, rest = split
        if any(unknown_in(monomial, definitions) for monomial in factor):
            continue
        if not rest.unknowns and is_constant(factor):
            continue  # no division by a size
        try:
            found = _divided(name, factor, rest, definitions, given, box)
        except TooLarge:
            continue
        if found is not None:
            return found
    return None


def _divided(
    name: str, factor: Terms, rest: Row, definitions: Mapping[str, Quotient], given: Given, box: Box
) -> Found | None:
    """Solves ``factor * name + rest.unknowns == rest.known``."""
    known, unknown = rest.known, dict(rest.unknowns)
    if not given.at_least(factor, 1):
        factor, known, unknown = scale(factor, -1), scale(known, -1), scale(unknown, -1)
        if not given.at_least(factor, 1):
            return None
    low = given.low(unknown)
    if unknown and (low == -inf or not given.at_least(add(add(factor, unknown, -1), _number(int(low))), 1)):
        return None
    over_slots = translate(factor, definitions)
    start = _number(int(low)) if unknown else {}
    times = over_slots.denominator
    whole, part = scale(add(known, start, -1), times), over_slots.numerator
    if not unknown:  # there is no rest, so it cannot matter what both are multiples of
        common = gcd(content(whole), constant(whole), content(part), constant(part))
        whole, part = _over(whole, common), _over(part, common)
    divisor = build(part)
    if terms_interval(part, box).low < 1:
        divisor = Apply(OPERATORS["max"], (divisor, Const(1)))
    dividend = build(whole)
    value = Quotient(terms(Apply(OPERATORS["//"], (dividend, divisor))))
    remainder = Apply(OPERATORS["%"], (dividend, divisor))
    if not unknown:
        return Found(name, value, exact=Compare(COMPARISONS["=="], remainder, Const(0)))
    right = canonical(Apply(OPERATORS["+"], (remainder, build(scale(start, times)))))
    return Found(name, value, rest=Equation(build(scale(unknown, times)), right))


def _over(polynomial: Terms, divisor: int) -> Terms:
    return {monomial: coefficient // divisor for monomial, coefficient in polynomial.items()}


def _number(value: int) -> Terms:
    return {(): value} if value else {}


def modular(row: Row, given: Given) -> Found | None:
    """Returns a variable whose range is shorter than the step in which the rest of ``row`` moves.

    ``6 * A + 4 * B``: half of it is ``2 * B`` modulo 3, which tells ``B`` from 0 to 2.
    """
    for monomial, coefficient in row.unknowns.items():
        name = variable_of(monomial)
        if name is None:
            continue
        domain = given.domains.domain(name)
        others = gcd(*(value for other, value in row.unknowns.items() if other != monomial))
        if domain.low == -inf or domain.high == inf or not others:
            continue
        # the variable is step * t + domain.low, with t from 0 to steps
        step = domain.modulus
        steps = (int(domain.high) - int(domain.low)) // step
        common = gcd(coefficient * step, others)
        modulus = others // common
        if steps >= modulus:
            continue
        inverse = pow(coefficient * step // common, -1, modulus)
        known = add(row.known, _number(coefficient * int(domain.low)), -1)
        try:
            part = Apply(OPERATORS["//"], (build(known), Const(common)))
            product = Apply(OPERATORS["*"], (Const(inverse), part))
            value = scale(terms(Apply(OPERATORS["%"], (product, Const(modulus)))), step)
        except TooLarge:
            continue
        exact = Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (build(known), Const(common))), Const(0))
        return Found(name, Quotient(add(value, _number(int(domain.low)))), exact=exact if common > 1 else None)
    return None


def ceiling(row: Row, definitions: Mapping[str, Quotient], given: Given) -> Found | None:
    """Returns the variable under the one floor in ``row``, if the dividend moves by at least the divisor.

    ``3 * B // 2 == u`` has one solution at most: the least ``B`` with ``3 * B >= 2 * u``. That there is one is for
    the equation itself to say.
    """
    floors = [monomial for monomial in row.unknowns if variable_of(monomial) is None]
    match floors:
        case [(Apply(op=op, args=(dividend, Const(value=by))),)] if op.name == "//" and by > 0:
            factor = row.unknowns[floors[0]]
        case _:
            return None
    try:
        polynomial = terms(dividend)
        for monomial, coefficient in row.unknowns.items():  # B + B // 2 is 3 * B // 2
            if monomial != floors[0]:
                if coefficient % factor:
                    return None
                polynomial = add(polynomial, {monomial: coefficient // factor * by})
        variables = [m for m in polynomial if unknown_in(m, definitions)]
        name = variable_of(variables[0]) if len(variables) == 1 else None
        if name is None:
            return None
        domain = given.domains.domain(name)
        step = polynomial.pop(variables[0]) * domain.modulus  # the variable is modulus * t + residue
        if abs(step) < by:
            return None
        rest = translate(add(polynomial, _number(step // domain.modulus * domain.residue)), definitions)
        quotient = scale(terms(reduced(row.known, factor).size), by * rest.denominator)
        # step * t + rest is in [quotient, quotient + by)
        bound = Apply(OPERATORS["//"], (build(add(rest.numerator, quotient, -1)), Const(abs(step) * rest.denominator)))
        times = scale(terms(bound), -1 if step > 0 else 1)
    except TooLarge:
        return None
    return Found(name, Quotient(add(scale(times, domain.modulus), _number(domain.residue))))


def quotients(
    rows: Iterable[tuple[Equation, Row]], definitions: Mapping[str, Quotient], given: Given
) -> Iterator[tuple[Equation, Equation | None]]:
    """Yields equations for what stands under known floors and remainders, each with the one that it replaces.

    Before: ``A // 16 == u, A % 16 == v``; ``A // S == w`` where ``A % S == 0``

    After: ``A == 16 * u + v``, which replaces none; ``A == S * w``, which does
    """
    known: dict[tuple[str, Size, Size], tuple[Equation, Size]] = {}
    for equation, row in rows:
        match list(row.unknowns.items()):
            case [((Apply(op=op, args=(dividend, divisor)),), factor)] if op.name in ("//", "%"):
                known[op.name, dividend, divisor] = equation, reduced(row.known, factor).size
            case _:
                pass
    for (name, dividend, divisor), (equation, quotient) in known.items():
        if name == "%" or unknown_in((divisor,), definitions):
            continue
        by = substitute_size(divisor, {each: definitions[each].size for each in free_vars(divisor)})
        whole = Apply(OPERATORS["*"], (by, quotient))
        if ("%", dividend, divisor) in known:
            _, rest = known["%", dividend, divisor]
            yield Equation(dividend, canonical(Apply(OPERATORS["+"], (whole, rest)))), None
        elif given.proves(Apply(OPERATORS["%"], (dividend, divisor)), "==", Const(0)):
            yield Equation(dividend, canonical(whole)), equation
