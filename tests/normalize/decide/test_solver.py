"""Every row of solver.tsv is answered right, and its answer is confirmed by brute force, z3 or islpy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import gcd, prod

import pytest

from shapedsl.ir import COMPARISONS, Compare, Not, Predicate, Size, Var, Variable
from shapedsl.ir.walk import free_vars, holds, substitute
from shapedsl.normalize.decide import Proved, Refuted, Unknown, decide, find_sizes, minimal_core, range_of

from ..texts import predicate, size
from . import oracles
from .problems import Problem, problems

MOST_POINTS = 300_000  # of a box that is searched whole
POINTS = 60_000  # of a box that stands for an endless one

# Without solutions as far as brute force looked, and mostly beyond z3. Why they have none:
BEYOND = {
    "P23a": "the root of 2 is irrational",
    "P24a": "B divides B*S, so the rest is 0",
}

ROWS = [pytest.param(problem, id=problem.name) for problem in problems()]


@pytest.mark.parametrize("problem", ROWS)
def test_answer(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAPEDSL_SMT", "0")
    answer = ours(problem)
    assert answer == problem.answer.rstrip("?") or (answer == "unknown" and problem.answer.endswith("?"))


@pytest.mark.parametrize("problem", ROWS)
def test_the_answer_is_right(problem: Problem) -> None:
    if problem.name in BEYOND:
        assert next(oracles.points(box(problem), problem.given), None) is None
        assert satisfiable(problem, problem.given) is not True
        return
    right = problem.answer.rstrip("?")
    match problem.question.split(" ", 1):
        case ["sat"]:
            assert satisfiable(problem, problem.given) is (right == "sat")
        case ["core"]:
            core = core_of(problem)
            assert satisfiable(problem, core) is False
            for at in range(len(core)):
                assert satisfiable(problem, [*core[:at], *core[at + 1 :]]) is True
        case ["implies", question]:
            assert satisfiable(problem, [*problem.given, Not(predicate(question))]) is (right == "refuted")
        case ["range", text]:
            for bound, side in zip(right.split(".."), ("<", ">"), strict=True):
                if bound == "inf":
                    continue
                limit = size(bound)
                beyond = Compare(COMPARISONS[side], size(text), limit)
                assert satisfiable(problem, [*problem.given, Compare(COMPARISONS["=="], size(text), limit)]) is True
                assert satisfiable(problem, [*problem.given, beyond]) is False
        case ["mod", text]:
            modulus, residue = map(int, right.split(","))
            assert satisfiable(problem, [*problem.given, predicate(f"{text} % {modulus} != {residue}")]) is False
            values = [
                oracles.compiled(sorted(box(problem)), size(text))(*(p[n] for n in sorted(p))) for p in some(problem)
            ]
            assert gcd(*(value - values[0] for value in values)) == modulus
        case _:
            variables, given, same = doubled(problem)
            assert satisfiable(problem, [*given, Not(same)], variables) is (right == "not-unique")


def ours(problem: Problem) -> str:
    """Returns what the product answers, as the row writes it."""
    given = problem.given
    match problem.question.split(" ", 1):
        case ["sat"]:
            found = find_sizes(problem.variables, given)
            if isinstance(found, Unknown):
                return "unknown"
            return "unsat" if found is None else "sat"
        case ["core"]:
            core = minimal_core(problem.variables, given)
            if core is None:
                return "unknown"
            texts = [problem.texts[at] for at in core]
            if problem.answer.startswith("*"):
                return f"*{len(texts)}"
            return problem.answer if sorted(texts) == sorted(problem.answer.split(";")) else ";".join(texts)
        case ["implies", question]:
            return verdict(problem.variables, given, predicate(question))
        case ["range", text]:
            found_range = range_of(problem.variables, given, size(text))
            assert found_range is not None
            low, high = found_range.low, found_range.high
            return f"{'-inf' if low is None else low}..{'inf' if high is None else high}"
        case ["mod", text]:
            found_range = range_of(problem.variables, given, size(text))
            assert found_range is not None
            return f"{found_range.modulus},{found_range.residue}"
        case _:
            variables, twice, same = doubled(problem)
            return {"proved": "unique", "refuted": "not-unique"}.get(verdict(variables, twice, same), "unknown")


def verdict(variables: Sequence[Variable], given: Sequence[Predicate], question: Predicate) -> str:
    answer = decide(variables, given, question)
    match answer:
        case Proved():
            return "proved"
        case Refuted(witness=witness):
            sizes = dict(witness)
            assert all(holds(each, sizes) for each in given)
            assert not holds(question, sizes)
            return "refuted"
        case _:
            return "unknown"


def doubled(problem: Problem) -> tuple[list[Variable], list[Predicate], Predicate]:
    """Returns what makes a variable unique: two solutions that agree on what is given agree on it."""
    _, wanted, _, *known = problem.question.split()
    other = {name: Var(f"{name}_") for name in problem.ranges if name not in known}
    again = [substitute(each, dict[str, Size](other)) for each in problem.given]
    kinds = {variable.name: variable.kind for variable in problem.variables}
    copies = [Variable(var.name, kinds[name]) for name, var in other.items()]
    return (
        [*problem.variables, *copies],
        [*problem.given, *again],
        Compare(COMPARISONS["=="], Var(wanted), other[wanted]),
    )


# The other side


def core_of(problem: Problem) -> list[Predicate]:
    if problem.answer.startswith("*"):
        assert int(problem.answer[1:]) == len(problem.given)
        return problem.given
    named = dict(zip(problem.texts, problem.given, strict=True))
    return [named[text] for text in problem.answer.split(";")]


def satisfiable(
    problem: Problem, predicates: Sequence[Predicate], variables: Sequence[Variable] | None = None
) -> bool | None:
    """Returns whether ``predicates`` have a solution; None if no oracle knows.

    Args:
        problem: The row they come from.
        predicates: Over its variables.
        variables: Others, of which no bound is known.
    """
    used = {name for each in predicates for name in free_vars(each)}
    known = [variable for variable in variables or problem.variables if variable.name in used]
    space = {} if variables else {name: values for name, values in box(problem).items() if name in used}
    bounded = space and all(None not in problem.ranges[name] for name in space)
    if (
        bounded
        and prod(map(len, space.values())) <= MOST_POINTS
        and all(each in predicates for _, each in problem.bounds)
    ):
        return next(oracles.points(space, predicates), None) is not None
    pytest.importorskip("islpy", reason="islpy has no wheel for this Python")
    pytest.importorskip("z3", reason="z3 has no wheel for this Python")
    try:
        return not oracles.isl_empty(known, predicates)
    except (oracles.NotLinear, oracles.GaveUp):
        pass
    if space and next(oracles.points(space, predicates), None) is not None:
        return True
    try:
        return oracles.z3_sizes(known, predicates) is not None
    except oracles.GaveUp:
        return None


def box(problem: Problem) -> dict[str, range]:
    """Returns the values to try: all there are, or so many that one search takes a moment."""
    sizes = {
        name: most - low + 1 for name, (low, most) in problem.ranges.items() if low is not None and most is not None
    }
    open_ended = len(problem.ranges) - len(sizes)
    if prod(sizes.values()) * 20**open_ended > MOST_POINTS:
        sizes, open_ended = {}, len(problem.ranges)
    each = max(int((POINTS / prod(sizes.values())) ** (1 / open_ended)), 2) if open_ended else 0
    result = {}
    for name, (low, high) in problem.ranges.items():
        count = sizes.get(name, each)
        start = low if low is not None else -(count // 2) if high is None else high - count + 1
        result[name] = range(start, start + count if high is None else min(start + count, high + 1))
    return result


def some(problem: Problem) -> list[dict[str, int]]:
    return list(itertools.islice(oracles.points(box(problem), problem.given), 5000))
