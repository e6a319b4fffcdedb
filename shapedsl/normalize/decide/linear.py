"""Decide systems of linear constraints over the integers, with a model: the Omega test.

Equalities are solved by substitution (a coefficient above 1 first makes a smaller remainder), then
variables are eliminated from inequalities pairwise (Fourier-Motzkin). Where both coefficients of a pair
exceed 1, the real shadow may contain no integer: then the dark shadow, which always does, is tried, and
after it the finitely many splinters between the two.

After W. Pugh, "The Omega test: a fast and practical integer programming algorithm for dependence
analysis", Supercomputing '91. Work is counted, so that every call ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

Model = dict[str, int]
LARGEST_BITS = 256
DEEPEST = 150  # eliminations inside each other: Python's own stack is not ours


class OutOfBudget(Exception):
    """The system was too hard for the work it was given."""


class Budget:
    """Counts work. One unit is about one coefficient touched."""

    __slots__ = ("fresh", "left")

    def __init__(self, units: int) -> None:
        self.left = units
        self.fresh = 0

    def spend(self, units: int = 1) -> None:
        """Takes ``units`` away.

        Raises:
            OutOfBudget: Nothing is left.
        """
        self.left -= units
        if self.left < 0:
            raise OutOfBudget

    def name(self) -> str:
        """Returns a name that no other variable has."""
        self.fresh += 1
        return f"~{self.fresh}"


@dataclass(frozen=True, slots=True)
class Row:
    """``sum + constant >= 0``, or ``== 0``. Coefficients are not 0."""

    coefficients: Mapping[str, int]
    constant: int
    equality: bool = False

    def value(self, model: Mapping[str, int], but: str = "") -> int:
        """Returns the left side at ``model``, the variable ``but`` left out; a missing variable is 0."""
        return self.constant + sum(c * model.get(name, 0) for name, c in self.coefficients.items() if name != but)


def solve(rows: Iterable[Row], budget: Budget) -> Model | None:
    """Returns integers that satisfy ``rows``, or None if there are none. A variable that is left out may be 0.

    Raises:
        OutOfBudget: It could not be decided in time.
    """
    return _solve(list(rows), budget, 0)


def _solve(rows: Sequence[Row], budget: Budget, depth: int) -> Model | None:
    if depth > DEEPEST:
        raise OutOfBudget
    reduced = _reduced(rows, budget)
    if reduced is None:
        return None
    if not reduced:
        return {}
    equalities = [row for row in reduced if row.equality]
    if equalities:
        return _solve_equality(equalities, reduced, budget, depth)
    return _eliminate(reduced, budget, depth)


def _reduced(rows: Iterable[Row], budget: Budget) -> list[Row] | None:
    """Divides out contents, keeps the tightest of parallel rows; None if two of them clash."""
    lows: dict[tuple[tuple[str, int], ...], int] = {}
    equal: dict[tuple[tuple[str, int], ...], int] = {}
    for row in rows:
        budget.spend(1 + len(row.coefficients))
        content = gcd(*row.coefficients.values())
        if content == 0:
            if row.constant < 0 or (row.equality and row.constant):
                return None
            continue
        if row.equality and row.constant % content:
            return None
        constant = row.constant // content
        items = tuple(sorted((name, value // content) for name, value in row.coefficients.items()))
        if any(value.bit_length() > LARGEST_BITS for _, value in items):
            raise OutOfBudget
        if not row.equality:
            lows[items] = min(constant, lows.get(items, constant))
            continue
        if items[0][1] < 0:
            items, constant = _negated(items), -constant
        if equal.setdefault(items, constant) != constant:
            return None
    return _merged(lows, equal)


def _negated(items: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    return tuple((name, -value) for name, value in items)


def _merged(
    lows: dict[tuple[tuple[str, int], ...], int], equal: dict[tuple[tuple[str, int], ...], int]
) -> list[Row] | None:
    """Makes two opposite inequalities that touch an equality, and drops those that an equality decides."""
    kept: list[Row] = []
    for items, constant in lows.items():
        opposite = _negated(items)
        if opposite in lows:
            gap = constant + lows[opposite]
            if gap < 0:
                return None
            if gap == 0:
                key, value = (items, constant) if items[0][1] > 0 else (opposite, lows[opposite])
                if equal.setdefault(key, value) != value:
                    return None
    for items, constant in lows.items():
        positive = items if items[0][1] > 0 else _negated(items)
        if positive in equal:
            known = equal[positive] if positive == items else -equal[positive]
            if constant < known:
                return None
        else:
            kept.append(Row(dict(items), constant))
    return [*(Row(dict(items), constant, True) for items, constant in equal.items()), *kept]


def _substituted(row: Row, name: str, coefficients: Mapping[str, int], constant: int) -> Row:
    """Returns ``row`` with ``name`` replaced by a linear expression."""
    factor = row.coefficients.get(name)
    if factor is None:
        return row
    result = {other: value for other, value in row.coefficients.items() if other != name}
    for other, value in coefficients.items():
        total = result.get(other, 0) + factor * value
        if total:
            result[other] = total
        else:
            result.pop(other, None)
    return Row(result, row.constant + factor * constant, row.equality)


def _solve_equality(equalities: list[Row], rows: Sequence[Row], budget: Budget, depth: int) -> Model | None:
    """Solves the equality with the smallest coefficient for that variable."""
    row = min(equalities, key=lambda each: (min(map(abs, each.coefficients.values())), len(each.coefficients)))
    name = min(row.coefficients, key=lambda each: abs(row.coefficients[each]))
    factor = row.coefficients[name]
    sign, size = (1 if factor > 0 else -1), abs(factor)
    others = {other: value for other, value in row.coefficients.items() if other != name}
    # name = -sign * (sum(value // size * other) + constant // size) + fresh, where fresh takes the remainders
    expression = {other: -sign * (value // size) for other, value in others.items() if value // size}
    constant = -sign * (row.constant // size)
    if size > 1:
        expression[budget.name()] = 1
    rest = [each for each in rows if size > 1 or each is not row]
    budget.spend(sum(len(each.coefficients) for each in rest if name in each.coefficients))
    model = _solve([_substituted(each, name, expression, constant) for each in rest], budget, depth + 1)
    if model is not None:
        model[name] = constant + sum(value * model.setdefault(other, 0) for other, value in expression.items())
    return model


def _eliminate(rows: Sequence[Row], budget: Budget, depth: int) -> Model | None:
    """Eliminates one variable from inequalities, preferably one for which that is exact."""
    lower: dict[str, list[Row]] = {}
    upper: dict[str, list[Row]] = {}
    for row in rows:
        budget.spend(len(row.coefficients))
        for name, value in row.coefficients.items():
            (lower if value > 0 else upper).setdefault(name, []).append(row)
    for name in sorted(lower.keys() ^ upper.keys()):  # bounded on one side: its rows always can be satisfied
        used = lower.get(name) or upper[name]
        gone = {id(row) for row in used}
        return _extended(_solve([row for row in rows if id(row) not in gone], budget, depth + 1), name, used)

    def cost(name: str) -> tuple[bool, int, str]:
        exact = all(row.coefficients[name] == 1 for row in lower[name]) or all(
            row.coefficients[name] == -1 for row in upper[name]
        )
        return not exact, len(lower[name]) * len(upper[name]) - len(lower[name]) - len(upper[name]), name

    name = min(lower, key=cost)
    exact = not cost(name)[0]
    lows, highs = lower[name], upper[name]
    gone = {id(row) for row in (*lows, *highs)}
    rest = [row for row in rows if id(row) not in gone]
    real = [_combined(low, high, name, 0, budget) for low in lows for high in highs]
    if exact:
        return _extended(_solve([*rest, *real], budget, depth + 1), name, [*lows, *highs])
    if _solve([*rest, *real], budget, depth + 1) is None:
        return None
    dark = [
        _combined(low, high, name, (low.coefficients[name] - 1) * (-high.coefficients[name] - 1), budget)
        for low in lows
        for high in highs
    ]
    model = _extended(_solve([*rest, *dark], budget, depth + 1), name, [*lows, *highs])
    if model is not None:
        return model
    largest = max(-high.coefficients[name] for high in highs)
    for low in lows:
        factor = low.coefficients[name]
        for offset in range((largest * factor - largest - factor) // largest + 1):
            splinter = Row(low.coefficients, low.constant - offset, True)
            model = _solve([*rows, splinter], budget, depth + 1)
            if model is not None:
                return model
    return None


def _combined(low: Row, high: Row, name: str, shadow: int, budget: Budget) -> Row:
    """Returns what ``low`` and ``high`` say together without ``name``."""
    a, b = low.coefficients[name], -high.coefficients[name]
    budget.spend(len(low.coefficients) + len(high.coefficients))
    result = {other: b * value for other, value in low.coefficients.items() if other != name}
    for other, value in high.coefficients.items():
        if other != name:
            total = result.get(other, 0) + a * value
            if total:
                result[other] = total
            else:
                result.pop(other, None)
    return Row(result, b * low.constant + a * high.constant - shadow)


def _extended(model: Model | None, name: str, rows: Iterable[Row]) -> Model | None:
    """Gives ``name`` a value that ``rows`` allow at ``model``: the smallest, of negative ones the largest."""
    if model is None:
        return None
    low: int | None = None
    high: int | None = None
    for row in rows:
        for other in row.coefficients:
            if other != name:
                model.setdefault(other, 0)
        factor, rest = row.coefficients[name], row.value(model, but=name)
        if factor > 0:
            bound = -(rest // factor)
            low = bound if low is None else max(low, bound)
        else:
            bound = rest // -factor
            high = bound if high is None else min(high, bound)
    if low is None:
        model[name] = 0 if high is None else min(high, 0)
    elif low >= 0:
        model[name] = low
    else:
        model[name] = 0 if high is None else min(high, 0)
    return model
