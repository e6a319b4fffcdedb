"""Decide whether a spec implies a predicate: proved, refuted by a witness, or unknown.

The negation of the predicate is added to the constraints and refuted: first by ranges and residues
(`propagate`), then by splitting disjunctions and the Omega test (`linear`) over a relaxation in which
products are unknowns with a few true inequalities. What the relaxation refutes is refuted. A model
of it counts only if Python's own integers confirm it on the constraints as they were written.

It is modest: products of unbounded sizes often end in `Unknown`. It is never wrong, and its work is
counted, so the same question has the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf
from typing import TypeAlias

from ..ir import (
    COMPARISONS,
    OPERATORS,
    And,
    Apply,
    Compare,
    Const,
    Not,
    Or,
    Predicate,
    Signature,
    Size,
    Var,
    Variable,
    VariableKind,
    Variadic,
)
from ..ir.walk import free_vars, holds, map_sizes, substitute
from .algebra import TooLarge, difference, terms
from .comparisons import FALSE
from .components import components
from .domains import Contradiction, Domains
from .intervals import interval_of
from .linear import Budget, OutOfBudget, Row, solve
from .polynomial import Monomial, Terms, add, monomial_key, scale
from .predicates import predicate_key, simplify_predicate, split
from .propagate import propagate

WORK = 40_000  # units of `linear.Budget`; about 50 ms
MOST_TRIALS = 24  # values that are tried for one variable of a product
MOST_DEPTH = 3  # variables that are tried inside each other


@dataclass(frozen=True, slots=True)
class Proved:
    """Every shape that satisfies the constraints satisfies the predicate."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """A shape satisfies the constraints and not the predicate.

    Attributes:
        witness: Its sizes, by variable, sorted by name.
    """

    witness: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither was found.

    Attributes:
        reason: Why, for the user.
    """

    reason: str


Verdict: TypeAlias = "Proved | Refuted | Unknown"


def implied(given: Signature, predicate: Predicate, *, work: int = WORK) -> Verdict:
    """Returns whether ``given`` implies ``predicate``.

    Args:
        given: Its variables and constraints count.
        predicate: Over the variables of ``given``; another name stands for any integer.
        work: How hard to try.
    """
    return implied_by(given.variables, [c.predicate for c in given.constraints], predicate, work=work)


def implied_by(
    variables: Iterable[Variable], given: Sequence[Predicate], predicate: Predicate, *, work: int = WORK
) -> Verdict:
    """Returns whether ``given`` implies ``predicate``; see `implied`.

    Args:
        variables: Their kinds count: a dim and a static size are never negative.
        given: What may be assumed.
        predicate: What is asked.
        work: How hard to try.
    """
    answer = find_sizes(variables, [*given, Not(predicate)], work=work)
    match answer:
        case None:
            return Proved()
        case Unknown():
            return answer
        case _:
            return Refuted(tuple(sorted(answer.items())))


def find_sizes(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> Mapping[str, int] | Unknown | None:
    """Returns sizes that satisfy ``predicates``, None if there are none, or why neither was found.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try.
    """
    kinds = {variable.name: variable for variable in variables}
    sizes = dict.fromkeys(kinds, 0)  # of those that nothing speaks of
    unknown: Unknown | None = None
    budget = Budget(work)
    # what is asked comes last, and its part first: often nothing else matters
    for group in sorted(components(predicates), key=lambda group: -group[-1]):
        written = tuple(predicates[at] for at in group)
        names = sorted({name for predicate in written for name in free_vars(predicate)})
        known = tuple(kinds.get(name) or Variable(name, VariableKind.INT) for name in names)
        try:
            found = _Search(known, written, budget).run([simplify_predicate(each) for each in written], {}, 0)
        except OutOfBudget:
            return Unknown("it would take too long to decide")
        except _Undecided as undecided:
            unknown = Unknown(str(undecided))
            continue  # another part may have no sizes at all
        if found is None:
            return None
        sizes.update(found)
    return unknown or sizes


class _Undecided(Exception):
    """One branch could be neither satisfied nor refuted."""


@dataclass(frozen=True, slots=True)
class _Search:
    """One question.

    Attributes:
        variables: All that the predicates speak of.
        written: The predicates as they were given; a witness is checked on these.
        budget: What is left of the work.
    """

    variables: tuple[Variable, ...]
    written: tuple[Predicate, ...]
    budget: Budget

    def run(self, predicates: Iterable[Predicate], fixed: Mapping[str, int], depth: int) -> dict[str, int] | None:
        """Returns a witness of canonical ``predicates``, or None if there is none.

        Raises:
            _Undecided, OutOfBudget: Neither was found.
        """
        flat = list(dict.fromkeys(part for each in predicates for part in split(each)))
        self.budget.spend(10 * len(flat) + 10)
        if FALSE in flat:
            return None
        open_variables = [v for v in self.variables if v.name not in fixed]
        try:
            domains = propagate(open_variables, flat)
        except Contradiction:
            return None
        choice = next(((at, each) for at, each in enumerate(flat) if _choices(each)), None)
        if choice is None:
            return self.leaf(flat, domains, fixed, depth)
        at, chosen = choice
        rest = [*flat[:at], *flat[at + 1 :]]
        undecided: _Undecided | None = None
        for branch in sorted(_choices(chosen), key=predicate_key):
            try:
                witness = self.run([*rest, branch], fixed, depth)
            except _Undecided as problem:
                undecided = problem
                continue
            if witness is not None:
                return witness
        if undecided is not None:
            raise undecided
        return None

    def leaf(
        self, predicates: Sequence[Predicate], domains: Domains, fixed: Mapping[str, int], depth: int
    ) -> dict[str, int] | None:
        """Like `run`, for predicates without a disjunction."""
        relaxation = _Relaxation(domains, self.budget)
        try:
            for predicate in predicates:
                relaxation.add(predicate)
        except TooLarge as error:
            raise _Undecided("a size is too large to reason about") from error
        relaxation.add_domains()
        if relaxation.choices:  # min, max: which argument it is
            return self._leaf_by_choice(relaxation, predicates, fixed, depth)
        model = solve(relaxation.all_rows(), self.budget)
        if model is None:
            return None
        witness = self._confirmed(model, fixed)
        if witness is not None:
            return witness
        return self._by_trial(predicates, domains, relaxation, model, fixed, depth)

    def _leaf_by_choice(
        self, relaxation: _Relaxation, predicates: Sequence[Predicate], fixed: Mapping[str, int], depth: int
    ) -> dict[str, int] | None:
        undecided = False
        for chosen in product(*relaxation.choices):
            rows = [*relaxation.all_rows(), *(row for rows in chosen for row in rows)]
            model = solve(rows, self.budget)
            if model is not None:
                witness = self._confirmed(model, fixed)
                if witness is not None:
                    return witness
                undecided = True
        if undecided:
            return self._by_trial(predicates, relaxation.domains, relaxation, {}, fixed, depth)
        return None

    def _confirmed(self, model: Mapping[str, int], fixed: Mapping[str, int]) -> dict[str, int] | None:
        """Returns ``model`` as sizes if Python's integers confirm it."""
        sizes = {v.name: fixed.get(v.name, model.get(v.name, 0)) for v in self.variables}
        if any(sizes[v.name] < 0 for v in self.variables if v.kind is not VariableKind.INT):
            return None
        try:  # a variadic is tried with one dim
            return sizes if all(holds(_of_one_dim(predicate), sizes) for predicate in self.written) else None
        except ZeroDivisionError:
            return None

    def _by_trial(
        self,
        predicates: Sequence[Predicate],
        domains: Domains,
        relaxation: _Relaxation,
        model: Mapping[str, int],
        fixed: Mapping[str, int],
        depth: int,
    ) -> dict[str, int] | None:
        """Fixes a variable of a product; all of its values, if they are few."""
        names = sorted(relaxation.nonlinear, key=lambda name: _width(domains, name))
        if not names or depth >= MOST_DEPTH:
            raise _Undecided("sizes are multiplied or divided by each other")
        for name in names:
            domain = domains.domain(name)
            complete = _width(domains, name) < MOST_TRIALS
            if complete:
                values: Iterable[int] = range(int(domain.low), int(domain.high) + 1)
            else:
                wishes = [model.get(name, 0), domain.low, domain.high, 0, 1, 2, 3, 4, 6, 8, 16]
                values = dict.fromkeys(int(w) for w in wishes if domain.low <= w <= domain.high and abs(w) != inf)
            undecided = False
            for value in values:
                if domain.modulus > 1 and (value - domain.residue) % domain.modulus:
                    continue
                substituted = [simplify_predicate(substitute(each, {name: Const(value)})) for each in predicates]
                try:
                    witness = self.run(substituted, {**fixed, name: value}, depth + 1)
                except _Undecided:
                    undecided = True
                    continue
                if witness is not None:
                    return witness
            if complete and not undecided:
                return None
        raise _Undecided("sizes are multiplied or divided by each other")


def _of_one_dim(predicate: Predicate) -> Predicate:
    def single(size: Size) -> Size:
        match size:
            case Variadic(name=name):
                return Var(name)
            case Apply(args=args):
                return replace(size, args=tuple(map(single, args)))
            case _:
                return size

    return map_sizes(predicate, single)


def _width(domains: Domains, name: str) -> float:
    domain = domains.domain(name)
    return domain.high - domain.low


def _choices(predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns the alternatives of a predicate, if it has several: an `or`, or `!=`."""
    match predicate:
        case Or(args=args):
            return args
        case Compare(op=op, left=left, right=right) if op.name == "!=":
            return (
                simplify_predicate(Compare(COMPARISONS["<"], left, right)),
                simplify_predicate(Compare(COMPARISONS[">"], left, right)),
            )
        case _:
            return ()


@dataclass(slots=True)
class _Relaxation:
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
            case Apply(op=op, args=args) if op.name in ("min", "max"):
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
