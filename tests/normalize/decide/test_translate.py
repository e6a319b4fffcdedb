"""What predicates are translated to, and that a translation means what Python means."""

from __future__ import annotations

import itertools
import random

import pytest

from shapedsl.ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Not, Or, Predicate, Size, Var
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide.formula import (
    EQ,
    FALSE,
    GE,
    NE,
    TRUE,
    All,
    Atom,
    Formula,
    Monomial,
    atom,
    negated,
    satisfied,
)
from shapedsl.normalize.decide.translate import translate

from ..texts import predicate


def translated(text: str) -> Formula:
    return translate(predicate(text)).formula


def test_a_comparison_is_a_polynomial_compared_with_zero() -> None:
    assert translated("2*B + 1 > 2*S") == Atom(GE, ((("B",), 1), (("S",), -1)), 0)
    assert translated("B*S == S*B") == TRUE
    assert translated("2*B == 2*S + 1") == FALSE
    assert translated("not B <= 3") == Atom(GE, ((("B",), 1),), -4)
    assert translated("(A + B)*(A - B) >= A*A - C") == Atom(GE, ((("B", "B"), -1), (("C",), 1)), 0)


def test_what_a_number_divides_is_pulled_out() -> None:
    assert translated("(8*B + 3) // 8 == B") == TRUE
    assert translated("(8*B + 3) % 8 == 3") == TRUE
    assert translated("(8*B + 4) % 16 == 2*(B % 2) * 4 + 4") == TRUE
    assert translated("B // 2 // 2 == B // 4") == TRUE
    assert translated("B // 1 == B and B % -1 == 0") == TRUE


def test_what_a_size_divides_is_pulled_out() -> None:
    assert translated("(B*S) % B == 0") == atom(NE, {("B",): 1})
    assert translated("(B*B*S) // (B*S) == B") == atom(NE, {("B", "S"): 1})


def test_a_remainder_is_a_variable_between_bounds() -> None:
    translation = translate(predicate("B % 8 == 3"))
    (quotient,) = translation.definitions
    ((remainder, _),) = translation.formula.terms if isinstance(translation.formula, Atom) else ()
    assert translation.formula == Atom(EQ, ((remainder, 1),), -3)
    assert translation.definitions[quotient] == All(
        (
            Atom(GE, ((remainder, 1),), 0),
            Atom(GE, ((remainder, -1),), 7),
            Atom(EQ, tuple(sorted([(("B",), 1), (remainder, -1), ((quotient,), -8)])), 0),
        )
    )


def test_the_same_term_is_the_same_variable() -> None:
    first, second = translate(predicate("B // 3 == 1")), translate(predicate("S + (3 + B) // 3 == 1"))
    assert set(first.definitions) == set(second.definitions)


def test_a_division_by_zero_neither_holds_nor_fails() -> None:
    assert translated("B // 0 == 1") == FALSE
    assert translated("not B // 0 == 1") == FALSE
    assert translated("B == 2 or B // 0 == 1") == Atom(EQ, ((("B",), 1),), -2)
    assert translated("B // 0 == 1 or B == 2") == FALSE
    assert translated("not (B // 0 == 1 and B == 2)") == FALSE


def test_what_is_too_large_is_taken_for_true() -> None:
    factors = "*".join(f"(A{at} + B{at})" for at in range(12))
    assert translated(f"{factors} == 0") == TRUE


SIZES = tuple(range(-4, 5))


def random_size(rng: random.Random, depth: int) -> Size:
    if depth == 0 or rng.random() < 0.25:
        return Var(rng.choice("AB")) if rng.random() < 0.7 else Const(rng.randint(-4, 6))
    name = rng.choice(["+", "-", "*", "//", "%", "min", "max", "cdiv", "neg"])
    count = 1 if name == "neg" else 2
    return Apply(OPERATORS[name], tuple(random_size(rng, depth - 1) for _ in range(count)))


def random_predicate(rng: random.Random, depth: int) -> Predicate:
    if depth == 0 or rng.random() < 0.4:
        op = COMPARISONS[rng.choice(sorted(COMPARISONS))]
        return Compare(op, random_size(rng, 2), random_size(rng, 1))
    if rng.random() < 0.3:
        return Not(random_predicate(rng, depth - 1))
    parts = tuple(random_predicate(rng, depth - 1) for _ in range(2))
    return And(parts) if rng.random() < 0.5 else Or(parts)


def value_of_fresh(text: str, sizes: dict[str, int]) -> int:
    """Returns the value of a fresh variable, read off its name."""
    inner = text[1:-1]
    scope = {**sizes, "min": min, "max": max}
    for name in sorted(_nested(inner), key=len, reverse=True):
        inner = inner.replace(name, f"({value_of_fresh(name, sizes)})")
    if inner.startswith(("min(", "max(")):
        return int(eval(inner, scope))
    for mark, remainder in ((" / ", False), (" | ", inner.endswith(" %")), (" % ", True)):
        if mark in inner:
            left, right = (int(eval(side.removesuffix(" %"), scope)) for side in inner.rsplit(mark, 1))
            if right == 0:
                return left if remainder else 0  # any values with left == 0 * quotient + remainder will do
            return left % right if remainder else left // right
    return int(eval(inner, scope))  # a divisor of several terms


def _nested(text: str) -> list[str]:
    found: list[str] = []
    depth, start = 0, 0
    for at, letter in enumerate(text):
        if letter == "⌊":
            start = at if depth == 0 else start
            depth += 1
        elif letter == "⌋":
            depth -= 1
            if depth == 0:
                found.append(text[start : at + 1])
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_translation_means_what_python_means(seed: int) -> None:
    rng = random.Random(seed)
    undefined = 0
    for _ in range(60):
        each = random_predicate(rng, 2)
        translation = translate(each)
        negation = translate(Not(each))
        fresh = {name for names in map(_columns, (translation.formula, negation.formula)) for name in names}
        fresh |= {name for formula in translation.definitions.values() for name in _columns(formula)}
        fresh |= {name for formula in negation.definitions.values() for name in _columns(formula)}
        for a, b in itertools.product(SIZES, repeat=2):
            sizes = {"A": a, "B": b}
            model: dict[Monomial, int] = {
                (name,): value_of_fresh(name, sizes) for name in fresh if name.startswith("⌊")
            }
            model |= {("A",): a, ("B",): b}
            text = (write_predicate(each), sizes, translation)
            assert all(satisfied(formula, model) for formula in translation.definitions.values()), text
            try:
                wanted: bool | None = holds(each, sizes)
            except ZeroDivisionError:
                wanted = None
                undefined += 1
            assert satisfied(translation.formula, model) is (wanted is True), text
            assert satisfied(negation.formula, model) is (wanted is False), text
            assert satisfied(negated(translation.formula), model) is (wanted is not True), text
    assert undefined > 10


def _columns(formula: Formula) -> set[str]:
    if isinstance(formula, Atom):
        return {name for column, _ in formula.terms for name in column}
    return {name for arg in formula.args for name in _columns(arg)}
