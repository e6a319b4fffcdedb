"""Predicates as linear rows for the Omega test; what is not linear is an unknown with what is true of it.

Before::

    B * S <= 4096, D == B // 8, M == max(B, S), B in [8, 64]

After (``p``, ``q``, ``m`` are unknowns)::

    p <= 4096, p >= 8 * S, p <= 64 * S         McCormick's inequalities for p = B * S
    D == q, 8 * q <= B <= 8 * q + 7
    M == m, m >= B, m >= S, and m == B or m == S

Every size that satisfies the predicates gives a model of the rows, so what has no model is refuted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import inf

from ...ir import OPERATORS, And, Apply, Compare, Const, Predicate, Size, Var
from ...ir.walk import free_vars
from ..algebra import difference, spreads, terms
from ..domains import Domains
from ..intervals import interval_of
from ..polynomial import Monomial, Terms, add, monomial_key, scale
from .linear import Budget, Row


@dataclass(slots=True)
class Relaxation:
    """Predicates as linear rows; what is not linear is an unknown of its own, with what is true of it.

    Attributes:
        domains: What each variable can be.
        budget: Names unknowns.
        rows: What holds.
        choices: For each min and max: of its alternatives, each a list of rows, one holds.
        nonlinear: Variables that stand in products or divisors.
        unknowns: The name of each atom and monomial that has one.
    """

    domains: Domains
    budget: Budget
    rows: list[Row] = field(default_factory=list[Row])
    choices: list[list[list[Row]]] = field(default_factory=list[list[list[Row]]])
    nonlinear: set[str] = field(default_factory=set[str])
    unknowns: dict[Monomial, str] = field(default_factory=dict[Monomial, str])
    products: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def add(self, predicate: Predicate) -> None:
        """Adds one canonical predicate; what cannot be said is left out."""
        match predicate:
            case And(args=args):
                for arg in args:
                    self.add(arg)
            case Compare(op=op, left=left, right=right):
                polynomial = difference(left, right)
                match op.name:
                    case "==":
                        self.rows.append(self.row(polynomial, equality=True))
                    case "<=":
                        self.rows.append(self.row(scale(polynomial, -1)))
                    case ">=":
                        self.rows.append(self.row(polynomial))
                    case "<":
                        self.rows.append(self.row(add({(): -1}, polynomial, -1)))
                    case ">":
                        self.rows.append(self.row(add(polynomial, {(): -1})))
                    case _:
                        pass
            case _:
                pass

    def row(self, polynomial: Terms, *, equality: bool = False) -> Row:
        """Returns ``polynomial >= 0`` (or ``== 0``) over variables and unknowns."""
        coefficients: dict[str, int] = {}
        for monomial in sorted(polynomial, key=monomial_key):
            if monomial:
                name = self.column(monomial)
                coefficients[name] = coefficients.get(name, 0) + polynomial[monomial]
        return Row({name: c for name, c in coefficients.items() if c}, polynomial.get((), 0), equality)

    def column(self, monomial: Monomial) -> str:
        """Returns the name that stands for ``monomial`` in rows."""
        match monomial:
            case (Var(name=name),):
                return name
            case _ if monomial in self.unknowns:
                return self.unknowns[monomial]
            case (atom,):
                name = self.unknowns[monomial] = self.budget.name()
                self._describe(atom, name)
                return name
            case (first, *rest):
                name = self.unknowns[monomial] = self.budget.name()
                factors = self.column((first,)), self.column(tuple(rest))
                self.products.append((name, *factors))
                self.nonlinear.update(other for atom in monomial for other in free_vars(atom))
                self._range(monomial, name)
                return name
            case _:
                raise AssertionError("the constant has no column")

    def _range(self, sizes: Monomial, name: str) -> None:
        interval = interval_of(sizes[0], self.domains.box)
        for size in sizes[1:]:
            interval = interval.times(interval_of(size, self.domains.box))
        self._bound(name, interval.low, interval.high)

    def _bound(self, name: str, low: float, high: float) -> None:
        if low != -inf:
            self.rows.append(Row({name: 1}, -int(low)))
        if high != inf:
            self.rows.append(Row({name: -1}, int(high)))

    def _describe(self, atom: Size, name: str) -> None:
        """Adds what is true of the value ``name`` of an opaque ``atom``."""
        self._range((atom,), name)
        match atom:
            case Apply(op=op, args=(dividend, divisor)) if op.name in ("//", "%"):
                self._divide(op.name, dividend, divisor, name)
            case Apply(op=op, args=args) if op.name in ("min", "max") and not any(map(spreads, args)):
                sign = 1 if op.name == "max" else -1
                gaps = [self.row(add({(Var(name),): sign}, terms(arg), -sign)) for arg in args]
                self.rows += gaps
                self.choices.append([[Row(gap.coefficients, gap.constant, True)] for gap in gaps])
            case _:
                self.nonlinear.update(free_vars(atom))

    def _divide(self, op: str, dividend: Size, divisor: Size, name: str) -> None:
        by = interval_of(divisor, self.domains.box)
        if by.low < 1:
            self.nonlinear.update(free_vars(divisor))
            return
        quotient = name
        if op == "%":
            quotient = self.column((Apply(OPERATORS["//"], (dividend, divisor)),))
        if isinstance(divisor, Const):
            whole: Terms = {(Var(quotient),): divisor.value}
        else:
            self.nonlinear.update(free_vars(divisor))
            factor = self.row(terms(divisor))
            if factor.constant or list(factor.coefficients.values()) != [1]:
                return
            whole_name = self.budget.name()
            self.products.append((whole_name, quotient, next(iter(factor.coefficients))))
            whole = {(Var(whole_name),): 1}
        remainder = add(terms(dividend), whole, -1)
        if op == "%":
            self.rows.append(self.row(add(remainder, {(Var(name),): 1}, -1), equality=True))
        else:
            self.rows.append(self.row(remainder))
            self.rows.append(self.row(add(add(terms(divisor), {(): -1}), remainder, -1)))

    def add_domains(self) -> None:
        """Adds the ranges and residues of the variables."""
        for name, domain in sorted(self.domains.of.items()):
            self._bound(name, domain.low, domain.high)
            if domain.modulus > 1 and domain.value is None:
                times = self.budget.name()
                self.rows.append(Row({name: 1, times: -domain.modulus}, -domain.residue, True))

    def all_rows(self) -> list[Row]:
        """Returns the rows, and for each product what the ranges of its factors imply (McCormick's inequalities)."""
        rows = list(self.rows)
        bounds = self._tightest()
        for name, left, right in self.products:
            for side, other in product((0, 1), repeat=2):
                a = bounds.get(left, (-inf, inf))[side]
                b = bounds.get(right, (-inf, inf))[other]
                if abs(a) == inf or abs(b) == inf:
                    continue
                sign = 1 if side == other else -1  # (left - a) * (right - b) >= 0 if both are low or both high
                row = {name: sign}
                for column, factor in ((left, -int(b)), (right, -int(a))):
                    row[column] = row.get(column, 0) + sign * factor
                rows.append(Row({c: v for c, v in row.items() if v}, sign * int(a) * int(b)))
        return rows

    def _tightest(self) -> dict[str, tuple[float, float]]:
        """Returns the range of each column that rows of one column give."""
        bounds: dict[str, tuple[float, float]] = {}
        for row in self.rows:
            if len(row.coefficients) != 1:
                continue
            ((name, factor),) = row.coefficients.items()
            low, high = bounds.get(name, (-inf, inf))
            if row.equality or factor > 0:
                low = max(low, -(row.constant // factor) if factor > 0 else -(-row.constant // -factor))
            if row.equality or factor < 0:
                high = min(high, row.constant // -factor if factor < 0 else -row.constant // factor)
            bounds[name] = (low, high)
        return bounds
