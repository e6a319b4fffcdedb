"""Rows of sizes, and what a column holds in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...profiles.histogram import Sizes
from .merged import Column
from .relations import Values


class Row(NamedTuple):
    """Calls of one structure and of the same sizes; ``times`` is 0 where the row was only noted."""

    structure: int
    sizes: Sizes
    times: int


def values_of(column: Column, rows: Sequence[Row]) -> Values:
    """Returns the value of a column in each row: None where it has none, or several that differ."""
    found: list[int | None] = []
    for row in rows:
        at = column.at.get(row.structure, ())
        if len(at) == 1:
            found.append(row.sizes[at[0]])
        else:
            own = {row.sizes[index] for index in at}
            found.append(own.pop() if len(own) == 1 else None)
    return tuple(found)


def is_ragged(column: Column, values: Values, rows: Sequence[Row]) -> bool:
    """Returns whether a column of repeated elements differs within a call."""
    return any(value is None and column.at.get(row.structure) for value, row in zip(values, rows, strict=True))


__all__ = ["Row", "is_ragged", "values_of"]
