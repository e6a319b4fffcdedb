"""Numbers that users give: what is none is refused by the name of its argument, numpy's are taken.

Before and after::

    n=numpy.int64(3)      3
    n="3"                 TypeError: n= is a whole number, not '3'
    n=-1                  ValueError: n= is a count, not -1
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any


def whole(name: str, value: Any) -> int:
    """Returns ``value`` as an int.

    Args:
        name: Of the argument.
        value: An int, or one of numpy's; True and False are none.

    Raises:
        TypeError: It is no whole number.
    """
    found = index(value)
    if found is None:
        raise TypeError(f"{name}= is a whole number, not {value!r}")
    return found


def index(value: Any) -> int | None:
    """Returns an integer as an int, numpy's too; None of all else, and of bools."""
    return None if isinstance(value, bool) or not isinstance(value, Integral) else int(value)


def count(name: str, value: Any, least: int = 0) -> int:
    """Returns ``value`` as an int that is not below ``least``.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is less.
    """
    found = whole(name, value)
    if found < least:
        raise ValueError(f"{name}= is a count{f' from {least}' if least else ''}, not {value!r}")
    return found


def number(name: str, value: Any) -> float:
    """Returns ``value`` as a float.

    Raises:
        TypeError: It is no number.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}= is a number, not {value!r}")
    return float(value)


__all__ = ["count", "index", "number", "whole"]
