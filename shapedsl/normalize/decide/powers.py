"""Carry bounds between a power and its exponent, where the exponent is no number: ``2**N <= 100`` is ``N <= 6``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .box import Box
from .budget import TooHard
from .formula import EQ, Monomial, atom, plus
from .rows import Terms
from .translate import Power

LARGEST_POWER_BITS: Final = 512


def bound_powers(box: Box, powers: Mapping[str, Power]) -> bool:
    """Assumes what bounds say about powers; returns whether that is new."""
    moves = len(box.trail)
    for name, power in powers.items():
        base, exponent = _fixed(box, power.base), _fixed(box, power.exponent)
        if base is None:
            continue
        if exponent is not None:
            if exponent[0] < 0:
                continue  # it has no value, so nothing asks for it
            if exponent[0] * abs(base[0]).bit_length() > LARGEST_POWER_BITS:
                raise TooHard
            why = base[1] | exponent[1]
            box.assume(atom(EQ, plus({(name,): 1}, {(): base[0] ** exponent[0]}, -1)), why)
        elif base[0] >= 2 and len(power.exponent) == 1 and power.exponent[0][1] == 1:
            _bound_power(box, (name,), base, power.exponent[0][0])
    return len(box.trail) > moves


def _bound_power(box: Box, column: Monomial, base: tuple[int, int], exponent: Monomial) -> None:
    """Carries bounds from an exponent to its power and back; the base is a number above 1."""
    number, why = base
    low, high = box.lows.get(exponent), box.highs.get(exponent)
    if low is None or low[0] < 0:
        return  # it may have no value, where nothing asks for it
    why |= low[1]
    if low[0] <= LARGEST_POWER_BITS:
        box.raise_low(column, number ** low[0], why)
    if high is not None and high[0] <= LARGEST_POWER_BITS:
        box.lower_high(column, number ** high[0], why | high[1])
    top, bottom = box.highs.get(column), box.lows.get(column)
    if top is not None:
        box.lower_high(exponent, _logarithm(top[0], number), why | top[1])
    if bottom is not None:
        box.raise_low(exponent, _logarithm(bottom[0] - 1, number) + 1, why | bottom[1])


def _fixed(box: Box, terms: Terms) -> tuple[int, int] | None:
    total, why = 0, 0
    for column, value in terms:
        fixed = box.fixed(column) if column else (1, 0)
        if fixed is None:
            return None
        total += value * fixed[0]
        why |= fixed[1]
    return total, why


def _logarithm(number: int, base: int) -> int:
    """Returns the largest exponent with which ``base`` is at most ``number``; -1 if there is none."""
    exponent, power = -1, 1
    while power <= number:
        exponent, power = exponent + 1, power * base
    return exponent
