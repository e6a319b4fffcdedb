"""Dims for which two sources have different expressions: what a name stands for, and what remains to assume.

Before (``N`` stands in no other parameter)::

    x: Tensor[B]     and     x: Tensor[N]: where N > 2

After::

    x: Tensor[B]: where B > 2
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ...ir import COMPARISONS, Compare, Constraint, Size, Var
from ...ir.walk import free_vars, substitute_size
from ..assemble import constraints_of


class Equality(NamedTuple):
    """Two expressions of one dim; the first one stands in the type."""

    first: Size
    second: Size

    def constraint(self) -> Constraint:
        """Returns the constraint that they are equal, with both places."""
        equal = Compare(COMPARISONS["=="], self.first, self.second, self.first.span)
        notes = () if self.second.span is None else ((self.second.span, "the other source"),)
        (constraint,) = constraints_of(equal, span=self.first.span, notes=notes)
        return constraint


def eliminate(
    equalities: Iterable[Equality], bound: Iterable[str], declared: Collection[str]
) -> tuple[dict[str, Size], list[Equality]]:
    """Tells equalities that only rename from those that constrain.

    A name that stood only in dims which another source's expression replaced is bound by no parameter
    any more; it is a name for that expression.

    Args:
        equalities: From `unify`.
        bound: The names in the parameters' types.
        declared: Names that are declared; they are not taken for others.

    Returns:
        What a name stands for, where it is one; and the equalities that remain.
    """
    meaning: dict[str, Size] = {}
    known = {*bound, *declared}
    rest: list[Equality] = []
    for first, second in equalities:
        first, second = substitute_size(first, meaning), substitute_size(second, meaning)
        if first == second:
            continue
        if known.issuperset(free_vars(second)):
            rest.append(Equality(first, second))
        elif isinstance(second, Var):
            meaning[second.name] = first
        elif isinstance(first, Var) and first.name not in declared and first.name not in set(free_vars(second)):
            known -= {first.name}
            known.update(free_vars(second))
            known_as: dict[str, Size] = {first.name: second}
            meaning = {name: substitute_size(size, known_as) for name, size in meaning.items()} | known_as
        else:
            rest.append(Equality(first, second))
    return meaning, [Equality(*(substitute_size(side, meaning) for side in pair)) for pair in rest]


__all__ = ["Equality", "eliminate"]
