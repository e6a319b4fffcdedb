"""Find sizes that satisfy predicates, or which predicates cannot hold together.

Predicates are translated to formulas (`translate`), split into groups that share no variable, and each
group is searched on its own (`engine`). Sizes are believed only after Python's own integers confirmed them
on the predicates as they were written.

Products of unbounded sizes may end in `Unknown`. The answer is never wrong, and all work is counted, so
the same question has the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir import Predicate, Variable, VariableKind
from ...ir.walk import holds
from .budget import Budget, OutOfBudget, TooHard
from .clash import Clash
from .engine import Engine
from .formula import EQ, GE, Formula, Monomial, atom
from .translate import Power, Translation, translate
from .verdict import Unknown

WORK = 300_000  # units of `Budget`; about 100 ms


def find_sizes(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int | Budget = WORK
) -> Mapping[str, int] | Unknown | None:
    """Returns sizes that satisfy ``predicates``, None if there are none, or why neither was found.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try; of a `Budget`, what is used is taken.
    """
    found = sizes_or_core(variables, predicates, work=work)
    return None if isinstance(found, tuple) else found


def sizes_or_core(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int | Budget = WORK
) -> Mapping[str, int] | Unknown | tuple[int, ...]:
    """Returns sizes that satisfy ``predicates``, or which of them cannot hold together, or why neither was found.

    The indices ascend; they are those that the refutation used, which is rarely all and not always minimal.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try; of a `Budget`, what is used is taken.
    """
    kinds = {variable.name: variable.kind for variable in variables}
    sizes = dict.fromkeys(kinds, 0)  # of those that nothing speaks of
    unknown: Unknown | None = None
    budget = Budget(work) if isinstance(work, int) else work
    translations = list(map(translate, predicates))
    # what is asked comes last, and its part first: often nothing else matters
    for group in reversed(grouped(translations)):
        try:
            sizes.update(_search([translations[at] for at in group], kinds, budget))
        except Clash as clash:
            return tuple(at for bit, at in enumerate(group) if clash.why >> bit & 1)
        except OutOfBudget:
            return Unknown("it would take too long to decide")
        except TooHard:  # another part may have no sizes at all
            unknown = Unknown(_difficulty([translations[at] for at in group]))
    return unknown or sizes


def _difficulty(translations: Sequence[Translation]) -> str:
    """Returns why one group, on which not all of the work was spent, is left undecided."""
    if any(each.nonlinear or each.powers for each in translations):
        return "sizes are multiplied or divided by each other"
    if any(each.variadic for each in translations):
        return "the number of dims is open"
    return "too many linear constraints are tied together, or their factors are too large"


def grouped(translations: Sequence[Translation]) -> list[list[int]]:
    """Returns the indices of predicates, grouped by shared variables; groups in the order of their last member."""
    parents = list(range(len(translations)))  # towards the last member of each group

    def last_of(at: int) -> int:
        while parents[at] != at:
            parents[at] = parents[parents[at]]
            at = parents[at]
        return at

    owners: dict[str, int] = {}  # by variable, some predicate that speaks of it
    for at, translation in enumerate(translations):
        for name in translation.names:
            if name in owners:
                parents[last_of(owners[name])] = at
            owners[name] = at
    groups: dict[int, list[int]] = {}
    for at in range(len(translations)):
        groups.setdefault(last_of(at), []).append(at)
    return [groups[last] for last in sorted(groups)]


def _search(translations: Sequence[Translation], kinds: Mapping[str, VariableKind], budget: Budget) -> dict[str, int]:
    """Returns sizes that satisfy predicates of one group.

    Raises:
        Clash: There are none.
        TooHard: Neither was found.
    """
    question = _Question(translations, kinds)
    budget.spend(20 * len(translations) + 10)
    try:
        return question.sizes(budget)
    except Clash as clash:
        if not clash.why & question.pretended:
            raise
    question.singles.clear()
    question.sizes(budget)
    raise TooHard  # with one dim each there are no sizes; with other numbers of dims none were looked for


class _Question:
    """The predicates of one group, as formulas.

    Attributes:
        translations: What the predicates mean.
        names: Their variables.
        assumptions: Formulas with the bits of the predicates that they come from.
        powers: Fresh variables that are powers.
        pretended: The bit of what is pretended, so that sizes can be found: that a variadic has one dim.
        singles: What is pretended.
    """

    def __init__(self, translations: Sequence[Translation], kinds: Mapping[str, VariableKind]) -> None:
        self.translations = translations
        self.names = list(dict.fromkeys(name for translation in translations for name in translation.names))
        self.powers: dict[str, Power] = {}
        self.pretended = 1 << len(translations)
        self.singles: list[tuple[Formula, int]] = []
        self.assumptions: list[tuple[Formula, int]] = []
        natural = {name for name in self.names if kinds.get(name) not in (None, VariableKind.INT)}
        definitions: dict[str, Formula] = {}
        for bit, translation in enumerate(translations):
            definitions.update(translation.definitions)
            self.powers.update(translation.powers)
            self.assumptions.append((translation.formula, 1 << bit))
            for of_all, name in translation.variadic.items():
                self.singles.append((atom(EQ, {(of_all,): 1, (name,): -1}), self.pretended))
                if name in natural:
                    definitions[of_all] = atom(GE, {(of_all,): 1})
        self.assumptions += [(formula, 0) for formula in definitions.values()]
        self.assumptions += [(atom(GE, {(name,): 1}), 0) for name in self.names if name in natural]

    def sizes(self, budget: Budget) -> dict[str, int]:
        """Returns sizes that satisfy all predicates: first without what is costly, then with it.

        Raises:
            Clash: There are none.
            TooHard: Neither was found.
        """
        if not any(translation.nonlinear for translation in self.translations):
            return self.named(self.engine(budget).run([*self.assumptions, *self.singles]))
        first = Budget(budget.left * 3 // 5)
        budget.left -= first.left
        try:
            return self.named(self.engine(first).run([*self.assumptions, *self.singles]))
        except TooHard:
            pass
        finally:
            budget.left += max(0, first.left)
        engine = self.engine(budget)
        engine.products.substitutes = True
        return self.named(engine.run([*self.assumptions, *self.singles]))

    def engine(self, budget: Budget) -> Engine:
        """Returns an engine that has not yet assumed anything."""
        return Engine(budget, self.confirm, len(self.translations) + 1, self.powers)

    def confirm(self, model: Mapping[Monomial, int]) -> bool:
        """Returns whether ``model`` satisfies the predicates as they were written."""
        sizes = self.named(model)
        try:
            return all(holds(translation.written, sizes) for translation in self.translations)
        except ZeroDivisionError:
            return False

    def named(self, model: Mapping[Monomial, int]) -> dict[str, int]:
        """Returns the sizes in ``model``."""
        return {name: model.get((name,), 0) for name in self.names}
