"""Ask the decision procedure, each question once, and of no more than it depends on.

The structures of one comparison differ in a few parts, and most questions are the same at each. So what
is known is split into groups without a variable in common, a question is asked of the groups that it
speaks of, and the answer is kept. A refutation is completed by sizes for the other groups, which are
found once too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...diagnostics import Report
from ...ir import Dim, Predicate, Size, Static, Var, Variable
from ...ir.expanded import Expanded
from ...ir.walk import free_vars, substitute_size
from ..components import components
from ..decide import Proved, Refuted, Unknown, Verdict, decide, find_sizes, range_of
from ..lowerable import solve

Found: TypeAlias = "Mapping[str, int] | Unknown | None"


@dataclass(frozen=True, slots=True)
class Group:
    """What is known of some variables."""

    variables: tuple[Variable, ...]
    given: tuple[Predicate, ...]


class Known:
    """Predicates over variables, in groups without a variable in common.

    Attributes:
        groups: In the order of their first variable.
    """

    __slots__ = ("_of", "groups")

    def __init__(self, variables: Sequence[Variable], given: Sequence[Predicate]) -> None:
        nodes: list[Dim | Predicate] = list(given)
        self._of: dict[str, int] = {}
        self.groups: list[Group] = []
        by_name = {variable.name: variable for variable in variables}
        for members in components(nodes):
            names = dict.fromkeys(name for at in members for name in free_vars(nodes[at]))
            self._add(tuple(by_name[name] for name in names), tuple(given[at] for at in members))
        for variable in variables:
            if variable.name not in self._of:
                self._add((variable,), ())

    def _add(self, variables: tuple[Variable, ...], given: tuple[Predicate, ...]) -> None:
        self._of.update((variable.name, len(self.groups)) for variable in variables)
        self.groups.append(Group(tuple(sorted(variables, key=lambda each: each.name)), given))

    def about(self, node: Size | Predicate) -> tuple[Group, list[Group]]:
        """Returns what is known of the variables of ``node``, and the other groups."""
        numbers = {self._of[name] for name in free_vars(node)}
        mine = [self.groups[at] for at in sorted(numbers)]
        joined = Group(
            tuple(variable for group in mine for variable in group.variables),
            tuple(predicate for group in mine for predicate in group.given),
        )
        return joined, [group for at, group in enumerate(self.groups) if at not in numbers]


@dataclass
class Asker:
    """The decision procedure, with a memory.

    Attributes:
        work: How hard it tries, for each question.
    """

    work: int
    _verdicts: dict[tuple[Group, Predicate], Verdict] = field(default_factory=dict[tuple[Group, Predicate], Verdict])
    _sizes: dict[Group, Found] = field(default_factory=dict[Group, Found])
    _solved: dict[object, Mapping[str, Size] | str] = field(default_factory=dict[object, "Mapping[str, Size] | str"])
    _pinned: dict[tuple[Group, Size], bool] = field(default_factory=dict[tuple[Group, Size], bool])

    def decide(self, known: Known, question: Predicate) -> Verdict:
        """Returns whether ``known``, which some sizes satisfy as far as is known, implies ``question``."""
        mine, others = known.about(question)
        key = mine, question
        if key not in self._verdicts:
            self._verdicts[key] = decide(mine.variables, mine.given, question, work=self.work)
        verdict = self._verdicts[key]
        if not isinstance(verdict, Refuted):
            return verdict
        rest = self._all(others)
        if rest is None:
            return Proved()
        return rest if isinstance(rest, Unknown) else Refuted(tuple(sorted([*verdict.witness, *rest.items()])))

    def sizes(self, known: Known) -> Found:
        """Returns sizes that satisfy ``known``; None if there are none."""
        return self._all(known.groups)

    def is_pinned(self, known: Known, size: Size) -> bool:
        """Returns whether ``size`` is known to be one number."""
        mine, _ = known.about(size)
        key = mine, size
        if key not in self._pinned:
            told = range_of(mine.variables, mine.given, size, work=self.work)
            self._pinned[key] = told is not None and told.low is not None and told.low == told.high
        return self._pinned[key]

    def solved(self, part: Expanded) -> Mapping[str, Size] | str:
        """Returns the variables of a part over variables named as its places are, or why they cannot be computed."""
        key = (
            tuple(
                (leaf.place(axis), dim) for leaf in part.leaves for axis, dim in enumerate(leaf.dims) if dim != Static()
            ),
            part.signature.constraints,
            part.lengths,
        )
        if key not in self._solved:
            self._solved[key] = _solved(part)
        return self._solved[key]

    def _all(self, groups: Sequence[Group]) -> Found:
        found: dict[str, int] = {}
        undecided: Unknown | None = None
        for group in groups:
            if group not in self._sizes:
                self._sizes[group] = find_sizes(group.variables, group.given, work=self.work)
            sizes = self._sizes[group]
            if sizes is None:
                return None
            if isinstance(sizes, Unknown):
                undecided = sizes
            else:
                found.update(sizes)
        return found if undecided is None else undecided


def _solved(part: Expanded) -> Mapping[str, Size] | str:
    report = Report()
    solved = solve(part, report)
    if solved is None or solved.solution is None:
        return report.errors[0].message if report.errors else "a variable cannot be computed"
    read: dict[str, Size] = {
        name: Var(part.leaves[number].place(axis)) for name, number, axis in solved.solution.readings
    }
    return {name: substitute_size(size, read) for name, size in solved.solution.definitions}
