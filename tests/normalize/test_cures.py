"""The smallest assumptions that decide a condition: by hand, and against all sizes of small random specs."""

from __future__ import annotations

import random
from itertools import product

import pytest

import shapedsl as sd
from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Or, Predicate, Signature, Size, Var
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.cures import Cure, cures


def signature(text: str) -> Signature:
    (spec,) = sd.loads(text).values()
    return spec.signature


def asked(text: str, spec: Signature) -> Predicate:
    report = Report()
    found = pipeline.read_question(Source("question", text), spec, report)
    assert found is not None, list(report)
    return found


def told(cure: Cure) -> str:
    """Returns a cure in one line: what is added, which way that decides, what it excludes, the cases."""
    add = ", ".join(map(write_predicate, cure.add))
    lost = "nothing" if cure.excludes is None else write_predicate(cure.excludes)
    cases = " | ".join(", ".join(map(write_predicate, case)) for case in cure.cases)
    return f"{cure.kind}: {add} so {cure.holds}, not {lost}; {cases}".rstrip("; ")


def first(spec: str, condition: str, **hints: int) -> str:
    known = signature(spec)
    return told(cures(known, asked(condition, known), hints=hints)[0])


S = "def f(x: Tensor[S]): ..."
S1 = "def f(x: Tensor[S]):\n    where S >= 1"
AB = "def f(x: Tensor[A, B]): ..."


@pytest.mark.parametrize(
    ("spec", "condition", "hints", "expected"),
    [
        (S1, "S > 1", {"S": 8}, "bound: S >= 2 so True, not S == 1; S == 1"),
        (S1, "S > 1", {"S": 1}, "equality: S == 1 so False, not S >= 2; S >= 2"),
        (S, "S > 1", {"S": 8}, "bound: S >= 2 so True, not S <= 1; S <= 1"),
        (S, "S == 0", {}, "bound: S >= 1 so False, not S == 0; S == 0"),
        (S, "S == 1", {}, "disequality: S != 1 so False, not S == 1; S == 1"),
        (S, "S != 1", {"S": 1}, "equality: S == 1 so False, not S != 1; S != 1"),
        (S, "S > 77", {"S": 8}, "upper-bound: S <= 77 so False, not S >= 78; S >= 78"),
        (S, "S // 2 > 38", {"S": 8}, "upper-bound: S <= 77 so False, not S >= 78; S >= 78"),
        (S, "S // 2 == 1", {"S": 8}, "disequality: S // 2 != 1 so False, not S >= 2 and S <= 3; S >= 2, S <= 3"),
        (S, "1 > S + min(1, S)", {"S": 8}, "bound: S >= 1 so False, not S == 0; S == 0"),
        (S, "S % 8 == 0", {"S": 16}, "residue: S % 8 == 0 so True, not S % 8 != 0; S % 8 != 0"),
        (S, "S % 8 == 0", {"S": 9}, "disequality: S % 8 != 0 so False, not S % 8 == 0; S % 8 == 0"),
        (S, "S > 4 and S < 8", {"S": 9}, "bound: S >= 8 so False, not S <= 7; S <= 7"),
        (S, "S > 4 and S < 8", {"S": 6}, "upper-bound: S >= 5, S <= 7 so True, not S <= 4 or S >= 8; S <= 4 | S >= 8"),
        (
            AB,
            "16 * A * B == 0",
            {"A": 2, "B": 3},
            "bound: A >= 1, B >= 1 so False, not A == 0 or B == 0; A == 0 | B == 0",
        ),
        (AB, "A == B", {}, "disequality: A != B so False, not A == B; A == B"),
        (AB, "A == B", {"A": 2, "B": 2}, "equality: A == B so True, not A != B; A != B"),
        (AB, "A < B", {"A": 3, "B": 3}, "bound: B <= A so False, not A < B; A < B"),
        (
            AB,
            "(A // 14) * (B // 14) == 16",
            {"A": 28, "B": 28},
            "disequality: A // 14 * (B // 14) != 16 so False, not A // 14 * (B // 14) == 16; A // 14 * (B // 14) == 16",
        ),
        (
            AB,
            "B != 0 and A % B == 0",
            {"A": 8, "B": 4},
            "residue: B >= 1, A % B == 0 so True, not B == 0 or B >= 1 and A % B != 0; B == 0 | B >= 1, A % B != 0",
        ),
        (
            "dim S in [0, 100] multiple of 4\ndef f(x: Tensor[S]): ...",
            "S > 5",
            {"S": 16},
            "bound: S >= 8 so True, not S <= 4; S <= 4",
        ),
    ],
)
def test_the_best_assumptions(spec: str, condition: str, hints: dict[str, int], expected: str) -> None:
    assert first(spec, condition, **hints) == expected


def test_what_the_spec_decides_is_said_again_and_excludes_nothing() -> None:
    spec = signature("def f(x: Tensor[A, B]):\n    where A >= 1, B >= 4")
    found = cures(spec, asked("8 * A * (B // 2 - 1) == 0", spec))
    assert told(found[0]) == "disequality: 8 * A * (B // 2 - 1) != 0 so False, not nothing"
    assert all(not cure.holds for cure in found)


def test_what_was_assumed_before_counts() -> None:
    spec = signature(S)
    before = asked("S != 1", spec)
    found = cures(spec, asked("S > 1", spec), given=[before], hints={"S": 8})
    assert told(found[0]) == "bound: S >= 2 so True, not S == 0; S == 0"


def test_hints_of_the_spec_fill_in() -> None:
    spec = signature("dim S hint 1\ndef f(x: Tensor[S]): ...")
    best, *others = cures(spec, asked("S == 1", spec))
    assert told(best).startswith("equality: S == 1")
    assert best.holds_hint
    assert not any(cure.holds_hint for cure in others)
    assert cures(spec, asked("S == 1", spec), hints={"S": 2})[0].holds is False


def test_nothing_is_assumed_twice() -> None:
    spec = signature(AB)
    assert first(AB, "max(4, B) // 4 > B - 2", A=9, B=3).startswith("bound: B >= 3 so False")
    found = cures(spec, asked("max(4, B) // 4 > B - 2", spec), hints={"A": 9, "B": 3})
    assert all(len({tuple(part.left for part in cure.add if isinstance(part, Compare))}) == 1 for cure in found)


def test_what_cannot_be_proved_is_said_as_it_was_asked() -> None:
    best = first(AB, "B >= 1 and A * B == (B + 3) // B", A=8, B=1)
    assert best.startswith("disequality: ")
    assert "A * B != (B + 3) // B so False" in best


def test_as_many_as_are_wanted() -> None:
    spec = signature(S)
    assert len(cures(spec, asked("S == 5", spec), most=2)) == 2


def test_a_side_that_contradicts_the_spec_is_never_assumed() -> None:
    spec = signature("def f(x: Tensor[S]):\n    where S in {2, 4, 8}")
    assert [told(cure) for cure in cures(spec, asked("S > 4", spec))] == [
        "upper-bound: S <= 4 so False, not S == 8; S == 8",
        "equality: S == 8 so True, not S <= 4; S <= 4",
    ]


# ------------------------------------------------------------------------------------ against all sizes

TOP = 9


def size(rng: random.Random, depth: int = 2) -> Size:
    if depth == 0 or rng.random() < 0.3:
        return Var(rng.choice("AB")) if rng.random() < 0.75 else Const(rng.randint(0, 6))
    op = rng.choice(["+", "-", "*", "*", "//", "%", "min", "max"])
    left = size(rng, depth - 1)
    right = Const(rng.randint(1, 5)) if op in ("//", "%") and rng.random() < 0.85 else size(rng, depth - 1)
    return Apply(OPERATORS[op], (left, right))


def comparison(rng: random.Random) -> Predicate:
    made = Compare(COMPARISONS[rng.choice(["==", "!=", "<", "<=", ">", ">="])], size(rng), size(rng, 1))
    if rng.random() < 0.15:
        both = (made, comparison(rng))
        return And(both) if rng.random() < 0.5 else Or(both)
    return made


def truth(predicate: Predicate, sizes: dict[str, int]) -> bool | None:
    try:
        return holds(predicate, sizes)
    except ZeroDivisionError:
        return None


@pytest.mark.parametrize("seed", range(120))
def test_random_conditions_against_all_sizes(seed: int) -> None:
    rng = random.Random(seed)
    low = {name: rng.randint(0, 2) for name in "AB"}
    step = rng.choice(["", "", " multiple of 2"])
    text = "".join(f"dim {name} in [{low[name]}, {TOP}]{step}\n" for name in "AB")
    text += "def f(x: Tensor[A, B]):" + rng.choice([" ...", "\n    where A <= B", "\n    where A + B >= 3"])
    spec = signature(text)
    stated = [constraint.predicate for constraint in spec.constraints]
    points = [dict(zip("AB", at, strict=True)) for at in product(range(TOP + 1), repeat=2)]
    allowed = [point for point in points if all(truth(each, point) for each in stated)]
    hint = rng.choice(allowed)
    condition = comparison(rng)
    found = cures(spec, condition, hints=hint)
    for cure in found:
        kept = [point for point in allowed if all(truth(each, point) for each in cure.add)]
        assert kept, "it contradicts the spec"
        assert all(truth(condition, point) in (cure.holds, None) for point in kept)  # None: it divides by 0
        lost = [point for point in allowed if point not in kept]
        said = [point for point in allowed if cure.excludes is not None and truth(cure.excludes, point)]
        assert lost == said
        covered = [point for point in allowed if any(all(truth(each, point) for each in case) for case in cure.cases)]
        assert lost == covered
        assert cure.holds_hint is (hint in kept)
    keeping = [cure.holds_hint for cure in found]
    assert keeping == sorted(keeping, reverse=True), "those that keep the hint come first"
    sides = {truth(condition, point) for point in allowed} - {None}
    if len(sides) == 2 and truth(condition, hint) is not None:
        assert keeping
        assert keeping[0], "some assumption keeps the hint"
