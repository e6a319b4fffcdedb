"""Law 5, the part without torch: what is lowered accepts exactly the sizes that the signature accepts.

The lowered form is evaluated as torch would: ranges of its variables, pinned numbers, assumptions. What
the signature accepts is decided by going through values of its variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from shapedsl.diagnostics import Report
from shapedsl.frontends.assemble import Declaration, assemble, constraints_of
from shapedsl.ir import (
    COMPARISONS,
    OPERATORS,
    Apply,
    Compare,
    Const,
    Or,
    Param,
    Predicate,
    ScalarType,
    Signature,
    Size,
    TensorType,
    Var,
    Variable,
    VariableKind,
)
from shapedsl.ir.expand import expand
from shapedsl.ir.expanded import Lowered
from shapedsl.ir.walk import evaluate, holds
from shapedsl.normalize import lower

NAMES = ("B", "S", "D")
BOX = range(10)


def affine(factors: tuple[int, ...], offset: int) -> Size:
    """Returns ``factors . (B, S, D) + offset``."""
    total: Size = Const(offset)
    for factor, name in zip(factors, NAMES, strict=True):
        if factor:
            total = Apply(OPERATORS["+"], (total, Apply(OPERATORS["*"], (Const(factor), Var(name)))))
    return total


small = st.integers(-2, 3)
affines = st.builds(affine, st.tuples(small, small, small), st.integers(-4, 4))
bare = st.builds(Var, st.sampled_from(NAMES))
derived = st.builds(
    lambda name, factor, offset: Apply(
        OPERATORS["+"], (Apply(OPERATORS["*"], (Const(factor), Var(name))), Const(offset))
    ),
    st.sampled_from(NAMES),
    st.integers(1, 4),
    st.integers(-2, 3),
)
floors = st.builds(
    lambda size, divisor: Apply(OPERATORS["//"], (size, Const(divisor))), affines, st.sampled_from((2, 3, 4))
)
remainders = st.builds(
    lambda size, modulus: Apply(OPERATORS["%"], (size, Const(modulus))), affines, st.sampled_from((2, 3, 4, 8))
)
extremes = st.builds(
    lambda name, left, right: Apply(OPERATORS[name], (left, right)), st.sampled_from(("min", "max")), affines, bare
)
products = st.builds(
    lambda left, right, offset: Apply(OPERATORS["*"], (left, Apply(OPERATORS["+"], (right, Const(offset))))),
    bare,
    bare,
    st.integers(0, 1),
)
radices = st.builds(
    lambda high, base, low: Apply(OPERATORS["+"], (Apply(OPERATORS["*"], (base, high)), low)),
    bare,
    st.one_of(st.builds(Const, st.integers(2, 6)), bare),
    bare,
)
dims = st.one_of(bare, bare, derived, affines, floors, products, radices, extremes, remainders)
compared = st.one_of(affines, bare, remainders, floors, extremes)
comparisons = st.builds(
    lambda op, left, right: Compare(COMPARISONS[op], left, right),
    st.sampled_from(sorted(COMPARISONS)),
    compared,
    st.one_of(st.builds(Const, st.integers(0, 12)), affines, bare),
)
wheres = st.one_of(comparisons, comparisons, st.builds(lambda *args: Or(args), comparisons, comparisons))


@st.composite
def signatures(draw: st.DrawFn) -> Signature:
    tensors = draw(st.lists(st.lists(dims, min_size=1, max_size=2), min_size=1, max_size=3))
    declarations = {
        name: Declaration(
            name,
            VariableKind.DIM,
            low=draw(st.integers(0, 3)),
            high=draw(st.none() | st.integers(3, 9)),
            modulus=draw(st.sampled_from((1, 1, 1, 2, 3, 4))),
            hint=draw(st.none() | st.integers(0, 9)),
        )
        for name in draw(st.sets(st.sampled_from(NAMES)))
    }
    params = [Param(f"x{at}", TensorType(tuple(tensor))) for at, tensor in enumerate(tensors)]
    if draw(st.booleans()):
        params.append(Param("n", ScalarType(draw(dims))))
    predicates: list[Predicate] = draw(st.lists(wheres, max_size=2))
    return assemble(
        name="f",
        params=params,
        declarations=declarations,
        wheres=[constraint for each in predicates for constraint in constraints_of(each)],
    )


def slots(signature: Signature, sizes: dict[str, int]) -> tuple[int, ...]:
    """Returns the sizes that a call has when the variables are ``sizes``."""
    found: list[int] = []
    for param in signature.params:
        if isinstance(param.type, TensorType):
            found += [evaluate(dim, sizes) for dim in param.type.dims or ()]  # type: ignore[arg-type]
        elif isinstance(param.type, ScalarType) and param.type.size is not None:
            found.append(evaluate(param.type.size, sizes))
    return tuple(found)


def variables(signature: Signature) -> Iterator[dict[str, int]]:
    """Yields the values in the box of the variables; ints may be negative."""
    ranges = [_tried(v) for v in signature.variables]
    for values in itertools.product(*ranges):
        yield dict(zip((v.name for v in signature.variables), values, strict=True))


def accepts(lowered: Lowered, call: tuple[int, ...]) -> bool:
    """Returns whether torch, told ``lowered``, would accept a call with these sizes."""
    given: dict[str, int] = {}
    at = iter(call)
    for leaf in lowered.leaves:
        for dim, value in zip(leaf.dims, at, strict=False):
            if isinstance(dim, Const):
                if dim.value != value:
                    return False
            else:
                assert isinstance(dim, Var)
                if given.setdefault(dim.name, value) != value:
                    return False
    for variable in lowered.variables:
        value = given[variable.name]
        if variable.kind is VariableKind.DIM and value < 0:
            return False
        if (variable.low is not None and value < variable.low) or (variable.high is not None and value > variable.high):
            return False
    return all(holds(predicate, given) for predicate in lowered.assumptions)


@given(signatures(), st.integers(0, 1000))
@settings(
    max_examples=150,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_what_is_lowered_accepts_what_the_signature_accepts(signature: Signature, offset: int) -> None:
    report = Report()
    expanded = expand(signature, None, is_tensor=lambda _: True, report=report)
    assert expanded is not None, report.diagnostics
    signature = expanded.signature  # without what nothing binds
    lowered = lower(expanded, report, statics={}, allow_negative_ints=True)
    good: dict[tuple[int, ...], dict[str, int]] = {}
    bad: set[tuple[int, ...]] = set()
    for sizes in variables(signature):
        call = slots(signature, sizes)
        if all(holds(constraint.predicate, sizes) for constraint in signature.constraints):
            good[call] = sizes
        else:
            bad.add(call)
    if lowered is None:
        codes = {diagnostic.code for diagnostic in report.errors}
        assert codes <= {"contradiction", "not-invertible", "unbound-name"}
        assert "contradiction" not in codes or not good, good
        return
    for call, sizes in good.items():
        assert accepts(lowered, call), (call, sizes)
        given = _given(lowered, call)
        for name, definition in lowered.definitions:
            assert evaluate(definition, given) == sizes[name], (name, sizes)
    for call in bad - good.keys():
        solution = _solution(lowered, call)
        if solution is not None and any(solution.get(v.name, 0) not in _tried(v) for v in signature.variables):
            continue  # outside of what was gone through
        assert not accepts(lowered, call), call
    for call in itertools.islice(_near(list(good), offset), 200):
        if call in good or not accepts(lowered, call):
            continue
        solution = _solution(lowered, call)
        assert solution is not None, call
        assert slots(signature, solution) == call, (call, solution)
        assert all(holds(constraint.predicate, solution) for constraint in signature.constraints), (call, solution)


def _tried(variable: Variable) -> range:
    """Returns the sizes that are gone through."""
    return BOX if variable.kind is not VariableKind.INT else range(-4, 8)


def _solution(lowered: Lowered, call: tuple[int, ...]) -> dict[str, int] | None:
    """Returns the sizes that ``lowered`` computes from a call, or None if that divides by 0."""
    given = _given(lowered, call)
    try:
        return {name: evaluate(size, given) for name, size in lowered.definitions}
    except ZeroDivisionError:
        return None


def _given(lowered: Lowered, call: tuple[int, ...]) -> dict[str, int]:
    dims = [dim for leaf in lowered.leaves for dim in leaf.dims]
    return {dim.name: value for dim, value in zip(dims, call, strict=True) if isinstance(dim, Var)}


def _near(calls: list[tuple[int, ...]], offset: int) -> Iterator[tuple[int, ...]]:
    """Yields calls that differ from accepted ones in one size."""
    if not calls:
        return
    for at in itertools.count(offset):
        call = calls[at % len(calls)]
        axis = at // 7 % len(call)
        yield (*call[:axis], max(0, call[axis] + at % 5 - 2), *call[axis + 1 :])
