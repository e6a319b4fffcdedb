"""Replacing what other sizes define: what becomes plain, and agreement with brute force."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import pytest

from shapedsl.ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size, Var, Variable, VariableKind
from shapedsl.ir.walk import free_vars
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide import Proved, Unknown, decide
from shapedsl.normalize.decide.budget import Budget
from shapedsl.normalize.decide.definitions import replaced
from shapedsl.normalize.decide.search import sizes_or_core

from ..test_algebra import random_size
from ..test_decide import random_predicate, value
from ..texts import predicate, predicates

UNKNOWN = Unknown("the engine gave up")


def search(
    variables: Sequence[Variable], several: Sequence[Predicate], budget: Budget
) -> Mapping[str, int] | Unknown | tuple[int, ...]:
    return sizes_or_core(variables, several, work=budget)


@pytest.mark.parametrize(
    ("given", "question"),
    [
        ("D % H == 0, H % G == 0, G >= 1, H >= 1", "D % G == 0"),
        ("D % H == 0, H % G == 0, G % F == 0, F >= 1, G >= 1, H >= 1", "D % F == 0"),
        ("D == H * d, d == 2 * e, H >= 1", "D // H % 2 == 0"),
        ("A == B * S, C == A * D, B >= 1", "C % B == 0"),
    ],
)
def test_divisibility_goes_on(given: str, question: str) -> None:
    variables = [Variable(name, VariableKind.DIM) for name in ("A", "B", "C", "D", "F", "G", "H", "S", "d", "e")]
    assert isinstance(decide(variables, predicates(given), predicate(question)), Proved)


def test_the_core_names_the_definitions() -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "ADGH"]
    several = predicates("A >= 3, D % H == 0, H % G == 0, G >= 1, H >= 1, D % G == 1")
    found = replaced(variables, several, UNKNOWN, Budget(100_000), search)
    assert isinstance(found, tuple)
    assert {1, 2, 5} <= set(found)
    assert 0 not in found


def test_sizes_are_computed_back() -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "BDST"]
    several = predicates("T == B * S, D % T == 0, B >= 3, S >= 2, D >= 1")
    found = replaced(variables, several, UNKNOWN, Budget(100_000), search)
    assert isinstance(found, dict)
    assert sorted(found) == ["B", "D", "S", "T"]
    assert all(value(each, found) for each in several)


def test_a_defined_dim_is_not_negative() -> None:
    variables = [Variable(name, VariableKind.DIM) for name in "AB"]
    found = replaced(variables, predicates("A == B - 5, B <= 4"), UNKNOWN, Budget(10_000), search)
    assert found == (0, 1)


def test_nothing_is_replaced() -> None:
    batch = [Variable("batch", VariableKind.DIM, variadic=True)]
    for text in ("A >= 3", "A == A * B", "A == B // 2", "A % B == 1", "A // B == 0"):
        assert replaced((), predicates(text), UNKNOWN, Budget(10_000), search) is UNKNOWN
    assert replaced(batch, predicates("A == prod(*batch)"), UNKNOWN, Budget(10_000), search) is UNKNOWN


@pytest.mark.parametrize("seed", range(4))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    box = [dict(zip("BDS", sizes, strict=True)) for sizes in itertools.product(range(-2, 5), repeat=3)]
    variables = [Variable(name, rng.choice([VariableKind.DIM, VariableKind.INT])) for name in "BDS"]
    answers = {"sizes": 0, "core": 0}
    for _ in range(60):
        given: list[Predicate] = [
            Compare(COMPARISONS[op], Var(name), Const(end)) for name in "BDS" for op, end in ((">=", -2), ("<=", 4))
        ]
        for name in rng.sample("BDS", rng.randint(1, 2)):
            by = random_size(rng, rng.randint(0, 1))
            remainder: Size = Apply(OPERATORS["%"], (Var(name), by))
            given.append(Compare(COMPARISONS["=="], *rng.choice([(Var(name), by), (remainder, Const(0))])))
        given += [random_predicate(rng, 1) for _ in range(rng.randint(0, 2))]
        rng.shuffle(given)
        found = replaced(variables, given, UNKNOWN, Budget(400_000), search)
        if isinstance(found, Unknown):
            continue
        text = ", ".join(map(write_predicate, given))
        negative = {v.name for v in variables if v.kind is VariableKind.DIM}
        points = [sizes for sizes in box if not any(sizes[name] < 0 for name in negative)]
        if isinstance(found, tuple):
            answers["core"] += 1
            chosen = [given[at] for at in found]
            assert not any(all(value(each, sizes) for each in chosen) for sizes in points), (seed, text, found)
        else:
            answers["sizes"] += 1
            assert set(found) == {"B", "D", "S"} | {name for each in given for name in free_vars(each)}
            assert all(value(each, dict(found)) for each in given), (seed, text, found)
    assert min(answers.values()) > 3, answers
