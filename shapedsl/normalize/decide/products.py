"""What can be said about products: lemmas that cut a model off, and cases to split into.

The relaxation takes each product for an unknown. Where its model is wrong about one, a true inequality is
looked for that the model violates:

- McCormick's: the product of the distances of two factors from their bounds is not negative;
- tangents of squares: ``(x - a) * (x - a - 1) >= 0`` for integers;
- a linear constraint times the distance of a variable from its bound, where that makes known columns;
- where ``v`` divides all columns of a constraint, what follows from dividing by ``v``;
- where it divides all columns of an equality, that it divides the constant.

All of them carry their reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product as choices
from typing import Final, TypeAlias

from .box import Box
from .budget import TooHard
from .clash import Clash
from .formula import EQ, GE, NE, Formula, Monomial, Polynomial, atom, every, plus, satisfied, some, times, value_of
from .omega import Row
from .rows import Terms
from .translate import Power

Model: TypeAlias = dict[Monomial, int]
Rule: TypeAlias = tuple[Polynomial, int, int]  # polynomial, op, why

MOST_DIVISORS: Final = 64
LARGEST_FACTORED: Final = 2**40
FEW_VALUES: Final = 12  # a variable with no more is split into its values
MODULI: Final = (2, 3, 4, 5, 7, 8, 9, 16)
MOST_RESIDUES: Final = 600  # combinations of residues that are tried for one modulus
LARGEST_POWER_BITS: Final = 512


@dataclass(slots=True)
class Products:
    """Lemmas about the products of a box.

    Attributes:
        box: What is assumed.
        powers: Columns that are powers.
    """

    box: Box
    powers: Mapping[str, Power] = field(default_factory=dict[str, Power])

    # -- what the relaxation needs ---------------------------------------------------------------------------

    def linear_rows(self, used: dict[Monomial, None]) -> list[Row]:
        """Returns rows for products of which a factor has one value, and for residues of products.

        Args:
            used: The columns in use; those of the rows are added.
        """
        rows: list[Row] = []
        for column, product in self.box.products.items():
            if column not in used:
                continue
            for mine, other in ((product.left, product.right), (product.right, product.left)):
                fixed = self.box.fixed(mine)
                if fixed is not None and self.box.fixed(column) is None:
                    coefficients = {column: 1, other: -fixed[0]} if fixed[0] else {column: 1}
                    rows.append(Row(coefficients, 0, True, fixed[1]))
                    used[other] = None
                    break
            residue = self.box.residues.get(column)
            if residue is not None:
                times_column = ("~", *column)
                rows.append(Row({column: 1, times_column: -residue[0]}, -residue[1], True, residue[2]))
        return rows

    def wrong(self, model: Model) -> list[Monomial]:
        """Returns the products that ``model`` is wrong about."""
        wrong: list[Monomial] = []
        for column in self.box.products:
            value = 1
            for name in column:
                value *= model.get((name,), 0)
            if model.get(column, value) != value:
                wrong.append(column)
        self.box.budget.spend(2 * len(self.box.products))
        return wrong

    # -- lemmas ----------------------------------------------------------------------------------------------

    def add_lemmas(self, model: Model, wrong: Sequence[Monomial], depth: int) -> bool:
        """Assumes lemmas that ``model`` violates; returns whether there are any.

        Args:
            model: It satisfies the relaxation.
            wrong: The products that it is wrong about.
            depth: How many splits of products we are inside of. The costlier lemmas are for the first.
        """
        found = False
        for column in wrong:
            product = self.box.products[column]
            for lemma, why in self._mccormick(column, product.left, product.right):
                found = self._add(lemma, why, model) or found
            if product.left == product.right:
                for lemma, why in self._tangents(column, product.left, model):
                    found = self._add(lemma, why, model) or found
            elif len(column) == 2:
                for lemma in self._squared_difference(product.left, product.right, model):
                    found = self._add(lemma, 0, model) or found
        if found:
            return True
        rules = list(self._rules())
        names = list(dict.fromkeys(name for column in wrong for name in column))
        for name in names:
            for rule in self._reduced(rules, name):
                for lemma, why in self._divided(rule, name):
                    if self._add(lemma, why, model):
                        return True
        for strange in (0, 1):
            for lemma, why in self._multiplied(rules, names, strange):
                found = self._add(lemma, why, model) or found
            if found:
                return True
        if depth < 2:
            self._refute_by_residues(rules)
            for lemma, why in self._vanishing(rules):
                found = self._add(lemma, why, model) or found
        return found

    def _add(self, lemma: Formula, why: int, model: Model) -> bool:
        """Assumes ``lemma`` if ``model`` violates it; returns whether it does."""
        self.box.budget.spend(6)
        if satisfied(lemma, model):
            return False
        self.box.assume(lemma, why)
        return True

    def _mccormick(self, column: Monomial, left: Monomial, right: Monomial) -> Iterator[tuple[Formula, int]]:
        sides = [
            [(1, bound) for bound in (self.box.lows.get(each),) if bound is not None]
            + [(-1, bound) for bound in (self.box.highs.get(each),) if bound is not None]
            for each in (left, right)
        ]
        for (sign, mine), (other_sign, other) in choices(*sides):
            # sign * (left - mine) >= 0 and other_sign * (right - other) >= 0, so their product is not negative
            polynomial: Polynomial = {column: 1, (): mine[0] * other[0]}
            polynomial = plus(polynomial, {left: -other[0]} if other[0] else {})
            polynomial = plus(polynomial, {right: -mine[0]} if mine[0] else {})
            yield atom(GE, plus({}, polynomial, sign * other_sign)), mine[1] | other[1]

    def _tangents(self, column: Monomial, root: Monomial, model: Model) -> Iterator[tuple[Formula, int]]:
        """Yields the tangents of a square between its root in ``model`` and the next integers."""
        value = value_of(root, model)
        for at in (value, value - 1):
            yield atom(GE, {column: 1, root: -(2 * at + 1), (): at * (at + 1)}), 0

    def _squared_difference(self, left: Monomial, right: Monomial, model: Model) -> Iterator[Formula]:
        """Yields that squares of a difference and of a sum are not negative, where all of their columns are known."""
        if left + left in self.box.products and right + right in self.box.products:
            for mine, other in ((1, 1), (1, -1), (value_of(right, model), value_of(left, model))):
                square: Polynomial = {left + left: mine**2, right + right: other**2, left + right: -2 * mine * other}
                yield atom(GE, {column: value for column, value in square.items() if value})

    def _rules(self) -> Iterator[Rule]:
        """Yields what is assumed as polynomials; columns with one value are replaced by it."""
        for constraint in self.box.constraints:
            if constraint.op == NE:
                continue
            polynomial: Polynomial = {(): constraint.constant} if constraint.constant else {}
            why = constraint.why
            for column, value in constraint.terms:
                fixed = self.box.fixed(column)
                if fixed is None:
                    polynomial = plus(polynomial, {column: value})
                else:
                    polynomial = plus(polynomial, {(): value * fixed[0]} if fixed[0] else {})
                    why |= fixed[1]
            if any(polynomial):
                yield polynomial, constraint.op, why

    def _reduced(self, rules: Sequence[Rule], name: str) -> list[Rule]:
        """Returns rules all columns of which ``name`` divides, the others eliminated by equalities as far as possible."""
        rules = list(rules)
        for column in dict.fromkeys(column for polynomial, _, _ in rules for column in polynomial if column):
            if name in column:
                continue
            low, high = self.box.lows.get(column), self.box.highs.get(column)
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
            self.box.budget.spend(len(rules))
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
        return [rule for rule in rules if any(rule[0]) and all(name in column for column in rule[0] if column)]

    def _divided(self, rule: Rule, name: str) -> Iterator[tuple[Formula, int]]:
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
        low, high = self.box.lows.get((name,)), self.box.highs.get((name,))
        if op == EQ:
            if free == 0:
                yield some([atom(EQ, {(name,): 1}), atom(EQ, rest)]), why
            elif abs(free) <= LARGEST_FACTORED:
                yield self._divisors(name, rest, free), why
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

    def _divisors(self, name: str, rest: Polynomial, free: int) -> Formula:
        """Returns which values ``name`` can have where ``name * rest == -free``."""
        values = [value for each in divisors(abs(free), self.box) for value in (each, -each)]
        if len(values) > MOST_DIVISORS:
            raise TooHard
        cases = [
            every([atom(EQ, {(name,): 1, (): -value}), atom(EQ, plus(rest, {(): free // value}))]) for value in values
        ]
        return some(cases)

    def _multiplied(self, rules: Sequence[Rule], names: Sequence[str], most: int) -> Iterator[tuple[Formula, int]]:
        """Yields constraints times the distance of a variable from its bound, with at most ``most`` new columns."""
        known = self.box.products
        for polynomial, op, why in rules:
            if len(polynomial) > 8 or max(map(len, polynomial)) > 2:
                continue
            for name in names:
                self.box.budget.spend(2 * len(polynomial))
                multiple = times(polynomial, {(name,): 1})
                strange = [column for column in multiple if len(column) > 1 and column not in known]
                if len(strange) != most or all(len(column) < 2 or column in strange for column in multiple):
                    continue
                if op == EQ:
                    yield atom(EQ, multiple), why
                    continue
                low, high = self.box.lows.get((name,)), self.box.highs.get((name,))
                if low is not None:
                    yield atom(GE, plus(multiple, polynomial, -low[0])), why | low[1]
                if high is not None:
                    yield atom(GE, plus(plus({}, multiple, -1), polynomial, high[0])), why | high[1]

    # -- residues --------------------------------------------------------------------------------------------

    def _refute_by_residues(self, rules: Sequence[Rule]) -> None:
        """Looks for a small modulus under which an equality with products has no solution.

        Raises:
            Clash: There is one.
        """
        for polynomial, op, why in rules:
            if op != EQ or all(len(column) < 2 for column in polynomial):
                continue
            names = sorted({name for column in polynomial for name in column})
            for modulus in MODULI:
                if modulus ** len(names) > MOST_RESIDUES:
                    break
                self.box.budget.spend(modulus ** len(names) * len(polynomial))
                if not self._has_residues(polynomial, names, modulus):
                    for name in names:
                        why |= self.box.residues.get((name,), (1, 0, 0))[2]
                    raise Clash(why)

    def _has_residues(self, polynomial: Polynomial, names: Sequence[str], modulus: int) -> bool:
        for values in choices(*(self._residues(name, modulus) for name in names)):
            model = dict(zip(names, values, strict=True))
            total = 0
            for column, value in polynomial.items():
                for name in column:
                    value *= model[name]
                total += value
            if total % modulus == 0:
                return True
        return False

    def _residues(self, name: str, modulus: int) -> list[int]:
        known, residue, _ = self.box.residues.get((name,), (1, 0, 0))
        values = {(residue + known * at) % modulus for at in range(modulus)}
        return sorted(values)

    def _vanishing(self, rules: Sequence[Rule]) -> Iterator[tuple[Formula, int]]:
        """Yields that all variables are 0 where a homogeneous equality has no primitive solution modulo a small power."""
        for polynomial, op, why in rules:
            degrees = {len(column) for column in polynomial}
            if op != EQ or len(degrees) != 1 or degrees == {1}:
                continue
            names = sorted({name for column in polynomial for name in column})
            for prime, modulus in ((2, 4), (3, 9), (2, 8), (5, 5), (7, 7), (2, 16)):
                if modulus ** len(names) > MOST_RESIDUES:
                    continue
                self.box.budget.spend(modulus ** len(names) * len(polynomial))
                if not any(
                    any(value % prime for value in values)
                    and self._value(polynomial, dict(zip(names, values, strict=True))) % modulus == 0
                    for values in choices(range(modulus), repeat=len(names))
                ):
                    yield every(atom(EQ, {(name,): 1}) for name in names), why
                    break

    def _value(self, polynomial: Polynomial, model: Mapping[str, int]) -> int:
        total = 0
        for column, value in polynomial.items():
            for name in column:
                value *= model[name]
            total += value
        return total

    # -- powers ----------------------------------------------------------------------------------------------

    def bound_powers(self) -> bool:
        """Assumes what bounds say about powers; returns whether that is new."""
        moves = len(self.box.trail)
        for name, power in self.powers.items():
            base, exponent = self._fixed(power.base), self._fixed(power.exponent)
            if base is None:
                continue
            if exponent is not None:
                if exponent[0] < 0:
                    continue  # it has no value, so nothing asks for it
                if exponent[0] * abs(base[0]).bit_length() > LARGEST_POWER_BITS:
                    raise TooHard
                why = base[1] | exponent[1]
                self.box.assume(atom(EQ, plus({(name,): 1}, {(): base[0] ** exponent[0]}, -1)), why)
            elif base[0] >= 2 and len(power.exponent) == 1 and power.exponent[0][1] == 1:
                self._bound_power((name,), base, power.exponent[0][0])
        return len(self.box.trail) > moves

    def _bound_power(self, column: Monomial, base: tuple[int, int], exponent: Monomial) -> None:
        """Carries bounds from an exponent to its power and back; the base is a number above 1."""
        number, why = base
        low, high = self.box.lows.get(exponent), self.box.highs.get(exponent)
        if low is None or low[0] < 0:
            return  # it may have no value, where nothing asks for it
        why |= low[1]
        if low[0] <= LARGEST_POWER_BITS:
            self.box.raise_low(column, number ** low[0], why)
        if high is not None and high[0] <= LARGEST_POWER_BITS:
            self.box.lower_high(column, number ** high[0], why | high[1])
        top, bottom = self.box.highs.get(column), self.box.lows.get(column)
        if top is not None:
            self.box.lower_high(exponent, _logarithm(top[0], number), why | top[1])
        if bottom is not None:
            self.box.raise_low(exponent, _logarithm(bottom[0] - 1, number) + 1, why | bottom[1])

    def _fixed(self, terms: Terms) -> tuple[int, int] | None:
        total, why = 0, 0
        for column, value in terms:
            fixed = self.box.fixed(column) if column else (1, 0)
            if fixed is None:
                return None
            total += value * fixed[0]
            why |= fixed[1]
        return total, why

    # -- splitting -------------------------------------------------------------------------------------------

    def split(self, model: Model, wrong: Sequence[Monomial]) -> tuple[list[Formula], int, bool]:
        """Returns cases for the values of a variable, what they follow from, and whether it has few values.

        Raises:
            TooHard: There is none to split.
        """
        names = [name for column in wrong for name in column]
        names += [
            name for power in self.powers.values() for column, _ in (*power.exponent, *power.base) for name in column
        ]
        best: tuple[int, int, str] | None = None
        for at, name in enumerate(dict.fromkeys(names)):
            low, high = self.box.lows.get((name,)), self.box.highs.get((name,))
            if low is not None and high is not None:
                if low[0] == high[0]:
                    continue
                width = high[0] - low[0]
            else:
                width = 1 << 200 if low is not None or high is not None else 1 << 201
            if best is None or (width, at) < best[:2]:
                best = width, at, name
        if best is None:
            raise TooHard
        width, _, name = best
        column = (name,)
        low, high = self.box.lows.get(column), self.box.highs.get(column)
        if low is not None and high is not None and width < FEW_VALUES * self._step(column):
            return *self._values(column), True
        value = value_of(column, model)
        same: Polynomial = plus({column: 1}, {(): value} if value else {}, -1)
        below = atom(GE, plus({(): -1}, same, -1))
        above = atom(GE, plus(same, {(): -1}))
        cases = [atom(EQ, same)]
        if low is None or low[0] < value:
            cases.append(below)
            why = 0
        else:
            why = low[1]
        if high is None or high[0] > value:
            cases.append(above)
        else:
            why |= high[1]
        return cases, why, width < 64

    def few_values(self) -> tuple[list[Formula], int] | None:
        """Returns cases for the values of the variable with the fewest, if they are few, and what they follow from."""
        best: tuple[int, int, Monomial] | None = None
        seen = dict.fromkeys(column for constraint in self.box.constraints for column, _ in constraint.terms)
        for at, column in enumerate(seen):
            low, high = self.box.lows.get(column), self.box.highs.get(column)
            if low is None or high is None or low[0] == high[0]:
                continue
            width = (high[0] - low[0]) // self._step(column)
            if width < FEW_VALUES and (best is None or (width, at) < best[:2]):
                best = width, at, column
        return None if best is None else self._values(best[2])

    def _values(self, column: Monomial) -> tuple[list[Formula], int]:
        """Returns a case for each value of ``column``, and what they follow from."""
        low, high = self.box.lows[column], self.box.highs[column]
        values = range(low[0], high[0] + 1, self._step(column))
        why = low[1] | high[1] | self.box.residues.get(column, (1, 0, 0))[2]
        return [atom(EQ, plus({column: 1}, {(): value}, -1)) for value in values], why

    def _step(self, column: Monomial) -> int:
        return self.box.residues.get(column, (1, 0, 0))[0]


def _logarithm(number: int, base: int) -> int:
    """Returns the largest exponent with which ``base`` is at most ``number``; -1 if there is none."""
    exponent, power = -1, 1
    while power <= number:
        exponent, power = exponent + 1, power * base
    return exponent


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
