"""What a comparison says agrees with what checks do: on random specs of any structure, changed at random.

A call that the old spec's check accepts and the new one's refuses must be known as lost, the other way round
as gained; unless the relation is unknown. The calls are drawn from the types, not from the structures that
the comparison looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapedsl import pipeline
from shapedsl.diagnostics import Report, ShapeError
from shapedsl.frontends.assemble import Declaration, assemble
from shapedsl.ir import (
    AnyType,
    Apply,
    Const,
    Dim,
    Dtype,
    Ellipsis,
    Fresh,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Origin,
    ParamKind,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Static,
    TensorType,
    Type,
    Var,
    Variadic,
)
from shapedsl.ir.walk import evaluate
from shapedsl.ir.write import write_signature
from shapedsl.normalize import resolve
from shapedsl.normalize.compare import compare
from shapedsl.runtime.check import checker
from shapedsl.runtime.tensors import Tensors
from tests.runtime.fakes import FakeTensor
from tests.strategies import DTYPES, among, between, chance, signatures

FLOATS = frozenset(("float32", "float16", "bfloat16"))
INTS = frozenset(("int64", "int32", "uint8"))
TENSORS = Tensors(
    FakeTensor,
    {
        **{name: frozenset((name,)) for name in (*FLOATS, *INTS, "bool", "complex64")},
        "floating": FLOATS,
        "integral": INTS,
    },
)
REFUSALS = {"shape-violation", "rank-mismatch", "dtype-mismatch", "type-mismatch", "contradiction", "negative-dim"}


def sound(signature: Signature) -> bool:
    """Whether `check` would find nothing wrong with the names and divisors."""
    report = Report()
    resolve(signature, report)
    return not report.errors


# ------------------------------------------------------------------------------------- changing


def changed(draw: st.DrawFn, spec: Signature) -> Signature:
    """Returns ``spec`` with something changed, more or less."""
    params = [replace(param, type=_type(draw, param.type, spec, 70)) for param in spec.params]
    at = between(draw, 0, len(params) - 1)
    if chance(draw, 20) and params[at].kind not in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD):
        params[at] = replace(params[at], default=not params[at].default)
    if chance(draw, 15):
        at = between(draw, 0, len(params) - 1)
        params[at] = replace(params[at], name=f"{params[at].name}_")
    wheres = [constraint for constraint in spec.constraints if constraint.origin is not Origin.DIM]
    if wheres and chance(draw, 30):
        wheres.pop(between(draw, 0, len(wheres) - 1))
    return assemble(
        name=spec.name,
        params=params,
        returns=spec.returns,
        declarations={v.name: Declaration(v.name, v.kind, v.variadic, hint=v.hint) for v in spec.variables},
        wheres=[replace(constraint, origin=Origin.WHERE) for constraint in wheres],
        ranks={} if chance(draw, 20) else dict(spec.ranks),
    )


def _type(draw: st.DrawFn, type_: Type, spec: Signature, percent: int) -> Type:
    """Returns ``type_``, or one like it."""
    if not chance(draw, percent):
        return type_
    if chance(draw, 10):
        return type_.inner if isinstance(type_, OptionalType) else OptionalType(type_)
    if chance(draw, 4):
        return AnyType()
    match type_:
        case TensorType(dims=dims, dtype=dtype):
            if chance(draw, 15):
                dtype = Dtype(among(draw, DTYPES)) if chance(draw, 70) else None
            if dims is not None and chance(draw, 70):
                made = [_dim(draw, dim, spec) if chance(draw, 30) else dim for dim in dims]
                if made and chance(draw, 10):
                    made.pop(between(draw, 0, len(made) - 1))
                dims = tuple(made)
            return replace(type_, dims=dims, dtype=dtype)
        case ScalarType(size=size) if size is not None:
            return ScalarType(None) if chance(draw, 20) else ScalarType(Const(between(draw, 0, 3)))
        case SequenceType(items=items, rest=rest, times=times):
            if times is None and chance(draw, 20):
                rest = among(draw, tuple(Rest) if items else (Rest.NONE, Rest.STATIC))
            if isinstance(times, Const) and chance(draw, 20):
                times = Const(between(draw, 0, 3))
            return replace(type_, items=tuple(_type(draw, item, spec, 50) for item in items), rest=rest, times=times)
        case MappingType(entries=entries):
            kept = [(key, _type(draw, entry, spec, 50)) for key, entry in entries if not chance(draw, 10)]
            return MappingType(tuple(kept))
        case ObjectType(fields=fields):
            kept_fields = [(name, _type(draw, inner, spec, 50)) for name, inner in fields if not chance(draw, 10)]
            return ObjectType(tuple(kept_fields))
        case OptionalType(inner=inner):
            made_inner = _type(draw, inner, spec, 70)
            return made_inner if isinstance(made_inner, OptionalType) else OptionalType(made_inner)
        case _:
            return type_


def _dim(draw: st.DrawFn, dim: Dim, spec: Signature) -> Dim:
    single = [v.name for v in spec.variables if not v.variadic]
    starred = [v.name for v in spec.variables if v.variadic]
    if isinstance(dim, (Variadic, Ellipsis)):
        return Variadic(among(draw, starred)) if starred and chance(draw, 50) else Ellipsis()
    choices: list[Dim] = [Static(), Const(between(draw, 0, 4)), *map(Var, single)]
    return among(draw, choices)


# --------------------------------------------------------------------------------------- calling


class Values:
    """Draws arguments that a type may accept, and often does."""

    def __init__(self, draw: st.DrawFn, spec: Signature) -> None:
        self.draw = draw
        self.sizes = {v.name: between(draw, 0, 5) for v in spec.variables}
        self.ranks = {v.name: dict(spec.ranks).get(v.name, between(draw, 0, 3)) for v in spec.variables}

    def value(self, type_: Type) -> object:
        draw = self.draw
        match type_:
            case TensorType(dims=dims, dtype=dtype):
                name = among(draw, sorted(TENSORS.dtypes.get(dtype.name if dtype else "floating", FLOATS), key=str))
                shape: list[int] = []
                for dim in dims if dims is not None else (Ellipsis(),):
                    shape += self._dims(dim)
                return FakeTensor(*shape, dtype=str(name))
            case ScalarType(size=size):
                return between(draw, -1, 5) if size is None or chance(draw, 10) else self._size(size)
            case OptionalType(inner=inner):
                return None if chance(draw, 40) else self.value(inner)
            case SequenceType(items=items, rest=rest, times=times, kind=kind):
                values = [self.value(item) for item in items]
                if times is not None:
                    count = times.value if isinstance(times, Const) else self._size(times)
                    values = [self.value(item) for _ in range(min(count, 5)) for item in items]
                elif rest is Rest.REPEAT:
                    values = [self.value(item) for _ in range(between(draw, 0, 3)) for item in items]
                elif rest is Rest.STATIC:
                    values += ["more"] * between(draw, 0, 2)
                return values if kind == "list" else tuple(values)
            case MappingType(entries=entries):
                return {key: self.value(entry) for key, entry in entries if not chance(draw, 3)}
            case ObjectType(fields=fields):
                return SimpleNamespace(**{name: self.value(inner) for name, inner in fields if not chance(draw, 3)})
            case NoneType():
                return None
            case AnyType():
                return among(draw, ("anything", None, 3, FakeTensor(2, 2)))

    def _dims(self, dim: Dim) -> list[int]:
        draw = self.draw
        match dim:
            case Variadic(name=name):
                return [self.sizes.get(f"{name}[{at}]", between(draw, 0, 3)) for at in range(self.ranks.get(name, 1))]
            case Ellipsis():
                return [between(draw, 0, 3) for _ in range(between(draw, 0, 3))]
            case Static() | Fresh():
                return [between(draw, 0, 4)]
            case _:
                return [between(draw, 0, 5) if chance(draw, 5) else max(0, self._size(dim))]

    def _size(self, size: Const | Var | Apply | Variadic) -> int:
        try:
            return min(evaluate(size, self.sizes), 9)
        except (TypeError, ZeroDivisionError, ValueError, OverflowError):
            return between(self.draw, 0, 5)


Call = tuple[list[object], dict[str, object]]


def call(draw: st.DrawFn, spec: Signature) -> Call:
    """Returns arguments for ``spec``."""
    values = Values(draw, spec)
    args: list[object] = []
    kwargs: dict[str, object] = {}
    by_name = False
    for param in spec.params:
        if param.kind is ParamKind.VAR_POSITIONAL:
            several = values.value(param.type)
            args += several if isinstance(several, list) and not by_name else []
            continue
        if param.kind is ParamKind.VAR_KEYWORD:
            more = values.value(param.type)
            kwargs.update(more if isinstance(more, dict) else {})
            continue
        if param.default and chance(draw, 40):
            by_name = True
            continue
        by_name |= param.kind is ParamKind.KEYWORD_ONLY
        by_name |= param.kind is ParamKind.POSITIONAL_OR_KEYWORD and chance(draw, 10)
        if by_name and param.kind is not ParamKind.POSITIONAL_ONLY:
            kwargs[param.name] = values.value(param.type)
        elif not by_name:
            args.append(values.value(param.type))
    return args, kwargs


def accepts(check: Callable[..., None], given: Call) -> bool | None:
    """Whether a check accepts a call; None if it cannot judge."""
    try:
        check(*given[0], **given[1])
    except TypeError:
        return False
    except ShapeError as error:
        return False if error.code in REFUSALS else None
    return True


def checks(spec: Signature) -> Callable[..., None]:
    return checker(spec, TENSORS, solve=pipeline.solve)


def _shown(old: Signature, new: Signature, given: Call) -> str:
    return f"{write_signature(old)}\n{write_signature(new)}\n{_values(given[0])} {_values(given[1])}"


def _values(value: object) -> str:
    match value:
        case FakeTensor():
            return f"{value.dtype}{list(value.shape)}"
        case list() | tuple():
            return f"[{', '.join(map(_values, value))}]"
        case dict():
            return f"{{{', '.join(f'{key!r}: {_values(each)}' for key, each in value.items())}}}"
        case SimpleNamespace():
            return f"object({_values(vars(value))})"
        case _:
            return repr(value)


@st.composite
def versions(draw: st.DrawFn) -> tuple[Signature, Signature, list[Call]]:
    old = draw(signatures())
    new = changed(draw, old)
    return old, new, [call(draw, among(draw, (old, new))) for _ in range(6)]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(versions())
def test_agrees_with_checks(drawn: tuple[Signature, Signature, list[Call]]) -> None:
    old, new, calls = drawn
    if not (sound(old) and sound(new)):
        return
    found = compare(old, new)
    relation = found.relation.value
    try:
        both = checks(old), checks(new)
    except ShapeError:  # a spec that no check can judge
        return
    for given_call in calls:
        verdicts = accepts(both[0], given_call), accepts(both[1], given_call)
        if verdicts == (True, False):
            assert relation in ("narrower", "incomparable", "unknown"), _shown(old, new, given_call)
            assert found.breaking or relation == "unknown"
        if verdicts == (False, True):
            assert relation in ("wider", "incomparable", "unknown"), _shown(old, new, given_call)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(signatures(cases=True), signatures(cases=True))
def test_any_two_can_be_compared(old: Signature, new: Signature) -> None:
    if not (sound(old) and sound(new)):
        return
    forth, back = compare(old, new), compare(new, old)
    opposite = {"narrower": "wider", "wider": "narrower"}
    if "unknown" not in (forth.relation.value, back.relation.value):
        assert back.relation.value == opposite.get(forth.relation.value, forth.relation.value)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(signatures(cases=True))
def test_a_copy_is_equal(spec: Signature) -> None:
    if not sound(spec):
        return
    found = compare(spec, replace(spec, doc="another"))
    assert [change.kind for change in found.changes if change.kind != "contradiction"] in ([], ["doc"])
    assert found.relation.value in ("equal", "unknown")
