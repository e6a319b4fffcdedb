"""Law 5, the checks' part: a check accepts exactly what is lowered, and refuses specs that cannot be lowered."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.diagnostics import Report, ShapeError
from shapedsl.frontends.assemble import assemble
from shapedsl.ir import OPERATORS, Apply, Const, Origin, Param, ScalarType, Signature, Size, TensorType, Var
from shapedsl.ir.expand import expand
from shapedsl.ir.walk import holds
from shapedsl.normalize import lower
from shapedsl.runtime.bind import binder
from shapedsl.runtime.check import checker
from tests.normalize.test_lower_law import NAMES, accepts, signatures, slots, variables

from .fakes import TENSORS, FakeTensor

names = st.sampled_from(NAMES).map(Var)
numbers = st.integers(0, 3).map(Const)
# what lowering simplifies, pins or gives up
hidden = st.builds(
    lambda op, left, right: Apply(OPERATORS[op], (left, right)),
    st.sampled_from(("*", "min", "max", "-", "//")),
    names,
    names | numbers.filter(lambda number: number.value > 0),
)


@st.composite
def with_hidden_sizes(draw: st.DrawFn) -> Signature:
    """A signature of `signatures`, and a tensor whose dims hide their variables."""
    signature = draw(signatures())
    dims: tuple[Size, ...] = tuple(draw(st.lists(hidden, min_size=1, max_size=2)))
    return assemble(
        name="f",
        params=[*signature.params, Param("hidden", TensorType(dims))],
        declarations={},
        wheres=[
            replace(constraint, origin=Origin.WHERE)
            for constraint in signature.constraints
            if constraint.origin is not Origin.DIM
        ],
    )


def arguments(signature: Signature, call: tuple[int, ...]) -> list[object]:
    """Returns arguments with these sizes."""
    sizes = iter(call)
    return [
        FakeTensor(*itertools.islice(sizes, len(param.type.dims or ())))
        if isinstance(param.type, TensorType)
        else next(sizes)
        for param in signature.params
    ]


def outcome(make: object, signature: Signature, call: tuple[int, ...]) -> object:
    """Returns what ``check`` or ``bind`` of a call gives, or the code of its error."""
    try:
        return make(signature, TENSORS, solve=pipeline.solve)(*arguments(signature, call))  # type: ignore[operator]
    except ShapeError as error:
        return error.code


def outside(sizes: object) -> bool:
    """Returns whether a size is outside of what the law goes through."""
    assert isinstance(sizes, dict)
    return any(size not in range(-4, 8) for size in sizes.values())


@given(signatures() | with_hidden_sizes())
@settings(
    max_examples=150,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_a_check_accepts_what_is_lowered(signature: Signature) -> None:
    assert all(isinstance(param.type, (TensorType, ScalarType)) for param in signature.params)
    report = Report()
    expanded = expand(signature, None, is_tensor=lambda _: True, report=report)
    assert expanded is not None
    lowered = lower(expanded, report, statics={}, allow_negative_ints=True)
    good: dict[tuple[int, ...], list[dict[str, int]]] = {}
    calls: set[tuple[int, ...]] = set()
    for sizes in variables(expanded.signature):
        try:
            call = slots(signature, sizes)
            fits = all(holds(constraint.predicate, sizes) for constraint in expanded.signature.constraints)
        except ZeroDivisionError:
            continue
        if any(size < 0 for size in call):
            continue
        calls.add(call)
        if fits:
            good.setdefault(call, []).append(sizes)
    codes = {diagnostic.code for diagnostic in report.errors}
    for call in (*itertools.islice(good, 10), *itertools.islice(sorted(calls - good.keys()), 10)):
        found = outcome(checker, signature, call)
        if codes & {"not-invertible", "unbound-name"}:
            # reading dims one by one may find more than lowering does, but never accepts a wrong call
            assert found is not None or call in good or outside(outcome(binder, signature, call)), (call, found)
            assert found is None or found in codes or call not in good, (call, found)
        elif call in good:
            assert found is None, (call, found)
            assert outcome(binder, signature, call) in good[call]
        elif lowered is not None:
            assert (found is None) == accepts(lowered, call), (call, found)
