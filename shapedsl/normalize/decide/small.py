"""Try all sizes where there are few: what products and quotients hide from reasoning, counting finds.

Variables get values one after the other, in the order of their names and the smallest values first, so
what is found is the smallest. A predicate is evaluated as soon as all of its variables have a value.

Before::

    A in [1, 9], B in [1, 9], A**3 + B % A == 3 * B * B

After: at most 81 pairs are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir import Predicate, Variable, VariableKind
from ...ir.walk import holds, nodes
from ..components import components
from .box import Box
from .budget import Budget, TooHard
from .clash import Clash
from .translate import Translation, translate
from .verdict import Unknown

MOST_VALUES = 4096  # of one variable
UNITS = 10  # of work, at least, for one predicate that is evaluated; more for a long one


def tried(
    variables: Iterable[Variable], predicates: Sequence[Predicate], unknown: Unknown, budget: Budget
) -> Mapping[str, int] | Unknown | tuple[int, ...]:
    """Returns the smallest sizes that satisfy ``predicates``, or which cannot hold together, or ``unknown``.

    Only where every variable of a connected part has few values and the budget suffices to try them.

    Args:
        variables: Their kinds count.
        predicates: Any predicates.
        unknown: What is answered where there are too many sizes.
        budget: How hard to try.
    """
    kinds = {variable.name: variable.kind for variable in variables}
    sizes = dict.fromkeys(kinds, 0)
    complete = True
    translations = list(map(translate, predicates))
    for group in components(predicates):
        part = [translations[at] for at in group]
        try:
            found = _Trial(part, kinds, budget).run()
        except Clash as clash:
            return tuple(at for bit, at in enumerate(group) if clash.why >> bit & 1)
        except TooHard:
            complete = False
            continue
        if found is None:
            return tuple(group)
        sizes.update(found)
    return sizes if complete else unknown


@dataclass(slots=True)
class _Trial:
    """One connected part.

    Attributes:
        translations: Of what has to hold.
        kinds: Of the variables.
        budget: What is left of the work.
        steps: For each variable, its values and the predicates that can be evaluated once it has one,
            each with the work that takes.
    """

    translations: Sequence[Translation]
    kinds: Mapping[str, VariableKind]
    budget: Budget
    steps: list[tuple[str, list[int], list[tuple[Predicate, int]]]] = field(
        default_factory=list[tuple[str, list[int], list[tuple[Predicate, int]]]]
    )

    def run(self) -> dict[str, int] | None:
        """Returns the smallest sizes, or None if there are none.

        Raises:
            Clash: There are none, for some of the predicates alone.
            TooHard: There are too many to be tried.
        """
        if any(translation.variadic for translation in self.translations):
            raise TooHard  # any number of dims is more than can be tried
        single = [(each.written, max(UNITS, sum(1 for _ in nodes(each.written)))) for each in self.translations]
        used = [set(translation.names) for translation in self.translations]
        names = sorted(set[str]().union(*used))
        values = self.values(names)
        known: set[str] = set()
        for name in names:
            known.add(name)
            ready = [each for each, its in zip(single, used, strict=True) if name in its and its <= known]
            self.steps.append((name, values[name], ready))
        sizes: dict[str, int] = {}
        if not all(self.holds(*each, sizes) for each, its in zip(single, used, strict=True) if not its):
            return None
        return sizes if self.assign(0, sizes) else None

    def values(self, names: Sequence[str]) -> dict[str, list[int]]:
        """Returns what propagation leaves of each variable, nearest to 0 first."""
        box = Box(self.budget)
        for name in names:
            if self.kinds.get(name, VariableKind.INT) is not VariableKind.INT:
                box.raise_low((name,), 0, 0)
        for bit, translation in enumerate(self.translations):
            box.assume(translation.formula, 1 << bit)
            for formula in translation.definitions.values():
                box.assume(formula, 0)
        box.propagate()
        found: dict[str, list[int]] = {}
        for name in names:
            low, high = box.lows.get((name,)), box.highs.get((name,))
            modulus, residue, _ = box.residues.get((name,), (1, 0, 0))
            if low is None or high is None or high[0] - low[0] > MOST_VALUES * modulus:
                raise TooHard
            first = low[0] + (residue - low[0]) % modulus
            found[name] = sorted(range(first, high[0] + 1, modulus), key=lambda value: (abs(value), value < 0))
        return found

    def assign(self, at: int, sizes: dict[str, int]) -> bool:
        """Gives values to the variables from the one at ``at`` on; returns whether some satisfy everything."""
        if at == len(self.steps):
            return True
        name, values, ready = self.steps[at]
        for value in values:
            sizes[name] = value
            if all(self.holds(*predicate, sizes) for predicate in ready) and self.assign(at + 1, sizes):
                return True
        del sizes[name]
        return False

    def holds(self, predicate: Predicate, units: int, sizes: Mapping[str, int]) -> bool:
        """Returns whether ``predicate`` holds; where a divisor is 0, it does not.

        Raises:
            OutOfBudget: There is no work left.
        """
        self.budget.spend(units)
        try:
            return holds(predicate, sizes)
        except (ZeroDivisionError, TypeError):
            return False
