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
from .translate import Translation, translate
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
    for group in reversed(_groups(translations)):
        try:
            sizes.update(_search([translations[at] for at in group], kinds, budget))
        except Clash as clash:
            return tuple(at for bit, at in enumerate(group) if clash.why >> bit & 1)
        except OutOfBudget:
            return Unknown("it would take too long to decide")
        except TooHard:  # another part may have no sizes at all
            unknown = Unknown("sizes are multiplied or divided by each other")
    return unknown or sizes


def _groups(translations: Sequence[Translation]) -> list[list[int]]:
    """Returns the indices of predicates, grouped by shared variables; groups in the order of their last member."""
    groups: dict[int, list[int]] = {}  # by their last member
    owners: dict[str, int] = {}
    for at, translation in enumerate(translations):
        joined = {owners[name] for name in translation.names if name in owners}
        members = sorted(member for owner in joined for member in groups.pop(owner)) if joined else []
        for member in members:
            owners.update(dict.fromkeys(translations[member].names, at))
        owners.update(dict.fromkeys(translation.names, at))
        groups[at] = [*members, at]
    return list(groups.values())


def _search(translations: Sequence[Translation], kinds: Mapping[str, VariableKind], budget: Budget) -> dict[str, int]:
    """Returns sizes that satisfy predicates of one group.

    Raises:
        Clash: There are none.
        TooHard: Neither was found.
    """
    names = list(dict.fromkeys(name for translation in translations for name in translation.names))
    budget.spend(20 * len(translations) + 10)
    definitions: dict[str, Formula] = {}
    assumptions: list[tuple[Formula, int]] = []

    def confirm(model: Mapping[Monomial, int]) -> bool:
        sizes = {name: model.get((name,), 0) for name in names}
        budget.spend(4 * len(translations))
        try:
            return all(holds(translation.written, sizes) for translation in translations)
        except ZeroDivisionError:
            return False

    pretended = 1 << len(translations)  # that a variadic has one dim: then sizes can be found
    engine = Engine(budget, confirm, len(translations) + 1)
    singles: list[tuple[Formula, int]] = []
    for bit, translation in enumerate(translations):
        definitions.update(translation.definitions)
        engine.powers.update(translation.powers)
        assumptions.append((translation.formula, 1 << bit))
        for of_all, name in translation.variadic.items():
            singles.append((atom(EQ, {(of_all,): 1, (name,): -1}), pretended))
            if kinds.get(name) not in (None, VariableKind.INT):
                definitions[of_all] = atom(GE, {(of_all,): 1})
    assumptions += [(formula, 0) for formula in definitions.values()]
    assumptions += [(atom(GE, {(name,): 1}), 0) for name in names if kinds.get(name) not in (None, VariableKind.INT)]
    try:
        model = engine.run([*assumptions, *singles])
    except Clash as clash:
        if clash.why & pretended:
            Engine(budget, confirm, len(translations) + 1, engine.powers).run(assumptions)
            raise TooHard from None
        raise
    return {name: model.get((name,), 0) for name in names}
