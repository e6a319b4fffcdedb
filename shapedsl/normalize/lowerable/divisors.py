"""Keep divisors from being 0 where Python would not have reached them.

Python stops an ``or`` at the first part that holds; torch computes all parts of an assumption, and a
division by 0 among them is a ZeroDivisionError for an input that the spec accepts.

Before::

    B == 0 or A % B == 0

After::

    B == 0 or A % max(B, 1) == 0

Invariant: the predicate accepts the same sizes. Where a divisor may be 0 on its own, not as a part of
an ``or``, its predicate does not hold, and nothing is changed.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir import OPERATORS, And, Apply, Compare, Const, Not, Or, Predicate, Size
from ..intervals import Box, interval_of


def with_safe_divisors(predicate: Predicate, box: Box) -> Predicate | None:
    """Returns ``predicate`` without divisions by 0 inside its ``or`` parts.

    Args:
        predicate: Over torch's variables.
        box: Their ranges.

    Returns:
        None if a divisor in an ``or`` may be 0 and negative: no size of the language excludes just 0.
    """
    match predicate:
        case Or(args=args) | And(args=args):
            safe = [_safe(arg, box) for arg in args]
            parts = tuple(arg for arg in safe if arg is not None)
            return replace(predicate, args=parts) if len(parts) == len(args) else None
        case Not(arg=arg):
            inner = with_safe_divisors(arg, box)
            return None if inner is None else Not(inner)
        case Compare():
            return predicate


def _safe(predicate: Predicate, box: Box) -> Predicate | None:
    match predicate:
        case Compare(left=left, right=right):
            sides = _size(left, box), _size(right, box)
            if sides[0] is None or sides[1] is None:
                return None
            return replace(predicate, left=sides[0], right=sides[1])
        case Not(arg=arg):
            inner = _safe(arg, box)
            return None if inner is None else Not(inner)
        case _:
            return with_safe_divisors(predicate, box)


def _size(size: Size, box: Box) -> Size | None:
    if not isinstance(size, Apply):
        return size
    made = [_size(arg, box) for arg in size.args]
    args = [arg for arg in made if arg is not None]
    if len(args) < len(made):
        return None
    if size.op.defined and size.op.name != "**":
        values = interval_of(args[1], box)
        if values.low < 0 <= values.high:
            return None
        if values.low == 0:
            args[1] = Apply(OPERATORS["max"], (args[1], Const(1)))
    return replace(size, args=tuple(args))
