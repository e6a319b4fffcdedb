"""Assumptions and what follows from them for single columns, propagated to a fixpoint, with undo.

Every bound carries the assumptions it follows from, as a bitmask. Propagation is sound but not complete:
a bound that keeps moving is left alone after a few steps, for the Omega test to judge.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from .bounds import Bounds
from .clash import Clash
from .factors import Product, factors
from .formula import EQ, NE, All, Atom, Formula, Monomial
from .rows import Terms, at_least, congruence, unequal
from .truth import holds, why_false

MOST_STEPS: Final = 12  # how often one bound may move in one propagation


@dataclass(slots=True, eq=False)
class Constraint:
    """An atom that is assumed.

    Attributes:
        op: `GE`, `EQ` or `NE`.
        terms: Two columns or more; for `NE`, one or more.
        constant: An integer.
        why: The assumptions it follows from.
    """

    op: int
    terms: Terms
    constant: int
    why: int


@dataclass(slots=True, eq=False)
class Clause:
    """Several formulas, one of which holds, at least.

    Attributes:
        args: The formulas.
        why: The assumptions it follows from.
        watched: Two arguments that were not false when last looked at.
    """

    args: tuple[Formula, ...]
    why: int
    watched: list[int] = field(default_factory=lambda: [0, 1])


@dataclass(slots=True)
class Box(Bounds):
    """What is assumed, and what follows from it for single columns.

    Attributes:
        constraints: Atoms of several columns, and disequalities.
        clauses: Disjunctions.
        products: By column, how it is made up.
        users: By column, the constraints and products that mention it.
        settled: Clauses of which one argument was left and assumed.
        queue: Constraints and products to look at.
    """

    constraints: list[Constraint] = field(default_factory=list[Constraint])
    clauses: list[Clause] = field(default_factory=list[Clause])
    products: dict[Monomial, Product] = field(default_factory=dict[Monomial, Product])
    users: dict[Monomial, list[Constraint | Product]] = field(
        default_factory=dict[Monomial, "list[Constraint | Product]"]
    )
    settled: dict[Clause, bool] = field(default_factory=dict[Clause, bool])
    queue: deque[Constraint | Product] = field(default_factory=deque[Any])

    def mark(self) -> tuple[int, int, int]:
        """Returns where we are, for `undo`."""
        return len(self.trail), len(self.constraints), len(self.clauses)

    def undo(self, mark: tuple[int, int, int]) -> None:
        """Forgets what was assumed since ``mark``."""
        trail, constraints, clauses = mark
        while len(self.trail) > trail:
            table, key, old = self.trail.pop()
            if old is None:
                del table[key]
            else:
                table[key] = old
        for constraint in reversed(self.constraints[constraints:]):
            for column, _ in constraint.terms:
                self.users[column].pop()
        del self.constraints[constraints:]
        del self.clauses[clauses:]
        self.moved.clear()
        self.queue.clear()

    def assume(self, formula: Formula, why: int) -> None:
        """Adds ``formula``.

        Raises:
            Clash: It contradicts the bounds.
        """
        if isinstance(formula, Atom):
            self.assume_atom(formula.op, formula.terms, formula.constant, why)
        elif isinstance(formula, All):
            for arg in formula.args:
                self.assume(arg, why)
        elif not formula.args:
            raise Clash(why)
        else:
            self.clauses.append(Clause(formula.args, why))

    def assume_atom(self, op: int, terms: Terms, constant: int, why: int) -> None:
        """Adds a canonical atom."""
        self.budget.spend(2 + len(terms))
        for column, _ in terms:
            if len(column) > 1:
                product = self.products.get(column)
                if product is None:
                    self.add_product(column)
                else:
                    self.queue.append(product)
        if len(terms) == 1 and op != NE:
            ((column, value),) = terms
            if op == EQ:
                if constant % value:
                    raise Clash(why)
                self.raise_low(column, -constant // value, why)
                self.lower_high(column, -constant // value, why)
            elif value > 0:
                self.raise_low(column, -(constant // value), why)
            else:
                self.lower_high(column, constant // -value, why)
            return
        if not terms:
            if constant < 0 or (constant != 0) == (op == EQ):
                raise Clash(why)
            return
        constraint = Constraint(op, terms, constant, why)
        self.constraints.append(constraint)
        for column, _ in terms:
            self.users.setdefault(column, []).append(constraint)
        self.queue.append(constraint)

    def add_product(self, column: Monomial) -> None:
        """Registers a product, and the products that it is made of; they stay."""
        left, right = column[:1], column[1:]
        product = Product(column, left, right)
        self.products[column] = product
        if len(right) > 1 and right not in self.products:
            self.add_product(right)
        for each in dict.fromkeys((column, left, right)):
            self.users.setdefault(each, []).insert(0, product)
        self.queue.append(product)

    def propagate(self) -> None:
        """Draws conclusions until nothing moves, or moves too often.

        Raises:
            Clash: The assumptions cannot hold together.
        """
        steps: dict[Monomial, int] = {}
        while True:
            self._rows(steps)
            if not self._clauses():
                return

    def _rows(self, steps: dict[Monomial, int]) -> None:
        queue = self.queue
        queued = dict.fromkeys(map(id, queue))
        while True:
            for column in self.moved:
                count = steps[column] = steps.get(column, 0) + 1
                if count <= MOST_STEPS:
                    for user in self.users.get(column, ()):
                        if id(user) not in queued:
                            queued[id(user)] = None
                            queue.append(user)
            self.moved.clear()
            if not queue:
                return
            user = queue.popleft()
            queued.pop(id(user), None)
            if isinstance(user, Product):
                factors(self, user)
            elif user.op == NE:
                unequal(self, user.terms, user.constant, user.why)
            else:
                at_least(self, user.terms, user.constant, user.why, 1)
                if user.op == EQ:
                    at_least(self, user.terms, user.constant, user.why, -1)
                    congruence(self, user.terms, user.constant, user.why)

    def _clauses(self) -> bool:
        """Looks for clauses of which one argument is left; returns whether any was found."""
        found = False
        for clause in self.clauses:
            if clause in self.settled:
                continue
            args, watched = clause.args, clause.watched
            self.budget.spend(2)
            first = self._open(args, watched, 0)
            if first is None:
                continue  # it holds
            if first < 0:
                raise Clash(self._all_false(clause))
            second = self._open(args, watched, 1)
            if second is None or second >= 0:
                continue
            why = clause.why
            for at, arg in enumerate(args):
                if at != first:
                    why |= why_false(self, arg)
            self.settle(clause)
            self.assume(args[first], why)
            found = True
        return found

    def settle(self, clause: Clause) -> None:
        """Takes note that one argument of ``clause`` is assumed."""
        self.settled[clause] = True
        self.trail.append((self.settled, clause, None))

    def _open(self, args: tuple[Formula, ...], watched: list[int], which: int) -> int | None:
        """Returns an argument that may hold, -1 if there is none but the other watched one, None if one surely holds."""
        at, other = watched[which], watched[1 - which] if which else -1
        if at != other and at < len(args):
            arg = args[at]
            if why_false(self, arg) < 0:
                return None if holds(self, arg) else at
        for at, arg in enumerate(args):
            if at != other and why_false(self, arg) < 0:
                if holds(self, arg):
                    return None
                watched[which] = at
                return at
        return -1

    def _all_false(self, clause: Clause) -> int:
        why = clause.why
        for arg in clause.args:
            why |= why_false(self, arg)
        return why
