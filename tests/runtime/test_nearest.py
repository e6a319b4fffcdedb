"""What an error says of the nearest accepted sizes."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.diagnostics import ShapeError
from shapedsl.frontends.assemble import assemble, constraints_of
from shapedsl.ir import Param, Predicate, ScalarType, Signature, TensorType, Var
from shapedsl.ir.walk import holds
from shapedsl.runtime.check import checker
from shapedsl.runtime.nearest import Near, nearest
from tests import strategies
from tests.runtime.fakes import TENSORS, FakeTensor, signature

T = FakeTensor


def helps(text: str, *args: Any) -> tuple[str, ...]:
    check = checker(signature(text), TENSORS, solve=pipeline.solve, seek=pipeline.nearest)
    with pytest.raises(ShapeError) as caught:
        check(*args)
    return tuple(line for diagnostic in caught.value.diagnostics for line in diagnostic.helps)


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("def f(x: Tensor[B, D]):\n    where B < 32", (T(40, 3),), "B = 31"),
        ("def f(x: Tensor[B, D]):\n    where B % 64 == 0", (T(100, 3),), "B = 128"),
        ("def f(x: Tensor[B, D]):\n    where B % 64 == 0", (T(90, 3),), "B = 64"),
        ("def f(x: Tensor[B]):\n    where B <= 1000, B % 64 == 0", (T(10**9),), "B = 960"),
        ("def f(x: Tensor[B]):\n    where B in {1, 2, 4, 8, 100_000}", (T(60_000),), "B = 100000"),
        # a range, seen from below and from above
        ("def f(x: Tensor[B]):\n    where B in [4, 8]", (T(1),), "B = 4"),
        ("def f(x: Tensor[B]):\n    where B in [4, 8]", (T(9),), "B = 8"),
        # the other sizes are kept where that is possible
        ("def f(x: Tensor[B, S]):\n    where B * S <= 4096", (T(70, 64),), "B = 64"),
        ("def f(x: Tensor[B, S]):\n    where B * S == 4096, B % 8 == 0", (T(70, 60),), "B = 64, S = 64"),
        ("def f(x: Tensor[B, S]):\n    where B % 8 == 0, S % 8 == 4, B + S <= 100", (T(67, 71),), "B = 32, S = 68"),
        # two tensors: the one with fewer others on its side is to change
        ("def f(x: Tensor[B], y: Tensor[B]): ...", (T(3), T(7)), "B = 3: make `y.shape[0]` 3"),
        ("def f(x: Tensor[B], y: Tensor[B], z: Tensor[B]): ...", (T(3), T(7), T(7)), "B = 7: make `x.shape[0]` 7"),
        (
            "def f(x: Tensor[B, D], w: Tensor[D, D]):\n    where B < 32",
            (T(40, 3), T(5, 3)),
            "B = 31, D = 3: make `x.shape[0]` 31, `w.shape[0]` 3",
        ),
        # derived dims
        ("def f(x: Tensor[2 * B + 1]): ...", (T(8),), "B = 3: make `x.shape[0]` 7"),
        ("def f(x: Tensor[2 * B + 1], y: Tensor[B]): ...", (T(8), T(4)), "B = 4: make `x.shape[0]` 9"),
        ("def f(x: Tensor[A], y: Tensor[B], z: Tensor[C]):\n    where A + B == C, A == 2 * B", (T(5), T(3), T(9)), "A = 6"),
        ("def f(x: Tensor[20 - B], y: Tensor[B]): ...", (T(0), T(21)), "B = 20"),
        # variadics, anonymous dims, scalars
        ("def f(x: Tensor[*batch, D]):\n    where prod(*batch) <= 64", (T(10, 8, 40),), "batch[0] = 8"),
        ("def f(x: Tensor[*batch], y: Tensor[*batch]): ...", (T(4, 8), T(4, 9)), "batch[1] = 8: make `y.shape[1]` 8"),
        ("def f(xs: [Tensor[B, ?K], ...]):\n    where B in [4, 8]", ([T(9, 3), T(9, 4)],), "B = 8"),
        ("def f(n: Scalar[2 * B], x: Tensor[B]): ...", (100, T(8)), "B = 50"),
        ("int n in [-3, 5]\ndef f(n: Scalar[n]): ...", (100,), "n = 5"),
    ],
)  # fmt: skip
def test_the_nearest(text: str, args: tuple[object, ...], expected: str) -> None:
    assert helps(text, *args) == (f"the nearest accepted: {expected}",)


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("def f(x: Tensor[B], y: Tensor[S]):\n    where B**2 == S", (T(100), T(9001)), "B = 95, S = 9025"),
        ("def f(x: Tensor[B, S, T, U, V]):\n    where B * S * T * U * V == 2310, B > 1", (T(2, 3, 5, 7, 13),), "V = 11"),
    ],
)  # fmt: skip
def test_what_may_not_be_the_nearest_is_called_so(text: str, args: tuple[object, ...], expected: str) -> None:
    assert helps(text, *args) == (f"accepted, for example: {expected}",)


def test_nothing_is_said_where_nothing_is_found_or_the_headline_says_it() -> None:
    assert helps("def f(x: Tensor[B]):\n    where B * B == 2_000_003", T(7)) == ()
    assert helps("def f(x: Tensor[3]): ...", T(4)) == ()
    assert helps("def f(x: Tensor[B]): ...", T(4, 4)) == ()  # a rank


def test_many_changes_are_counted() -> None:
    text = "def f(a: Tensor[B, B, B, B, B, B], b: Tensor[B]): ..."
    assert helps(text, T(7, 3, 3, 3, 3, 3), T(3)) == ("the nearest accepted: B = 3: make `a.shape[0]` 3",)
    text = "def f(a: Tensor[2 * B, 3 * B, 4 * B, 5 * B, 6 * B]):\n    where B <= 10"
    assert helps(text, T(22, 33, 44, 55, 66)) == (
        "the nearest accepted: B = 10: make `a.shape[0]` 20, `a.shape[1]` 30, `a.shape[2]` 40, `a.shape[3]` 50, and 1 more",
    )


SCOPE = strategies.Scope(("A", "B"))


@st.composite
def calls(draw: st.DrawFn) -> tuple[Signature, list[Predicate], dict[str, int]]:
    """A spec of two bare dims, its predicates, and sizes."""
    wheres = [
        constraint
        for predicate in draw(st.lists(strategies.predicates(SCOPE), min_size=1, max_size=2))
        for constraint in constraints_of(predicate)
    ]
    params = [Param("x", TensorType((Var("A"), Var("B")))), Param("n", ScalarType(None))]
    values = draw(st.fixed_dictionaries({name: st.integers(0, 12) for name in SCOPE.dims}))
    made = assemble(name="f", params=params, declarations={}, wheres=wheres)
    return made, [each.predicate for each in made.constraints], values


def is_accepted(predicates: list[Predicate], sizes: dict[str, int]) -> bool:
    try:
        return all(holds(predicate, sizes) for predicate in predicates)
    except ZeroDivisionError:
        return False


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls())
def test_nothing_closer_is_accepted_than_what_is_called_the_nearest(
    call: tuple[Signature, list[Predicate], dict[str, int]],
) -> None:
    made, predicates, values = call
    found = found_for(made, predicates, values)
    if found is None or is_accepted(predicates, values):
        return
    assert is_accepted(predicates, dict(found.sizes))
    change = sum(abs(found.sizes[name] - values[name]) for name in values)
    if not found.proved or change > 12:
        return
    for a, b in product(*(range(max(0, value - change), value + change + 1) for value in values.values())):
        if abs(a - values["A"]) + abs(b - values["B"]) < change:
            assert not is_accepted(predicates, {"A": a, "B": b})


def found_for(made: Signature, predicates: list[Predicate], values: dict[str, int]) -> Near | None:
    from shapedsl.diagnostics import Report
    from shapedsl.ir.expand import expand

    arguments = {"x": T(values["A"], values["B"]), "n": 0}
    expanded = expand(made, arguments, is_tensor=TENSORS.is_tensor, report=Report())
    assert expanded is not None
    return nearest(expanded, [(values["A"], values["B"])], predicates, values)


def test_many_variables_are_counted() -> None:
    params = ", ".join(f"x{at}: Tensor[B{at}]" for at in range(10))
    where = ", ".join(f"B{at} <= 64" for at in range(10))
    (told,) = helps(f"def f({params}):\n    where {where}", *[T(70)] * 10)
    assert told == f"the nearest accepted: {', '.join(f'B{at} = 64' for at in range(8))}, and 2 more"


def test_long_lists_and_ranks_take_no_time_to_speak_of() -> None:
    assert helps("def f(xs: [Tensor[B, ?], ...]):\n    where B % 2 == 0", [T(5, at) for at in range(300)]) == (
        "the nearest accepted: B = 4",
    )
    assert helps("def f(x: Tensor[*b]):\n    where prod(*b) == 7", T(*[1] * 39, 3)) == (
        "accepted, for example: b[39] = 7",
    )
