"""The operators of sizes, one row each: a row is an operator's whole meaning.

Every stage reads these rows: the parser for names and arity, the writer for precedence, the
evaluator and the tests for Python's meaning, the torch writer for torch's spelling.
"""

# The functions of `operator` take anything, which the stubs spell as unknown.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportArgumentType=false

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator on ints.

    Attributes:
        name: Its spelling in the language; unique.
        arity: How many arguments; None for any number from one.
        precedence: Python's, higher binds tighter; 0 for calls.
        python: Its meaning on Python ints.
        torch: How torch spells it on symbolic ints, as a format string over the arguments; an
            n-ary operator is folded pairwise with it.
        defined: A predicate, as a format string, under which the value exists; empty: always.
    """

    name: str
    arity: int | None
    precedence: int
    python: Callable[..., int]
    torch: str
    defined: str = ""

    @property
    def infix(self) -> bool:
        """Whether it is written between its arguments."""
        return self.precedence > 0 and self.arity == 2

    def __reduce__(self) -> tuple[Callable[[str], Operator], tuple[str]]:
        return operator_named, (self.name,)  # rows are compared by identity, so copies must be the row itself


def _ceil_div(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _smallest(*sizes: int) -> int:
    return min(sizes)  # Python's own takes one int for an iterable


def _largest(*sizes: int) -> int:
    return max(sizes)


def _product(*factors: int) -> int:
    result = 1
    for factor in factors:
        result *= factor
    return result


ADD: Final = Operator("+", 2, 1, operator.add, "{0} + {1}")
SUB: Final = Operator("-", 2, 1, operator.sub, "{0} - {1}")
MUL: Final = Operator("*", 2, 2, operator.mul, "{0} * {1}")
FLOORDIV: Final = Operator("//", 2, 2, operator.floordiv, "{0} // {1}", "{1} != 0")
MOD: Final = Operator("%", 2, 2, operator.mod, "{0} % {1}", "{1} != 0")
NEG: Final = Operator("neg", 1, 3, operator.neg, "-{0}")
POW: Final = Operator("**", 2, 4, operator.pow, "{0} ** {1}", "{1} >= 0")
MIN: Final = Operator("min", None, 0, _smallest, "torch.sym_min({0}, {1})")
MAX: Final = Operator("max", None, 0, _largest, "torch.sym_max({0}, {1})")
CDIV: Final = Operator("cdiv", 2, 0, _ceil_div, "-(-{0} // {1})", "{1} != 0")
PROD: Final = Operator("prod", None, 0, _product, "{0} * {1}")

OPERATORS: Final[dict[str, Operator]] = {
    row.name: row for row in (ADD, SUB, MUL, FLOORDIV, MOD, NEG, POW, MIN, MAX, CDIV, PROD)
}
FUNCTIONS: Final[dict[str, Operator]] = {name: row for name, row in OPERATORS.items() if row.precedence == 0}


def operator_named(name: str) -> Operator:
    """Returns the row called ``name``.

    Raises:
        KeyError: There is none.
    """
    return OPERATORS[name]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A comparison of two ints.

    Attributes:
        name: Its spelling; unique.
        python: Its meaning on Python ints.
        negated: The name of its negation.
        flipped: The name of the comparison with the sides exchanged.
    """

    name: str
    python: Callable[[int, int], bool]
    negated: str
    flipped: str

    def __reduce__(self) -> tuple[Callable[[str], Comparison], tuple[str]]:
        return comparison_named, (self.name,)


EQ: Final = Comparison("==", operator.eq, "!=", "==")
NE: Final = Comparison("!=", operator.ne, "==", "!=")
LE: Final = Comparison("<=", operator.le, ">", ">=")
LT: Final = Comparison("<", operator.lt, ">=", ">")
GE: Final = Comparison(">=", operator.ge, "<", "<=")
GT: Final = Comparison(">", operator.gt, "<=", "<")

COMPARISONS: Final[dict[str, Comparison]] = {row.name: row for row in (EQ, NE, LE, LT, GE, GT)}


def comparison_named(name: str) -> Comparison:
    """Returns the row called ``name``.

    Raises:
        KeyError: There is none.
    """
    return COMPARISONS[name]
