"""Arithmetic of values: what is not known gives what is not known, and a span shifts as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from . import sums
from .answers import Stop
from .values import UNKNOWN, Span, Unknown, Value, text


def arithmetic(op: str, left: Value, right: Value) -> Value:
    """Returns ``left op right`` of ints.

    Raises:
        Stop: They are none, or there is no result.
    """
    match left, right:
        case (int() | sums.Sum(), int() | sums.Sum()):
            return _ARITHMETIC[op](left, right)
        case (Unknown(), int() | sums.Sum() | Unknown()) | (int() | sums.Sum(), Unknown()):
            return UNKNOWN
        case (Span(start=start, length=length), int() | sums.Sum()) if op in "+-":
            return Span(_ARITHMETIC[op](start, right), length)
        case (int() | sums.Sum(), Span(start=start, length=length)) if op == "+":
            return Span(sums.add(left, start), length)
        case _:
            raise Stop(f"`{text(left)} {op} {text(right)}`")


def _power(base: sums.Number, exponent: sums.Number) -> sums.Number:
    if not isinstance(exponent, int) or not 0 <= exponent <= sums.MOST_TERMS:
        raise Stop("a power that is negative, too large or not known")
    return sums.multiply_all([base] * exponent)


_ARITHMETIC: Final[dict[str, Callable[[sums.Number, sums.Number], sums.Number]]] = {
    "+": sums.add,
    "-": sums.subtract,
    "*": sums.multiply,
    "//": sums.floor_divide,
    "%": sums.modulo,
    "**": _power,
}
