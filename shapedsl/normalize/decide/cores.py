"""Find a smallest set of constraints that cannot hold together, by deleting for as long as the rest clash.

The search starts from the constraints that the engine's refutation used, and goes on from what each
further refutation used; many are deleted at once first. Every constraint that is left has been shown to be needed: sizes were found
that satisfy all of the others, or at least no contradiction of the others. Sizes settle it for good;
where the engine only gave up, it is asked again once the set has become smaller. The work is limited for
each set and for all together; what was not looked at by then stays.

Of several cores among those constraints the one is found whose last constraint comes first, so the caller
orders: what a user wrote before what only follows from a declaration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...ir import Predicate, Variable
from .asking import sizes_or_core
from .budget import Budget
from .search import WORK
from .verdict import Unknown

MOST_TIMES = 5  # the work for one set that all sets together may take


def minimal_core(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> tuple[int, ...] | None:
    """Returns which of ``predicates`` cannot hold together, ascending, or None if that was not found.

    It is deletion-minimal: without any one of them no contradiction is found.

    Args:
        variables: Their kinds count.
        predicates: Any predicates.
        work: How hard to try, for one set of predicates.
    """
    known = tuple(variables)
    found = sizes_or_core(known, predicates, work=work)
    return minimized(known, predicates, found, work=work) if isinstance(found, tuple) else None


def minimized(
    variables: Sequence[Variable],
    predicates: Sequence[Predicate],
    core: Iterable[int],
    *,
    work: int = WORK,
    kept: Iterable[int] = (),
) -> tuple[int, ...]:
    """Returns which of ``core`` cannot hold together, ascending; deletion-minimal but for ``kept``.

    Args:
        variables: Their kinds count.
        predicates: Any predicates.
        core: Indices, ascending; these predicates cannot hold together.
        work: How hard to try, for one set of predicates.
        kept: Indices that are not left out.
    """
    question = _Question(tuple(variables), predicates, Budget(work * MOST_TIMES), work, set(kept))
    smallest = list(core)
    for allowance in (work // 10, work):  # most sets are easy; only what then is left is worth more
        question.allowance = allowance
        size = len(smallest) // 2
        while size > 1:
            smallest = question.without_runs(smallest, size)
            size = min(size, len(smallest)) // 2
        before = len(smallest) + 1
        while len(smallest) < before:
            before = len(smallest)
            smallest = question.without_runs(smallest, 1)
    return tuple(smallest)


@dataclass(slots=True)
class _Question:
    """Whether some of the predicates clash.

    Attributes:
        variables: Their kinds count.
        predicates: All of them.
        budget: What is left for all sets together.
        allowance: How hard to try for one set.
        needed: Each of these was left out, and sizes were found: without it nothing smaller clashes either.
    """

    variables: tuple[Variable, ...]
    predicates: Sequence[Predicate]
    budget: Budget
    allowance: int
    needed: set[int]

    def clash(self, chosen: Sequence[int], without: Sequence[int] = ()) -> list[int] | None:
        """Returns which of ``chosen``, none of them in ``without``, cannot hold together; None if that is not found."""
        allowance = min(self.allowance, self.budget.left)
        if allowance <= 0:
            return None
        spending = Budget(allowance)
        kept = [at for at in chosen if at not in without]
        answer = sizes_or_core(self.variables, [self.predicates[at] for at in kept], work=spending)
        self.budget.left -= allowance - spending.left
        if isinstance(answer, tuple):
            return [kept[at] for at in answer]
        if len(without) == 1 and not isinstance(answer, Unknown):
            self.needed.update(without)
        return None

    def without_runs(self, core: list[int], size: int) -> list[int]:
        """Returns ``core`` without those runs of ``size`` constraints, the last first, that it clashes without."""
        end = len(core)
        while end > 0:
            run = core[max(0, end - size) : end]
            smaller = self.clash(core, run) if self.needed.isdisjoint(run) else None
            if smaller is not None:
                end = sum(at < run[0] for at in smaller)
                core = smaller
            else:
                end -= len(run)
        return core
