"""What valid data is, by ``values`` clauses: which of them speak of a tensor, and which sizes leave any valid data at all.

Before::

    def f(ids: int64[B], w: Tensor[V]): values ids in [0, V - 1]

After: ``0 <= V - 1 or B == 0`` has to hold for there to be an example.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, cast

from ..ir import COMPARISONS, And, Compare, Const, Dim, Or, Predicate, Signature, Size, Static, Values
from ..ir.expanded import Expanded, Leaf
from ..ir.walk import free_vars

_LE: Final = COMPARISONS["<="]
_EQ: Final = COMPARISONS["=="]
_NE: Final = COMPARISONS["!="]


def values_at(signature: Signature, leaf: Leaf) -> list[Values]:
    """Returns what is said of the data at ``leaf``: its own clauses, and those of the containers around it."""
    return [
        values
        for values in signature.values
        if values.path.root == leaf.path.root and leaf.path.steps[: len(values.path.steps)] == values.path.steps
    ]


def possible_values(
    expanded: Expanded, known: Collection[str], skip: Collection[str] = ()
) -> list[tuple[Values, Predicate]]:
    """Returns what the sizes must satisfy for valid data to exist, with the clause that asks for it.

    Args:
        expanded: At the structure of the example.
        known: The names that have a value there; what a clause says with others is left out.
        skip: Parameters that are given: their data are what they are.
    """
    found: list[tuple[Values, Predicate]] = []
    for leaf in expanded.leaves:
        if leaf.path.root in skip or any(isinstance(dim, Static) for dim in leaf.dims):
            continue
        found += [
            (values, _possible(values, leaf))
            for values in values_at(expanded.signature, leaf)
            if set(known).issuperset((*free_vars(values.low), *free_vars(values.high)))
        ]
    return found


def _possible(values: Values, leaf: Leaf) -> Predicate:
    low, high = values.low, values.high
    ordered: Predicate = Compare(_LE, low, high)
    held = None if leaf.dtype is None else _range_of(leaf.dtype.name)
    if held is not None and values.sorted:  # both ends occur
        ordered = And((ordered, Compare(_LE, Const(held[0]), low), Compare(_LE, high, Const(held[1]))))
    elif held is not None:
        ordered = And((ordered, Compare(_LE, Const(held[0]), high), Compare(_LE, low, Const(held[1]))))
    if leaf.scalar:
        size = _size(leaf.dims[0])
        return And((Compare(_LE, low, size), Compare(_LE, size, high)))
    empty = [Compare(_EQ, _size(dim), Const(0)) for dim in leaf.dims]
    if not values.sorted:
        return Or((ordered, *empty))
    if not leaf.dims:
        return Compare(_EQ, low, high)
    last = _size(leaf.dims[-1])  # one element is the first and the last
    return Or((And((ordered, Compare(_NE, last, Const(1)))), Compare(_EQ, low, high), *empty))


def _range_of(dtype: str) -> tuple[int, int] | None:
    """Returns what an integer dtype can hold; None of any other, and of what holds all sizes."""
    found = re.fullmatch(r"(u?)int(\d+)", dtype)
    if found is None or found[2] == "64":
        return (0, 2**63 - 1) if dtype == "uint64" else None
    bits = int(found[2])
    return (0, 2**bits - 1) if found[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _size(dim: Dim) -> Size:
    return cast("Size", dim)  # an expanded leaf has sizes and `_` only


__all__ = ["possible_values", "values_at"]
