"""Sizes as integer polynomials: what a shape function computes with while it runs.

A polynomial decides what nested operators cannot: ``B + 1 != B`` and ``2*B == B + B`` are known whatever B
is, and ``(H + 2 - 2) // 1`` is ``H``. The canonical form of a size is normalize's; this one knows just as much
as the branches of shape functions ask for, and rewrites only by identities that hold for all ints::

    (H + 2*1 - 1*(3 - 1) - 1) // 2 + 1     (H + 1) // 2
    B * D // D                             B * D // D       (D may be 0)
    len((*S, N)) - 1                       len(*S)          (an atom known to be 0 or more)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import Final, Literal, TypeAlias

from ....ir import OPERATORS, Apply, Const, Operator, Size, Var, Variadic
from .answers import Stop

MOST_TERMS: Final = 64
LONGEST: Final = 1000
LARGEST: Final = 2**63 - 1

ADD: Final = OPERATORS["+"]
SUB: Final = OPERATORS["-"]
MUL: Final = OPERATORS["*"]
FLOORDIV: Final = OPERATORS["//"]
MOD: Final = OPERATORS["%"]
NEG: Final = OPERATORS["neg"]
POW: Final = OPERATORS["**"]
MIN: Final = OPERATORS["min"]
MAX: Final = OPERATORS["max"]
CDIV: Final = OPERATORS["cdiv"]
PROD: Final = OPERATORS["prod"]


@dataclass(frozen=True, slots=True)
class Atom:
    """What a polynomial does not look into.

    Attributes:
        key: Says all that the atom is; equal keys, equal atoms.
        kind: A variable, how many dims a variadic has, their product, or an operator applied.
        name: The variable, or the variadic.
        op: The operator.
        args: Its arguments.
    """

    key: str
    kind: Literal["variable", "length", "product", "applied"] = field(compare=False)
    name: str = field(default="", compare=False)
    op: Operator = field(default=ADD, compare=False)
    args: tuple[Number, ...] = field(default=(), compare=False)


Monomial: TypeAlias = "tuple[Atom, ...]"


@dataclass(frozen=True, slots=True)
class Sum:
    """A polynomial that is no constant: monomials, by descending degree and then by name, and their factors."""

    terms: tuple[tuple[Monomial, int], ...]

    @property
    def key(self) -> str:
        """Its text."""
        return " + ".join(_text(monomial, factor) for monomial, factor in self.terms)


Number: TypeAlias = "int | Sum"


def _text(monomial: Monomial, factor: int) -> str:
    names = [atom.key for atom in monomial]
    return "*".join(names if names and factor == 1 else [str(factor), *names])


def variable(name: str) -> Sum:
    """Returns the size called ``name``."""
    return _single(Atom(name, "variable", name))


def length(name: str) -> Sum:
    """Returns how many dims the variadic ``name`` stands for."""
    return _single(Atom(f"len(*{name})", "length", name))


def product_of(name: str) -> Sum:
    """Returns the product of the dims that the variadic ``name`` stands for."""
    return _single(Atom(f"prod(*{name})", "product", name))


def _single(atom: Atom) -> Sum:
    return Sum((((atom,), 1),))


def _terms(number: Number) -> Sequence[tuple[Monomial, int]]:
    if isinstance(number, Sum):
        return number.terms
    return (((), number),) if number else ()


def _order(term: tuple[Monomial, int]) -> tuple[int, tuple[str, ...]]:
    return -len(term[0]), tuple(atom.key for atom in term[0])


def _gather(terms: Mapping[Monomial, int]) -> Number:
    kept = {monomial: factor for monomial, factor in terms.items() if factor}
    if any(abs(factor) > LARGEST for factor in kept.values()):
        raise Stop("a number beyond int64")
    if not kept.keys() - {()}:
        return kept.get((), 0)
    if len(kept) > MOST_TERMS or any(len(monomial) > MOST_TERMS for monomial in kept):
        raise Stop(f"a size of more than {MOST_TERMS} terms or factors")
    return Sum(tuple(sorted(kept.items(), key=_order)))


def add(left: Number, right: Number) -> Number:
    """Returns ``left + right``."""
    terms = dict(_terms(left))
    for monomial, factor in _terms(right):
        terms[monomial] = terms.get(monomial, 0) + factor
    return _gather(terms)


def subtract(left: Number, right: Number) -> Number:
    """Returns ``left - right``."""
    return add(left, multiply(right, -1))


def multiply(left: Number, right: Number) -> Number:
    """Returns ``left * right``."""
    terms: dict[Monomial, int] = {}
    for first, factor in _terms(left):
        for second, other in _terms(right):
            monomial = tuple(sorted((*first, *second), key=lambda atom: atom.key))
            terms[monomial] = terms.get(monomial, 0) + factor * other
    return _gather(terms)


def multiply_all(numbers: Sequence[Number]) -> Number:
    """Returns the product of ``numbers``; of none, 1."""
    result: Number = 1
    for number in numbers:
        result = multiply(result, number)
    return result


def floor_divide(left: Number, right: Number) -> Number:
    """Returns ``left // right``, rounded down as Python does."""
    if right == 0:
        raise Stop("a division by zero")
    if not isinstance(right, int):
        return _applied(FLOORDIV, left, right)
    whole, rest = _split(left, right)
    return add(whole, 0 if rest == 0 else _applied(FLOORDIV, rest, right))


def modulo(left: Number, right: Number) -> Number:
    """Returns ``left % right``, with the sign of ``right`` as in Python."""
    if right == 0:
        raise Stop("a division by zero")
    if not isinstance(right, int):
        return _applied(MOD, left, right)
    _, rest = _split(left, right)
    return rest if isinstance(rest, int) else _applied(MOD, rest, right)


def _split(number: Number, divisor: int) -> tuple[Number, Number]:
    """Returns (q, r) with ``number == q*divisor + r``; r is 0 to divisor if constant, and holds no multiple."""
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, factor in _terms(number):
        if not monomial or factor % divisor == 0:
            whole[monomial], rest[monomial] = divmod(factor, divisor)
        else:
            rest[monomial] = factor
    remainder = _gather(rest)
    return _gather(whole), remainder


def least(left: Number, right: Number) -> Number:
    """Returns the smaller of two."""
    low, high = bounds(subtract(left, right))
    if high is not None and high <= 0:
        return left
    return right if low is not None and low >= 0 else _applied(MIN, left, right)


def greatest(left: Number, right: Number) -> Number:
    """Returns the larger of two."""
    low, high = bounds(subtract(left, right))
    if low is not None and low >= 0:
        return left
    return right if high is not None and high <= 0 else _applied(MAX, left, right)


def _applied(op: Operator, *args: Number) -> Number:
    if all(isinstance(arg, int) for arg in args):
        return op.python(*args)
    texts = [arg.key if isinstance(arg, Sum) else str(arg) for arg in args]
    key = f"{op.name}({', '.join(texts)})"
    if len(key) > LONGEST:
        raise Stop(f"a size longer than {LONGEST:,} characters")
    return _single(Atom(key, "applied", op=op, args=args))


def bounds(number: Number) -> tuple[int | None, int | None]:
    """Returns the least and the greatest value of a number; None where there is none, or it is not known.

    Only how many dims a variadic has is known to be 0 or more: a variable may be an int as well as a size.
    """
    low: int | None = 0
    high: int | None = 0
    for monomial, factor in _terms(number):
        if not monomial:
            low, high = (None if low is None else low + factor), (None if high is None else high + factor)
        elif any(atom.kind != "length" for atom in monomial):
            return None, None
        elif factor > 0:
            high = None
        else:
            low = None
    return low, high


def is_ranked(number: Number) -> bool:
    """Returns whether a number depends on how many dims a variadic has, which no size of the IR can say."""
    return any(
        atom.kind == "length" or any(is_ranked(arg) for arg in atom.args)
        for monomial, _ in _terms(number)
        for atom in monomial
    )


def only_length(number: Number) -> tuple[str, int] | None:
    """Returns (S, c) if a number is ``len(*S) + c``, else None."""
    if not isinstance(number, Sum):
        return None
    (monomial, factor), *rest = number.terms
    if len(monomial) != 1 or monomial[0].kind != "length" or factor != 1:
        return None
    if not rest:
        return monomial[0].name, 0
    return (monomial[0].name, rest[0][1]) if len(rest) == 1 and not rest[0][0] else None


def from_size(size: Size) -> Number:
    """Returns a size of the IR as a polynomial."""
    match size:
        case Const(value=value):
            return value
        case Var(name=name):
            return variable(name)
        case Variadic(name=name):
            raise Stop(f"`*{name}` is no single size")
        case Apply(op=op, args=args) if op is PROD:
            factors = [product_of(arg.name) if isinstance(arg, Variadic) else from_size(arg) for arg in args]
            return multiply_all(factors)
        case Apply(op=op, args=args):
            return _calculate(op, [from_size(arg) for arg in args])
        case _:
            raise Stop("a dim that stands inside an expression and is no size")  # hand-made; no reader gives it


def _calculate(op: Operator, args: list[Number]) -> Number:
    match op.name, args:
        case "+", [left, right]:
            return add(left, right)
        case "-", [left, right]:
            return subtract(left, right)
        case "*", [left, right]:
            return multiply(left, right)
        case "//", [left, right]:
            return floor_divide(left, right)
        case "%", [left, right]:
            return modulo(left, right)
        case "neg", [operand]:
            return multiply(operand, -1)
        case "cdiv", [left, right]:
            return multiply(floor_divide(multiply(left, -1), right), -1)
        case "min", [first, *others]:
            return reduce(least, others, first)
        case "max", [first, *others]:
            return reduce(greatest, others, first)
        case "**", [base, int(exponent)] if 0 <= exponent <= MOST_TERMS:
            return multiply_all([base] * exponent)
        case "**", [_, int()]:
            raise Stop("a power that is negative or too large")
        case _:
            return _applied(op, *args)


def to_size(number: Number) -> Size:
    """Returns a polynomial as a size of the IR: what is added first, then what is taken away.

    Raises:
        ValueError: It depends on how many dims a variadic has.
    """
    if isinstance(number, int):
        return Const(number)
    terms = sorted(number.terms, key=lambda term: term[1] < 0)  # stable: B - 1 and not -1 + B
    result = _term_size(*terms[0])
    for monomial, factor in terms[1:]:
        op = SUB if factor < 0 else ADD
        result = Apply(op, (result, _term_size(monomial, abs(factor))))
    return result


def _term_size(monomial: Monomial, factor: int) -> Size:
    sizes = [_atom_size(atom) for atom in monomial]
    if not sizes:
        return Const(factor)
    if factor == -1:
        return Apply(NEG, (_multiplied(sizes),))
    return _multiplied(sizes if factor == 1 else [Const(factor), *sizes])


def _multiplied(sizes: list[Size]) -> Size:
    result = sizes[0]
    for size in sizes[1:]:
        result = Apply(MUL, (result, size))
    return result


def _atom_size(atom: Atom) -> Size:
    match atom.kind:
        case "variable":
            return Var(atom.name)
        case "product":
            return Apply(PROD, (Variadic(atom.name),))
        case "applied":
            return Apply(atom.op, tuple(to_size(arg) for arg in atom.args))
        case "length":
            raise ValueError(f"no size says {atom.key}")


def value_at(number: Number, sizes: Mapping[str, int], variadics: Mapping[str, Sequence[int]]) -> int:
    """Returns what a number is at given sizes.

    Raises:
        ZeroDivisionError: It divides by zero there.
        KeyError: A name is missing.
    """

    def value(atom: Atom) -> int:
        match atom.kind:
            case "variable":
                return sizes[atom.name]
            case "length":
                return len(variadics[atom.name])
            case "product":
                return prod(variadics[atom.name])
            case "applied":
                return atom.op.python(*(value_at(arg, sizes, variadics) for arg in atom.args))

    return sum(factor * prod(value(atom) for atom in monomial) for monomial, factor in _terms(number))
