"""The decision procedure: known answers, and agreement with brute force on small boxes."""

from __future__ import annotations

import itertools
import random

import pytest

from shapedsl.ir import COMPARISONS, And, Compare, Const, Not, Or, Predicate, Var, Variable, VariableKind
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.decide import Proved, Refuted, Unknown, find_sizes, implied, implied_by

from .test_algebra import random_size
from .texts import predicate, predicates, signature

# ranges; assumptions; question; answer. Each answer was confirmed by brute force or by another solver.
ANSWERS = [
    ("B >= 0", "B % 2 == 0, B % 3 == 0", "B % 6 == 0", True),
    ("B >= 0", "B % 2 == 0, B % 4 == 0", "B % 8 == 0", False),
    ("B >= 1", "B % 8 == 0", "B >= 8", True),
    ("B >= 1", "B % 8 == 0", "B >= 9", False),
    ("B >= 10, B <= 50", "B % 8 == 3", "B >= 11 and B <= 43", True),
    ("B >= 0, C >= 1, C <= 100", "B == 6 * C + 4", "B % 6 == 4", True),
    ("H >= 1, H <= 224", "", "(H + 2 * 3 - 7) // 2 + 1 <= 112", True),
    ("H >= 1, H <= 224", "", "(H + 2 * 3 - 7) // 2 + 1 <= 111", False),
    ("H >= 1, K >= 1, P >= 0, S >= 1", "H >= K", "(H + 2 * P - K) // S + 1 >= 1", True),
    ("H >= 1, K >= 1, P >= 0, S >= 1", "", "(H + 2 * P - K) // S + 1 >= 1", False),
    ("B >= 1, D >= 1", "", "B * D >= D", True),
    ("B >= 0, D >= 1", "", "B * D >= D", False),
    ("B >= 8, S >= 1", "B * S <= 4096", "S <= 512", True),
    ("A >= 0, B >= 0", "", "max(A, B) + min(A, B) == A + B", True),
    ("A >= 0, B >= 0, A <= 64, B <= 64", "C == max(A, 2 * B) - min(A, B)", "C <= 128", True),
    ("A >= 0, B >= 0, A <= 64, B <= 64", "C == max(A, 2 * B) - min(A, B)", "C <= 127", False),
    ("B >= 0", "", "B // 2 // 2 == B // 4", True),
    ("B >= 0", "", "(B + 1) // 2 == B // 2", False),
    ("B >= 1, B <= 64", "D == 2 * B + 1", "D % 2 == 1 and D >= 3 and D <= 129", True),
    ("B >= 1, B <= 1024", "", "B <= 8 or (B >= 8 and B <= 64 and B % 8 == 0) or B >= 65", False),
    ("B >= 1, B <= 1024", "B % 16 == 0, B >= 16, B <= 48", "B >= 8 and B <= 64 and B % 8 == 0", True),
    # what an exported program may say of sizes that a spec ties together
    ("A >= 0, B >= 0", "A <= B, B <= A", "A == B", True),
    ("A >= 0, B >= 0, C >= 0", "A == 2 * C, B == 2 * C", "A == B", True),
    ("A >= 0, B >= 0", "A >= 6, A <= 6", "A == 6", True),
    ("A >= 0, B >= 0", "3 * A == 2 * B", "A % 2 == 0", True),
]


@pytest.mark.parametrize(("ranges", "given", "question", "answer"), ANSWERS)
def test_answer(ranges: str, given: str, question: str, answer: bool) -> None:
    assumptions = predicates(f"{ranges}, {given}" if given else ranges)
    verdict = implied_by((), assumptions, predicate(question))
    if answer:
        assert verdict == Proved()
        return
    assert isinstance(verdict, Refuted)
    assert all(holds(each, dict(verdict.witness)) for each in assumptions)
    assert not holds(predicate(question), dict(verdict.witness))


def test_a_signature_is_asked_with_its_kinds() -> None:
    spec = signature("def f(x: Tensor[B, S], n: Scalar[N]):\n    where B % 8 == 0, S == B + 1, N <= B\n")
    assert implied(spec, predicate("S % 8 == 1")) == Proved()
    assert implied(spec, predicate("B >= 0")) == Proved()
    assert isinstance(implied(spec, predicate("N >= 0")), Refuted)


def test_a_chain_of_32_in_random_order() -> None:
    links = [f"v{at} >= v{at + 1}" for at in range(31)]
    random.Random(0).shuffle(links)
    assumptions = predicates(", ".join([*(f"v{at} >= 0" for at in range(32)), *links]))
    assert implied_by((), assumptions, predicate("v0 >= v31")) == Proved()
    assert find_sizes((), [*assumptions, predicate("v31 >= v0 + 1")]) is None


def test_what_is_too_hard_is_unknown_and_ends() -> None:
    verdict = implied_by((), predicates("A >= 1, B >= 1, C >= 1"), predicate("A**3 + B**3 != C**3"))
    assert isinstance(verdict, Unknown)
    hard = predicates(", ".join(f"{3 + at} * A{at} + 7 * A{at + 1} != {11 * at}" for at in range(14)))
    assert not isinstance(implied_by((), hard, predicate("A0 + A5 != 3"), work=3000), Proved)


def random_predicate(rng: random.Random, depth: int) -> Predicate:
    if depth == 0 or rng.random() < 0.5:
        op = COMPARISONS[rng.choice(["==", "!=", "<", "<=", ">", ">="])]
        return Compare(op, random_size(rng, rng.randint(0, 3)), random_size(rng, rng.randint(0, 2)))
    kind = rng.choice("aon")
    if kind == "n":
        return Not(random_predicate(rng, depth - 1))
    parts = tuple(random_predicate(rng, depth - 1) for _ in range(rng.randint(1, 3)))
    return And(parts) if kind == "a" else Or(parts)


def value(each: Predicate, sizes: dict[str, int]) -> bool | None:
    try:
        return holds(each, sizes)
    except ZeroDivisionError:
        return None


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    low, high = -2, 5
    counts = {Proved: 0, Refuted: 0, Unknown: 0}
    box = [dict(zip("BSD", sizes, strict=True)) for sizes in itertools.product(range(low, high + 1), repeat=3)]
    variables = [Variable(name, VariableKind.INT) for name in "BSD"]
    for _ in range(60):
        given: list[Predicate] = []
        for name in "BSD":
            given.append(Compare(COMPARISONS[">="], Var(name), Const(rng.choice([0, 1, low]))))
            given.append(Compare(COMPARISONS["<="], Var(name), Const(high)))
        given += [random_predicate(rng, 1) for _ in range(rng.randint(0, 3))]
        question = random_predicate(rng, 1)
        verdict = implied_by(variables, given, question)
        counts[type(verdict)] += 1
        text = ", ".join(map(write_predicate, given)) + " implies " + write_predicate(question)
        if isinstance(verdict, Proved):
            for sizes in box:
                if all(value(each, sizes) for each in given):
                    assert value(question, sizes) is not False, (text, sizes)
        elif isinstance(verdict, Refuted):
            sizes = dict(verdict.witness)
            assert all(value(each, sizes) for each in given), text
            assert value(question, sizes) is False, text
    assert counts[Proved] + counts[Refuted] > 40, counts
