"""Linear rows over columns, and what two of them say together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from .formula import Monomial

Column: TypeAlias = Monomial
Model: TypeAlias = dict[Column, int]
Bound: TypeAlias = tuple[int, int]  # value, why
Terms: TypeAlias = dict[Column, int]
Inequality: TypeAlias = tuple[Terms, int, int]  # terms + constant >= 0, why


@dataclass(frozen=True, slots=True)
class Row:
    """``sum + constant >= 0``, or ``== 0``. Coefficients are not 0.

    Attributes:
        coefficients: By column.
        constant: An integer.
        equality: Whether it is an equality.
        why: The assumptions it follows from, one bit each.
    """

    coefficients: Mapping[Column, int]
    constant: int
    equality: bool = False
    why: int = 0

    def value(self, model: Mapping[Column, int]) -> int:
        """Returns the left side at ``model``; a missing variable is 0."""
        return self.constant + sum(value * model.get(column, 0) for column, value in self.coefficients.items())


def replaced(terms: Terms, column: Column, factor: int, expression: Terms) -> Terms:
    """Returns ``terms``, in which ``column`` stands ``factor`` times, with ``expression`` in its place."""
    result = dict(terms)
    del result[column]
    for other, value in expression.items():
        total = result.get(other, 0) + factor * value
        if total:
            result[other] = total
        else:
            result.pop(other, None)
    return result


def combined(low: Inequality, high: Inequality, column: Column, shadow: int) -> tuple[Terms, int, bool, int]:
    """Returns what a lower and an upper bound of ``column`` say together, less ``shadow``."""
    mine, other = low[0][column], -high[0][column]
    common = gcd(mine, other) if not shadow else 1
    mine, other = mine // common, other // common
    terms = {name: value * other for name, value in low[0].items() if name != column}
    for name, value in high[0].items():
        if name != column:
            total = terms.get(name, 0) + value * mine
            if total:
                terms[name] = total
            else:
                terms.pop(name, None)
    return terms, low[1] * other + high[1] * mine - shadow, False, low[2] | high[2]


def interval(
    column: Column, lows: list[Inequality], highs: list[Inequality], model: Model
) -> tuple[int | None, int | None]:
    """Returns what ``column`` may be, the others being as in ``model``."""
    low: int | None = None
    high: int | None = None
    for terms, constant, _ in lows:
        rest = constant + sum(value * model.setdefault(name, 0) for name, value in terms.items() if name != column)
        bound = -(rest // terms[column])
        low = bound if low is None else max(low, bound)
    for terms, constant, _ in highs:
        rest = constant + sum(value * model.setdefault(name, 0) for name, value in terms.items() if name != column)
        bound = rest // -terms[column]
        high = bound if high is None else min(high, bound)
    return low, high


def fits(column: Column, lows: list[Inequality], highs: list[Inequality], model: Model) -> bool:
    """Returns whether there is an integer that ``column`` may be, the others being as in ``model``."""
    low, high = interval(column, lows, highs, model)
    return low is None or high is None or low <= high


def nearest(low: int | None, high: int | None) -> int:
    """Returns the number from ``low`` to ``high`` that is nearest to 0."""
    if low is not None and low > 0:
        return low
    if high is not None and high < 0:
        return high
    return 0
