"""Witnesses are as small as they can be, in the order of names: by hand, and against brute force."""

from __future__ import annotations

import itertools
import random

import pytest

from shapedsl.ir import COMPARISONS, Compare, Const, Not, Predicate, Var, Variable, VariableKind
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide import Refuted, find_sizes, implied_by, smallest_sizes
from shapedsl.normalize.decide.minimize import size_key

from ..test_decide import random_predicate, value
from ..texts import predicate, predicates

SMALLEST = [
    ("A == 2 * B, B >= 3", {"A": 600, "B": 300}, {"A": 6, "B": 3}),
    ("A * B == 36", {"A": 36, "B": 1}, {"A": 1, "B": 36}),
    ("A * B == 36, A >= 5", {"A": 36, "B": 1}, {"A": 6, "B": 6}),
    ("A + B == 1000, B <= 10", {"A": 999, "B": 1}, {"A": 990, "B": 10}),
    ("A % 8 == 3, A >= 20, B >= A", {"A": 8003, "B": 10**12}, {"A": 27, "B": 27}),
    ("A >= 10**9, B == A + 1", {"A": 10**12, "B": 10**12 + 1}, {"A": 10**9, "B": 10**9 + 1}),
    ("A == 0 or A >= 50", {"A": 99}, {"A": 0}),
    ("max(A, B) == 9, A != 0", {"A": 9, "B": 9}, {"A": 1, "B": 9}),
    ("C == A // 8, C >= 2", {"A": 1000, "C": 125}, {"A": 16, "C": 2}),
    ("A == 7 * C, B == 5 * C, C >= 1", {"A": 70, "B": 50, "C": 10}, {"A": 7, "B": 5, "C": 1}),
]


@pytest.mark.parametrize(("given", "sizes", "smallest"), SMALLEST)
def test_the_smallest(given: str, sizes: dict[str, int], smallest: dict[str, int]) -> None:
    variables = [Variable(name, VariableKind.DIM) for name in sizes]
    assert smallest_sizes(variables, predicates(given), sizes) == smallest


@pytest.mark.parametrize(
    ("given", "sizes", "smallest"),
    [
        ("N <= -3", {"N": -900}, {"N": -3}),
        ("N * N == 16", {"N": -4}, {"N": 4}),  # of two as near to 0, the positive one
        ("N % 7 == 4", {"N": 704}, {"N": -3}),
        ("N + M == 0, N != 0", {"N": -50, "M": 50}, {"N": -1, "M": 1}),  # M comes first in the order of names
    ],
)
def test_ints_may_be_negative(given: str, sizes: dict[str, int], smallest: dict[str, int]) -> None:
    variables = [Variable(name, VariableKind.INT) for name in sizes]
    assert smallest_sizes(variables, predicates(given), sizes) == smallest


def test_what_nothing_speaks_of_is_0() -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "AB"]
    assert smallest_sizes(variables, predicates("A >= 2"), {"A": 9, "B": 9}) == {"A": 2, "B": 0}


def test_a_variadic_is_one_dim() -> None:
    variables = [Variable("batch", VariableKind.DIM, variadic=True)]
    assert smallest_sizes(variables, predicates("prod(*batch) >= 5"), {"batch": 100}) == {"batch": 5}


def test_witnesses_are_smallest() -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "BS"]
    verdict = implied_by(variables, predicates("B % 8 == 0, S >= B"), predicate("S <= 100 or B == 0"))
    assert verdict == Refuted((("B", 8), ("S", 101)))


@pytest.mark.parametrize("seed", range(8))
def test_nothing_smaller_in_a_box(seed: int) -> None:
    rng = random.Random(seed)
    low, high = -3, 6
    checked = 0
    for _ in range(40):
        kinds = {name: rng.choice([VariableKind.DIM, VariableKind.INT]) for name in "BDS"}
        variables = [Variable(name, kind) for name, kind in kinds.items()]
        given: list[Predicate] = [
            Compare(COMPARISONS[op], Var(name), Const(end)) for name in "BDS" for op, end in ((">=", low), ("<=", high))
        ]
        given += [random_predicate(rng, 1) for _ in range(rng.randint(1, 3))]
        least = {name: low if kind is VariableKind.INT else 0 for name, kind in kinds.items()}
        box = itertools.product(*(sorted(range(least[name], high + 1), key=size_key) for name in "BDS"))
        fits = (dict(zip("BDS", sizes, strict=True)) for sizes in box)
        solutions = [sizes for sizes in fits if all(value(each, sizes) for each in given)]
        if not solutions:
            continue
        start = rng.choice(solutions)  # the first of them is the smallest
        text = ", ".join(map(write_predicate, given))
        assert smallest_sizes(variables, given, start) == solutions[0], (seed, text, start)
        checked += 1
    assert checked > 15


@pytest.mark.parametrize("seed", range(4))
def test_it_never_makes_sizes_larger_or_wrong(seed: int) -> None:
    rng = random.Random(100 + seed)
    for _ in range(30):
        given = [random_predicate(rng, 1) for _ in range(2)]
        found = find_sizes((), [*given, Not(random_predicate(rng, 0))])
        if not isinstance(found, dict):
            continue
        for work in (100, 40_000):
            smaller = smallest_sizes((), given, found, work=work)
            assert all(value(each, smaller) for each in given)
            assert [size_key(smaller[n]) for n in sorted(found)] <= [size_key(found[n]) for n in sorted(found)]
            assert smallest_sizes((), given, found, work=work) == smaller
