"""Trying all sizes: the smallest is found, none where there is none, and nothing where there are too many."""

from __future__ import annotations

import itertools
import random

import pytest

from shapedsl.ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from shapedsl.normalize.decide import Unknown
from shapedsl.normalize.decide.budget import Budget
from shapedsl.normalize.decide.minimize import size_key
from shapedsl.normalize.decide.small import tried

from ..test_decide import random_predicate, value
from ..texts import predicates

UNKNOWN = Unknown("the engine gave up")


def test_the_smallest() -> None:
    given = predicates("A >= 1, A <= 9, B >= 1, B <= 40, A * A + B % A == 2 * B + 3, C == 5")
    found = tried([Variable("Z", VariableKind.DIM)], given, UNKNOWN, Budget(100_000))
    pairs = itertools.product(range(1, 10), range(1, 41))
    a, b = next((a, b) for a, b in pairs if a * a + b % a == 2 * b + 3)
    assert found == {"A": a, "B": b, "C": 5, "Z": 0}


def test_what_cannot_hold_together() -> None:
    given = predicates("C == 5, A >= 2, A <= 9, B >= 2, B <= 9, A * B == 37")
    found = tried((), given, UNKNOWN, Budget(100_000))
    assert isinstance(found, tuple)
    assert set(found) <= {1, 2, 3, 4, 5}


def test_a_dim_is_never_negative() -> None:
    dim, whole = Variable("A", VariableKind.DIM), Variable("A", VariableKind.INT)
    given = predicates("A <= 3, A >= -3, A % 4 == 2")
    assert tried([dim], given, UNKNOWN, Budget(1000)) == {"A": 2}
    assert tried([whole], given, UNKNOWN, Budget(1000)) == {"A": 2}
    assert tried([whole], predicates("A <= 1, A >= -3, A % 4 == 2"), UNKNOWN, Budget(1000)) == {"A": -2}


def test_too_many() -> None:
    assert tried((), predicates("A >= 1"), UNKNOWN, Budget(100_000)) is UNKNOWN
    assert tried((), predicates("A >= 1, A <= 10**9, A * A % 7 == 3"), UNKNOWN, Budget(100_000)) is UNKNOWN
    box = "A >= 0, A <= 999, B >= 0, B <= 999, A * B % 1000 == 7 + A % 30, A % 2 == B % 3"
    assert tried((), predicates(box), UNKNOWN, Budget(10_000)) is UNKNOWN


def test_a_variadic_may_have_any_number_of_dims() -> None:
    batch = [Variable("batch", VariableKind.DIM, variadic=True)]
    assert tried(batch, predicates("max(*batch) <= 8, prod(*batch) > 8"), UNKNOWN, Budget(9999)) is UNKNOWN


@pytest.mark.parametrize("seed", range(4))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    low, high = -2, 4
    box = itertools.product(*[sorted(range(low, high + 1), key=size_key)] * 3)
    ordered = [dict(zip("BDS", sizes, strict=True)) for sizes in box]
    variables = [Variable(name, VariableKind.INT) for name in "BDS"]
    for _ in range(30):
        given: list[Predicate] = [
            Compare(COMPARISONS[op], Var(name), Const(end)) for name in "BDS" for op, end in ((">=", low), ("<=", high))
        ]
        given += [random_predicate(rng, 1) for _ in range(rng.randint(1, 4))]
        found = tried(variables, given, UNKNOWN, Budget(1_000_000))
        smallest = next((sizes for sizes in ordered if all(value(each, sizes) for each in given)), None)
        if smallest is not None:
            assert found == smallest
            continue
        assert isinstance(found, tuple)
        assert not any(all(value(given[at], sizes) for at in found) for sizes in ordered)


def test_a_long_predicate_costs_more() -> None:
    spent: list[int] = []
    for more in ("", " + 0 * A" * 30):
        budget = Budget(100_000)
        given = predicates(f"A >= 0, A <= 9, B >= 0, B <= 9, (A * A * B{more}) % 97 == 96")
        tried((), given, UNKNOWN, budget)
        spent.append(100_000 - budget.left)
    assert spent[1] > 4 * spent[0]
