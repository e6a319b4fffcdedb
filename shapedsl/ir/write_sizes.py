"""Sizes and predicates → canonical text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .dims import And, Apply, Compare, Const, Dim, Ellipsis, Fresh, Not, Or, Predicate, Static, Var, Variadic

_ATOM = 9  # binds tighter than any operator


def write_dim(dim: Dim) -> str:
    """Returns ``dim`` as it stands in ``Tensor[…]``, e.g. ``2 * B + 1``."""
    return _size(dim)[0]


def _size(dim: Dim) -> tuple[str, int]:
    """Returns the text of ``dim`` and how tightly its outermost operator binds."""
    match dim:
        case Const(value=value):
            return str(value), _ATOM if value >= 0 else 3
        case Var(name=name):
            return name, _ATOM
        case Variadic(name=name):
            return f"*{name}", _ATOM
        case Static():
            return "_", _ATOM
        case Ellipsis():
            return "...", _ATOM
        case Fresh(name=name):
            return f"?{name or ''}", _ATOM
        case Apply(op=op, args=args) if op.precedence == 0:
            return f"{op.name}({', '.join(write_dim(arg) for arg in args)})", _ATOM
        case Apply(op=op, args=(operand,)):
            return f"-{_operand(operand, op.precedence)}", op.precedence
        case Apply(op=op, args=(base, exponent)) if op.name == "**":
            return f"{_operand(base, _ATOM)}**{_operand(exponent, 3)}", op.precedence
        case Apply(op=op, args=(left, right)):
            # binary operators associate to the left
            return f"{_operand(left, op.precedence)} {op.name} {_operand(right, op.precedence + 1)}", op.precedence
        case _:
            raise TypeError(f"not a dim: {dim!r}")


def _operand(dim: Dim, at_least: int) -> str:
    text, binds = _size(dim)
    return text if binds >= at_least else f"({text})"


def write_predicate(predicate: Predicate) -> str:
    """Returns ``predicate`` as it stands in a ``where`` clause."""
    return _predicate(predicate)[0]


def _predicate(predicate: Predicate) -> tuple[str, int]:
    """Returns the text and how tightly it binds: or 1, and 2, not 3, a comparison 4."""
    match predicate:
        case Compare(op=op, left=left, right=right):
            return f"{write_dim(left)} {op.name} {write_dim(right)}", 4
        case Not(arg=arg):
            return f"not {_part(arg, 4)}", 3
        case And(args=args):
            return " and ".join(_part(arg, 3) for arg in args), 2
        case Or(args=args):
            members = _members(args)
            return members or (" or ".join(_part(arg, 2) for arg in args)), 4 if members else 1


def _part(predicate: Predicate, at_least: int) -> str:
    text, binds = _predicate(predicate)
    return text if binds >= at_least else f"({text})"


def _members(args: tuple[Predicate, ...]) -> str:
    """Returns ``B in {1, 3}`` for ``B == 1 or B == 3``, else an empty string."""
    values: list[int] = []
    subject: Dim | None = None
    for arg in args:
        match arg:
            case Compare(op=op, left=left, right=Const(value=value)) if op.name == "==" and left == (subject or left):
                subject = left
                values.append(value)
            case _:
                return ""
    if subject is None or isinstance(subject, Const) or len(values) < 2 or len(set(values)) < len(values):
        return ""
    return f"{write_dim(subject)} in {write_set(values)}"


def write_set(values: Sequence[int]) -> str:
    """Returns ``{1, 3, 9}``, or ``{16, 32, ..., 256}`` for a progression of four or more."""
    if len(values) >= 4 and _is_progression(values):
        return f"{{{values[0]}, {values[1]}, ..., {values[-1]}}}"
    return f"{{{', '.join(map(str, values))}}}"


def _is_progression(values: Sequence[int]) -> bool:
    """Returns whether the first two and the last value say it all: geometric is tried first, then arithmetic."""
    first, second, last = values[0], values[1], values[-1]
    ratio = second // first if first > 0 and second % first == 0 else 0
    if ratio >= 2:
        if all(a * ratio == b for a, b in pairwise(values)):
            return True
        reached = second
        while reached < last:
            reached *= ratio
        if reached == last:  # would be read as a geometric one
            return False
    step = second - first
    return step != 0 and all(b - a == step for a, b in pairwise(values))
