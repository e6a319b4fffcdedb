"""Conditions that torch has printed → IR. Its messages are the only place where some of them are found.

Before::

    (5 < u1) & Eq(Mod(u0, 4), 0)        y.size()[0] == 2*x.size()[0]

After::

    N > 5 and B % 4 == 0                y.shape[0] == 2 * x.shape[0]
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from ..ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Or, Predicate, Size
from ..ir.orient import orient
from .symbolic import Unreadable, negated

_OPERATORS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.LtE: "<=",
    ast.Lt: "<",
    ast.GtE: ">=",
    ast.Gt: ">",
}
_RELATIONS: Final = {"Eq": "==", "Ne": "!=", "Le": "<=", "Lt": "<", "Ge": ">=", "Gt": ">"}
_CALLS: Final = {
    "Mod": "%",
    "PythonMod": "%",
    "FloorDiv": "//",
    "CleanDiv": "//",
    "Max": "max",
    "Min": "min",
    "max": "max",
    "min": "min",
}


def read_printed(text: str, lookup: Callable[[str], Size | None]) -> Predicate:
    """Returns a printed condition as a predicate.

    Args:
        text: As Python or sympy prints it.
        lookup: The text of an operand (``u0``, ``x.size()[0]``) → the size it stands for.

    Raises:
        Unreadable: It is no condition, or ``lookup`` does not know an operand.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable(text) from None
    return _predicate(tree.body, lookup)


def read_printed_size(text: str, lookup: Callable[[str], Size | None]) -> Size:
    """Returns a printed size; see `read_printed`."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable(text) from None
    return _size(tree.body, lookup)


def _predicate(node: ast.expr, lookup: Callable[[str], Size | None]) -> Predicate:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [_size(each, lookup) for each in (left, *comparators)]
            parts = [
                orient(Compare(COMPARISONS[_comparison(op, node)], sides[at], sides[at + 1]))
                for at, op in enumerate(ops)
            ]
            return parts[0] if len(parts) == 1 else And(tuple(parts))
        case ast.Call(func=ast.Name(id=name), args=[left, right]) if name in _RELATIONS:
            return orient(Compare(COMPARISONS[_RELATIONS[name]], _size(left, lookup), _size(right, lookup)))
        case ast.BoolOp(op=ast.And(), values=values):
            return And(tuple(_predicate(each, lookup) for each in values))
        case ast.BoolOp(op=ast.Or(), values=values):
            return Or(tuple(_predicate(each, lookup) for each in values))
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return And((_predicate(left, lookup), _predicate(right, lookup)))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Or((_predicate(left, lookup), _predicate(right, lookup)))
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=operand):
            return negated(_predicate(operand, lookup))
        case _:
            raise Unreadable(ast.unparse(node))


def _comparison(op: ast.cmpop, node: ast.expr) -> str:
    name = _COMPARISONS.get(type(op))
    if name is None:
        raise Unreadable(ast.unparse(node))
    return name


def _size(node: ast.expr, lookup: Callable[[str], Size | None]) -> Size:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return Const(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return Apply(OPERATORS[_OPERATORS[type(op)]], (_size(left, lookup), _size(right, lookup)))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return Const(-value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Apply(OPERATORS["neg"], (_size(operand, lookup),))
        case ast.Call(func=ast.Name(id=name), args=args) if name in _CALLS:
            return Apply(OPERATORS[_CALLS[name]], tuple(_size(arg, lookup) for arg in args))
        case _:
            found = lookup(ast.unparse(node))
            if found is None:
                raise Unreadable(ast.unparse(node))
            return found
