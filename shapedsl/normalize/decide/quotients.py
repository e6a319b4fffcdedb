"""Divide constraints by a variable: lemmas for the products it is a factor of.

Before::

    T == B*S, T == B*q + r, r == 1

After: ``B*(S - q) == 1``, so ``B`` divides 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from .box import Box
from .budget import TooHard
from .formula import EQ, GE, NE, Formula, Polynomial, atom, every, plus, some, times

Rule: TypeAlias = tuple[Polynomial, int, int]  # polynomial, op, why

MOST_DIVISORS: Final = 64
LARGEST_FACTORED: Final = 2**40
MOST_PAIRS: Final = 12  # of a lower and an upper bound of a column that is to be eliminated
HIGHEST_DEGREE: Final = 4  # of products that substitution makes


def rules_of(box: Box) -> Iterator[Rule]:
    """Yields what is assumed as polynomials; columns with one value are replaced by it."""
    for constraint in box.constraints:
        if constraint.op == NE:
            continue
        polynomial: Polynomial = {(): constraint.constant} if constraint.constant else {}
        why = constraint.why
        for column, value in constraint.terms:
            fixed = box.fixed(column)
            if fixed is None:
                polynomial = plus(polynomial, {column: value})
            else:
                polynomial = plus(polynomial, {(): value * fixed[0]} if fixed[0] else {})
                why |= fixed[1]
        if any(polynomial):
            yield polynomial, constraint.op, why


def reduced(box: Box, rules: Sequence[Rule], name: str) -> list[Rule]:
    """Returns rules all columns of which ``name`` divides, the others eliminated by equalities as far as possible."""
    rules = list(rules)
    for column in dict.fromkeys(column for polynomial, _, _ in rules for column in polynomial if column):
        if name in column:
            continue
        low, high = box.lows.get(column), box.highs.get(column)
        if low is not None:
            rules.append((plus({column: 1}, {(): -low[0]} if low[0] else {}), GE, low[1]))
        if high is not None:
            rules.append((plus({column: -1}, {(): high[0]} if high[0] else {}), GE, high[1]))
    pivots = [rule for rule in rules if rule[1] == EQ]
    while pivots:
        polynomial, _, why = pivots.pop(0)
        pivot = next(
            (column for column in polynomial if column and name not in column and abs(polynomial[column]) == 1),
            None,
        )
        if pivot is None:
            continue
        factor = polynomial[pivot]
        box.budget.spend(len(rules))
        after: list[Rule] = []
        for rule in rules:
            value = rule[0].get(pivot)
            if value is None:
                after.append(rule)
            elif rule[0] is not polynomial:
                after.append((plus(rule[0], polynomial, -value * factor), rule[1], rule[2] | why))
        rules = after
        pivots = [
            (plus(each[0], polynomial, -each[0][pivot] * factor), EQ, each[2] | why) if pivot in each[0] else each
            for each in pivots
        ]
    rules = _without_others(box, rules, name)
    return [rule for rule in rules if any(rule[0]) and all(name in column for column in rule[0] if column)]


def _without_others(box: Box, rules: list[Rule], name: str) -> list[Rule]:
    """Eliminates columns that ``name`` does not divide from inequalities, where few rows have them.

    ``0 <= B*X + r < B`` and ``0 <= r < B`` say ``-B < B*X < B``.
    """
    for column in dict.fromkeys(column for polynomial, _, _ in rules for column in polynomial if column):
        if name in column:
            continue
        mine = [rule for rule in rules if column in rule[0]]
        lows = [rule for rule in mine if rule[0][column] > 0]
        highs = [rule for rule in mine if rule[0][column] < 0]
        if len(lows) * len(highs) > MOST_PAIRS or any(rule[1] == EQ for rule in mine):
            continue
        box.budget.spend(4 * len(rules) + 8 * len(lows) * len(highs))
        rules = [rule for rule in rules if column not in rule[0]]
        for low, _, why in lows:
            for high, _, reason in highs:
                multiple = plus({}, low, -high[column])
                rules.append((plus(multiple, high, low[column]), GE, why | reason))
    return rules


def substituted(box: Box, rules: Sequence[Rule]) -> Iterator[tuple[Formula, int]]:
    """Yields what products are whose factors equalities define: where ``B == C*p``, ``B*q == C*p*q``."""
    for polynomial, op, why in rules:
        if op != EQ or len(polynomial) > 3:
            continue
        for column, value in polynomial.items():
            if (
                len(column) != 1
                or abs(value) != 1
                or any(column[0] in other for other in polynomial if other != column)
            ):
                continue
            rest = {other: -factor * value for other, factor in polynomial.items() if other != column}
            for product in list(box.products):
                if column[0] in product and len(product) + max(map(len, rest), default=0) <= HIGHEST_DEGREE:
                    at = product.index(column[0])
                    expanded = times({product[:at] + product[at + 1 :]: 1}, rest)
                    box.budget.spend(8)
                    yield atom(EQ, plus({product: 1}, expanded, -1)), why


def divided(box: Box, rule: Rule, name: str) -> Iterator[tuple[Formula, int]]:
    """Yields what follows from ``name * rest + constant`` being 0, or not negative."""
    polynomial, op, why = rule
    free = polynomial.get((), 0)
    rest: Polynomial = {}
    for column, value in polynomial.items():
        if column:
            at = column.index(name)
            rest[column[:at] + column[at + 1 :]] = value
    if not any(rest):
        return  # only a multiple of the variable
    low, high = box.lows.get((name,)), box.highs.get((name,))
    if op == EQ:
        if free == 0:
            yield some([atom(EQ, {(name,): 1}), atom(EQ, rest)]), why
        elif abs(free) <= LARGEST_FACTORED:
            yield _divisors(box, name, rest, free), why
        return
    if low is not None and low[0] >= 1:
        sign, near, far, reason = 1, low[0], None if high is None else high[0], low[1]
    elif high is not None and high[0] <= -1:
        sign, near, far, reason = -1, -high[0], None if low is None else -low[0], high[1]
        rest = plus({}, rest, -1)
    else:
        return
    bound = low if sign < 0 else high
    # |name| * rest + free >= 0 with |name| from near to far
    if free >= 0:
        yield atom(GE, plus(rest, {(): free // near} if free // near else {})), why | reason
    elif far is not None and bound is not None:
        yield atom(GE, plus(rest, {(): free // far})), why | reason | bound[1]
    else:
        yield atom(GE, plus(rest, {(): -1})), why | reason


def _divisors(box: Box, name: str, rest: Polynomial, free: int) -> Formula:
    """Returns which values ``name`` can have where ``name * rest == -free``."""
    values = [value for each in divisors(abs(free), box) for value in (each, -each)]
    if len(values) > MOST_DIVISORS:
        raise TooHard
    cases = [every([atom(EQ, {(name,): 1, (): -value}), atom(EQ, plus(rest, {(): free // value}))]) for value in values]
    return some(cases)


def divisors(number: int, box: Box) -> list[int]:
    """Returns the divisors of a positive number, ascending.

    Raises:
        OutOfBudget: There is no work left to find them.
    """
    found = [1]
    prime = 2
    while prime * prime <= number:
        box.budget.spend()
        power, known = 1, len(found)
        while number % prime == 0:
            number //= prime
            power *= prime
            found += [each * power for each in found[:known]]
        prime += 1 if prime == 2 else 2
    if number > 1:
        found += [each * number for each in found]
    return sorted(found)
