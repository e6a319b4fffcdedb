"""Tell torch what follows, where it does not conclude it itself.

While it traces, torch decides a branch only from assumptions that look almost like it (measured on
2.14.1): ``A % 16 == 0`` does not decide ``A % 8 == 0``; ``A + 1 <= B`` decides neither ``A <= B`` nor
``A == B``, while ``A < B`` decides all three; ``A + 2 <= B`` decides none of them.

Before::

    A % 8 == 0                 A + 1 <= B       A + 3 <= B                   D == max(A, B)

After::

    A % 2 == 0, A % 4 == 0,    A < B            A + 2 < B, A < B             D == max(A, B),
    A % 8 == 0                                                               A <= D, B <= D

torch replaces equal sizes by each other, and does not find the sign of a product whose factor it has
replaced: with ``C == B + 3`` it asks whether ``A * B + 3 * A < 0``. Said last, in the very form, it knows::

    P == A * C, C == B + 3     P == A * C, C == B + 3, A * C >= 0

Invariant: each added predicate follows from the one it was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size, Var
from ...ir.walk import free_vars
from ..algebra import TooLarge, difference, terms
from ..domains import Domains
from ..polynomial import Terms, build, constant

MOST_DIVISORS = 12  # each costs torch half a millisecond


def residues(name: str, modulus: int, residue: int) -> Iterator[Predicate]:
    """Yields ``name % d == residue % d`` for the divisors ``d`` of ``modulus``, ascending.

    Args:
        name: A torch variable.
        modulus: Above 1. Of one with many divisors the smallest are taken, and itself.
        residue: In ``[0, modulus)``.
    """
    divisors = _divisors(modulus)
    if len(divisors) > MOST_DIVISORS:
        divisors = (*divisors[: MOST_DIVISORS - 1], modulus)
    for divisor in divisors:
        modulo: Size = Apply(OPERATORS["%"], (Var(name), Const(divisor)))
        yield Compare(COMPARISONS["=="], modulo, Const(residue % divisor))


@lru_cache(maxsize=1024)
def _divisors(number: int) -> tuple[int, ...]:
    """Returns the divisors of ``number`` from 2 on, ascending; of a huge number only itself and small ones."""
    small = [d for d in range(2, min(number, 4096)) if number % d == 0]
    return (*small, number) if number >= 2 else ()


def with_consequences(predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    """Yields each of ``predicates`` as torch reasons best with it, followed by what torch does not conclude."""
    for predicate in predicates:
        match predicate:
            case Compare(op=op, left=left, right=right) if op.name == "<=" and not isinstance(right, Const):
                yield from _strict(predicate, left, right)
            case Compare(op=op, left=left, right=Apply(op=extreme, args=args)) if op.name == "==" and extreme.name in (
                "min",
                "max",
            ):
                yield predicate
                for arg in args:
                    if not isinstance(arg, Const):
                        low, high = (arg, left) if extreme.name == "max" else (left, arg)
                        yield Compare(COMPARISONS["<="], low, high)
            case _:
                yield predicate


def product_signs(predicates: Iterable[Predicate], domains: Domains) -> Iterator[Predicate]:
    """Yields ``A * B >= 0`` for each size ``v == A * B`` that is never negative, if ``A`` or ``B`` may be replaced.

    Args:
        predicates: What torch is told.
        domains: Of its variables.
    """
    equalities = [each for each in predicates if isinstance(each, Compare) and each.op.name == "=="]
    replaced = {each.left.name for each in equalities if isinstance(each.left, Var)}
    for each in equalities:
        left, right = each.left, each.right
        if isinstance(left, Var) and domains.domain(left.name).low >= 0 and replaced & set(_factors(right)):
            yield Compare(COMPARISONS[">="], right, Const(0))


def _factors(size: Size) -> Iterator[str]:
    """Yields the variables that stand in products of variables."""
    try:
        monomials = [monomial for monomial in terms(size) if len(monomial) > 1]
    except TooLarge:
        return
    for monomial in monomials:
        for atom in monomial:
            yield from free_vars(atom)


def _strict(predicate: Compare, left: Size, right: Size) -> Iterator[Predicate]:
    try:
        polynomial = difference(left, right)
    except TooLarge:
        yield predicate
        return
    offset = constant(polynomial)
    low: Terms = {m: c for m, c in polynomial.items() if m and c > 0}
    high: Terms = {m: -c for m, c in polynomial.items() if m and c < 0}
    if offset < 1 or not low or not high:
        yield predicate
        return
    shifted = {**low, (): offset - 1} if offset > 1 else low
    yield Compare(COMPARISONS["<"], build(shifted), build(high))
    if offset > 1:
        yield Compare(COMPARISONS["<"], build(low), build(high))
