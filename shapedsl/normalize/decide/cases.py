"""Split the values of a variable into cases, where a model is wrong about its products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .box import Box
from .budget import TooHard
from .formula import EQ, GE, Formula, Monomial, Polynomial, atom, plus, value_of
from .translate import Power

FEW_VALUES: Final = 12  # a variable with no more is split into its values


def split(
    box: Box, model: Mapping[Monomial, int], wrong: Sequence[Monomial], powers: Mapping[str, Power]
) -> tuple[list[Formula], int, bool]:
    """Returns cases for the values of a variable, what they follow from, and whether it has few values.

    Raises:
        TooHard: There is none to split.
    """
    names = [name for column in wrong for name in column]
    names += [name for power in powers.values() for column, _ in (*power.exponent, *power.base) for name in column]
    best: tuple[int, int, str] | None = None
    for at, name in enumerate(dict.fromkeys(names)):
        low, high = box.lows.get((name,)), box.highs.get((name,))
        if low is not None and high is not None:
            if low[0] == high[0]:
                continue
            width = high[0] - low[0]
        else:
            width = 1 << 200 if low is not None or high is not None else 1 << 201
        if best is None or (width, at) < best[:2]:
            best = width, at, name
    if best is None:
        raise TooHard
    width, _, name = best
    column = (name,)
    low, high = box.lows.get(column), box.highs.get(column)
    if low is not None and high is not None and width < FEW_VALUES * _step(box, column):
        return *_values(box, column), True
    value = value_of(column, model)
    same: Polynomial = plus({column: 1}, {(): value} if value else {}, -1)
    below = atom(GE, plus({(): -1}, same, -1))
    above = atom(GE, plus(same, {(): -1}))
    cases = [atom(EQ, same)]
    if low is None or low[0] < value:
        cases.append(below)
        why = 0
    else:
        why = low[1]
    if high is None or high[0] > value:
        cases.append(above)
    else:
        why |= high[1]
    return cases, why, width < 64


def few_values(box: Box) -> tuple[list[Formula], int] | None:
    """Returns cases for the values of the variable with the fewest, if they are few, and what they follow from."""
    best: tuple[int, int, Monomial] | None = None
    seen = dict.fromkeys(column for constraint in box.constraints for column, _ in constraint.terms)
    for at, column in enumerate(seen):
        low, high = box.lows.get(column), box.highs.get(column)
        if low is None or high is None or low[0] == high[0]:
            continue
        width = (high[0] - low[0]) // _step(box, column)
        if width < FEW_VALUES and (best is None or (width, at) < best[:2]):
            best = width, at, column
    return None if best is None else _values(box, best[2])


def _values(box: Box, column: Monomial) -> tuple[list[Formula], int]:
    """Returns a case for each value of ``column``, and what they follow from."""
    low, high = box.lows[column], box.highs[column]
    values = range(low[0], high[0] + 1, _step(box, column))
    why = low[1] | high[1] | box.residues.get(column, (1, 0, 0))[2]
    return [atom(EQ, plus({column: 1}, {(): value}, -1)) for value in values], why


def _step(box: Box, column: Monomial) -> int:
    return box.residues.get(column, (1, 0, 0))[0]
