"""What the engine reasons about: comparisons of integer polynomials with 0, joined by "all" and "one of".

A polynomial maps monomials to coefficients. A monomial is the sorted tuple of its variables, a variable
that stands squared twice; the empty one is the constant. In sums each monomial is a *column*: linear
reasoning takes every column for an unknown of its own, products included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = tuple[str, ...]
Polynomial: TypeAlias = dict[Monomial, int]

GE = 0  # terms + constant >= 0
EQ = 1
NE = 2


@dataclass(frozen=True, slots=True)
class Atom:
    """``terms + constant`` compared with 0.

    Attributes:
        op: `GE`, `EQ` or `NE`.
        terms: Columns with their coefficients: sorted, none 0, without a common divisor.
        constant: An integer.
    """

    op: int
    terms: tuple[tuple[Monomial, int], ...]
    constant: int


@dataclass(frozen=True, slots=True)
class All:
    """All of ``args``; of none: true."""

    args: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """One of ``args``, at least; of none: false."""

    args: tuple[Formula, ...]


Formula: TypeAlias = "Atom | All | Some"

TRUE = All(())
FALSE = Some(())


def plus(left: Mapping[Monomial, int], right: Mapping[Monomial, int], factor: int = 1) -> Polynomial:
    """Returns ``left + factor * right``."""
    result = dict(left)
    for monomial, value in right.items():
        total = result.get(monomial, 0) + factor * value
        if total:
            result[monomial] = total
        else:
            result.pop(monomial, None)
    return result


def times(left: Mapping[Monomial, int], right: Mapping[Monomial, int]) -> Polynomial:
    """Returns the product."""
    result: Polynomial = {}
    for mine, value in left.items():
        for other, factor in right.items():
            monomial = tuple(sorted(mine + other)) if mine and other else mine or other
            total = result.get(monomial, 0) + value * factor
            if total:
                result[monomial] = total
            else:
                result.pop(monomial, None)
    return result


def constant(value: int) -> Polynomial:
    """Returns a number as a polynomial."""
    return {(): value} if value else {}


def atom(op: int, polynomial: Mapping[Monomial, int]) -> Formula:
    """Returns ``polynomial`` compared with 0 in canonical form: content divided out, an inequality rounded."""
    free = polynomial.get((), 0)
    terms = sorted((monomial, value) for monomial, value in polynomial.items() if monomial)
    if not terms:
        return TRUE if (free >= 0 if op == GE else (free == 0) == (op == EQ)) else FALSE
    content = gcd(*[value for _, value in terms])
    if op != GE and terms[0][1] < 0:
        content = -content
    if content != 1:
        if op != GE and free % content:
            return FALSE if op == EQ else TRUE
        terms = [(monomial, value // content) for monomial, value in terms]
        free //= content
    return Atom(op, tuple(terms), free)


def every(parts: Iterable[Formula]) -> Formula:
    """Returns the conjunction, flat."""
    flat: dict[Formula, None] = {}
    for part in parts:
        if isinstance(part, All):
            flat.update(dict.fromkeys(part.args))
        elif part == FALSE:
            return FALSE
        else:
            flat[part] = None
    return next(iter(flat)) if len(flat) == 1 else All(tuple(flat))


def some(parts: Iterable[Formula]) -> Formula:
    """Returns the disjunction, flat."""
    flat: dict[Formula, None] = {}
    for part in parts:
        if isinstance(part, Some):
            flat.update(dict.fromkeys(part.args))
        elif part == TRUE:
            return TRUE
        else:
            flat[part] = None
    return next(iter(flat)) if len(flat) == 1 else Some(tuple(flat))


def negated(formula: Formula) -> Formula:
    """Returns what holds where ``formula`` does not."""
    match formula:
        case Atom(op=op, terms=terms, constant=free):
            if op == GE:
                return Atom(GE, tuple((monomial, -value) for monomial, value in terms), -free - 1)
            return Atom(EQ + NE - op, terms, free)
        case All(args=args):
            return some(map(negated, args))
        case Some(args=args):
            return every(map(negated, args))


def sides(unequal: Atom) -> tuple[Atom, Atom]:
    """Returns the two inequalities one of which holds where ``unequal`` does: below 0, above 0."""
    below = tuple((monomial, -value) for monomial, value in unequal.terms)
    return Atom(GE, below, -unequal.constant - 1), Atom(GE, unequal.terms, unequal.constant - 1)


def value_of(column: Monomial, model: Mapping[Monomial, int]) -> int:
    """Returns what ``model`` says of a column; of one that it leaves out, the product of its variables, or 0."""
    value = model.get(column)
    if value is not None:
        return value
    if len(column) == 1:
        return 0
    result = 1
    for name in column:
        result *= model.get((name,), 0)
    return result


def satisfied(formula: Formula, model: Mapping[Monomial, int]) -> bool:
    """Returns whether ``model``, a value for each column, satisfies ``formula``."""
    if isinstance(formula, Atom):
        total = formula.constant
        for column, value in formula.terms:
            total += value * value_of(column, model)
        return total >= 0 if formula.op == GE else (total == 0) == (formula.op == EQ)
    if isinstance(formula, All):
        return all(satisfied(arg, model) for arg in formula.args)
    return any(satisfied(arg, model) for arg in formula.args)


def columns(formulas: Sequence[Formula]) -> Iterable[Monomial]:
    """Yields the columns of ``formulas``, with repetitions."""
    for formula in formulas:
        if isinstance(formula, Atom):
            for monomial, _ in formula.terms:
                yield monomial
        else:
            yield from columns(formula.args)
