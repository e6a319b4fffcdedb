"""Decide systems of linear constraints over the integers, with a model: the Omega test.

Equalities are solved by substitution (a coefficient above 1 first makes a smaller remainder), then
variables are eliminated from inequalities pairwise (Fourier-Motzkin). Where both coefficients of a pair
exceed 1, the real shadow may contain no integer: then the dark shadow, which always does, is tried, and
after it the finitely many splinters between the two.

Bounds of single variables are no rows but a box, so that a row which the box implies is dropped at once.
Every row carries, as a bitmask, which assumptions it follows from; so does the `Clash` of a system that
has no solution.

After W. Pugh, "The Omega test: a fast and practical integer programming algorithm for dependence
analysis", Supercomputing '91. Work is counted, so that every call ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import gcd
from typing import Any, Final

from .budget import Budget, TooHard
from .clash import Clash
from .linear import Bound, Column, Inequality, Model, Row, Terms, combined, fits, interval, nearest, replaced

LARGEST_BITS: Final = 192
DEEPEST: Final = 40  # inexact eliminations inside each other
MOST_ROWS: Final = 600
MOST_PAIRS: Final = 400  # of a lower and an upper bound of one column
MOST_SPLINTERS: Final = 400
ENOUGH: Final = 12  # equalities to choose from


def solve(
    rows: Iterable[Row],
    budget: Budget,
    lows: Mapping[Column, Bound] | None = None,
    highs: Mapping[Column, Bound] | None = None,
) -> Model:
    """Returns integers that satisfy ``rows``. A variable that is left out may be 0.

    Args:
        rows: What they must satisfy.
        budget: What may be spent.
        lows: By column, a lower bound and what it follows from.
        highs: The same, of upper bounds; none is below the lower one.

    Raises:
        Clash: There are none.
        TooHard: It could not be decided with what it may cost.
    """
    system = _System(budget, lows=dict(lows or {}), highs=dict(highs or {}))
    for row in rows:
        system.add(dict(row.coefficients), row.constant, row.equality, row.why)
    return system.solve(0)


@dataclass(slots=True)
class _System:
    """What is left to solve, and how to get back from its model.

    Attributes:
        budget: What is left of the work.
        equalities: Not yet solved.
        rows: Inequalities of two columns and more, by their terms: the tightest of parallel ones.
        uses: By column, the keys of its rows.
        lows: By column, its lower bound.
        highs: By column, its upper bound.
        undo: Steps that compute the columns that were eliminated, the last first.
        fresh: How many columns were made.
    """

    budget: Budget
    equalities: list[Inequality] = field(default_factory=list["Inequality"])
    rows: dict[Hashable, Inequality] = field(default_factory=dict[Hashable, "Inequality"])
    uses: dict[Column, dict[Hashable, None]] = field(default_factory=dict["Column", "dict[Hashable, None]"])
    lows: dict[Column, Bound] = field(default_factory=dict["Column", "Bound"])
    highs: dict[Column, Bound] = field(default_factory=dict["Column", "Bound"])
    undo: list[tuple[Column, Terms, int] | tuple[Column, list[Inequality], list[Inequality]]] = field(
        default_factory=list[Any]
    )
    fresh: int = 0

    def copy(self) -> _System:
        self.budget.spend(4 * len(self.rows) + len(self.lows) + len(self.highs))
        uses = {column: dict(keys) for column, keys in self.uses.items()}
        return _System(
            self.budget,
            list(self.equalities),
            dict(self.rows),
            uses,
            dict(self.lows),
            dict(self.highs),
            list(self.undo),
            self.fresh,
        )

    # -- adding ----------------------------------------------------------------------------------------------

    def add(self, terms: Terms, constant: int, equality: bool, why: int) -> None:
        """Adds a row in canonical form. The terms are taken over."""
        self.budget.spend(6 + 4 * len(terms))
        if not terms:
            if constant < 0 or (equality and constant):
                raise Clash(why)
            return
        content = gcd(*terms.values())
        if content > 1:
            if equality and constant % content:
                raise Clash(why)
            terms = {column: value // content for column, value in terms.items()}
            constant //= content
        if equality:
            self.equalities.append((terms, constant, why))
        elif len(terms) == 1:
            ((column, value),) = terms.items()
            if value > 0:
                self.raise_low(column, -constant, why)
            else:
                self.lower_high(column, constant, why)
        else:
            self.add_inequality(terms, constant, why)

    def raise_low(self, column: Column, value: int, why: int) -> None:
        old = self.lows.get(column)
        if old is None or old[0] < value:
            high = self.highs.get(column)
            if high is not None and high[0] < value:
                raise Clash(why | high[1])
            self.lows[column] = value, why

    def lower_high(self, column: Column, value: int, why: int) -> None:
        old = self.highs.get(column)
        if old is None or old[0] > value:
            low = self.lows.get(column)
            if low is not None and low[0] > value:
                raise Clash(why | low[1])
            self.highs[column] = value, why

    def add_inequality(self, terms: Terms, constant: int, why: int) -> None:
        """Adds an inequality of two columns and more, unless the box or a parallel one implies it."""
        least = constant
        for column, value in terms.items():
            bound = (self.lows if value > 0 else self.highs).get(column)
            if bound is None:
                break
            least += value * bound[0]
        else:
            if least >= 0:
                return
        key = frozenset(terms.items())
        old = self.rows.get(key)
        if old is not None:
            if old[1] > constant:
                self.rows[key] = terms, constant, why
            return
        if max(map(abs, terms.values())).bit_length() > LARGEST_BITS or len(self.rows) > MOST_ROWS:
            raise TooHard
        opposite = frozenset((column, -value) for column, value in terms.items())
        other = self.rows.get(opposite)
        if other is not None:
            gap = constant + other[1]
            if gap < 0:
                raise Clash(why | other[2])
            if gap == 0:
                self.drop(opposite)
                self.equalities.append((terms, constant, why | other[2]))
                return
        self.rows[key] = terms, constant, why
        for column in terms:
            self.uses.setdefault(column, {})[key] = None

    def drop(self, key: Hashable) -> Inequality:
        row = self.rows.pop(key)
        for column in row[0]:
            del self.uses[column][key]
        return row

    # -- solving ---------------------------------------------------------------------------------------------

    def solve(self, depth: int) -> Model:
        while True:
            while self.equalities:
                self.solve_equality()
            if not self.rows:
                return self.model()
            self.eliminate_some()
            if self.equalities or not self.rows:
                continue
            name = min(
                self.uses, key=lambda column: self.cost(column) if self.uses[column] else (True, 1 << 30, column)
            )
            if self.cost(name)[0]:
                return self.eliminate_inexactly(name, depth)
            self.eliminate(name)

    def solve_equality(self) -> None:
        """Solves the simplest equality for the column with the smallest coefficient."""
        best = self.simplest_equality()
        terms, constant, why = self.equalities.pop(best)
        if len(terms) == 1:
            ((column, value),) = terms.items()  # value is 1 or -1
            value = -constant if value > 0 else constant
            self.raise_low(column, value, why)
            self.lower_high(column, value, why)
            self.lows[column] = self.highs[column] = value, why
            self.substitute(column, {}, value, why)
            return
        smallest = min(map(abs, terms.values()))
        column = min(
            (column for column, value in terms.items() if abs(value) == smallest),
            key=lambda each: (each in self.lows) + (each in self.highs) + len(self.uses.get(each, ())),
        )
        factor = terms[column]
        sign = 1 if factor > 0 else -1
        # column = -sign * (sum(value // size * other) + constant // size) + fresh, which takes the remainders
        expression = {
            other: -sign * (value // smallest)
            for other, value in terms.items()
            if other != column and value // smallest
        }
        if smallest > 1:
            self.fresh += 1
            fresh = (f"~{self.fresh}",)
            expression[fresh] = 1
            self.equalities.append((terms, constant, why))
        self.substitute(column, expression, -sign * (constant // smallest), why if smallest == 1 else 0)

    def simplest_equality(self) -> int:
        """Returns where the equality with the smallest coefficient is; of many only as many as it takes to find a 1."""
        best, rank = 0, (1 << 300, 0)
        for at, (terms, _, _) in enumerate(self.equalities):
            self.budget.spend()
            mine = min(map(abs, terms.values())), len(terms)
            if mine < rank:
                best, rank = at, mine
            if at >= ENOUGH and rank[0] == 1:
                break
        return best

    def substitute(self, column: Column, expression: Terms, constant: int, why: int) -> None:
        """Replaces ``column`` everywhere; it is gone then."""
        self.undo.append((column, expression, constant))
        equalities, self.equalities = self.equalities, []
        for row in equalities:
            factor = row[0].get(column)
            if factor is None:
                self.equalities.append(row)
            else:
                terms = replaced(row[0], column, factor, expression)
                self.add(terms, row[1] + factor * constant, True, row[2] | why)
        changed = [self.drop(key) for key in list(self.uses.get(column, ()))]
        self.uses.pop(column, None)
        low, high = self.lows.pop(column, None), self.highs.pop(column, None)
        if expression:
            if low is not None:
                self.add(dict(expression), constant - low[0], False, low[1] | why)
            if high is not None:
                negated = {other: -value for other, value in expression.items()}
                self.add(negated, high[0] - constant, False, high[1] | why)
        for terms, free, reason in changed:
            factor = terms[column]
            self.add(replaced(terms, column, factor, expression), free + factor * constant, False, reason | why)

    def cost(self, column: Column) -> tuple[bool, int, Column]:
        """Returns whether eliminating ``column`` is inexact, and by how many rows the system grows."""
        lows, highs = int(column in self.lows), int(column in self.highs)
        unit_low = unit_high = True
        for key in self.uses[column]:
            value = self.rows[key][0][column]
            if value > 0:
                lows += 1
                unit_low = unit_low and value == 1
            else:
                highs += 1
                unit_high = unit_high and value == -1
        self.budget.spend(2 + 2 * len(self.uses[column]))
        if not lows or not highs:
            return False, -(1 << 30), column
        return not (unit_low or unit_high), lows * highs - lows - highs, column

    def eliminate_some(self) -> None:
        """Eliminates columns for as long as that is exact and makes no more rows than there were."""
        heap = [cost for cost in map(self.cost, list(self.uses)) if not cost[0] and cost[1] <= 0]
        heapify(heap)
        while heap and not self.equalities:
            _, growth, column = heappop(heap)
            if column not in self.uses:
                continue
            if not self.uses[column]:
                del self.uses[column]
                continue
            now = self.cost(column)
            if now[0] or now[1] > 0:
                continue
            if now[1] > growth:
                heappush(heap, now)
                continue
            near = self.eliminate(column)
            for other in near:
                if self.uses.get(other):
                    cost = self.cost(other)
                    if not cost[0] and cost[1] <= 0:
                        heappush(heap, cost)

    def taken(self, column: Column) -> tuple[list[Inequality], list[Inequality]]:
        """Takes out all rows of ``column``, those that bound it from below and those from above."""
        lows: list[Inequality] = []
        highs: list[Inequality] = []
        for key in list(self.uses[column]):
            row = self.drop(key)
            (lows if row[0][column] > 0 else highs).append(row)
        del self.uses[column]
        low, high = self.lows.pop(column, None), self.highs.pop(column, None)
        if low is not None:
            lows.append(({column: 1}, -low[0], low[1]))
        if high is not None:
            highs.append(({column: -1}, high[0], high[1]))
        return lows, highs

    def eliminate(self, column: Column) -> dict[Column, None]:
        """Eliminates ``column`` where the real shadow is exact; returns the columns near it."""
        lows, highs = self.taken(column)
        self.undo.append((column, lows, highs))
        if len(lows) * len(highs) > MOST_PAIRS and min(len(lows), len(highs)) > 1:
            raise TooHard
        near = {other: None for row in (*lows, *highs) for other in row[0] if other != column}
        for low in lows:
            for high in highs:
                self.add(*combined(low, high, column, 0))
        return near

    def eliminate_inexactly(self, column: Column, depth: int) -> Model:
        """Eliminates ``column`` by shadows and splinters."""
        if depth > DEEPEST:
            raise TooHard
        whole = self.copy()
        lows, highs = self.taken(column)
        self.undo.append((column, lows, highs))
        pairs = [(low, high) for low in lows for high in highs]
        if len(pairs) > MOST_PAIRS:
            raise TooHard
        dark = self.copy()
        for low, high in pairs:
            self.add(*combined(low, high, column, 0))
        model = self.solve(depth + 1)  # where the real shadow is empty, so is everything
        if fits(column, lows, highs, model):
            return model
        why = 0
        for row in (*lows, *highs):
            why |= row[2]
        try:
            for low, high in pairs:
                shadow = (low[0][column] - 1) * (-high[0][column] - 1)
                dark.add(*combined(low, high, column, shadow))
            return dark.solve(depth + 1)
        except Clash as clash:
            why |= clash.why
        largest = max(-high[0][column] for high in highs)
        for terms, constant, reason in lows:
            factor = terms[column]
            count = (largest * factor - largest - factor) // largest + 1
            if count > MOST_SPLINTERS:
                raise TooHard
            for offset in range(count):
                try:
                    splinter = whole.copy()
                    splinter.add(dict(terms), constant - offset, True, reason)
                    return splinter.solve(depth + 1)
                except Clash as clash:
                    why |= clash.why
        raise Clash(why)

    def model(self) -> Model:
        """Returns a model of the box, extended by what was eliminated."""
        model: Model = {}
        for column, (least, _) in self.lows.items():
            model[column] = max(0, least)
        for column, (most, _) in self.highs.items():
            model[column] = min(model.get(column, 0), most)
        for column, first, second in reversed(self.undo):
            if isinstance(second, int):
                assert isinstance(first, dict)
                self.budget.spend(1 + len(first))
                for other, value in first.items():
                    second += value * model.setdefault(other, 0)
                model[column] = second
            else:
                assert isinstance(first, list)
                self.budget.spend(1 + len(first) + len(second))
                low, high = interval(column, first, second, model)
                model[column] = nearest(low, high)
        return model
