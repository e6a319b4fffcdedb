"""The one direction of a comparison: ``32 > B`` and ``B < 32`` are one constraint.

Frontends orient what they read, and `normalize` what it writes, so that a printed normal form reads
back as itself.
"""

from __future__ import annotations

from dataclasses import replace

from .dims import And, Compare, Const, Not, Or, Predicate, Size, Var
from .operators import COMPARISONS
from .write import write_dim


def orient(predicate: Predicate) -> Predicate:
    """Returns ``predicate`` with each comparison in its one direction.

    A constant stands on the right (``32 > B`` is ``B < 32``); between two sizes ``>`` and ``>=``
    become ``<`` and ``<=``; ``==`` and ``!=`` have the plainer side (a variable, then the shorter
    text, then the alphabetically first) on the left.
    """
    match predicate:
        case Compare(op=op, left=left, right=right):
            if isinstance(left, Const) != isinstance(right, Const):
                flip = isinstance(left, Const)
            elif op.name in (">", ">="):
                flip = True
            elif op.name in ("==", "!="):
                flip = _plainness(right) < _plainness(left)
            else:
                flip = False
            return replace(predicate, op=COMPARISONS[op.flipped], left=right, right=left) if flip else predicate
        case And(args=args) | Or(args=args):
            return replace(predicate, args=tuple(orient(arg) for arg in args))
        case Not(arg=arg):
            return replace(predicate, arg=orient(arg))


def _plainness(size: Size) -> tuple[bool, int, str]:
    text = write_dim(size)
    return not isinstance(size, Var), len(text), text
