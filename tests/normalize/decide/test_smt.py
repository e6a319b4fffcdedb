"""z3 as the last resort: Python's meaning of every operator, and asked only when the engine does not know."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import pytest

from shapedsl.ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide import WORK, Unknown, find_sizes, implied_by, smt
from shapedsl.normalize.decide.budget import Budget

from ..test_decide import random_predicate, value
from ..texts import predicate, predicates

HARD = "A * A == 2 * B * B + 7 * A * B * C + 11, A * B > C * C * C, A % 5 == 2"


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3", reason="z3 is the extra `smt`")
    monkeypatch.setenv("SHAPEDSL_SMT", "1")


@pytest.fixture
def puzzled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine knows nothing."""

    def unknown(variables: Sequence[Variable], predicates: Sequence[Predicate], budget: Budget) -> Unknown:
        return Unknown(f"the engine gave up on {len(predicates)} predicates, {len(variables)} variables, {budget.left}")

    monkeypatch.setattr("shapedsl.normalize.decide.asking.searched", unknown)


def never(variables: Sequence[Variable], predicates: Sequence[Predicate], *, work: int) -> Mapping[str, int]:
    raise AssertionError(f"z3 was asked: {variables} {predicates} {work}")


@pytest.mark.usefixtures("on")
def test_it_is_asked_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "ask", never)
    assert find_sizes((), predicates("A >= 3, A <= 2")) is None
    assert find_sizes((), predicates("A == 3")) == {"A": 3}


@pytest.mark.usefixtures("on", "puzzled")
def test_it_is_not_asked_where_little_work_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "ask", never)
    assert isinstance(find_sizes((), predicates("A >= 3"), work=4000), Unknown)


@pytest.mark.usefixtures("on", "puzzled")
def test_it_answers_what_the_engine_does_not_know() -> None:
    variables = [Variable("A", VariableKind.DIM), Variable("N", VariableKind.INT), Variable("Z", VariableKind.DIM)]
    assert find_sizes(variables, predicates("A >= 3, A <= 2")) is None
    assert find_sizes(variables, predicates("A < 0")) is None  # a dim is never negative
    assert find_sizes(variables, predicates("N < 0, N > -2, A == 1 - N")) == {"A": 2, "N": -1, "Z": 0}
    assert find_sizes((), predicates("A >= 3, A <= 3")) == {"A": 3}


@pytest.mark.usefixtures("puzzled")
def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "ask", never)
    monkeypatch.setenv("SHAPEDSL_SMT", "0")
    found = find_sizes((), predicates("A >= 3"))
    assert found == Unknown(f"the engine gave up on 1 predicates, 0 variables, {WORK}")


@pytest.mark.usefixtures("puzzled")
def test_without_z3_the_reason_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt, "ask", never)
    monkeypatch.setattr(smt, "installed", lambda: False)
    monkeypatch.setenv("SHAPEDSL_SMT", "1")
    found = implied_by((), [], predicate("A >= 3"))
    assert isinstance(found, Unknown)
    assert found.reason.endswith("; install shapedsl[smt] to ask z3")


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        # Python rounds quotients down, z3 makes remainders positive
        ("A // B == -4, A % B == -1, B == -2, A >= 0", {"A": 7, "B": -2}),
        ("A // -2 == C, A == 7", {"A": 7, "C": -4}),
        ("A % -2 == C, A == 7", {"A": 7, "C": -1}),
        ("A // 2 == C, A == -7", {"A": -7, "C": -4}),
        ("A % 2 == C, A == -7", {"A": -7, "C": 1}),
        ("cdiv(A, 2) == C, A == 7", {"A": 7, "C": 4}),
        ("cdiv(A, B) == C, A == 7, B == -2", {"A": 7, "B": -2, "C": -3}),
        ("max(A, 3, B) == 5, min(A, B) == B, B == 4", {"A": 5, "B": 4}),
        ("prod(A, A, B) == 12, B == 3, A > 0", {"A": 2, "B": 3}),
        ("A**3 == -8", {"A": -2}),
        ("-A == 4", {"A": -4}),
        # behind an alternative that holds nothing needs a value; nothing is said where a divisor is 0
        ("B == 0, B == 0 or A // B == 1, A == 1", {"A": 1, "B": 0}),
        ("B == 0, A // B == 1 or B == 0", None),
        ("B == 0, not A // B == 1", None),
        ("B == 0, A % B != 1", None),
    ],
)
def test_operators(text: str, sizes: dict[str, int] | None) -> None:
    assert smt.ask((), predicates(text), work=40_000) == sizes


@pytest.mark.usefixtures("on")
def test_what_it_cannot_be_told_is_unknown() -> None:
    assert isinstance(smt.ask((), predicates("2**A == 8"), work=40_000), Unknown)
    variadic = [Variable("batch", VariableKind.DIM, variadic=True)]
    assert isinstance(smt.ask(variadic, predicates("prod(*batch) == -1"), work=40_000), Unknown)


@pytest.mark.usefixtures("on")
def test_its_work_is_limited_and_repeatable() -> None:
    first = smt.ask((), predicates(HARD), work=10_000)
    assert [smt.ask((), predicates(HARD), work=10_000) for _ in range(3)] == [first] * 3
    assert isinstance(smt.ask((), predicates("A**3 + B**3 == C**3, A >= 1, B >= 1"), work=100), Unknown)


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    low, high = -3, 4
    box = [dict(zip("BDS", sizes, strict=True)) for sizes in itertools.product(range(low, high + 1), repeat=3)]
    answers = {"sat": 0, "unsat": 0}
    for _ in range(60):
        asked = [random_predicate(rng, 2) for _ in range(rng.randint(1, 4))]
        bounds = [
            Compare(COMPARISONS[op], Var(name), Const(end)) for name in "BDS" for op, end in ((">=", low), ("<=", high))
        ]
        found = smt.ask((), [*bounds, *asked], work=40_000)
        text = ", ".join(map(write_predicate, asked))
        solutions = any(all(value(each, sizes) for each in asked) for sizes in box)
        assert not isinstance(found, Unknown), (seed, text)
        assert (found is not None) == solutions, (seed, text, found)
        answers["sat" if solutions else "unsat"] += 1
    assert min(answers.values()) > 5
