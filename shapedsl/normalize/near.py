"""Sizes that satisfy a spec where they are easily found, and sizes near them that break one predicate.

Most specs are satisfied by the smallest sizes that propagation leaves, those that an equality defines
computed. To see that one predicate does not follow from others it is mostly enough to move one of its
variables a little, or just past the predicate's bound. Both cost a fraction of deciding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf

from ..ir import Compare, Predicate, Size, Var, Variable, VariableKind
from ..ir.walk import evaluate, free_vars, holds
from .domains import Domains

_UNDEFINED = (ZeroDivisionError, TypeError, KeyError)  # a variadic has no size of its own


def smallest_sizes(domains: Domains, predicates: Sequence[Predicate]) -> dict[str, int] | None:
    """Returns the smallest sizes in ``domains``, defined ones computed, if they satisfy canonical ``predicates``."""
    sizes = {name: int(d.low if d.low > -inf else min(0, d.high)) for name, d in domains.of.items()}
    try:
        for name, size in _definitions(predicates):
            sizes[name] = evaluate(size, sizes)
        fits = all(sizes[name] >= domain.low for name, domain in domains.of.items())
        return sizes if fits and all(holds(predicate, sizes) for predicate in predicates) else None
    except _UNDEFINED:
        return None


def is_broken_near(
    predicate: Predicate, given: Sequence[Predicate], variables: Iterable[Variable], sizes: Mapping[str, int]
) -> bool:
    """Returns whether some sizes near ``sizes`` satisfy ``given`` and not ``predicate``: then it does not follow.

    Args:
        predicate: Canonical.
        given: Canonical.
        variables: Those of all predicates.
        sizes: They satisfy all of it.
    """
    definitions = list(_definitions(given))
    floors = [(v.name, 0) for v in variables if v.kind is not VariableKind.INT]
    for name, value in _moves(predicate, sizes):
        moved = {**sizes, name: value}
        try:
            for defined, size in definitions:
                if defined != name:
                    moved[defined] = evaluate(size, moved)
            if any(moved[each] < floor for each, floor in floors) or holds(predicate, moved):
                continue
            if all(holds(other, moved) for other in given):
                return True
        except _UNDEFINED:
            continue
    return False


def _definitions(predicates: Iterable[Predicate]) -> Iterator[tuple[str, Size]]:
    for predicate in predicates:
        match predicate:
            case Compare(op=op, left=Var(name=name), right=right) if op.name == "==":
                yield name, right
            case _:
                pass


def _moves(predicate: Predicate, sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yields a variable of ``predicate`` and a value at which it may no longer hold."""
    steps = [1, -1]
    if isinstance(predicate, Compare):
        try:
            gap = abs(evaluate(predicate.right, sizes) - evaluate(predicate.left, sizes))
        except _UNDEFINED:
            gap = 0
        steps = [gap + 1, -gap - 1, *(steps if gap else ())]
    for name in dict.fromkeys(free_vars(predicate)):
        if name in sizes:
            yield from ((name, sizes[name] + step) for step in steps)
