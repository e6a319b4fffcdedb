"""The search: known answers, reasons, what it costs, and agreement with brute force."""

from __future__ import annotations

import itertools
import random

import pytest

from shapedsl.ir import Not, Predicate, Variable, VariableKind
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide.budget import Budget
from shapedsl.normalize.decide.search import WORK, find_sizes, grouped, sizes_or_core
from shapedsl.normalize.decide.translate import translate
from shapedsl.normalize.decide.verdict import Unknown

from ..texts import predicate, predicates
from .test_translate import random_predicate


def core(text: str, work: int = WORK) -> tuple[int, ...]:
    """Returns which predicates of ``text`` were found to clash."""
    found = sizes_or_core((), predicates(text), work=work)
    assert isinstance(found, tuple), found
    return found


CLASHES = [
    ("A >= 3, B >= 7, A <= 2", (0, 2)),
    ("C >= 1, A == 2*B, C <= 9, A % 2 == 1", (1, 3)),
    ("B >= 0, B < 4 or C > 3, B >= 5, C <= 3, C >= 1", (1, 2, 3)),
    ("A != 1, A >= 1, A <= 2, B != 7, A != 2", (0, 1, 2, 4)),
    ("A*B == 7, A >= 2, A <= 6", (0, 1, 2)),
    ("A >= 1, B >= 1, A*A == 2*B*B", (0, 2)),
    ("A*A + B*B == 4*C + 3", (0,)),
    ("B >= 2, T == B*S, T % B == 1", (0, 1, 2)),
    ("A*B < 0, C == 1, A == B", (0, 2)),
    ("A >= B, B >= 0, C == 0, A*A < B*B", (0, 1, 3)),
    ("A*B == C, A % 4 == 0, B % 6 == 0, C % 24 != 0", (0, 1, 2, 3)),
    ("h*d == 768, d >= 1, h % 5 == 0", (0, 2)),
    ("B >= 1, A*C > B*C, A <= B, C >= 0", (1, 2, 3)),
    ("max(A, B)*min(A, B) != A*B", (0,)),
    ("A*A + B*B < 2*A*B", (0,)),
    ("A % B == 0, B % C == 0, A % C != 0, B >= 0, C >= 0", (0, 1, 2)),
    ("A // B // C != A // (B*C), A >= 0, B >= 1, C >= 1", (0,)),
    ("A*B + C == D, A >= 1, D % A != C % A", (0, 2)),
    ("B*B + B*S == C*C + C*T, S == T, B < C, B >= 0, S >= 0", (0, 1, 2)),
    ("16*A + B == 16*C + D, B < 16, D < 16, A != C, B >= 0, D >= 0", (0, 1, 2, 3, 4, 5)),
    ("B*S*H == C*S*H, S >= 1, H >= 1, B < C", (0, 3)),
    ("x*x*x == 9*k + 4", (0,)),
    ("2**N == 12, N <= 40, N >= 0", (0,)),
]


@pytest.mark.parametrize(("text", "wanted"), CLASHES)
def test_a_core_holds_what_is_needed(text: str, wanted: tuple[int, ...]) -> None:
    assert set(wanted) <= set(core(text))


@pytest.mark.parametrize(
    "text",
    [
        "A*B == 36, A >= 5, B >= 5",
        "A*A == 2*B*B + 1, B >= 1",
        "A*A + B*B == C*C, A >= 1, B >= 1, C >= 6",
        "A*B >= 2**40, A <= B",
        "B % 7 == 3, B % 11 == 5, B % 13 == 1, B >= 1",
        "A // B == 3, A % B == 2, B >= 3",
        "A // B == -3, A % B == -2",
        "H >= 4, W >= 4, H <= 32, W <= 32, H % 4 == 0, W % 4 == 0, not (H == W or H*W <= 560)",
        "2**N >= 1000, N <= 11",
        "N == -5 or 2**N >= 4, N <= 1",
        "B == 0 or A // B == 1",
        "A == 2*B, C*A >= 100, A + C > 50",
    ],
)
def test_sizes_are_found(text: str) -> None:
    found = sizes_or_core((), predicates(text))
    assert isinstance(found, dict), found
    assert all(holds(each, found) for each in predicates(text))


def test_parts_without_a_common_variable_are_decided_apart() -> None:
    hard = "A >= 2, B >= 2, C >= 2, A**5 + B**5 == C**5"
    assert core(f"{hard}, D >= 1, D <= 0") == (4, 5)
    assert isinstance(sizes_or_core((), predicates(f"{hard}, D >= 1")), Unknown)


def test_a_dim_is_never_negative_and_no_constraint_says_so() -> None:
    variables = [Variable("A", VariableKind.DIM), Variable("B", VariableKind.INT)]
    assert sizes_or_core(variables, predicates("B == -1, A < 0")) == (1,)


def test_a_shared_budget_is_used_up() -> None:
    budget = Budget(WORK)
    sizes_or_core((), predicates("A >= 1"), work=budget)
    assert 0 < budget.left < WORK
    assert isinstance(sizes_or_core((), predicates("A >= 1, A == 2*B, B == 3*C"), work=Budget(20)), Unknown)


@pytest.mark.parametrize("length", [32, 300])
def test_a_shuffled_chain(length: int) -> None:
    links = [f"v{at} >= v{at + 1}" for at in range(length - 1)]
    random.Random(0).shuffle(links)
    given = predicates(", ".join([*links, *(f"v{at} >= 0" for at in range(length))]))
    budget = Budget(WORK)
    found = sizes_or_core((), [*given, predicate(f"v{length - 1} > v0")], work=budget)
    assert found == (*range(length - 1), len(given))
    assert isinstance(sizes_or_core((), [*given, predicate(f"v0 > v{length - 1}")], work=budget), dict)


def test_a_chain_of_equalities() -> None:
    links = [f"x{at} == x{at + 1} + 1" for at in range(500)]
    random.Random(0).shuffle(links)
    assert isinstance(sizes_or_core((), predicates(", ".join([*links, "x500 >= 0"]))), dict)
    assert len(core(", ".join([*links, "x0 < 500", "x500 >= 0"]))) == 502


def cases(count: int, gap: bool) -> list[Predicate]:
    """Returns what no case takes, where ``count`` cases split a box of four sizes, but for one point if ``gap``."""
    rng = random.Random(count)
    found: list[str] = []
    for at in range(count // 2):
        low, high = 4096 * at // (count // 2), 4096 * (at + 1) // (count // 2)
        odd = f"A >= {low} and A < {high} and B % 2 == 1"
        found += [
            f"A >= {low} and A < {high} and B % 2 == 0",
            f"{odd} and not (A == {low} and C == 17)" if gap else odd,
        ]
    rng.shuffle(found)
    box = "A >= 0, A < 4096, B >= 0, B < 4096, C >= 0, C < 64, D >= 0, D < 64"
    return [*predicates(box), *(Not(predicate(each)) for each in found)]


@pytest.mark.parametrize("count", [10, 80])
def test_cases_that_cover_and_cases_that_do_not(count: int) -> None:
    assert isinstance(sizes_or_core((), cases(count, gap=False)), tuple)
    whole = cases(count, gap=True)
    found = sizes_or_core((), whole)
    assert isinstance(found, dict)
    assert found["C"] == 17
    assert all(holds(each, found) for each in whole)


@pytest.mark.parametrize("seed", range(8))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    box = predicates("A >= -3, A <= 4, B >= -3, B <= 4")
    variables = [Variable(name, VariableKind.INT) for name in "AB"]
    points = [{"A": a, "B": b} for a, b in itertools.product(range(-3, 5), repeat=2)]
    undecided = 0
    for _ in range(40):
        given = [*box, *(random_predicate(rng, 2) for _ in range(rng.randint(1, 4)))]
        text = ", ".join(map(write_predicate, given))
        found = sizes_or_core(variables, given)
        if isinstance(found, Unknown):
            undecided += 1
        elif isinstance(found, tuple):
            assert not any(all(true(given[at], point) for at in found if at >= 4) for point in points), (text, found)
        else:
            assert all(true(each, dict(found)) for each in given), (text, found)
    assert undecided == 0


def true(each: Predicate, sizes: dict[str, int]) -> bool:
    try:
        return holds(each, sizes)
    except ZeroDivisionError:
        return False


def test_the_answer_does_not_depend_on_what_was_asked_before() -> None:
    asked = predicates("A >= 1, B >= 1, A*B == 36, A // 5 == B % 3, A != 4")
    first, budget = find_sizes((), asked), Budget(WORK)
    find_sizes((), predicates("B // 5 == A % 3, A*A == 2*B"))
    assert find_sizes((), asked, work=budget) == first
    again = Budget(WORK)
    find_sizes((), asked, work=again)
    assert again.left == budget.left


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("12223*A + 12224*B + 36674*C + 61119*D + 85569*E == 89643481, A <= 100", "linear constraints"),
        ("A*A == 61*B*B + 1, B >= 1, A >= 11", "multiplied or divided"),
    ],
)
def test_why_it_is_unknown(text: str, reason: str) -> None:
    dims = [Variable(name, VariableKind.DIM) for name in "ABCDE"]
    found = find_sizes(dims, predicates(text))
    assert isinstance(found, Unknown)
    assert reason in found.reason


def test_predicates_are_grouped_by_what_they_share() -> None:
    asked = predicates("A >= 1, C == 2, A <= B, D == E, C >= 1, E >= B")
    assert grouped(list(map(translate, asked))) == [[1, 4], [0, 2, 3, 5]]
