"""How a predicate depends on one variable, the others kept: where it ends, and the period with which it repeats.

Before::

    B <= 1000 and B % 64 == 0 or B == S        # S is 2000

After::

    64, [1000, 2000]
"""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm

from ..ir import And, Apply, Compare, Not, Or, Predicate, Size
from ..ir.walk import evaluate, free_vars
from .linear import linear


def value_of(size: Size, sizes: Mapping[str, int]) -> int | None:
    """Returns the value of ``size``, or None where a divisor is 0 or a variable is not known."""
    try:
        return evaluate(size, sizes)
    except (ArithmeticError, KeyError):
        return None


def shape_of(predicate: Predicate, name: str, sizes: Mapping[str, int]) -> tuple[int, list[int]] | None:
    """Returns how a predicate depends on one variable, the others kept: the period of its remainders, and where it ends.

    Between two ends it repeats with the period. None where it may do anything.
    """
    match predicate:
        case And(args=args) | Or(args=args):
            parts = [shape_of(arg, name, sizes) for arg in args]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            return lcm(*(period for period, _ in known)), [end for _, ends in known for end in ends]
        case Not(arg=arg):
            return shape_of(arg, name, sizes)
        case Compare(left=left, right=right):
            if name not in set(free_vars(predicate)):
                return 1, []
            slopes = linear(left, name), linear(right, name)
            if slopes[0] is not None and slopes[1] is not None:
                slope = slopes[0] - slopes[1]
                at_zero = {**sizes, name: 0}
                start, end = value_of(left, at_zero), value_of(right, at_zero)
                if slope == 0:
                    return 1, []
                return None if start is None or end is None else (1, [(end - start) // slope])
            periods = [_period(side, name, sizes) for side in (left, right)]
            return None if None in periods else (lcm(*(period or 1 for period in periods)), [])


def _period(size: Size, name: str, sizes: Mapping[str, int]) -> int | None:
    """Returns after how many steps of a variable a size has the same values again, if it has."""
    if name not in set(free_vars(size)):
        return 1
    match size:
        case Apply(op=op, args=(left, right)) if op.name == "%" and linear(left, name) is not None:
            modulus = None if name in set(free_vars(right)) else value_of(right, sizes)
            return abs(modulus) if modulus else None
        case Apply(args=args):
            periods = [_period(arg, name, sizes) for arg in args]
            return None if None in periods else lcm(*(period or 1 for period in periods))
        case _:
            return None
