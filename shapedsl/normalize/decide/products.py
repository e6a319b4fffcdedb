"""What can be said about products: lemmas that cut a model off.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as choices
from typing import Final, TypeAlias

from .box import Box
from .formula import EQ, GE, Atom, Formula, Monomial, Polynomial, atom, plus, satisfied, times, value_of
from .linear import Row
from .obstructions import refute_by_residues, vanishing
from .quotients import Rule, divided, reduced, rules_of, substituted

Model: TypeAlias = dict[Monomial, int]

MOST_SUBSTITUTIONS: Final = 12  # at one node


@dataclass(slots=True)
class Products:
    """Lemmas about the products of a box.

    Attributes:
        box: What is assumed.
        substitutes: Whether factors are replaced by what defines them. It makes more products.
    """

    box: Box
    substitutes: bool = False

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
        rules = list(rules_of(self.box))
        names = list(dict.fromkeys(name for column in wrong for name in column))
        for name in names:
            for rule in reduced(self.box, rules, name):
                for lemma, why in divided(self.box, rule, name):
                    if self._add(lemma, why, model):
                        return True
        for strange in (0, 1):
            for lemma, why in self._multiplied(rules, names, strange):
                found = self._add(lemma, why, model) or found
            if found:
                return True
        if depth < 2:
            refute_by_residues(self.box, rules)
            for lemma, why in vanishing(self.box, rules):
                found = self._add(lemma, why, model) or found
        return found or (self.substitutes and depth == 0 and self._substitute(rules))

    def _substitute(self, rules: Sequence[Rule]) -> bool:
        """Assumes what products of defined factors are, true in the model or not; returns whether that is new."""
        known = {(constraint.terms, constraint.constant) for constraint in self.box.constraints}
        before = len(self.box.constraints)
        for lemma, why in substituted(self.box, rules):
            if len(self.box.constraints) >= before + MOST_SUBSTITUTIONS:
                break
            if isinstance(lemma, Atom) and (lemma.terms, lemma.constant) not in known:
                known.add((lemma.terms, lemma.constant))
                self.box.assume(lemma, why)
        return len(self.box.constraints) > before

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
