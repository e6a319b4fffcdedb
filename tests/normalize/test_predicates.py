"""Canonical predicates. Expected forms are worked out by hand."""

from __future__ import annotations

import pytest

from shapedsl.ir.orient import orient
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.normalize.comparisons import FALSE, TRUE
from shapedsl.normalize.predicates import simplify_predicate, split

from .texts import predicate

FORMS = {
    "2 * B <= 5": "B <= 2",
    "2 * B >= 5": "B >= 3",
    "B < S": "B + 1 <= S",
    "not B < S": "S <= B",
    "S > B + 2": "B + 3 <= S",
    "B - S <= 3": "B <= S + 3",
    "3 <= B": "B >= 3",
    "3 + 2 * B == D": "D == 2 * B + 3",
    "B == L - 1": "L == B + 1",
    "2 * B == 2 * S": "B == S",
    "B + S == 10": "B + S == 10",
    "4 * B == 6 * S": "2 * B == 3 * S",
    "B != S + 2": "B != S + 2",
    "B // 8 >= 3": "B >= 24",
    "B // 8 == 3": "B >= 24 and B <= 31",
    "B // 2 <= S": "B <= 2 * S + 1",
    "S <= B // 2": "2 * S <= B",
    "D == B // 2": "D == B // 2",
    "max(B, S) <= 8": "B <= 8 and S <= 8",
    "min(B, S) >= 2": "B >= 2 and S >= 2",
    "max(B, S) >= 8": "max(B, S) >= 8",
    "B % 8 < 1": "B % 8 == 0",
    "(B + 5) % 8 == 3": "B % 8 == 6",
    "3 * B % 8 == 2": "B % 8 == 6",
    "2 * B % 8 == 4": "B % 4 == 2",
    "(B - S) % 8 == 0": "(B - S) % 8 == 0",
    "(S - B) % 8 == 0": "(B - S) % 8 == 0",
    "B // 8 * 8 == B": "B % 8 == 0",
    "not B % 2 == 0": "B % 2 != 0",
    "S == 4 or 2 == S or S == 4": "S in {2, 4}",
    "not (B == 1 and S == 1)": "B != 1 or S != 1",
    "B == 0 or S % B == 0": "B == 0 or S % B == 0",
    "S % B == 0 or D == 1": "D == 1 or S % B == 0",
}


@pytest.mark.parametrize(("written", "form"), FORMS.items())
def test_form(written: str, form: str) -> None:
    simplified = simplify_predicate(predicate(written))
    assert write_predicate(simplified) == form
    assert simplify_predicate(simplified) == simplified
    assert orient(simplified) == simplified, "a frontend that reads it turns it around"


@pytest.mark.parametrize("written", ["2 * B == 5", "B % 8 == 9", "B < B", "2 * B == 2 * S + 1", "B % 4 >= 4"])
def test_what_never_holds(written: str) -> None:
    assert simplify_predicate(predicate(written)) == FALSE
    assert simplify_predicate(predicate(f"not ({written})")) == TRUE


@pytest.mark.parametrize("written", ["B == B", "B <= B + 1", "2 * B != 5", "B % 4 <= 3", "B == 1 or S == S"])
def test_what_always_holds(written: str) -> None:
    assert simplify_predicate(predicate(written)) == TRUE


def test_a_guard_stays_in_front_of_the_divisor_that_it_guards() -> None:
    simplified = simplify_predicate(predicate("B == 0 or S % B == 0"))
    assert holds(simplified, {"B": 0, "S": 5})
    guarded = simplify_predicate(predicate("not (B != 0 and S // B >= D)"))
    assert holds(guarded, {"B": 0, "S": 5, "D": 1})


@pytest.mark.parametrize(("count", "parts"), [(2, 4), (6, 64), (7, 1), (60, 1)])
def test_a_sum_of_many_maxima_stays_closed(count: int, parts: int) -> None:
    text = " + ".join(f"max(A{at}, B{at})" for at in range(count)) + " <= 9"
    found = simplify_predicate(predicate(text))
    assert len(split(found)) == parts
    assert all(simplify_predicate(part) == part for part in split(found))


def test_maxima_inside_each_other_count_too() -> None:
    one = "max(A{0}, max(B{0}, C{0} + max(D{0}, E{0})) + F{0})"  # four comparisons
    three, four = (" + ".join(one.format(at) for at in range(count)) + " <= 9" for count in (3, 4))
    assert len(split(simplify_predicate(predicate(three)))) == 64
    assert len(split(simplify_predicate(predicate(four)))) == 1


@pytest.mark.parametrize(
    ("written", "expected"),
    [  # of a variadic there are as many arguments as dims: nothing is opened, and the call stays
        ("min(*b) < 3", "min(*b) <= 2"),
        ("max(*b) <= 3", "max(*b) <= 3"),
        ("max(*b) > 3", "max(*b) >= 4"),
        ("max(*b) % 2 == 0", "max(*b) % 2 == 0"),
        ("max(*b, 0, *b) <= 3", "max(*b, 0) <= 3"),
        ("min(*b) == max(*b)", "max(*b) == min(*b)"),
        ("max(*b) - min(*b) <= 1", "max(*b) <= min(*b) + 1"),
        ("max(min(*b), A) <= 8", "A <= 8 and min(*b) <= 8"),
    ],
)
def test_an_extreme_of_a_variadic_is_one_size(written: str, expected: str) -> None:
    assert write_predicate(simplify_predicate(predicate(written))) == expected
