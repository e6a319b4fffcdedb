"""Ranges and residues: the tightest, by hand and against brute force, with the constraints that they come from."""

from __future__ import annotations

import itertools
import random
from math import gcd

import pytest

from shapedsl.ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from shapedsl.ir.walk import evaluate
from shapedsl.ir.write import write_dim, write_predicate
from shapedsl.normalize.decide import Proved, Range, decide, range_of

from ..test_algebra import random_size
from ..test_decide import random_predicate, value
from ..texts import predicate, predicates, size

RANGES = [
    # confirmed by brute force
    ("B >= 10, B <= 50, B % 8 == 3", "B", (11, 43, 8, 3)),
    ("C >= 1, C <= 100, B == 6 * C + 4", "B", (10, 604, 6, 4)),
    ("H >= 1, H <= 224", "(H + 2 * 3 - 7) // 2 + 1", (1, 112, 1, 0)),
    ("B >= 8, S >= 1, B * S <= 4096", "S", (1, 512, 1, 0)),
    ("A <= 64, B <= 64, C == max(A, 2 * B) - min(A, B)", "C", (0, 128, 1, 0)),
    ("B >= 1, B <= 64, D == 2 * B + 1", "D", (3, 129, 2, 1)),
    ("B >= 1, B <= 64, S >= 1, S <= 4096, T == B * S, B % 8 == 0, S % 16 == 0", "T", (128, 262144, 128, 0)),
    # no end, or one end
    ("B >= 1", "B", (1, None, 1, 0)),
    ("B >= 1", "3 * B + 2", (5, None, 3, 2)),
    ("B >= 1, D >= 1", "B * D", (1, None, 1, 0)),
    ("", "2 - A", (None, 2, 1, 0)),
    ("", "A - B", (None, None, 1, 0)),
    ("", "A // 8", (0, None, 1, 0)),
    ("A <= B, B <= C, C <= A + 3, A >= 2", "C - A", (0, 3, 1, 0)),
    # only splitting sees these
    ("A == 3 or A == 7 or A == 15", "A", (3, 15, 4, 3)),
    ("A * B == 12, A != 12, A > 1", "A", (2, 6, 1, 0)),
    ("A * A == 49", "A", (7, 7, 0, 7)),
    ("2 * A + 3 * B == 7", "A", (2, 2, 0, 2)),
    ("A % 2 == 0, A % 3 == 1, A <= 20", "A", (4, 16, 6, 4)),
    ("A % 5 != 0, A >= 5, A <= 10", "A", (6, 9, 1, 0)),
    ("", "A % 7", (0, 6, 1, 0)),
    ("", "(2 * A) % 8", (0, 6, 2, 0)),
    ("A == 17", "A + 1", (18, 18, 0, 18)),
]


@pytest.mark.parametrize(("given", "asked", "answer"), RANGES)
def test_range(given: str, asked: str, answer: tuple[int | None, int | None, int, int]) -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "ABCDHST"]
    found = range_of(variables, predicates(given) if given else [], size(asked))
    assert found == Range(*answer, exact=True)


def test_nothing_satisfies_it() -> None:
    assert range_of((), predicates("A <= B, B <= A - 1"), size("A")) is None
    assert range_of((), predicates("A >= 3, A <= 2"), size("B")) is None
    assert range_of((), predicates("B == 0"), size("A // B")) is None


def test_sizes_that_divide_by_0_are_left_out() -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "AB"]
    assert range_of(variables, predicates("A <= 10, B <= 3"), size("A // B")) == Range(0, 10, exact=True)


def test_an_end_that_is_not_known_to_be_attained() -> None:
    found = range_of((), predicates("A >= 1, B >= 1, C >= 1, A <= 90, A**3 + B**3 == C**3"), size("A"), work=2000)
    assert found is not None
    assert (found.low, found.high, found.exact) == (1, 90, False)


@pytest.mark.parametrize(
    ("given", "asked", "cores"),
    [
        ("A >= 1, B >= 2, B <= 64, D == 2 * B + 1", "D", ((1, 3), (2, 3), (3,))),
        ("A <= 64, A % 8 == 0", "A", ((), (0,), (1,))),
        ("A <= 63, A % 8 == 0, A >= 1", "A", ((1, 2), (0, 1), (1,))),
        ("A == 5, B == A", "B", ((0, 1), (0, 1), (0, 1))),
        ("B >= 3", "A", ((), (), ())),
    ],
)
def test_where_it_comes_from(given: str, asked: str, cores: tuple[tuple[int, ...], ...]) -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "ABD"]
    found = range_of(variables, predicates(given), size(asked), cores=True)
    assert found is not None
    assert (found.low_core, found.high_core, found.residue_core) == cores


def test_cores_prove_the_ends() -> None:
    given = predicates("B >= 1, B <= 64, S >= 1, S <= 4096, T == B * S, B % 8 == 0, S % 16 == 0")
    found = range_of((), given, size("T"), cores=True)
    assert found is not None
    for core, question in (
        (found.low_core, "T >= 128"),
        (found.high_core, "T <= 262144"),
        (found.residue_core, "T % 128 == 0"),
    ):
        assert isinstance(decide((), [given[at] for at in core], predicate(question)), Proved)


@pytest.mark.parametrize("seed", range(8))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    low, high = -2, 6
    box = [dict(zip("BDS", sizes, strict=True)) for sizes in itertools.product(range(low, high + 1), repeat=3)]
    variables = [Variable(name, VariableKind.INT) for name in "BDS"]
    exact = 0
    for _ in range(25):
        given: list[Predicate] = [
            Compare(COMPARISONS[op], Var(name), Const(end)) for name in "BDS" for op, end in ((">=", low), ("<=", high))
        ]
        given += [random_predicate(rng, 1) for _ in range(rng.randint(0, 2))]
        asked = random_size(rng, rng.randint(1, 2))
        values: set[int] = set()
        for sizes in box:
            try:
                if all(value(each, sizes) for each in given):
                    values.add(evaluate(asked, sizes))
            except ZeroDivisionError:
                pass
        text = f"{seed}: {write_dim(asked)} given {', '.join(map(write_predicate, given))}"
        found = range_of(variables, given, asked)
        if found is None:
            assert not values, text
            continue
        if not values:
            assert not found.exact, text
            continue
        assert found.low is None or found.low <= min(values), text
        assert found.high is None or found.high >= max(values), text
        assert {(v - found.residue) % found.modulus if found.modulus else v - found.residue for v in values} == {0}, (
            text
        )
        if found.exact:
            exact += 1
            modulus = gcd(*(v - min(values) for v in values))
            residue = min(values) % modulus if modulus else min(values)
            assert found == Range(min(values), max(values), modulus, residue, exact=True), text
    assert exact > 15
