"""What is seen at a glance is true of every size in the box."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedsl.ir import Variable, VariableKind
from shapedsl.ir.walk import holds
from shapedsl.normalize.coverage.boxes import bounds_of, truth
from shapedsl.normalize.predicates import simplify_predicate, split

from .texts import predicate, predicates

VARIABLES = (Variable("B", VariableKind.DIM), Variable("S", VariableKind.DIM))
SIZES = [{"B": b, "S": s} for b, s in product(range(14), repeat=2)]

NUMBERS = st.integers(0, 9)
PARTS = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(["B", "S"]), st.sampled_from(["<=", ">=", "==", "!="]), NUMBERS),
    st.builds("{} % {} == {}".format, st.sampled_from(["B", "S"]), st.integers(2, 4), st.integers(0, 1)),
    st.builds("B * S {} {}".format, st.sampled_from(["<=", ">=", "=="]), NUMBERS),
    st.builds("B - S {} {}".format, st.sampled_from(["<=", ">=", "=="]), st.integers(-4, 4)),
    st.builds("max(B, S) {} {}".format, st.sampled_from(["<=", ">="]), NUMBERS),
    st.builds("(B + 2 * S) % {} == {}".format, st.integers(2, 4), st.integers(0, 1)),
    st.builds("(B == {} or S > {})".format, NUMBERS, NUMBERS),
    st.builds("B // 2 == S // {}".format, st.integers(1, 3)),
)


@given(st.lists(PARTS, min_size=1, max_size=3), PARTS)
def test_truth_is_true(stated: list[str], asked: str) -> None:
    parts = [part for each in predicates(", ".join(stated)) for part in split(simplify_predicate(each))]
    inside = [sizes for sizes in SIZES if all(holds(part, sizes) for part in parts)]
    box = bounds_of(VARIABLES, parts)
    if box is None:
        assert not inside
        return
    seen = truth(simplify_predicate(predicate(asked)), box)
    if seen is not None:
        assert all(holds(predicate(asked), sizes) is seen for sizes in inside)


SEEN = {
    ("B <= 8", "B < 20"): True,
    ("B <= 8", "B > 8"): False,
    ("B <= 8", "B > 7"): None,
    ("B % 4 == 1", "B % 2 == 0"): False,
    ("B % 4 == 2", "B % 2 == 0"): True,
    ("B * S <= 800", "B * S <= 900"): True,
    ("B * S <= 800", "B * S == 801"): False,
    ("S == B + 3", "S == B + 4"): False,
    ("S == B + 3", "B <= S"): True,
    ("B <= 3, S <= 3", "max(B, S) >= 4"): False,
    ("B == 5", "B != 5"): False,
    ("B >= 2, S >= 2", "B == 1 or S == 1"): False,
    ("B >= 2, S >= 2", "B == 1 or S >= 1"): True,
}


@pytest.mark.parametrize(("stated", "asked"), SEEN)
def test_what_is_seen(stated: str, asked: str) -> None:
    box = bounds_of(VARIABLES, [part for each in predicates(stated) for part in split(simplify_predicate(each))])
    assert box is not None
    assert truth(simplify_predicate(predicate(asked)), box) is SEEN[stated, asked]
