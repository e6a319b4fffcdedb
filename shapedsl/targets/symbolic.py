"""torch's symbolic expressions → IR: shared by everything that reads specs, programs and messages.

sympy is not imported: its nodes are told apart by the names of their classes, which torch's own
functions (``FloorDiv``, ``PythonMod``) share.

Before::

    Eq(Mod(u0, 4), 0)  with u0 = B        2*(u1//2) + 1  with u1 = N

After::

    B % 4 == 0                            2 * (N // 2) + 1
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Or, Predicate, Size
from ..ir.orient import orient
from ..ir.walk import negated as negated


class Unreadable(Exception):
    """An expression that the language has no words for; ``args[0]`` is its text."""


_RELATIONS: Final = {
    "Equality": "==",
    "Unequality": "!=",
    "LessThan": "<=",
    "StrictLessThan": "<",
    "GreaterThan": ">=",
    "StrictGreaterThan": ">",
}
# class → operator; where torch rounds down, Python does
_BINARY: Final = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%", "PowByNatural": "**"}
_NARY: Final = {"Max": "max", "Min": "min"}


def read_size(expression: Any, lookup: Callable[[str], Size | None]) -> Size:
    """Returns an integer expression as a size.

    Args:
        expression: A sympy expression.
        lookup: A symbol's name → what it stands for; None where nothing is known of it.

    Raises:
        Unreadable: It has a symbol that ``lookup`` does not know, or an operator without a counterpart.
    """
    kind = type(expression).__name__
    args = expression.args
    if expression.is_Symbol:
        found = lookup(expression.name)
        if found is None:
            raise Unreadable(str(expression))
        return found
    if expression.is_Integer:
        return Const(int(expression))
    if kind in _BINARY:
        return _apply(_BINARY[kind], read_size(args[0], lookup), read_size(args[1], lookup))
    if kind in _NARY:
        return _apply(_NARY[kind], *(read_size(arg, lookup) for arg in _ordered(args)))
    match kind:
        case "Add":
            return _sum(args, lookup)
        case "Mul":
            return _product(args, lookup)
        case "Pow" if args[1].is_Integer and int(args[1]) >= 0:
            return _apply("**", read_size(args[0], lookup), Const(int(args[1])))
        case "Identity":
            return read_size(args[0], lookup)
        case "CeilToInt" if type(args[0]).__name__ == "IntTrueDiv":
            return _apply("cdiv", *(read_size(arg, lookup) for arg in args[0].args))
        case "FloorToInt" if type(args[0]).__name__ == "IntTrueDiv":
            return _apply("//", *(read_size(arg, lookup) for arg in args[0].args))
        case "ModularIndexing":
            base, divisor, modulus = (read_size(arg, lookup) for arg in args)
            return _apply("%", _apply("//", base, divisor), modulus)
        case _:
            raise Unreadable(str(expression))


def read_predicate(expression: Any, lookup: Callable[[str], Size | None]) -> Predicate:
    """Returns a boolean expression as a predicate.

    Args:
        expression: A sympy expression.
        lookup: A symbol's name → what it stands for.

    Raises:
        Unreadable: See `read_size`.
    """
    kind = type(expression).__name__
    if kind in _RELATIONS:
        left, right = (_scaled(side, expression.args) for side in expression.args)
        return orient(Compare(COMPARISONS[_RELATIONS[kind]], read_size(left, lookup), read_size(right, lookup)))
    match kind:
        case "And":
            return And(tuple(read_predicate(arg, lookup) for arg in _ordered(expression.args)))
        case "Or":
            return Or(tuple(read_predicate(arg, lookup) for arg in _ordered(expression.args)))
        case "Not":
            return negated(read_predicate(expression.args[0], lookup))
        case "BooleanTrue":
            return And(())
        case "BooleanFalse":
            return Or(())
        case _:
            raise Unreadable(str(expression))


def _ordered(args: Iterable[Any]) -> list[Any]:
    """Sympy keeps the arguments of symmetric operators in an order that hashing decides; ours is by text."""
    return sorted(args, key=str)


def _scaled(side: Any, sides: Iterable[Any]) -> Any:
    """Returns ``side`` times the common denominator of both sides: sympy turns ``3*u == 2*w`` into ``u == 2*w/3``."""
    terms = [term for each in sides for term in (each.args if each.is_Add else (each,))]
    scale = math.lcm(*(int(term.as_coeff_Mul()[0].q) for term in terms if term.as_coeff_Mul()[0].is_Rational))
    return side if scale == 1 else (side * scale).expand()


def _sum(terms: Iterable[Any], lookup: Callable[[str], Size | None]) -> Size:
    """Returns a sum as it is written by hand: positive terms, then subtracted ones, the constant last."""
    constant = 0
    positive: list[Size] = []
    subtracted: list[Size] = []
    for term in _ordered(terms):
        if term.is_Integer:
            constant += int(term)
            continue
        coefficient, rest = term.as_coeff_Mul()
        if coefficient.is_Integer and int(coefficient) < 0:
            subtracted.append(read_size(rest * -coefficient, lookup))
        else:
            positive.append(read_size(term, lookup))
    if not positive:
        positive.append(Const(constant))
        constant = 0
    total = functools.reduce(functools.partial(_apply, "+"), positive)
    total = functools.reduce(functools.partial(_apply, "-"), subtracted, total)
    if constant:
        total = _apply("+" if constant > 0 else "-", total, Const(abs(constant)))
    return total


def _product(factors: Iterable[Any], lookup: Callable[[str], Size | None]) -> Size:
    ordered = sorted(factors, key=lambda factor: (not factor.is_number, str(factor)))
    read = [read_size(factor, lookup) for factor in ordered]
    if read[0] == Const(-1):
        return _apply("neg", functools.reduce(functools.partial(_apply, "*"), read[1:]))
    return functools.reduce(functools.partial(_apply, "*"), read)


def _apply(name: str, *args: Size) -> Size:
    return Apply(OPERATORS[name], args)
