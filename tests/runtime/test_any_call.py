"""Whatever is passed, a check returns, says what is wrong, or raises Python's TypeError for a call that does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.diagnostics import Report, ShapeError
from shapedsl.ir import (
    AnyType,
    Ellipsis,
    MappingType,
    ObjectType,
    OptionalType,
    ParamKind,
    ScalarType,
    SequenceType,
    Signature,
    TensorType,
    Type,
    Variadic,
)
from shapedsl.ir.expand import expand
from shapedsl.runtime.bind import binder
from shapedsl.runtime.check import checker
from tests import strategies
from tests.runtime.fakes import TENSORS, FakeTensor

junk: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=2)
    | st.builds(lambda shape: FakeTensor(*shape), st.lists(st.integers(0, 9), max_size=4)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["k", "x", 0]), inner, max_size=2),
    max_leaves=4,
)


class Thing:
    """An object with attributes."""


@st.composite
def nearly(draw: st.DrawFn, type_: Type) -> Any:
    """A value that mostly has the structure of ``type_``."""
    if draw(st.integers(0, 15)) == 0:
        return draw(junk)
    match type_:
        case TensorType(dims=dims):
            open_ended = dims is None or any(isinstance(dim, (Ellipsis, Variadic)) for dim in dims)
            rank = len(dims or ()) + (draw(st.integers(-1, 2)) if open_ended else 0)
            shape = draw(st.lists(st.integers(0, 9), min_size=max(rank, 0), max_size=max(rank, 0)))
            return FakeTensor(*shape, dtype=draw(st.sampled_from(["float32", "int64"])))
        case ScalarType():
            return draw(st.integers(-9, 9))
        case OptionalType(inner=inner):
            return draw(st.none() | nearly(inner))
        case SequenceType(items=items):
            groups = draw(st.integers(0, 3))
            listed = [draw(nearly(item)) for _ in range(groups) for item in items]
            return listed if type_.kind == "list" else tuple(listed)
        case MappingType(entries=entries):
            return {key: draw(nearly(entry)) for key, entry in entries}
        case ObjectType(fields=fields):
            thing = Thing()
            for name, inner in fields:
                setattr(thing, name, draw(nearly(inner)))
            return thing
        case AnyType():
            return draw(junk)
        case _:
            return None


@st.composite
def calls(draw: st.DrawFn) -> tuple[Signature, list[Any], dict[str, Any]]:
    signature = draw(strategies.signatures())
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for param in signature.params:
        if param.default and draw(st.booleans()):
            break
        value = draw(nearly(param.type))
        match param.kind:
            case ParamKind.VAR_POSITIONAL:
                args += list(value) if isinstance(value, (list, tuple)) else [value]
            case ParamKind.VAR_KEYWORD:
                kwargs.update((str(key), each) for key, each in (value.items() if isinstance(value, dict) else ()))
            case ParamKind.KEYWORD_ONLY:
                kwargs[param.name] = value
            case _:
                args.append(value)
    return signature, args, kwargs


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(calls())
def test_a_check_fails_only_in_the_two_ways(call: tuple[Signature, list[Any], dict[str, Any]]) -> None:
    signature, args, kwargs = call
    report = Report()
    pipeline.resolve(signature, report)
    if report.errors:  # a divisor that can be 0, a name that nothing binds: refused when it is read
        return
    try:
        check, bind = (make(signature, TENSORS, solve=pipeline.solve) for make in (checker, binder))
    except ShapeError as error:  # of a spec that asks for what cannot be computed, nothing can be checked
        refused: str | None = error.code
    else:
        refused = None
    if refused is not None:
        assert refused in ("not-invertible", "contradiction")
        return
    first = outcome(check, args, kwargs)
    assert outcome(check, args, kwargs) == first  # the second time the structure is known
    sizes = outcome(bind, args, kwargs)
    if first == "accepted":
        assert sizes == "accepted"
        traced = vars(bind)["_torchdynamo_inline"]  # what dynamo runs instead: it reads structure and sizes alone
        assert traced(*args, **kwargs) == bind(*args, **kwargs)


def outcome(run: Callable[..., object], args: list[Any], kwargs: dict[str, Any]) -> str:
    """Returns what came of a call; any other exception comes through."""
    try:
        run(*args, **kwargs)
    except ShapeError as error:
        return error.code
    except TypeError as error:
        if "argument" not in str(error):
            raise
        return "does not fit the parameters"
    return "accepted"


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.signatures(), st.data())
def test_structure_is_found_or_told_of_any_values(signature: Signature, data: st.DataObject) -> None:
    arguments = {param.name: data.draw(nearly(param.type)) for param in signature.params}
    for given_ in (arguments, None):
        report = Report()
        found = expand(signature, given_, is_tensor=TENSORS.is_tensor, report=report)
        assert (found is None) == bool(report.errors)
        if found is not None:
            again = expand(signature, given_, is_tensor=TENSORS.is_tensor, report=Report())
            assert again is not None
            assert again.structure == found.structure
            assert hash(found.structure) == hash(again.structure)
            # an expanded signature is closed: expanding it again changes nothing
            closed = expand(found.signature, None, is_tensor=TENSORS.is_tensor, report=Report())
            assert closed is not None
            assert closed.leaves == found.leaves
