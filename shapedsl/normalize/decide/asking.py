"""Ask for sizes: the engine, and where it does not know, others in turn.

All sizes are tried where they are few (`small`); the engine is asked again without defined variables
(`definitions`) and for each sign (`signs`); at last z3 is asked, if it is installed (`smt`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from ...ir import Predicate, Variable
from . import smt
from .budget import Budget
from .definitions import Answer, replaced
from .search import WORK
from .search import sizes_or_core as engine
from .signs import by_sign
from .small import tried
from .translate import translate
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
    if smt.enabled() and smt.installed():
        budget.left -= units  # z3's work counts like the engine's
    return tuple(range(len(predicates))) if consulted is None else consulted


def searched(variables: Sequence[Variable], predicates: Sequence[Predicate], budget: Budget) -> Answer:
    """Like `sizes_or_core`, without z3."""
    units = budget.left
    found = engine(variables, predicates, work=budget)
    if not isinstance(found, Unknown):
        return found
    unknown = found
    ways: list[Callable[[Budget], Answer]] = [partial(tried, variables, predicates, unknown)]
    if all(translate(predicate).written == predicate for predicate in predicates):  # a variadic is no one variable
        ways += [partial(way, variables, predicates, unknown, search=_search) for way in (replaced, by_sign)]
    for way in ways:
        spending = Budget(units // 2)  # on top of what the engine used
        found = way(spending)
        budget.left -= units // 2 - spending.left
        if not isinstance(found, Unknown):
            return found
    return unknown


def _search(variables: Sequence[Variable], predicates: Sequence[Predicate], budget: Budget) -> Answer:
    return engine(variables, predicates, work=budget)
