"""Asking for each sign: what it decides, and agreement with brute force."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import pytest

from shapedsl.ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide import Proved, Unknown, decide
from shapedsl.normalize.decide.budget import Budget
from shapedsl.normalize.decide.search import sizes_or_core
from shapedsl.normalize.decide.signs import by_sign

from ..test_decide import random_predicate, value
from ..texts import predicate, predicates

UNKNOWN = Unknown("the engine gave up")


def search(
    variables: Sequence[Variable], several: Sequence[Predicate], budget: Budget
) -> Mapping[str, int] | Unknown | tuple[int, ...]:
    return sizes_or_core(variables, several, work=budget)


@pytest.mark.parametrize(
    ("given", "question"),
    [("A == A", "A * cdiv(A, 16) >= 0"), ("A == B, C >= 0", "A * B * C >= 0"), ("A != 0", "A * A * B * B >= B * B")],
)
def test_products_of_ints(given: str, question: str) -> None:
    variables = [Variable(name, VariableKind.INT) for name in "ABC"]
    assert isinstance(decide(variables, predicates(given), predicate(question)), Proved)


def test_the_core_is_of_all_signs() -> None:
    several = predicates("C >= 3, A * A * B < 0, B >= 0, A >= -9")
    assert by_sign([Variable("A", VariableKind.INT)], several, UNKNOWN, Budget(100_000), search) == (1, 2)


def test_one_undecided_sign_leaves_it_open() -> None:
    def gives_up(
        variables: Sequence[Variable], several: Sequence[Predicate], budget: Budget
    ) -> Unknown | tuple[int, ...]:
        assert not variables
        assert budget.left > 0
        return (0,) if several[-1] == predicate("A >= 1") else Unknown("too hard")

    assert by_sign([], predicates("A * A == 2"), UNKNOWN, Budget(1000), gives_up) is UNKNOWN


@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    variables = [Variable(name, rng.choice([VariableKind.DIM, VariableKind.INT])) for name in "BDS"]
    least = {v.name: 0 if v.kind is VariableKind.DIM else -3 for v in variables}
    box = itertools.product(*(range(least[name], 5) for name in "BDS"))
    points = [dict(zip("BDS", sizes, strict=True)) for sizes in box]
    answers = {"sizes": 0, "core": 0}
    for _ in range(50):
        given: list[Predicate] = [
            Compare(COMPARISONS[op], Var(name), Const(end)) for name in "BDS" for op, end in ((">=", -3), ("<=", 4))
        ]
        given += [random_predicate(rng, 1) for _ in range(rng.randint(1, 4))]
        found = by_sign(variables, given, UNKNOWN, Budget(2_000_000), search)
        text = ", ".join(map(write_predicate, given))
        if isinstance(found, tuple):
            answers["core"] += 1
            assert not any(all(value(given[at], sizes) for at in found) for sizes in points), (seed, text, found)
        elif not isinstance(found, Unknown):
            answers["sizes"] += 1
            assert all(value(each, dict(found)) for each in given), (seed, text, found)
    assert min(answers.values()) > 3, answers
