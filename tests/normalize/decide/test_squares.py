"""Comparisons with products, solved exactly: by hand, and against brute force on boxes."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from shapedsl.normalize.decide.formula import EQ, FALSE, GE, NE, All, Atom, Formula, Polynomial, atom
from shapedsl.normalize.decide.squares import divisors_of, solved

X, Y = ("x",), ("y",)
XX, XY, YY = ("x", "x"), ("x", "y"), ("y", "y")


def satisfied(formula: Formula, sizes: dict[str, int]) -> bool:
    match formula:
        case Atom(op=op, terms=terms, constant=total):
            total += sum(value * math.prod(sizes[name] for name in monomial) for monomial, value in terms)
            return {GE: total >= 0, EQ: total == 0, NE: total != 0}[op]
        case All(args=args):
            return all(satisfied(arg, sizes) for arg in args)
        case _:
            return any(satisfied(arg, sizes) for arg in formula.args)


def solutions(formula: Formula, low: int, high: int, names: str) -> list[tuple[int, ...]]:
    box = itertools.product(range(low, high + 1), repeat=len(names))
    return [sizes for sizes in box if satisfied(formula, dict(zip(names, sizes, strict=True)))]


@pytest.mark.parametrize(
    ("op", "polynomial", "names", "expected"),
    [
        (EQ, {XX: 1, (): -49}, "x", [(-7,), (7,)]),
        (EQ, {XX: 1, (): -50}, "x", []),
        (EQ, {("x", "x", "x"): 1, (): 8}, "x", [(-2,)]),
        (EQ, {XX: 1, X: -3}, "x", [(0,), (3,)]),
        (EQ, {XX: 1, YY: -2}, "xy", [(0, 0)]),
        (EQ, {XX: 1, XY: 1, YY: 1}, "xy", [(0, 0)]),
        (EQ, {XX: 1, YY: -1, (): -7}, "xy", [(-4, -3), (-4, 3), (4, -3), (4, 3)]),
        (EQ, {XY: 1, X: -1, Y: -1, (): -5}, "xy", sorted((1 + a, 1 + 6 // a) for a in (1, 2, 3, 6, -1, -2, -3, -6))),
        (EQ, {XY: 1, (): -7}, "xy", [(-7, -1), (-1, -7), (1, 7), (7, 1)]),
        (EQ, {XX: 1, YY: -3, (): -2}, "xy", []),
    ],
)
def test_solved_by_hand(op: int, polynomial: Polynomial, names: str, expected: list[tuple[int, ...]]) -> None:
    unsolved = atom(op, polynomial)
    assert isinstance(unsolved, Atom)
    simpler = solved(unsolved)
    assert simpler is not None
    assert all(len(monomial) == 1 for monomial in columns(simpler))
    assert solutions(simpler, -9, 9, names) == expected


def columns(formula: Formula) -> list[tuple[str, ...]]:
    if isinstance(formula, Atom):
        return [monomial for monomial, _ in formula.terms]
    return [monomial for arg in formula.args for monomial in columns(arg)]


@pytest.mark.parametrize(
    "polynomial",
    [
        {XX: 1, YY: -3, (): -2},  # squares are 0 or 1 modulo 3
        {XX: 1, YY: 1, (): -4003},  # a sum of two squares is no 3 modulo 4
        {XX: 1, ("y", "y", "y"): -7, (): -3},  # nor 3 a square modulo 7
        {("x", "x", "x"): 1, ("y", "y", "y"): 1, (): -4},  # nor 4 a sum of two cubes modulo 9
    ],
)
def test_no_residues(polynomial: Polynomial) -> None:
    unsolved = atom(EQ, polynomial)
    assert isinstance(unsolved, Atom)
    assert solved(unsolved) == FALSE


def test_what_is_linear_or_too_hard_stays() -> None:
    for polynomial in ({X: 1, Y: 2, (): 3}, {XX: 1, YY: -2, (): -1}, {XX: 1, ("y", "y", "y"): -1, (): -17}):
        unsolved = atom(EQ, polynomial)
        assert isinstance(unsolved, Atom)
        assert solved(unsolved) is None


@pytest.mark.parametrize("seed", range(4))
def test_it_holds_for_the_same_integers(seed: int) -> None:
    rng = random.Random(seed)
    monomials = [X, Y, XX, XY, YY, ("x", "x", "x"), ("x", "x", "y"), ("x", "x", "x", "x")]
    changed = 0
    for _ in range(150):
        names = rng.choice(["x", "xy", "xy"])
        usable = [monomial for monomial in monomials if set(monomial) <= set(names)]
        if rng.random() < 0.6:
            usable = [monomial for monomial in usable if len(monomial) <= 2]
        largest = rng.choice([2, 12])
        polynomial: Polynomial = {
            m: rng.randint(-largest, largest) for m in rng.sample(usable, rng.randint(1, min(3, len(usable))))
        }
        polynomial[()] = rng.choice([0, rng.randint(-60, 60)])
        unsolved = atom(rng.choice([EQ, EQ, GE, NE]), {m: value for m, value in polynomial.items() if value})
        if not isinstance(unsolved, Atom):
            continue
        simpler = solved(unsolved)
        if simpler is None:
            continue
        changed += 1
        assert solutions(simpler, -10, 10, "xy") == solutions(unsolved, -10, 10, "xy"), (unsolved, simpler)
    assert changed > 60


def test_polynomials_of_one_variable_far_from_0() -> None:
    # (x - 1000003) * (x + 17) * (x - 5) >= 0
    roots = (1000003, -17, 5)
    a = -sum(roots)
    b = roots[0] * roots[1] + roots[0] * roots[2] + roots[1] * roots[2]
    c = -roots[0] * roots[1] * roots[2]
    unsolved = atom(GE, {("x", "x", "x"): 1, XX: a, X: b, (): c})
    assert isinstance(unsolved, Atom)
    simpler = solved(unsolved)
    assert simpler is not None
    for x in (-18, -17, -16, 4, 5, 6, 1000002, 1000003, 1000004):
        assert satisfied(simpler, {"x": x}) == ((x - roots[0]) * (x - roots[1]) * (x - roots[2]) >= 0)


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
@pytest.mark.parametrize("op", [EQ, GE, NE])
@pytest.mark.parametrize(("a", "b"), [(1, -1), (-1, 1), (1, -2), (3, -2), (1, -8), (-16, 1), (1, -32), (81, -16)])
def test_powers(op: int, degree: int, a: int, b: int) -> None:
    unsolved = atom(op, {("x",) * degree: a, ("y",) * degree: b})
    assert isinstance(unsolved, Atom)
    simpler = solved(unsolved)
    if simpler is None:
        assert op == GE
        return
    assert solutions(simpler, -7, 7, "xy") == solutions(unsolved, -7, 7, "xy")


def test_divisors() -> None:
    for number in (1, 2, 97, 360, 1024, 999, 10007 * 10009):
        assert divisors_of(number) == sorted(
            {each for n in range(1, int(number**0.5) + 1) if number % n == 0 for each in (n, number // n)}
        )
    assert divisors_of((10**9 + 7) * (10**9 + 9)) is None
