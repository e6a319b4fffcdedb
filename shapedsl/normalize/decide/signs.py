"""Ask again for each sign of the variables that stand most often: products and quotients say more where signs are known.

Before::

    A * cdiv(A, 16) < 0

After: nothing with ``A <= -1``, nothing with ``A == 0``, nothing with ``A >= 1``; so nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product

from ...ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from ...ir.walk import free_vars
from .budget import Budget
from .definitions import Answer
from .verdict import Unknown

MOST_SPLIT = 2  # variables


def by_sign(
    variables: Sequence[Variable],
    predicates: Sequence[Predicate],
    unknown: Unknown,
    budget: Budget,
    search: Callable[[Sequence[Variable], Sequence[Predicate], Budget], Answer],
) -> Answer:
    """Returns what ``search`` says of ``predicates`` for all signs together; else ``unknown``.

    Args:
        variables: Their kinds count.
        predicates: Without variadics: those are no one variable.
        unknown: What is answered where that does not help.
        budget: How hard to try, for all signs together.
        search: Looks for sizes, or for predicates that cannot hold together.
    """
    kinds = {variable.name: variable.kind for variable in variables}
    uses = Counter(name for predicate in predicates for name in free_vars(predicate))
    names = sorted(uses, key=lambda name: (-uses[name], name))[:MOST_SPLIT]
    signs = [_signs(name, kinds) for name in names]
    core: set[int] = set()
    decided = True
    cases = list(product(*signs))
    for case in cases:
        spending = Budget(min(budget.left, budget.left // len(cases) * 2))
        units = spending.left
        answer = search(variables, [*predicates, *case], spending)
        budget.left -= units - spending.left
        if isinstance(answer, Mapping):
            return answer
        if isinstance(answer, Unknown):
            decided = False
        else:
            core.update(at for at in answer if at < len(predicates))
    return tuple(sorted(core)) if decided else unknown


def _signs(name: str, kinds: Mapping[str, VariableKind]) -> list[Predicate]:
    """Returns cases of which one holds."""
    below, none, above = (
        Compare(COMPARISONS[op], Var(name), Const(value)) for op, value in (("<=", -1), ("==", 0), (">=", 1))
    )
    return [below, none, above] if kinds.get(name, VariableKind.INT) is VariableKind.INT else [none, above]
