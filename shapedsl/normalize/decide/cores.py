"""Find the smallest set of constraints that cannot hold together, by deleting one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ir import Predicate, Variable
from .search import WORK, find_sizes


def minimal_core(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> tuple[int, ...] | None:
    """Returns which of ``predicates`` cannot hold together, ascending, or None if that was not found.

    It is deletion-minimal: without any one of them no contradiction is found.

    Args:
        variables: Their kinds count.
        predicates: Any predicates.
        work: How hard to try, for each question.
    """
    known = tuple(variables)

    def clash(chosen: Sequence[int]) -> bool:
        return find_sizes(known, [predicates[at] for at in chosen], work=work) is None

    core = list(range(len(predicates)))
    if not clash(core):
        return None
    for at in range(len(predicates)):
        without = [each for each in core if each != at]
        if clash(without):
            core = without
    return tuple(core)
