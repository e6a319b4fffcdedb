"""Canonical predicates as rows over polynomials: what `propagate` works on.

Before and after::

    B <= 2 * S + 1             B - 2 * S - 1 <= 0
    D == 2 * B + 1             D - 2 * B - 1 == 0
    B % 8 == 3                 (B - 3) % 8 == 0
    B != 7                     B apart from 7
    B == 2 or B % 4 == 0       one of (B - 2 == 0), (B % 4 == 0)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from ..ir import And, Apply, Compare, Const, Or, Predicate, Var, Variadic
from ..ir.walk import free_vars
from .algebra import TooLarge, difference, terms
from .polynomial import Terms, add, scale


@dataclass(frozen=True, slots=True)
class AtMost:
    """``polynomial <= 0``."""

    polynomial: Terms


@dataclass(frozen=True, slots=True)
class Equal:
    """``polynomial == 0``."""

    polynomial: Terms


@dataclass(frozen=True, slots=True)
class Congruent:
    """``polynomial % modulus == 0``."""

    polynomial: Terms
    modulus: int


@dataclass(frozen=True, slots=True)
class Apart:
    """``name != value``."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class OneOf:
    """At least one branch holds; a branch is a conjunction. ``names`` are all variables in them."""

    branches: tuple[tuple[Row, ...], ...]
    names: tuple[str, ...]


Row: TypeAlias = "AtMost | Equal | Congruent | Apart | OneOf"


@lru_cache(maxsize=4096)
def rows_of(predicate: Predicate) -> tuple[Row, ...]:
    """Returns a canonical predicate as rows; what a row cannot say is left out, which is sound."""
    match predicate:
        case And(args=args):
            return tuple(row for arg in args for row in rows_of(arg))
        case Or(args=args):
            return (OneOf(tuple(rows_of(arg) for arg in args), tuple(dict.fromkeys(free_vars(predicate)))),)
        case Compare():
            try:
                return _row(predicate)
            except TooLarge:
                return ()
        case _:
            return ()


def _row(compare: Compare) -> tuple[Row, ...]:
    polynomial = difference(compare.left, compare.right)
    match compare.op.name, compare.left, compare.right:
        case "==", Apply(op=op, args=(dividend, Const(value=modulus))), Const(value=residue) if (
            op.name == "%" and modulus > 0
        ):
            return (Congruent(add(terms(dividend), {(): residue} if residue else {}, -1), modulus),)
        case "==", _, _:
            return (Equal(polynomial),)
        case "<=", _, _:
            return (AtMost(polynomial),)
        case "<", _, _:
            return (AtMost(add(polynomial, {(): 1})),)
        case ">=", _, _:
            return (AtMost(scale(polynomial, -1)),)
        case ">", _, _:
            return (AtMost(add(scale(polynomial, -1), {(): 1})),)
        case "!=", (Var(name=name) | Variadic(name=name)), Const(value=value):
            return (Apart(name, value),)
        case _:
            return ()
