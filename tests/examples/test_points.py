"""Sizes drawn for a spec: which, in which order, and that every one of them is right."""

from __future__ import annotations

import pytest

import shapedsl as sd
from shapedsl.diagnostics import Report
from shapedsl.ir import Signature
from shapedsl.ir.expand import expand
from shapedsl.normalize.sampling import Nothing, chosen, nearest, point, points


def signature(text: str) -> Signature:
    expanded = expand(next(iter(sd.loads(text).values())).signature, None, is_tensor=lambda _: False, report=Report())
    assert expanded is not None
    return expanded.signature


def test_hints_are_taken_where_they_fit() -> None:
    assert point(signature("dim B hint 8\ndim D hint 64\ndef f(x: Tensor[B, D], w: Tensor[D, D]): where B < 32")) == {
        "B": 8,
        "D": 64,
    }


def test_the_smallest_stand_beside_hints() -> None:
    assert point(signature("dim S hint 20\ndef f(x: Tensor[B, S, D]): where B >= 3, D > S, D % 8 == 0")) == {
        "B": 3,
        "D": 24,
        "S": 20,
    }


@pytest.mark.filterwarnings("ignore::shapedsl.ShapeWarning")
def test_a_hint_that_a_where_excludes_is_moved_to_the_nearest_that_fits() -> None:
    assert point(signature("dim B hint 100\ndef f(x: Tensor[B]): where B <= 64, B % 3 == 1")) == {"B": 64}
    assert point(signature("dim B hint 60\ndef f(x: Tensor[B]): where B <= 64, B % 7 == 1")) == {"B": 57}


def test_hints_that_exclude_each_other_are_granted_one_after_the_other() -> None:
    found = point(signature("dim A hint 10\ndim B hint 20\ndef f(x: Tensor[A, B]): where A + B == 25"))
    assert found == {"A": 10, "B": 15}


def test_equalities_are_solved() -> None:
    assert point(signature("def f(x: Tensor[A, B, C]): where A == 2 * B + 1, B == 3 * C, C >= 2")) == {
        "A": 13,
        "B": 6,
        "C": 2,
    }


def test_no_sizes_is_told_from_unknown() -> None:
    assert point(signature("def f(x: Tensor[B]): where B % 2 == 1, B % 4 == 0")) == Nothing()
    found = point(signature("def f(a: Scalar[a], b: Scalar[b], c: Scalar[c]): where a**3 + b**3 + c**3 == 114"))
    assert found == Nothing("sizes are multiplied or divided by each other")
    assert points(signature("def f(x: Tensor[B]): where B < 3, B > 3"), 5) == []


def test_corners_come_before_random_sizes() -> None:
    found = points(signature("def f(x: Tensor[B, S]):\n    dim B in [2, 64] multiple of 8\n    where S < 2 * B"), 8)
    assert found[0] == {"B": 8, "S": 0}
    assert {"B": 64, "S": 127} in found  # the largest
    assert {"B": 8, "S": 15} in found  # the boundary S == 2 * B - 1


def test_both_sides_of_a_boundary() -> None:
    found = points(signature("def f(x: Tensor[B, S]): where S != 2 * B, B >= 4, B <= 9, S <= 40"), 40)
    differences = {each["S"] - 2 * each["B"] for each in found}
    assert {-1, 1} <= differences
    assert 0 not in differences


def test_residues_of_what_is_divided() -> None:
    found = points(signature("def f(x: Tensor[B, S // 16], y: Tensor[S]): where B <= 4"), 40)
    assert {0, 1, 15} <= {each["S"] % 16 for each in found}


def test_each_member_of_a_set() -> None:
    found = points(signature("def f(x: Tensor[B, S]): where B in {2, 4, 16, 32}"), 40)
    assert {each["B"] for each in found} == {2, 4, 16, 32}


def test_each_alternative_with_its_hint() -> None:
    text = "def f(x: Tensor[B]):\n    case B == 1\n    case B == 3\n    case B > 100 hint B = 256\n    otherwise hint B = 7\n"
    found = {each["B"] for each in points(signature(text), 14)}
    assert {1, 3, 256, 7} <= found


def test_sizes_of_buckets() -> None:
    text = "def f(x: Tensor[B, S]):\n    bucket S in {64, 128} pad x with 0 as masked\n    otherwise eager\n"
    found = {each["S"] for each in points(signature(text), 14)}
    assert any(size <= 128 for size in found)
    assert any(size > 128 for size in found)


def test_ints_may_be_negative_and_tensor_dims_are_not() -> None:
    found = points(signature("def f(n: Scalar[n], x: Tensor[S + n]):\n    int n in [-5, 5]\n"), 30)
    assert {-5, 5} <= {each["n"] for each in found}
    assert all(each["S"] + each["n"] >= 0 and each["S"] >= 0 for each in found)


def test_all_points_are_different_and_satisfy_the_spec() -> None:
    found = points(signature("def f(x: Tensor[B, S, D]): where B * S <= 1000, D == S % 7, B >= 2, S > B // 3"), 50)
    assert len(found) == 50 == len({tuple(sorted(each.items())) for each in found})
    for each in found:
        assert each["B"] * each["S"] <= 1000
        assert each["D"] == each["S"] % 7
        assert each["B"] >= 2
        assert each["S"] > each["B"] // 3


def test_few_sizes_are_all_found() -> None:
    found = points(signature("def f(x: Tensor[B, C]): where B * C == 12"), 50)
    assert {(each["B"], each["C"]) for each in found} == {(1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1)}


def test_a_seed_gives_the_same_sizes() -> None:
    spec = signature("def f(x: Tensor[B, S]): where B < S")
    assert points(spec, 30, 5) == points(spec, 30, 5)
    assert points(spec, 30, 5) != points(spec, 30, 6)


def test_fixed_sizes_and_other_bounds() -> None:
    spec = signature("def f(x: Tensor[B, S]): where B < S")
    found = points(spec, 20, fixed={"B": 6}, accept=lambda sizes: sizes["S"] <= 30)
    assert {each["B"] for each in found} == {6}
    assert {each["S"] for each in found} <= set(range(7, 31))
    assert {7} <= {each["S"] for each in found}


def test_of_the_largest_sizes_the_largest_that_is_accepted() -> None:
    spec = signature("dim B in [1, 1048576]\ndef f(x: Tensor[B, B]): ...")
    found = points(spec, 6, accept=lambda sizes: sizes["B"] ** 2 <= 10**6)
    assert max(each["B"] for each in found) == 512


def test_the_nearest_changes_few_sizes_and_little() -> None:
    bounded = signature("def f(x: Tensor[B, D], w: Tensor[D, D]): where B < 32, D % 8 == 0")
    assert nearest(bounded, {"B": 40, "D": 64}) == {"B": 31, "D": 64}
    assert nearest(bounded, {"B": 8, "D": 61}) == {"B": 8, "D": 64}
    assert nearest(bounded, {"B": 40, "D": 61}) == {"B": 31, "D": 64}
    assert nearest(signature("def f(x: Tensor[A, B, C]): where A == 2 * B"), {"A": 9, "B": 4, "C": 5}) == {
        "A": 8,
        "B": 4,
        "C": 5,
    }
    assert nearest(signature("def f(x: Tensor[B]): where B < 3, B > 3"), {"B": 3}) is None


def test_the_nearest_of_sizes_that_fit_are_these() -> None:
    assert nearest(signature("def f(x: Tensor[B, S]): where B <= S"), {"B": 5, "S": 9}) == {"B": 5, "S": 9}


def test_each_dim_of_a_variadic_is_a_size() -> None:
    spec = sd.loads("def f(x: Tensor[*batch, D]):\n    rank batch = 2\n    where prod(*batch) == 6, D == 3")["f"]
    found = points(spec.signature, 10)
    assert {(each["batch[0]"], each["batch[1]"]) for each in found} == {(1, 6), (2, 3), (3, 2), (6, 1)}


def test_chosen_sizes_are_within_what_is_left() -> None:
    spec = signature("def f(x: Tensor[B, S]):\n    dim B in [2, 64] multiple of 8\n    where S < B")
    assert chosen(spec, lambda low, high: low) == {"B": 8, "S": 0}
    assert chosen(spec, lambda low, high: high) == {"B": 64, "S": 63}
    assert chosen(spec, lambda low, high: min(high, 3)) == {"B": 32, "S": 3}
    assert chosen(signature("def f(x: Tensor[B]): where B < 3, B > 3"), lambda low, high: low) is None
