"""Generated checks against the evaluator, on random specs and sizes."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapedsl.diagnostics import ShapeError
from shapedsl.frontends.assemble import assemble, constraints_of
from shapedsl.ir import Apply, Param, ParamKind, ScalarType, Signature, Size, TensorType, Var
from shapedsl.ir.walk import evaluate, holds
from shapedsl.runtime.bind import binder
from shapedsl.runtime.check import checker
from tests import strategies
from tests.runtime.fakes import TENSORS, FakeTensor

SCOPE = strategies.Scope(("B", "D", "lambda"))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Signature, list[Size], dict[str, int]]:
    """A spec whose variables stand bare, its derived dims, and values of the variables."""
    derived: list[Size] = draw(st.lists(strategies.sizes(SCOPE, depth=2), max_size=3))
    wheres = [
        constraint
        for predicate in draw(st.lists(strategies.predicates(SCOPE), max_size=3))
        for constraint in constraints_of(predicate)
    ]
    params = [
        Param("bare", TensorType(tuple(Var(name) for name in SCOPE.dims))),
        *(Param(f"n{at}", ScalarType(size), ParamKind.POSITIONAL_OR_KEYWORD) for at, size in enumerate(derived)),
    ]
    signature = assemble(name="f", params=params, declarations={}, wheres=wheres)
    values = draw(st.fixed_dictionaries({name: st.integers(0, 12) for name in SCOPE.dims}))
    return signature, derived, values


def value_of(size: Size, values: Mapping[str, int]) -> int | None:
    try:
        value = evaluate(size, values)
    except ZeroDivisionError:
        return None
    return value if abs(value) < 2**63 else None


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.integers(0, 3), st.integers(-1, 1))
def test_a_check_accepts_what_the_evaluator_accepts(
    case: tuple[Signature, list[Size], dict[str, int]], which: int, off: int
) -> None:
    signature, derived, values = case
    true_values = [value_of(size, values) for size in derived]
    passed = [0 if value is None else value for value in true_values]
    if which < len(passed):
        passed[which] += off
    try:
        accepted = passed == true_values and all(holds(c.predicate, values) for c in signature.constraints)
    except ZeroDivisionError:
        accepted = False
    bare = FakeTensor(*(values[name] for name in SCOPE.dims))
    try:
        checker(signature, TENSORS)(bare, *passed)
        assert accepted
        assert binder(signature, TENSORS)(bare, *passed) == values
    except ShapeError:
        assert not accepted


@st.composite
def linear_systems(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Rows of coefficients with a constant, and values of the variables."""
    count = draw(st.integers(1, 3))
    coefficients = st.integers(-3, 3)
    rows = draw(st.lists(st.lists(coefficients, min_size=count + 1, max_size=count + 1), min_size=1, max_size=4))
    values = draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count))
    return rows, values


def row_size(row: list[int], names: list[str]) -> Size:
    from shapedsl.ir import OPERATORS, Const

    size: Size = Const(row[-1])
    for coefficient, name in zip(row, names, strict=False):
        size = Apply(OPERATORS["+"], (size, Apply(OPERATORS["*"], (Const(coefficient), Var(name)))))
    return size


@settings(max_examples=100)
@given(linear_systems())
def test_sizes_found_from_a_linear_system_solve_it(system: tuple[list[list[int]], list[int]]) -> None:
    rows, values = system
    names = ["A", "B", "C"][: len(values)]
    true_values = dict(zip(names, values, strict=True))
    sizes = [row_size(row, names) for row in rows]
    passed = [evaluate(size, true_values) for size in sizes]
    params = [Param(f"n{at}", ScalarType(size)) for at, size in enumerate(sizes)]
    one = len(values) == 1 and any(row[0] for row in rows)
    two = len(values) == 2 and any(a[0] * b[1] != a[1] * b[0] for a in rows for b in rows)
    try:
        found: object = binder(assemble(name="f", params=params, declarations={}), TENSORS)(*passed)
    except ShapeError as error:
        found = error.code
    # a full rank determines everything, and what is determined is determined rightly
    assert found == true_values or (found == "not-invertible" and not one and not two)
