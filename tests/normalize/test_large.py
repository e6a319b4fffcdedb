"""Numbers beyond int64, and beyond a float: bounds that creep there are contradictions, never errors."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report
from shapedsl.ir import Variable, VariableKind
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.normalize import normalize
from shapedsl.normalize.domains import Contradiction
from shapedsl.normalize.intervals import Interval, interval_of
from shapedsl.normalize.propagate import propagate

from .test_lower import lowered
from .texts import predicates, signature, size

HUGE = 10**400


def test_sums_of_huge_and_infinite_ends() -> None:
    assert Interval(HUGE, HUGE).plus(Interval()) == Interval()
    assert Interval(0, HUGE).plus(Interval(1)) == Interval(1, float("inf"))
    assert Interval(0, HUGE).plus(Interval(1, HUGE)) == Interval(1, 2 * HUGE)


def test_the_range_of_a_power() -> None:
    box = {"B": Interval(0, 2**40)}
    assert interval_of(size("B**60 + S"), box) == Interval()
    assert interval_of(size("B**60 - 1"), box) == Interval(-1, 2**2400 - 1)


@pytest.mark.parametrize(
    "where",
    [
        "B**2 - 2 * B + 2 <= 0",
        "B >= 4, B**2 <= B",
        "S >= 2**62, B == 3 * S",
        "B**30 + S**30 <= B, B >= 2",
    ],
)
def test_what_only_sizes_beyond_int64_could_satisfy(where: str) -> None:
    text = f"def f(x: Tensor[B, S]):\n    where {where}\n"
    report = Report()
    normalize(signature(text), report)
    assert [d.code for d in report] == ["contradiction"]
    variables = [Variable(name, VariableKind.DIM) for name in ("B", "S")]
    with pytest.raises(Contradiction):
        propagate(variables, predicates(where))


@pytest.mark.parametrize("where", ["B**60 * S**60 <= 9 * S", "B**63 <= S", "(B**60 + S) // 7 <= 2**62"])
def test_huge_powers_are_lowered(where: str) -> None:
    form, report = lowered(f"def f(x: Tensor[B, S]):\n    where {where}\n")
    assert form is not None, [d.message for d in report]


def test_the_largest_bound_is_kept() -> None:
    found = propagate([Variable("B", VariableKind.DIM)], predicates(f"B <= {2**63 - 1}"))
    assert found.of["B"].high == 2**63 - 1


MODULI = "B % 3037000501 == 5, B % 3037000500 == 7"  # coprime; the first size that has both: by Garner's formula
FIRST = 5 + 3037000501 * (2 * pow(3037000501, -1, 3037000500) % 3037000500)


@pytest.mark.parametrize("kind", ["dim", "int"])
def test_residues_whose_common_modulus_is_beyond_int64(kind: str) -> None:
    assert FIRST % 3037000501 == 5
    assert FIRST % 3037000500 == 7
    params = "x: Tensor[B]" if kind == "dim" else "n: Scalar[B]"
    normal = normalize(signature(f"def f({params}):\n    {kind} B\n    where {MODULI}\n"), Report())
    predicates_left = [constraint.predicate for constraint in normal.signature.constraints]
    sizes = [at for at in (5, 7, FIRST, FIRST - 3037000501 * 3037000500) if at >= 0 or kind == "int"]
    for at in sizes:
        accepted = at % 3037000501 == 5 and at % 3037000500 == 7
        assert all(holds(each, {"B": at}) for each in predicates_left) == accepted, at


def test_residues_that_no_size_within_int64_has() -> None:
    report = Report()
    four = "B % 1000003 == 1, B % 1000033 == 2, B % 1000037 == 3, B % 1000039 == 4"
    normalize(signature(f"def f(x: Tensor[B]):\n    where {four}\n"), report)
    assert [d.code for d in report] == ["contradiction"]


def test_a_residue_that_was_not_met_is_told_to_torch() -> None:
    form, _ = lowered(f"def f(n: Scalar[B]):\n    int B\n    where {MODULI}\n", negative=True)
    assert form is not None
    told = list(map(write_predicate, form.assumptions))
    assert "B % 3037000501 == 5" in told
    assert "B % 3037000500 == 7" in told
