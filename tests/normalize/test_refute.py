"""Contradictions: found, told with a minimal core, and nothing that can be satisfied is refused."""

from __future__ import annotations

import random

import pytest

from shapedsl.diagnostics import Diagnostic, Report
from shapedsl.normalize import normalize
from shapedsl.normalize.refute import refutation_of

from .texts import signature


def contradiction(text: str) -> Diagnostic | None:
    report = Report()
    normal = normalize(signature(text), report)
    found = [diagnostic for diagnostic in report.errors if diagnostic.code == "contradiction"]
    assert len(found) <= 1
    assert normal.contradictory == bool(found)
    return found[0] if found else None


CORES = {
    "x: Tensor[B] | B >= 3, B < 3": ["B >= 3", "B < 3"],
    "x: Tensor[B] | B <= 100, B % 4 == 1, B % 2 == 0": ["B % 4 == 1", "B % 2 == 0"],
    "x: Tensor[B, S] | B >= 2, B <= 64, B % 8 == 0, S == 2 * B, S >= 200": ["B <= 64", "S == 2 * B", "S >= 200"],
    "x: Tensor[B - 10] | B <= 8": ["B - 10 >= 0", "B <= 8"],
    "x: Tensor[B] | B < 0": ["B < 0"],
    "x: Tensor[B, S] | 2 * B == 2 * S + 1, B == 3": ["2 * B == 2 * S + 1"],
    "x: Tensor[A, B, C] | A <= B, B <= C, C + 1 <= A, A >= 7": ["A <= B", "B <= C", "C + 1 <= A"],
    "x: Tensor[B] | B in {1, 3}, B % 2 == 0": ["B in {1, 3}", "B % 2 == 0"],
    "x: Tensor[A, B] | A * B <= 10, A >= 4, B >= 3": ["A * B <= 10", "A >= 4", "B >= 3"],
    "x: Tensor[A, B] | max(A, B) <= 3, A >= 4": ["max(A, B) <= 3", "A >= 4"],
    "x: Tensor[B] | B >= 5, B <= 6, B != 5, B != 6": ["B >= 5", "B <= 6", "B != 5", "B != 6"],
    "x: Tensor[A, B] | 3 * A == 2 * B, B % 3 == 1": ["3 * A == 2 * B", "B % 3 == 1"],
    "x: Tensor[B] | B >= 3 and B < 3 or B == B + 1": ["B >= 3 and B < 3 or B == B + 1"],
}


@pytest.mark.parametrize(("spec", "core"), CORES.items())
def test_core(spec: str, core: list[str]) -> None:
    params, wheres = spec.split(" | ")
    found = contradiction(f"def f({params}):\n    where {wheres}\n")
    assert found is not None
    assert sorted(found.core) == sorted(core)


@pytest.mark.parametrize("spec", CORES)
def test_a_core_is_minimal(spec: str) -> None:
    params, wheres = spec.split(" | ")
    whole = signature(f"def f({params}):\n    where {wheres}\n")
    refutation = refutation_of(whole.variables, whole.constraints)
    assert refutation is not None
    for constraint in refutation.core:
        rest = [each for each in refutation.core if each is not constraint]
        assert refutation_of(whole.variables, rest) is None


def test_the_example_of_the_language() -> None:
    found = contradiction(
        "dim B in [2, 64] multiple of 8\nlet S = 2*B\ndef f(x: Tensor[B]):\n    where S >= 200\n",
    )
    assert found is not None
    assert [(a.span.text, a.label) for a in found.annotations] == [
        ("S >= 200", "needs B >= 100"),
        ("[2, 64]", "so B <= 64"),
        ("2*B", "S is 2*B"),
    ]
    assert found.core == ("B <= 64", "S >= 200")
    assert found.core_of == 4
    assert found.helps == ("raise B's upper bound to 104, or use S >= 128",)


def test_what_makes_a_derived_dim_a_size_counts() -> None:
    """That `L - 1` is a size says something of L; that `L` and `2 * M` are does not."""
    found = contradiction("def f(x: Tensor[L - 2, 2 * M], y: Tensor[L - 1]):\n    where L <= 1\n")
    assert found is not None
    assert found.core == ("L - 2 >= 0", "L <= 1")
    assert found.core_of == 3


def test_a_chain_of_32_needs_every_link() -> None:
    names = ", ".join(f"v{at}" for at in range(32))
    links = [f"v{at} >= v{at + 1}" for at in range(31)]
    random.Random(0).shuffle(links)
    found = contradiction(f"def f(x: Tensor[{names}]):\n    where {', '.join(links)}\n    where v31 >= v0 + 1\n")
    assert found is not None
    assert len(found.core) == 32
    assert found.core_of == 32


@pytest.mark.parametrize(
    "wheres",
    ["B * S <= 65536, B % 8 == 0", "B <= 8, B >= 8 and B <= 64 and B % 8 == 0", "S == max(B, 3), S >= 10", "B != 0"],
)
def test_what_can_be_satisfied_is_not_refused(wheres: str) -> None:
    assert contradiction(f"def f(x: Tensor[B, S]):\n    where {wheres}\n") is None


def test_a_negative_dim_is_told_once() -> None:
    report = Report()
    normal = normalize(signature("def f(x: Tensor[3 - B]):\n    dim B in [4, inf]\n"), report)
    assert [diagnostic.code for diagnostic in report.errors] == ["negative-dim"]
    assert normal.contradictory


def test_extremes_of_a_variadic_differ() -> None:
    assert contradiction("def f(x: Tensor[*b]):\n    where min(*b) < max(*b)\n") is None
    assert contradiction("def f(x: Tensor[*b]):\n    dim *b in [0, 3]\n    where min(*b) >= 4\n") is not None


HELPS = {
    "x: Tensor[B] | B * B == 15": "use B * B == 16",
    "x: Tensor[B] | B ** 2 == 110": "use B ** 2 == 100",
    "x: Tensor[B, S] | 4*B + 8*S == 14": "use 4*B + 8*S == 12",
    "x: Tensor[B, S] | B <= S, B >= S + 2": "use B <= S + 2, or B >= S",
    "x: Tensor[B, S] | B > S, S > B": "use B > S - 2, or S > B - 2",
    "x: Tensor[A, B, C] | A < B, B < C, C < A": "use A < B + 3, or B < C + 3, or C < A + 3",
    "x: Tensor[A, B] | A < B, B <= A": "use A <= B, or B <= A + 1",
}


@pytest.mark.parametrize(("spec", "help_"), HELPS.items())
def test_what_to_write_instead(spec: str, help_: str) -> None:
    """The nearest numbers, in the words and the direction of the text; by hand."""
    params, wheres = spec.split(" | ")
    found = contradiction(f"def f({params}):\n    where {wheres}\n")
    assert found is not None
    assert found.helps == (help_,)


def test_a_number_that_is_stated_twice_is_not_moved_once() -> None:
    found = contradiction("dim B in [5, 9]\ndef f(x: Tensor[B]):\n    where B >= 5, B <= 2\n")
    assert found is not None
    assert found.helps == ("use B <= 5",)


@pytest.mark.parametrize("divisor", ["0", "(B - B)"])
def test_a_division_by_what_is_always_0_is_one_finding(divisor: str) -> None:
    report = Report()
    assert normalize(signature(f"def f(x: Tensor[B]):\n    where B % {divisor} == 1\n"), report).contradictory
    (diagnostic,) = report
    assert diagnostic.code == "maybe-zero-divisor"
    assert diagnostic.message.endswith("is 0")
    assert "where" not in diagnostic.helps[0]
