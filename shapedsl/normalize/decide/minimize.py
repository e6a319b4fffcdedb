"""Make sizes as small as they can be: a small counterexample is read at a glance.

Smallest means: of the variables in the order of their names, the first has the least absolute value
that it can have, a positive value going before the negative one; then the second; and so on.

Before::

    A == 2 * B, B >= 3          A = 96, B = 48

After::

    A == 2 * B, B >= 3          A = 6, B = 3

First values are tried, with Python's integers; a variable that an equality defines follows. Then the
engine is asked for something smaller, halving, until it says that there is nothing. Where it does not
know, the best that was found stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir import COMPARISONS, Compare, Const, Predicate, Size, Var, Variable, VariableKind
from ...ir.walk import evaluate, free_vars, holds, substitute
from ..components import components
from .asking import searched
from .budget import Budget
from .search import WORK
from .translate import translate
from .verdict import Unknown

MOST_QUESTIONS = 48  # to the engine, for one witness
MOST_TRIALS = 200  # of values, for one witness
PATIENCE = 3  # times that the engine may not know, for one variable
FEW = 12  # small values that are tried for each variable


def smallest_sizes(
    variables: Iterable[Variable], predicates: Sequence[Predicate], sizes: Mapping[str, int], *, work: int = WORK
) -> dict[str, int]:
    """Returns the smallest sizes that satisfy ``predicates``, as far as ``work`` allows; never larger than ``sizes``.

    Args:
        variables: Their kinds count.
        predicates: Any predicates.
        sizes: Satisfy them.
        work: How hard to try.
    """
    kinds = {variable.name: variable for variable in variables}
    translations = list(map(translate, predicates))
    single = [translation.written for translation in translations]
    smallest = {name: 0 if name in kinds else value for name, value in sizes.items()}
    budget = _Budget(MOST_QUESTIONS, MOST_TRIALS, work)
    for group in components(single):
        part = [single[at] for at in group]
        names = sorted({name for at in group for name in translations[at].names})
        if names:
            known = tuple(kinds.get(name) or Variable(name, VariableKind.INT) for name in names)
            descent = _Descent(known, part, {name: sizes[name] for name in names}, work, budget)
            descent.run()
            smallest.update(descent.sizes)
    return smallest


def size_key(value: int) -> tuple[int, bool]:
    """Returns what sizes are compared by: nearer to 0 is smaller, and of two the positive one."""
    return abs(value), value < 0


@dataclass(slots=True)
class _Budget:
    """What is left of the questions and the trials, and of the work for all questions together."""

    questions: int
    trials: int
    work: int


@dataclass(slots=True)
class _Descent:
    """One connected set of predicates.

    Attributes:
        variables: All that the predicates speak of, sorted by name.
        predicates: What has to hold.
        sizes: The smallest that are known.
        work: How hard to try.
        budget: What is left.
        defined: Variables that an equality defines, with the equality's other side, in the order of computing.
    """

    variables: tuple[Variable, ...]
    predicates: Sequence[Predicate]
    sizes: dict[str, int]
    work: int
    budget: _Budget
    defined: dict[str, Size] = field(default_factory=dict[str, Size])

    def run(self) -> None:
        """Makes ``sizes`` smaller until nothing smaller is found."""
        if not any(self.sizes.values()):
            return
        self.defined = _definitions(self.predicates)
        self.descend()
        for at in range(len(self.variables)):
            self.settle(at)

    # ----------------------------------------------------------------------------- trying values

    def descend(self) -> None:
        """Changes one free variable after the other to a smaller value, for as long as that helps."""
        moved = True
        while moved:
            moved = False
            for variable in self.variables:
                if variable.name in self.defined:
                    continue
                for value in _smaller(self.sizes[variable.name]):
                    if self.budget.trials <= 0:
                        return
                    if value < 0 and variable.kind is not VariableKind.INT:
                        continue
                    self.budget.trials -= 1
                    if self.adopt(self.computed({**self.sizes, variable.name: value})):
                        moved = True
                        break

    def computed(self, sizes: dict[str, int]) -> dict[str, int]:
        """Returns ``sizes`` with those that an equality defines computed from the others."""
        try:
            for name, size in self.defined.items():
                sizes[name] = evaluate(size, sizes)
        except (ZeroDivisionError, TypeError):
            pass  # then they satisfy nothing
        return sizes

    def adopt(self, sizes: Mapping[str, int]) -> bool:
        """Takes ``sizes`` if they are smaller and satisfy everything; returns whether it did."""
        if self.key(sizes) >= self.key(self.sizes) or not self.satisfied(sizes):
            return False
        self.sizes = dict(sizes)
        return True

    def key(self, sizes: Mapping[str, int]) -> list[tuple[int, bool]]:
        """Returns what ``sizes`` are compared by."""
        return [size_key(sizes[variable.name]) for variable in self.variables]

    def satisfied(self, sizes: Mapping[str, int]) -> bool:
        """Returns whether Python's integers say that ``sizes`` satisfy everything."""
        if any(sizes[v.name] < 0 for v in self.variables if v.kind is not VariableKind.INT):
            return False
        try:
            return all(holds(predicate, sizes) for predicate in self.predicates)
        except (ZeroDivisionError, TypeError):
            return False

    # ------------------------------------------------------------------------- asking the engine

    def settle(self, at: int) -> None:
        """Makes the value of the variable at ``at`` the smallest that it can be while the earlier ones keep theirs."""
        variable = self.variables[at]
        if self.sizes[variable.name] == 0 or self.budget.questions <= 0 or self.budget.work <= 0:
            return
        fixed = {earlier.name: Const(self.sizes[earlier.name]) for earlier in self.variables[:at]}
        rest = [substitute(predicate, fixed) for predicate in self.predicates]
        open_variables = self.variables[at:]
        low = 0  # no absolute value below it is possible
        reach = abs(self.sizes[variable.name]) - 1  # what is asked for: an absolute value up to this
        patience = PATIENCE
        while low <= reach and patience:
            found = self.smaller(variable, open_variables, rest, reach)
            if found is Unknown:  # less may be easier
                patience -= 1
                reach = (low + reach) // 2 if low < reach else -1
                continue
            if found is None:
                low = reach + 1
            reach = (low + abs(self.sizes[variable.name]) - 1) // 2
        if self.sizes[variable.name] < 0 and self.budget.questions > 0:
            self.ask(open_variables, [*rest, Compare(COMPARISONS["=="], Var(variable.name), Const(low))])

    def smaller(
        self, variable: Variable, open_variables: Sequence[Variable], rest: Sequence[Predicate], reach: int
    ) -> object:
        """Asks for an absolute value of ``variable`` up to ``reach``; see `ask`."""
        inside: list[Predicate] = [Compare(COMPARISONS["<="], Var(variable.name), Const(reach))]
        if variable.kind is VariableKind.INT:
            inside.append(Compare(COMPARISONS[">="], Var(variable.name), Const(-reach)))
        return self.ask(open_variables, [*rest, *inside])

    def ask(self, open_variables: Sequence[Variable], predicates: Sequence[Predicate]) -> object:
        """Takes what the engine finds; returns None if it found that there is nothing, `Unknown` if it does not know."""
        if self.budget.questions <= 0 or self.budget.work <= 0:
            return Unknown
        self.budget.questions -= 1
        allowance = min(self.work // 4, self.budget.work)
        spending = Budget(allowance)
        found = searched(open_variables, predicates, spending)
        self.budget.work -= allowance - spending.left
        if isinstance(found, tuple):
            return None
        if isinstance(found, Unknown) or not self.adopt({**self.sizes, **found}):
            return Unknown
        return True


def _smaller(value: int) -> Iterator[int]:
    """Yields what is tried in place of ``value``, the smallest first."""
    largest = abs(value)
    for size in (
        *range(min(FEW, largest)),
        *(largest >> by for by in range(8, 0, -1) if largest >> by >= FEW),
        largest - 1,
    ):
        if 0 <= size < largest:
            yield size
            if size:
                yield -size
    if value < 0:
        yield largest


def _definitions(predicates: Sequence[Predicate]) -> dict[str, Size]:
    """Returns the variables that equalities define, each by variables that are not among those behind it."""
    found: dict[str, Size] = {}
    used: set[str] = set()
    for predicate in predicates:
        match predicate:
            case Compare(op=op, left=left, right=right) if op.name == "==":
                for name_side, size in ((left, right), (right, left)):
                    match name_side:
                        case Var(name=name) if name not in found and name not in used and name not in free_vars(size):
                            found[name] = size
                            used.update(free_vars(size))
                            break
                        case _:
                            pass
            case _:
                pass
    return found
