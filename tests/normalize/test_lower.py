"""The lowerable form, case by case. Expected texts are worked out by hand."""

from __future__ import annotations

import re

import pytest

from shapedsl.diagnostics import Report
from shapedsl.ir.expand import expand
from shapedsl.ir.expanded import Lowered
from shapedsl.ir.write import write_dim, write_predicate
from shapedsl.normalize import lower, normalize

from .texts import signature


def lowered(text: str, *, negative: bool = False, **statics: int) -> tuple[Lowered | None, Report]:
    """Returns the lowerable form of the one def in ``text``."""
    report = Report()
    expanded = expand(normalize(signature(text), report).signature, None, is_tensor=lambda _: True, report=report)
    assert expanded is not None
    return lower(expanded, report, statics=statics, allow_negative_ints=negative), report


def shown(text: str, *, negative: bool = False, **statics: int) -> tuple[str, str, str, str]:
    """Returns leaves, variables, assumptions and definitions of the lowerable form, as texts."""
    form, report = lowered(text, negative=negative, **statics)
    assert form is not None, [(d.code, d.message) for d in report]
    leaves = "; ".join(f"{leaf.path} {', '.join(map(write_dim, leaf.dims))}" for leaf in form.leaves)
    variables = "; ".join(
        f"{v.name} {v.kind.value} {v.low}..{v.high}" + (f" hint {v.hint}" if v.hint is not None else "")
        for v in form.variables
    )
    definitions = "; ".join(f"{name} = {write_dim(size)}" for name, size in form.definitions)
    return leaves, variables, "; ".join(map(write_predicate, form.assumptions)), definitions


def test_bare_dims_and_ranges() -> None:
    text = (
        "def f(x: Tensor[B, D], w: Tensor[D, D]):\n    dim B in [0, 1024] hint 8\n    dim D hint 64\n    where B < 32\n"
    )
    assert shown(text) == (
        "x B, D; w D, D",
        "B dim 0..31 hint 8; D dim 0..None hint 64",
        "",
        "B = B; D = D",
    )


def test_numbers_and_static_dims_stay() -> None:
    assert shown("def f(x: Tensor[B, 3, _]): ...\n")[:2] == ("x B, 3, _", "B dim 0..None")


def test_a_derived_dim_is_a_fresh_variable_with_its_own_range_and_residue() -> None:
    text = "def f(x: Tensor[B], y: Tensor[2 * B + 1]):\n    dim B in [2, 64] hint 5\n"
    assert shown(text) == (
        "x B; y 2*B+1",
        "B dim 2..64 hint 5; 2*B+1 dim 5..129 hint 11",
        "2*B+1 % 2 == 1; 2*B+1 == 2 * B + 1",
        "B = B",
    )


def test_a_variable_that_is_never_bare_is_computed() -> None:
    assert shown("def f(x: Tensor[2 * B]):\n    where B >= 3, B % 4 == 1\n") == (
        "x 2*B",
        "2*B dim 10..None",
        "2*B % 2 == 0; 2*B % 4 == 2; 2*B % 8 == 2",
        "B = 2*B // 2",
    )


def test_two_derived_dims_are_related_in_integers() -> None:
    _, _, assumptions, definitions = shown("def f(x: Tensor[2 * N], y: Tensor[3 * N]): ...\n")
    assert assumptions == "2*N % 2 == 0; 3*N % 3 == 0; 2 * 3*N == 3 * 2*N"
    assert definitions == "N = 2*N // 2"


def test_a_system_of_two_slots() -> None:
    _, _, assumptions, definitions = shown("def f(x: Tensor[A + B], y: Tensor[A - B]):\n    where B >= 1\n")
    assert "(A+B + A-B) % 2 == 0" in assumptions
    assert definitions == "A = (A+B + A-B) // 2; B = (A+B - A-B) // 2"


def test_the_base_is_the_one_under_which_the_others_add() -> None:
    _, _, assumptions, definitions = shown("def f(x: Tensor[L + 1], y: Tensor[L - 1]): ...\n")
    assert assumptions == "L+1 == L-1 + 2"
    assert definitions == "L = L-1 + 1"
    _, variables, assumptions, _ = shown("def f(x: Tensor[L], y: Tensor[L - 1]): ...\n")
    assert variables == "L dim 1..None; L-1 dim 0..None"
    assert assumptions == "L == L-1 + 1"


def test_a_floor_of_a_known_residue_is_exact() -> None:
    text = "def f(x: Tensor[B // 8]):\n    dim B multiple of 8\n    where B <= 80\n"
    assert shown(text) == ("x B//8", "B//8 dim 0..10", "", "B = 8 * B//8")


def test_what_loses_information_is_not_invertible() -> None:
    for dim, label in {
        "B // 8": "B = 0 and B = 1 both give x.shape[0] = 0",
        "B % 4": "B = 0 and B = 4 both give x.shape[0] = 0",
        "max(B, 4)": "B = 0 and B = 1 both give x.shape[0] = 4",
        "min(B, S)": "B = 0 and B = 1 both give x.shape[0] = 0 with S = 0",
        "B * S": "B = 0 and B = 1 both give x.shape[0] = 0 with S = 0",
    }.items():
        other = ", S" if "S" in dim else ""
        form, report = lowered(f"def f(x: Tensor[{dim}{other}]): ...\n")
        assert form is None
        (error,) = report.errors
        assert error.code == "not-invertible"
        assert error.annotations[0].label == label
        assert error.span is not None
        assert error.span.text == dim
        assert error.helps[0].startswith("write a bare `B` in some dim")


def test_a_size_that_its_range_makes_constant_does_not_give_its_variable() -> None:
    form, report = lowered("def f(x: Tensor[B // 8]):\n    dim B in [0, 7]\n")
    assert form is None
    (error,) = report.errors
    assert error.code == "not-invertible"


def test_static_sizes_leave() -> None:
    text = "const HD = _\ndef f(x: Tensor[B, HD], y: Tensor[B * HD], z: Tensor[HD - 1]):\n    where B <= HD\n"
    leaves, variables, assumptions, definitions = shown(text, HD=6)
    assert leaves == "x B, _; y 6*B; z _"
    assert variables == "B dim 0..6; 6*B dim 0..36"
    assert assumptions == "6*B % 2 == 0; 6*B % 3 == 0; 6*B % 6 == 0; 6*B == 6 * B"
    assert definitions == "B = B; HD = 6"


def test_a_static_size_without_a_value_is_told() -> None:
    form, report = lowered("const HD = _\ndef f(x: Tensor[B, HD], y: Tensor[B * HD]): ...\n")
    assert form is None
    assert [error.code for error in report.errors] == ["not-constant"]


@pytest.mark.parametrize("dims", ["B, HD", "B, HD * 64", "B, HD, HD // 2"])
def test_a_static_size_that_nothing_else_needs_may_have_no_value(dims: str) -> None:
    """What is said of it alone (that it is no negative size, too) is for the example to tell."""
    leaves, variables, assumptions, _ = shown(f"const HD = _\ndef f(x: Tensor[{dims}]):\n    where HD >= 2, B < 8\n")
    assert (leaves, variables, assumptions) == ("x " + re.sub(r"HD[^,]*", "_", dims), "B dim 0..7", "")


def test_pinned_sizes_are_numbers() -> None:
    assert shown("def f(x: Tensor[B, 2 * B], n: Scalar[B]):\n    where B == 6\n") == (
        "x 6, 12; n 6",
        "",
        "",
        "B = 6",
    )
    # pinned only by what the slots say together
    assert shown("def f(x: Tensor[B], y: Tensor[3 - B]):\n    where B >= 3\n")[0] == "x 3; y 0"


def test_equal_variables_are_one() -> None:
    text = "def f(x: Tensor[B], y: Tensor[S]):\n    dim S hint 4\n    where B == S, S >= 2\n"
    assert shown(text) == ("x B; y B", "B dim 2..None hint 4", "", "B = B; S = B")


def test_strict_bounds_are_told_as_torch_uses_them() -> None:
    assert shown("def f(x: Tensor[A, B]):\n    where A < B\n")[2] == "A < B"
    assert shown("def f(x: Tensor[A, B]):\n    where A + 3 <= B\n")[2] == "A + 2 < B; A < B"
    assert shown("def f(x: Tensor[A, B]):\n    where A <= B\n")[2] == "A <= B"


def test_the_divisors_of_a_residue_are_told() -> None:
    assert shown("def f(x: Tensor[A]):\n    where A % 16 == 8\n")[2] == (
        "A % 2 == 0; A % 4 == 0; A % 8 == 0; A % 16 == 8"
    )


def test_what_max_and_min_bound_is_told() -> None:
    text = "def f(x: Tensor[A, B, D]):\n    where D == max(A, B)\n"
    assert shown(text)[2] == "D == max(A, B); A <= D; B <= D"


def test_what_the_ranges_say_is_not_repeated() -> None:
    assert shown("def f(x: Tensor[A, B]):\n    where A <= 4, B >= 4, A <= B, A != 9\n")[2] == ""


def test_disjunctions_hold_no_not() -> None:
    text = "def f(x: Tensor[A, B]):\n    where not (A >= 3 and B != 2), not A == 7\n"
    assert shown(text)[2] == "A != 7; A <= 2 or B == 2"


def test_ints_that_may_be_negative_need_an_entry_point_that_takes_them() -> None:
    form, report = lowered("def f(x: Tensor[B], n: Scalar[N]): ...\n")
    assert form is None
    (error,) = report.errors
    assert error.code == "negative-int"
    assert error.helps == ("declare `int N in [0, inf]`",)
    assert shown("def f(n: Scalar[N]):\n    int N in [-3, 8]\n", negative=True)[1] == "N int -3..8"
    assert shown("def f(n: Scalar[N]):\n    int N in [0, inf]\n")[1] == "N int 0..None"
    assert shown("def f(x: Tensor[B], n: Scalar[N]):\n    where N >= B\n")[1] == "B dim 0..None; N int 0..None"


def test_a_size_that_a_tensor_and_an_int_hold_is_one_variable() -> None:
    assert shown("def f(x: Tensor[B], n: Scalar[B]): ...\n")[:2] == ("x B; n B", "B dim 0..None")


def test_hints_are_moved_to_the_nearest_size_that_fits() -> None:
    text = "def f(x: Tensor[B], y: Tensor[2 * B]):\n    dim B hint 13\n    where B % 8 == 0, B <= 1000\n"
    assert shown(text)[1] == "B dim 0..1000 hint 16; 2*B dim 0..2000 hint 32"
    text = "def f(x: Tensor[B], y: Tensor[2 * B]):\n    dim B hint 9\n    where B in {2, 4, 16}\n"
    assert shown(text)[1] == "B dim 2..16 hint 4; 2*B dim 4..32 hint 8"
    assert shown("def f(x: Tensor[B]):\n    dim B hint 9\n    where B != 9\n")[1] == "B dim 0..None hint 8"


def test_nothing_is_lowered_from_a_contradiction() -> None:
    form, report = lowered("def f(x: Tensor[B]):\n    where B >= 3, B < 3\n")
    assert form is None
    assert {error.code for error in report.errors} == {"contradiction"}


def test_static_sizes_can_make_a_contradiction() -> None:
    text = "const HD = _\ndef f(x: Tensor[B, HD]):\n    where B <= HD, B >= 8\n"
    assert shown(text, HD=8)[0] == "x 8, _"
    form, report = lowered(text, HD=4)
    assert form is None
    (error,) = report.errors
    assert error.code == "contradiction"
    assert set(error.core) == {"B <= HD", "B >= 8"}
    assert error.notes == ("the example has HD = 4",)


def test_what_the_ranges_say_of_a_derived_int_is_not_lost() -> None:
    # B is recovered as `B+C - C`, of which nothing says that it is never negative
    assert shown("def f(x: Tensor[C, B + C], n: Scalar[B // 3]): ...\n")[1].endswith("B//3 int 0..None")
    assert shown("def f(x: Tensor[C, B + C], n: Scalar[2 * B]): ...\n")[1].endswith("2*B int 0..None")


def test_what_a_constraint_says_of_a_derived_size_bounds_it() -> None:
    text = "def f(x: Tensor[P], y: Tensor[T], m: Tensor[P + T]):\n    where {}\n"
    for where, bounds in {
        "P + T <= 20": "0..20",
        "20 > P + T": "0..19",
        "3 * P >= 22 - 3 * T": "8..None",
        "-2 * P - 2 * T > -9": "0..4",
        "P + 2 * T <= 20": "0..30",
    }.items():
        assert shown(text.format(where))[1].split("; ")[-1] == f"P+T dim {bounds}"


def test_an_int_that_can_be_proved_not_to_be_negative() -> None:
    text = "def f(a: Tensor[A], b: Tensor[B], n: Scalar[A * B - 7]):\n    where A * B >= 7\n"
    assert shown(text)[1].endswith("A*B-7 int 0..None")


def test_a_negative_int_is_cured_in_the_language() -> None:
    def cures(text: str) -> list[str]:
        return [cure for diagnostic in lowered(text)[1] for cure in diagnostic.helps]

    assert cures("def f(x: Tensor[B], n: Scalar[6 - B]): ...\n") == ["add `where 6 - B >= 0`"]
    assert cures("def f(n: Scalar[K]): ...\n") == ["declare `int K in [0, inf]`"]


def test_the_sign_of_a_product_whose_factor_torch_replaces_is_said_last() -> None:
    text = "def f(a: Tensor[B - 3], b: Tensor[A * B, A], c: Tensor[B]): ...\n"
    assert shown(text)[2] == "A*B == A * B; B == B-3 + 3; A * B >= 0"
    assert shown("def f(b: Tensor[A * B, A], c: Tensor[B]): ...\n")[2] == "A*B == A * B"


def test_only_what_torch_may_replace_is_bounded_behind_its_equality() -> None:
    text = "def f(x: Tensor[B], y: Tensor[B % 2]):\n    where B >= 5\n"
    assert shown(text)[1:3] == ("B dim 5..None; B%2 dim 0..1", "B%2 != 2; B%2 == B % 2")


def test_what_equals_a_small_size_is_bounded_in_terms_of_it() -> None:
    """A bound of its own would be an AssertionError inside torch, whichever of the two is bound first."""
    text = "def f(x: Tensor[B, N]):\n    where N <= 1, B == 4 * N + 3\n"
    variables, assumptions = shown(text)[1:3]
    assert variables == "B dim 0..None; N dim 0..1"
    assert assumptions.split("; ")[-3:] == ["B == 4 * N + 3", "4 * N + 3 >= 3", "4 * N + 3 <= 7"]
