"""Translate a predicate into a formula over integer polynomials.

Quotients, remainders, minima and maxima become variables of their own, named after what they are the
value of, so that the same term is the same variable in every predicate. What defines such a variable
holds whatever is assumed; it is handed back beside the formula.

Before::

    (8*B + 3) // 8 == S // 4

After: ``B - q == 0``, where ``S - 4*q - r == 0`` and ``0 <= r <= 3``.

A predicate whose divisor is 0 neither holds nor fails. Where a divisor is no number, each comparison that
evaluates it says under both polarities that the divisor is positive or negative, and what the remainder is
between then; ``and`` and ``or`` reach their later arguments only where Python does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd

from ...ir import And, Apply, Compare, Const, Not, Or, Predicate, Size, Var, Variadic
from ...ir.walk import free_vars
from .formula import (
    EQ,
    FALSE,
    GE,
    NE,
    TRUE,
    Atom,
    Formula,
    Monomial,
    Polynomial,
    atom,
    columns,
    constant,
    every,
    plus,
    some,
    times,
)
from .single import of_one_dim
from .squares import solved

MOST_TERMS = 200
HIGHEST_POWER = 64


class TooLarge(Exception):
    """A polynomial has too many terms to reason about."""


@dataclass(frozen=True, slots=True)
class Power:
    """``base ** exponent`` where the exponent is no number.

    Attributes:
        base: A polynomial, as sorted items.
        exponent: A polynomial, as sorted items.
    """

    base: tuple[tuple[Monomial, int], ...]
    exponent: tuple[tuple[Monomial, int], ...]


@dataclass(frozen=True, slots=True)
class Translation:
    """What a predicate means.

    Attributes:
        written: The predicate, each variadic read as the only dim that it matches.
        names: Its variables, in the order of their first use.
        formula: It holds, for some values of the fresh variables, where the predicate does.
        definitions: By fresh variable, what defines it.
        powers: Fresh variables that are powers.
        variadic: Fresh variables that are the product, minimum or maximum of a variadic's dims, and its name.
        nonlinear: Whether it speaks of products.
    """

    written: Predicate
    names: tuple[str, ...]
    formula: Formula
    definitions: Mapping[str, Formula]
    powers: Mapping[str, Power]
    variadic: Mapping[str, str]
    nonlinear: bool


@lru_cache(maxsize=20_000)
def translate(predicate: Predicate) -> Translation:
    """Returns what ``predicate`` means. As a side of a comparison a variadic stands for one of its dims.

    A predicate that is too large to reason about is taken for true.
    """
    translator = _Translator()
    try:
        formula = translator.formula(predicate, True)
    except TooLarge:  # without it, refutations are still right; sizes are confirmed anyway
        translator, formula = _Translator(), TRUE
    return Translation(
        of_one_dim(predicate),
        tuple(dict.fromkeys(free_vars(predicate))),
        formula,
        translator.definitions,
        translator.powers,
        translator.variadic,
        any(len(column) > 1 for column in columns([formula, *translator.definitions.values()])),
    )


class _Undefined(Exception):
    """A divisor is the number 0."""


@dataclass(slots=True)
class _Translator:
    definitions: dict[str, Formula] = field(default_factory=dict[str, Formula])
    powers: dict[str, Power] = field(default_factory=dict[str, Power])
    quotients: dict[str, tuple[Polynomial, int]] = field(default_factory=dict[str, "tuple[Polynomial, int]"])
    variadic: dict[str, str] = field(default_factory=dict[str, str])
    defined: list[Formula] = field(default_factory=list[Formula])
    partial: bool = False

    def formula(self, predicate: Predicate, positive: bool) -> Formula:
        match predicate:
            case Compare():
                return self.compare(predicate, positive)
            case Not(arg=arg):
                return self.formula(arg, not positive)
            case And(args=args):
                return self.sequence(args, positive, all_of=positive)
            case Or(args=args):
                return self.sequence(args, positive, all_of=not positive)

    def sequence(self, args: tuple[Predicate, ...], positive: bool, *, all_of: bool) -> Formula:
        """Translates arguments that are evaluated left to right until one decides."""
        parts: list[Formula] = []
        before: list[Formula] = []  # what the earlier arguments must be for the next to be evaluated
        outer, partial = self.partial, False
        for arg in args:
            self.partial = False
            part = self.formula(arg, positive)
            parts.append(part if all_of else every([*before, part]))
            if self.partial and not all_of:
                before.append(self.formula(arg, not positive))
            partial = partial or self.partial
        self.partial = outer or partial
        return every(parts) if all_of else some(parts)

    def compare(self, predicate: Compare, positive: bool) -> Formula:
        op = predicate.op.name if positive else predicate.op.negated
        outer, self.defined = self.defined, []
        try:
            left, right = self.size(predicate.left), self.size(predicate.right)
        except _Undefined:
            self.partial = True
            return FALSE
        finally:
            defined, self.defined = self.defined, outer
        if op in ("<", "<="):
            left, right, op = right, left, {"<": ">", "<=": ">="}[op]
        difference = plus(left, right, -1)
        if op == ">":
            difference = plus(difference, {(): 1}, -1)
        literal = atom({"==": EQ, "!=": NE}.get(op, GE), difference)
        if any(len(monomial) > 1 for monomial in difference):
            literal = _with_solution(literal)
        if defined:
            self.partial = True
            return every([*defined, literal])
        return literal

    def size(self, size: Size) -> Polynomial:
        match size:
            case Const(value=value):
                return constant(value)
            case Var(name=name) | Variadic(name=name):
                return {(name,): 1}
            case Apply(op=op, args=args):
                result = _RULES[op.name](self, [self.argument(op.name, arg) for arg in args])
                if len(result) > MOST_TERMS:
                    raise TooLarge
                return result

    def argument(self, function: str, size: Size) -> Polynomial:
        if isinstance(size, Variadic):  # all of its dims, however many
            name = f"⌊{function}(*{size.name})⌋"
            self.variadic[name] = size.name
            return {(name,): 1}
        return self.size(size)

    def divide(self, dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Returns quotient and remainder."""
        if not any(divisor):
            number = divisor.get((), 0)
            if number == 0:
                raise _Undefined
            if number < 0:
                quotient, remainder = self.by_number(plus({}, dividend, -1), -number)
                return quotient, plus({}, remainder, -1)
            return self.by_number(dividend, number)
        return self.by_polynomial(dividend, divisor)

    def by_number(self, dividend: Polynomial, number: int) -> tuple[Polynomial, Polynomial]:
        whole = {monomial: value // number for monomial, value in dividend.items() if value // number}
        rest = {monomial: value % number for monomial, value in dividend.items() if value % number}
        if not any(rest):
            return whole, rest  # the rest is below the number
        content = gcd(number, *[value for monomial, value in rest.items() if monomial])
        left_over = rest.get((), 0) % content
        rest = {monomial: value // content for monomial, value in rest.items() if value // content}
        quotient, remainder = self._by_number(rest, number // content)
        return plus(whole, quotient), plus(constant(left_over), remainder, content)

    def _by_number(self, rest: Polynomial, number: int) -> tuple[Polynomial, Polynomial]:
        if number == 1:
            return rest, {}
        inner = self._inner_quotient(rest)
        if inner is not None:  # (a // m + c) // n is (a + c * m) // (m * n)
            dividend, first = inner
            quotient, _ = self.by_number(plus(dividend, constant(rest.get((), 0) * first)), first * number)
            return quotient, plus(rest, quotient, -number)
        text = _text(rest)
        quotient_name, remainder_name = f"⌊{text} / {number}⌋", f"⌊{text} % {number}⌋"
        if quotient_name not in self.definitions:
            self.quotients[quotient_name] = rest, number
            remainder: Polynomial = {(remainder_name,): 1}
            equation = plus(plus(rest, {(quotient_name,): 1}, -number), remainder, -1)
            self.definitions[quotient_name] = every(
                [
                    atom(GE, remainder),
                    atom(GE, plus(constant(number - 1), remainder, -1)),
                    atom(EQ, equation),
                ]
            )
        return {(quotient_name,): 1}, {(remainder_name,): 1}

    def _inner_quotient(self, rest: Polynomial) -> tuple[Polynomial, int] | None:
        names = [monomial for monomial in rest if monomial]
        if len(names) == 1 and len(names[0]) == 1 and rest[names[0]] == 1:
            return self.quotients.get(names[0][0])
        return None

    def by_polynomial(self, dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Divides by what is no number; what the divisor divides exactly is pulled out."""
        whole: Polynomial = {}
        if len(divisor) == 1:
            ((factor, number),) = divisor.items()
            for monomial, value in dividend.items():
                cofactor = _without(monomial, factor)
                if cofactor is not None and value // number:
                    whole[cofactor] = value // number
        elif (ratio := _multiple(dividend, divisor)) is not None:
            whole = constant(ratio)
        rest = plus(dividend, times(whole, divisor), -1)
        if not rest:
            self.defined.append(atom(NE, divisor))
            return whole, rest
        text = f"{_text(rest)} | {_text(divisor)}"
        if len(divisor) > 1:  # as one variable it is a factor that bounds and lemmas know
            name = f"⌊{_text(divisor)}⌋"
            self.definitions[name] = atom(EQ, plus(divisor, {(name,): 1}, -1))
            divisor = {(name,): 1}
        quotient: Polynomial = {(f"⌊{text}⌋",): 1}
        remainder: Polynomial = {(f"⌊{text} %⌋",): 1}
        self.definitions[f"⌊{text}⌋"] = atom(EQ, plus(plus(rest, times(divisor, quotient), -1), remainder, -1))
        less_one: Polynomial = {(): -1}
        above = [
            atom(GE, plus(divisor, less_one)),
            atom(GE, remainder),
            atom(GE, plus(plus(divisor, less_one), remainder, -1)),
        ]
        below = [
            atom(GE, plus(less_one, divisor, -1)),
            atom(GE, plus({}, remainder, -1)),
            atom(GE, plus(plus(remainder, less_one), divisor, -1)),
        ]
        self.defined.append(some([every(above), every(below)]))
        return plus(whole, quotient), remainder

    def extreme(self, args: list[Polynomial], sign: int) -> Polynomial:
        """Returns the largest (or, with sign -1, the smallest) of ``args``."""
        distinct = list({_text(arg): arg for arg in args}.items())
        distinct.sort(key=lambda item: item[0])
        kept: list[tuple[str, Polynomial]] = []
        for text, arg in distinct:  # of those that differ by a number one is enough
            for at, (_, other) in enumerate(kept):
                difference = plus(arg, other, -1)
                if not any(difference):
                    if sign * difference.get((), 0) > 0:
                        kept[at] = text, arg
                    break
            else:
                kept.append((text, arg))
        if len(kept) == 1:
            return kept[0][1]
        name = f"⌊{'max' if sign > 0 else 'min'}({', '.join(text for text, _ in kept)})⌋"
        differences = [plus({(name,): 1}, arg, -1) for _, arg in kept]
        bounds = [atom(GE, plus({}, each, sign)) for each in differences]
        self.definitions[name] = every([*bounds, some(atom(EQ, each) for each in differences)])
        return {(name,): 1}

    def power(self, base: Polynomial, exponent: Polynomial) -> Polynomial:
        if not any(exponent):
            number = exponent.get((), 0)
            if number < 0:
                raise _Undefined
            if not any(base):
                if number > 4096:
                    raise TooLarge
                return constant(base.get((), 0) ** number)
            if number > HIGHEST_POWER:
                raise TooLarge
            result = constant(1)
            for _ in range(number):
                result = times(result, base)
                if len(result) > MOST_TERMS:
                    raise TooLarge
            return result
        name = f"⌊({_text(base)}) ** ({_text(exponent)})⌋"
        self.powers[name] = Power(tuple(sorted(base.items())), tuple(sorted(exponent.items())))
        self.defined.append(atom(GE, exponent))
        return {(name,): 1}


def _with_solution(literal: Formula) -> Formula:
    """Returns a comparison with products beside what it says on its own, if that is known (`squares`)."""
    simpler = solved(literal) if isinstance(literal, Atom) else None
    return literal if simpler is None else every([literal, simpler])


def _multiple(dividend: Polynomial, divisor: Polynomial) -> int | None:
    """Returns the number by which ``divisor`` is multiplied in ``dividend``; None if there is none."""
    if dividend.keys() != divisor.keys():
        return None
    monomial = next(iter(divisor))
    factor = dividend[monomial] // divisor[monomial]
    return factor if dividend == {each: factor * value for each, value in divisor.items()} else None


def _without(monomial: Monomial, factor: Monomial) -> Monomial | None:
    """Returns the cofactor of ``factor`` in ``monomial``, if it divides it."""
    rest = list(monomial)
    for name in factor:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest)


def _text(polynomial: Polynomial) -> str:
    """Returns a polynomial as text: equal ones have equal texts."""
    texts = ("*".join((str(value), *monomial)) for monomial, value in sorted(polynomial.items()))
    return " + ".join(texts) or "0"


def _product(factors: list[Polynomial]) -> Polynomial:
    result = constant(1)
    for factor in factors:
        result = times(result, factor)
        if len(result) > MOST_TERMS:
            raise TooLarge
    return result


def _ceil_div(translator: _Translator, args: list[Polynomial]) -> Polynomial:
    return plus({}, translator.divide(plus({}, args[0], -1), args[1])[0], -1)


_RULES: dict[str, Callable[[_Translator, list[Polynomial]], Polynomial]] = {
    "+": lambda _, args: plus(args[0], args[1]),
    "-": lambda _, args: plus(args[0], args[1], -1),
    "*": lambda _, args: times(args[0], args[1]),
    "//": lambda translator, args: translator.divide(args[0], args[1])[0],
    "%": lambda translator, args: translator.divide(args[0], args[1])[1],
    "neg": lambda _, args: plus({}, args[0], -1),
    "**": lambda translator, args: translator.power(args[0], args[1]),
    "min": lambda translator, args: translator.extreme(args, -1),
    "max": lambda translator, args: translator.extreme(args, 1),
    "cdiv": _ceil_div,
    "prod": lambda _, args: _product(args),
}
