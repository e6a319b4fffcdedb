"""Search for sizes: propagate, solve the linear relaxation, split on what its model violates.

A node of the search assumes some formulas. Propagation draws conclusions from them (`Box`); what is left is
relaxed to linear constraints, with products as unknowns, and solved (`omega`). If the model satisfies the
predicates as they were written, by Python's own integers, it is the answer. If not, it violates something
that was relaxed: a disjunction, a disequality, a product. Lemmas about products are added while any of
them cuts the model off (`products`); then the node is split.

Every refutation says which assumptions it used. So a branch that fails for reasons older than a split
refutes all of the split, a failed branch leaves its negation behind, and at the top the reasons are a set of
predicates that cannot hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from .box import Box, Clause, Constraint
from .budget import Budget, OutOfBudget, TooHard
from .cases import few_values, split
from .clash import Clash
from .formula import EQ, NE, Atom, Formula, Monomial, Some, negated, satisfied, sides, value_of
from .linear import Row
from .omega import solve
from .powers import bound_powers
from .products import Products
from .translate import Power
from .truth import holds, why_false

Model = dict[Monomial, int]

MOST_ROUNDS: Final = 8  # of lemmas at one node
FEW_ROUNDS: Final = 1  # of them where a disjunction is open
MOST_PRODUCT_SPLITS: Final = 12  # inside each other


@dataclass(slots=True)
class _Split:
    """Cases of which one holds.

    Attributes:
        args: The cases.
        why: What the split follows from.
        product: Whether a product is what asked for it.
        clause: The disjunction that it is made of.
    """

    args: Sequence[Formula]
    why: int
    product: bool = False
    clause: Clause | None = None


@dataclass(slots=True)
class _Frame:
    """A split that is being searched.

    Attributes:
        split: The cases.
        mark: The state before any of them is assumed.
        bit: What stands for "this case is assumed" in reasons.
        at: The case that is assumed.
        why: What the refutations of the earlier cases used.
        undecided: Whether one of the earlier cases was neither refuted nor satisfied.
    """

    split: _Split
    mark: tuple[int, int, int]
    bit: int
    why: int
    at: int = 0
    undecided: bool = False


@dataclass(slots=True)
class Engine:
    """One question.

    Attributes:
        budget: What is left of the work.
        confirm: Returns whether sizes satisfy the predicates as they were written.
        first_bit: Above the bits of the predicates.
        powers: Columns that are powers.
        box: What is assumed now.
    """

    budget: Budget
    confirm: Callable[[Model], bool]
    first_bit: int
    powers: dict[str, Power] = field(default_factory=dict[str, Power])
    box: Box = field(init=False)
    products: Products = field(init=False)
    stack: list[_Frame] = field(default_factory=list[_Frame])

    def __post_init__(self) -> None:
        self.box = Box(self.budget)
        self.products = Products(self.box)

    def run(self, assumptions: Sequence[tuple[Formula, int]]) -> Model:
        """Returns a model.

        Args:
            assumptions: Formulas, and the bits of the predicates that they come from.

        Raises:
            Clash: There is none.
            TooHard: Neither was found.
        """
        step: Callable[[], Model | _Split] = partial(self._start, assumptions)
        while True:
            why: int | None
            try:
                outcome = step()
            except Clash as clash:
                why = clash.why
            except OutOfBudget:
                raise
            except TooHard:
                why = None
            else:
                if not isinstance(outcome, _Split):
                    return outcome
                bit = 1 << (self.first_bit + len(self.stack))
                self.stack.append(_Frame(outcome, self.box.mark(), bit, outcome.why))
                step = self._case
                continue
            self._back(why)
            step = self._case

    def _start(self, assumptions: Sequence[tuple[Formula, int]]) -> Model | _Split:
        for formula, why in assumptions:
            self.box.assume(formula, why)
        return self._node()

    def _case(self) -> Model | _Split:
        """Assumes the present case of the innermost split."""
        frame = self.stack[-1]
        if frame.split.clause is not None:
            self.box.settle(frame.split.clause)
        self.box.assume(frame.split.args[frame.at], frame.bit)
        return self._node()

    def _back(self, why: int | None) -> None:
        """Goes to the next case, after the present one was refuted (``why``) or given up (None)."""
        while self.stack:
            frame = self.stack[-1]
            self.box.undo(frame.mark)
            if why is not None and not why & frame.bit:
                self.stack.pop()  # refuted for older reasons
                continue
            case = frame.split.args[frame.at]
            frame.at += 1
            if why is None:
                frame.undecided = True
            else:
                why &= ~frame.bit
                frame.why |= why
            if frame.at < len(frame.split.args):
                if why is None:
                    return
                try:
                    self._learn(negated(case), why, frame)
                except Clash as clash:
                    why = clash.why
                    if not why & frame.bit:
                        self.stack.pop()
                        continue
                return
            self.stack.pop()
            why = None if frame.undecided else frame.why
        if why is None:
            raise TooHard
        raise Clash(why)

    def _learn(self, formula: Formula, why: int, frame: _Frame) -> None:
        """Assumes for the later cases of ``frame`` what follows from the failure of an earlier one."""
        self.box.assume(formula, why)
        frame.mark = self.box.mark()

    # -- one node --------------------------------------------------------------------------------------------

    def _node(self) -> Model | _Split:
        """Looks for a model of what is assumed; returns it, or cases to be looked at one by one."""
        rounds = 0
        while True:
            self.box.propagate()
            if self.powers and bound_powers(self.box, self.powers):
                continue
            try:
                model = self._relaxed()
            except OutOfBudget:
                raise
            except TooHard:
                return self._without_model()
            self.budget.spend(4 * self.first_bit)
            if self.confirm(model):
                return model
            wrong = self.products.wrong(model)
            rounds += 1
            # a disjunction that is open says more about products than their lemmas do
            most = FEW_ROUNDS if self._open_clause() else MOST_ROUNDS
            if not wrong or rounds > most or not self.products.add_lemmas(model, wrong, self._product_splits()):
                return self._violated(model) or self._split_product(model, wrong)

    def _split_product(self, model: Model, wrong: Sequence[Monomial]) -> _Split:
        """Returns cases for a variable of a product that ``model`` is wrong about."""
        if self._product_splits() >= MOST_PRODUCT_SPLITS:
            raise TooHard
        cases, why, few = split(self.box, model, wrong, self.powers)
        if not few:
            clause = self._open_clause()
            if clause is not None:
                return self._split_of(clause)
        return _Split(cases, why, True)

    def _product_splits(self) -> int:
        return sum(frame.split.product for frame in self.stack)

    def _violated(self, model: Model) -> _Split | None:
        """Returns the smallest disjunction that ``model`` violates."""
        for constraint in self.box.constraints:
            if constraint.op == NE and not satisfied(Atom(NE, constraint.terms, constraint.constant), model):
                return _Split(sides(Atom(NE, constraint.terms, constraint.constant)), constraint.why)
        best: tuple[int, Clause, list[Formula]] | None = None
        for clause in self.box.clauses:
            self.budget.spend(1 + len(clause.args))
            if clause in self.box.settled or satisfied(Some(clause.args), model):
                continue
            alive = [arg for arg in clause.args if why_false(self.box, arg) < 0]
            if best is None or len(alive) < best[0]:
                best = len(alive), clause, alive
                if len(alive) <= 2:
                    break
        if best is None:
            return None
        return self._split_of(best[1])

    def _split_of(self, clause: Clause) -> _Split:
        """Returns the cases of a clause that the bounds do not exclude."""
        why = clause.why
        alive: list[Formula] = []
        for arg in clause.args:
            reason = why_false(self.box, arg)
            if reason < 0:
                alive.append(arg)
            else:
                why |= reason
        if not alive:
            raise Clash(why)
        return _Split(alive, why, clause=clause)

    def _without_model(self) -> _Split:
        """Returns cases where no model could be found to choose by: the values of a variable, or a disjunction.

        Raises:
            TooHard: There are none.
        """
        few = few_values(self.box)
        if few is not None:
            return _Split(*few)
        clause = self._open_clause()
        if clause is None:
            raise TooHard
        return self._split_of(clause)

    def _open_clause(self) -> Clause | None:
        """Returns the first disjunction of which no argument is known to hold."""
        for clause in self.box.clauses:
            if clause not in self.box.settled and not any(holds(self.box, arg) for arg in clause.args):
                return clause
        return None

    def _relaxed(self) -> Model:
        """Returns a model of the linear constraints, each product being an unknown of its own."""
        box = self.box
        rows: list[Row] = []
        used: dict[Monomial, None] = {}
        for constraint in box.constraints:
            if constraint.op != NE:
                rows.append(_row(constraint))
                used.update(dict.fromkeys(column for column, _ in constraint.terms))
        rows += self.products.linear_rows(used)
        lows = {column: box.lows[column] for column in used if column in box.lows}
        highs = {column: box.highs[column] for column in used if column in box.highs}
        self.budget.spend(2 * len(used))
        allowance = Budget(min(self.budget.left, max(4000, self.budget.left // 3)))
        before = allowance.left
        try:
            model = solve(rows, allowance, lows, highs)
        except OutOfBudget:
            if before == self.budget.left:
                raise
            raise TooHard from None
        finally:
            self.budget.left -= before - max(0, allowance.left)
        for column in (*box.lows, *box.highs, *box.residues):
            if column not in used and len(column) == 1:
                model[column] = self._nearest(column)
        for column in box.products:
            if column not in model:
                value = value_of(column, model)
                low, high = box.lows.get(column), box.highs.get(column)
                if (low is not None and low[0] > value) or (high is not None and high[0] < value):
                    value = self._nearest(column)
                model[column] = value
        return model

    def _nearest(self, column: Monomial) -> int:
        """Returns the value nearest to 0 that the box leaves ``column``."""
        low, high = self.box.lows.get(column), self.box.highs.get(column)
        if low is not None and low[0] > 0:
            return low[0]
        if high is not None and high[0] < 0:
            return high[0]
        modulus, residue, _ = self.box.residues.get(column, (1, 0, 0))
        if high is None or residue <= high[0]:
            return residue
        return residue - modulus


def _row(constraint: Constraint) -> Row:
    return Row(dict(constraint.terms), constraint.constant, constraint.op == EQ, constraint.why)
