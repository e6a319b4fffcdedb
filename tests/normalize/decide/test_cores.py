"""Cores: right by hand, deletion-minimal, and unsatisfiable by brute force."""

from __future__ import annotations

import itertools
import random

import pytest

from shapedsl.ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide import Proved, decide, find_sizes, minimal_core

from ..test_decide import random_predicate, value
from ..texts import predicate, predicates

# each core was confirmed by hand: it clashes, and without any one of them there are sizes
CORES = [
    ("B >= 2, B <= 64, B % 8 == 0, S == 2 * B, S >= 200, H % 2 == 0", "B <= 64, S == 2 * B, S >= 200"),
    ("B >= 1, B % 4 == 1, B % 2 == 0", "B % 4 == 1, B % 2 == 0"),
    ("A >= B, 2 * A == 2 * B + 1", "2 * A == 2 * B + 1"),
    ("A * B == 7, A >= 2, A <= 6", "A * B == 7, A >= 2, A <= 6"),
    ("B >= 1, S >= 1, B * S == 1024, B % 3 == 0", "B * S == 1024, B % 3 == 0"),
    ("B >= 3, B <= 5, B % 2 == 0 or B == 1, B != 4", "B >= 3, B <= 5, B % 2 == 0 or B == 1, B != 4"),
    ("h >= 1, h <= 16, d >= 1, h * d == 768, h % 5 == 0", "h * d == 768, h % 5 == 0"),
    ("A <= B, B <= C, C + 1 <= A, A >= 7", "A <= B, B <= C, C + 1 <= A"),
    ("max(A, B) <= 3, A + B >= 3, A >= 4", "max(A, B) <= 3, A >= 4"),
]


@pytest.mark.parametrize(("given", "core"), CORES)
def test_core(given: str, core: str) -> None:
    several = predicates(given)
    variables = [Variable(name, VariableKind.DIM) for name in ("A", "B", "C", "S", "H", "h", "d")]
    found = minimal_core(variables, several)
    assert found is not None
    assert list(found) == sorted(found)
    assert [several[at] for at in found] == predicates(core)


def test_no_core_where_there_are_sizes() -> None:
    assert minimal_core((), predicates("A >= 2, A <= 2")) is None
    assert minimal_core((), []) is None


def test_what_comes_first_is_kept() -> None:
    variables = [Variable("B", VariableKind.DIM)]
    twice = predicates("B <= 7, B >= 9, B <= 8, B >= 10")
    assert minimal_core(variables, twice) == (0, 1)


def test_three_among_many() -> None:
    several = predicates(", ".join(f"v{at} >= {at % 5}" for at in range(120)))
    several[17:17], several[70:70], several[101:101] = predicates("a <= b"), predicates("b <= c"), predicates("c < a")
    assert minimal_core((), several) == (17, 70, 101)


def test_a_chain_needs_every_link() -> None:
    links = [f"v{at} >= v{at + 1}" for at in range(31)]
    random.Random(0).shuffle(links)
    several = predicates(", ".join([*links, "v31 >= v0 + 1", "v3 >= 2", "w >= v1"]))
    assert minimal_core((), several) == tuple(range(32))


@pytest.mark.parametrize(
    ("given", "question", "core"),
    [
        ("A >= 1, B % 2 == 0, B % 3 == 0", "B % 6 == 0", (1, 2)),
        ("B >= 1, B % 8 == 0, B <= 100", "B >= 8", (0, 1)),
        ("A >= 3", "A >= 0 or A < 0", ()),
        ("A >= 3, B >= 4", "A >= 2", (0,)),
        ("D == 2 * B + 1, B >= 1, B <= 64", "D <= 129", (0, 2)),
    ],
)
def test_the_core_of_a_proof(given: str, question: str, core: tuple[int, ...]) -> None:
    assert decide((), predicates(given), predicate(question), core=True) == Proved(core)


@pytest.mark.parametrize("seed", range(8))
def test_cores_are_minimal_and_right(seed: int) -> None:
    rng = random.Random(seed)
    low, high = -2, 5
    variables = [Variable(name, VariableKind.INT) for name in "BDS"]
    box = [dict(zip("BDS", sizes, strict=True)) for sizes in itertools.product(range(low, high + 1), repeat=3)]
    checked = 0
    for _ in range(40):
        given: list[Predicate] = [
            Compare(COMPARISONS[op], Var(name), Const(end)) for name in "BDS" for op, end in ((">=", low), ("<=", high))
        ]
        given += [random_predicate(rng, 1) for _ in range(rng.randint(2, 5))]
        rng.shuffle(given)
        core = minimal_core(variables, given)
        text = ", ".join(map(write_predicate, given))
        if core is None:
            continue
        checked += 1
        chosen = [given[at] for at in core]
        assert not any(all(value(each, sizes) for each in chosen) for sizes in box), (seed, text, core)
        for at in core:
            rest = [given[other] for other in core if other != at]
            assert find_sizes(variables, rest) is not None, (seed, text, core, at)
    assert checked > 10
