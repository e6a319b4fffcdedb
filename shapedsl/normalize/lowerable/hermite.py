"""Solve rows with several unknowns together, in integers: by the Hermite normal form.

Before::

    2 * A + 3 * B == u          A + B == p          A + B == p
    A + B == v                  A - B == q          A - B == q
                                                    2 * A + B == r

After::

    A == 3 * v - u              2 * A == p + q      A == r - p
    B == u - 2 * v              2 * B == p - q      B == 2 * p - r        (3 * p + q == 2 * r is left to be told)

Rows are added to each other with integer factors only, so the form has the same integer solutions. An
unknown is determined exactly if it is alone in a row once the form is reduced upward too; what is left in
front of it is the divisor, and that it divides is the one thing integers need beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from ..polynomial import Monomial, Terms, add, scale


@dataclass(frozen=True, slots=True)
class Row:
    """``sum(coefficient * unknown) == known``; coefficients are not 0, ``known`` is over the slots' names."""

    unknowns: dict[Monomial, int]
    known: Terms

    def plus(self, other: Row, factor: int, times: int = 1) -> Row:
        """Returns ``times * self + factor * other``."""
        unknowns = {
            each: value
            for each in dict.fromkeys((*self.unknowns, *other.unknowns))
            if (value := times * self.unknowns.get(each, 0) + factor * other.unknowns.get(each, 0))
        }
        return Row(unknowns, add(scale(self.known, times), other.known, factor))


def hermite(rows: Iterable[Row]) -> list[tuple[Monomial, Row]]:
    """Returns the Hermite normal form of ``rows``: each row with its pivot, in echelon form.

    Pivots are positive, what stands above one is in ``[0, pivot)``, and rows that vanish are left out.
    Columns are in the order of first use.
    """
    left = list(rows)
    columns = dict.fromkeys(unknown for row in left for unknown in row.unknowns)
    done: list[tuple[Monomial, Row]] = []
    for column in columns:
        pivot, left = _gathered(left, column)
        if pivot is not None:
            done = [(name, row.plus(pivot, -_times(row, pivot, column))) for name, row in done]
            done.append((column, pivot))
    return done


def _gathered(rows: list[Row], column: Monomial) -> tuple[Row | None, list[Row]]:
    """Returns the one row that is left with ``column`` after Euclid's algorithm on rows, positive there, and the others."""
    having: list[Row] = [row for row in rows if column in row.unknowns]
    others = [row for row in rows if column not in row.unknowns]
    while len(having) > 1:
        least: Row = min(having, key=lambda row: abs(row.unknowns[column]))
        smaller: list[Row] = [row.plus(least, -_times(row, least, column)) for row in having if row is not least]
        having = [least, *(row for row in smaller if column in row.unknowns)]
        others += [row for row in smaller if column not in row.unknowns]
    if not having:
        return None, others
    (pivot,) = having
    return (pivot if pivot.unknowns[column] > 0 else Row({}, {}).plus(pivot, -1)), others


def _times(row: Row, pivot: Row, column: Monomial) -> int:
    return row.unknowns.get(column, 0) // pivot.unknowns[column]


def determined(rows: Sequence[Row]) -> list[tuple[Monomial, int, Terms]]:
    """Returns ``(unknown, divisor, known)`` for each unknown that ``rows`` determine: it is ``known / divisor``.

    The divisor is positive; its quotient may still be reduced.
    """
    form = hermite(rows)
    for at in range(len(form) - 1, -1, -1):
        column, pivot = form[at]
        for above in range(at):
            name, row = form[above]
            if mine := row.unknowns.get(column, 0):
                common = gcd(mine, pivot.unknowns[column])
                form[above] = name, row.plus(pivot, -mine // common, pivot.unknowns[column] // common)
    return [(name, row.unknowns[name], row.known) for name, row in form if len(row.unknowns) == 1]
