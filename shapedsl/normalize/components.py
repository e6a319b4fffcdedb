"""Split predicates into parts that have no variable in common: each can be reasoned about alone."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Dim, Predicate
from ..ir.walk import free_vars


def components(predicates: Sequence[Dim | Predicate]) -> list[list[int]]:
    """Returns the indices of ``predicates`` (or dims), grouped by shared variables, in the order of their first member."""
    parent = list(range(len(predicates)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    seen: dict[str, int] = {}
    for at, predicate in enumerate(predicates):
        for name in free_vars(predicate):
            first, mine = root(seen.setdefault(name, at)), root(at)
            parent[max(first, mine)] = min(first, mine)
    groups: dict[int, list[int]] = {}
    for at in range(len(predicates)):
        groups.setdefault(root(at), []).append(at)
    return list(groups.values())
