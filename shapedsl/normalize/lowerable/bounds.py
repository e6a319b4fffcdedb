"""Say upper bounds below 2 so that torch keeps them.

torch never learns that a size is 0 or 1 for certain: it widens a range that ends at 1 to end at 2
(``ShapeEnv._update_var_to_range``, 2.14.1), and what it made then accepts 2. ``B < 2`` is dropped too,
since the bound implies it; that it is not 2 is kept as an assertion.

A size that equals an expression of such a one must not be bounded itself: torch would compare its
range with that of the expression, find the widened one outside, and fail with an internal
AssertionError, also where the bound stands behind the equality, since an equality waits for the last
of its sizes. So the expression is bounded instead. Only these: torch decides more from ranges than
from assumptions, and ``B`` in ``u == B % 2`` keeps its own.

Before::

    B in [0, 1], u in [2, 5], u == 3 * B + 2

After::

    B in [0, 1], u in [0, inf], B != 2, u == 3 * B + 2, 3 * B + 2 >= 2, 3 * B + 2 <= 5
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...ir import COMPARISONS, Compare, Const, Predicate, Size, Var, VariableKind
from ...ir.expanded import TorchVariable
from ...ir.walk import free_vars, substitute_size
from ..algebra import TooLarge, difference
from ..polynomial import linear_atoms


def small_bounds(variables: Iterable[TorchVariable]) -> Iterator[Predicate]:
    """Yields ``B != 2`` for each size that is at most 1."""
    for variable in variables:
        if _is_small(variable):
            yield Compare(COMPARISONS["!="], Var(variable.name), Const(2))


def late_bounds(
    variables: Sequence[TorchVariable], assumptions: Iterable[Predicate]
) -> tuple[tuple[TorchVariable, ...], list[Predicate]]:
    """Returns ``variables``, those that equalities tie to a size of at most 1 without a range, and these ranges."""
    small = {variable.name for variable in variables if _is_small(variable)}
    if not small:
        return tuple(variables), []
    equalities = [each for each in assumptions if isinstance(each, Compare) and each.op.name == "=="]
    ties = [_tie(each) for each in equalities]
    tied = set(small)
    while more := {name for names, solved in ties for name in solved if (names - {name}) & tied} - tied:
        tied |= more
    changed: list[TorchVariable] = []
    late: list[Predicate] = []
    for variable in variables:
        if variable.name in tied - small:
            for op, bound in ((">=", variable.low), ("<=", variable.high)):
                if bound is not None:
                    told = _in_terms_of_others(Var(variable.name), equalities, tied - small)
                    late.append(Compare(COMPARISONS[op], told, Const(bound)))
            variable = replace(variable, low=0 if variable.kind is VariableKind.DIM else None, high=None)
        changed.append(variable)
    return tuple(changed), late


def _in_terms_of_others(size: Size, equalities: Sequence[Compare], tied: set[str]) -> Size:
    """Returns ``size`` with each variable of ``tied`` replaced by what an equality says it is, as far as they say."""
    for name in sorted(tied & set(free_vars(size))):
        for each in equalities:
            for side, other in ((each.left, each.right), (each.right, each.left)):
                if side == Var(name) and name not in free_vars(other):
                    return _in_terms_of_others(substitute_size(size, {name: other}), equalities, tied - {name})
    return size


def _tie(equality: Compare) -> tuple[set[str], set[str]]:
    """Returns the names in ``equality``, and those that torch may replace by the rest of it."""
    names = set(free_vars(equality))
    try:
        atoms = linear_atoms(difference(equality.left, equality.right))
    except TooLarge:
        return names, names
    return names, {atom.name for atom in atoms if isinstance(atom, Var)}


def _is_small(variable: TorchVariable) -> bool:
    return variable.kind is VariableKind.DIM and variable.high is not None and variable.high < 2
