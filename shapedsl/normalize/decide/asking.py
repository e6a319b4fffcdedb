"""Ask for sizes: the engine, then all sizes where they are few, then without defined variables, then z3 if there is one.

Each is asked only if the one before it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...ir import Predicate, Variable
from . import smt
from .budget import Budget
from .definitions import Answer, replaced
from .search import WORK
from .search import sizes_or_core as engine
from .small import tried
from .verdict import Unknown


def find_sizes(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> Mapping[str, int] | Unknown | None:
    """Returns sizes that satisfy ``predicates``, None if there are none, or why neither was found.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try.
    """
    found = sizes_or_core(variables, predicates, work=work)
    return None if isinstance(found, tuple) else found


def sizes_or_core(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int | Budget = WORK
) -> Answer:
    """Returns sizes that satisfy ``predicates``, or which of them cannot hold together, or why neither was found.

    The indices ascend. They are those that a refutation used, which need not be minimal.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try; of a `Budget`, what is used is taken. With less than `WORK` z3 is not asked.
    """
    known = tuple(variables)
    budget = Budget(work) if isinstance(work, int) else work
    units = budget.left
    found = searched(known, predicates, budget)
    if not isinstance(found, Unknown) or units < WORK:
        return found
    consulted = smt.consulted(found, known, predicates, work=units)
    return tuple(range(len(predicates))) if consulted is None else consulted


def searched(variables: Sequence[Variable], predicates: Sequence[Predicate], budget: Budget) -> Answer:
    """Like `sizes_or_core`, without z3."""
    units = budget.left
    found = engine(variables, predicates, work=budget)
    if not isinstance(found, Unknown):
        return found
    unknown = found
    found = _aside(budget, units // 2, lambda more: tried(variables, predicates, unknown, more))
    if not isinstance(found, Unknown):
        return found
    return _aside(budget, units // 2, lambda more: replaced(variables, predicates, unknown, more, _search))


def _aside(budget: Budget, units: int, ask: Callable[[Budget], Answer]) -> Answer:
    """Asks with ``units``, which come on top of what ``budget`` has left, and takes from ``budget`` what was used."""
    spending = Budget(units)
    answer = ask(spending)
    budget.left -= units - spending.left
    return answer


def _search(variables: Sequence[Variable], predicates: Sequence[Predicate], budget: Budget) -> Answer:
    return engine(variables, predicates, work=budget)
