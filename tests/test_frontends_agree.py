"""Law 3: one signature, written as annotations and as ``.shapes`` text, gives equal IR."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable
from typing import Annotated, Any, Optional, TypedDict
from typing import Literal as L

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shapedsl as sd
from shapedsl import dtypes
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.annotated import read_callable
from shapedsl.frontends.text import read
from shapedsl.ir import (
    AnyType,
    MappingType,
    ObjectType,
    OptionalType,
    Param,
    ParamKind,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    TensorType,
    Type,
)
from shapedsl.ir.write import write_dim, write_signature
from tests import strategies


class _Inexpressible(Exception):
    """No annotation says this."""


def annotation(type_: Type, spelling: int) -> Any:
    """Returns an annotation that means ``type_``; ``spelling`` picks one of the ways to write it."""
    match type_:
        case TensorType(dims=dims, dtype=dtype):
            form: Any = sd.Tensor if dtype is None else getattr(dtypes, dtype.name)
            if dims is None:
                return form
            texts = tuple(write_dim(dim) for dim in dims)
            if not texts:
                return form[()]
            return form[", ".join(texts)] if spelling % 2 else form[texts]
        case ScalarType(size=None):
            return sd.Scalar
        case ScalarType(size=size) if size is not None:
            scalar: Any = sd.Scalar
            return scalar[write_dim(size)]
        case OptionalType(inner=inner):
            return Optional[annotation(inner, spelling)]  # noqa: UP045  # the older spelling is read too
        case SequenceType(kind="tuple", items=items, rest=Rest.NONE, times=None):
            return tuple[tuple(annotation(item, spelling) for item in items)]  # type: ignore[misc]
        case SequenceType(kind="tuple", items=(item,), rest=Rest.REPEAT):
            return tuple[annotation(item, spelling), ...]  # type: ignore[misc]
        case SequenceType(kind="list", items=(item,), rest=Rest.REPEAT):
            return list[annotation(item, spelling)]  # type: ignore[misc]
        case MappingType(entries=entries) if all(isinstance(key, str) for key, _ in entries):
            make: Any = TypedDict  # called with what a type checker cannot see
            return make("Entries", {key: annotation(entry, spelling) for key, entry in entries})
        case ObjectType(fields=fields):
            return dataclasses.make_dataclass("Fields", [(name, annotation(t, spelling)) for name, t in fields])
        case AnyType():
            return Any
    raise _Inexpressible


def function(params: tuple[Param, ...]) -> Callable[..., object]:
    """Returns a function with these parameters, not annotated yet."""
    parts: list[str] = []
    for before, param in zip((None, *params), params, strict=False):
        if before and before.kind is ParamKind.POSITIONAL_ONLY is not param.kind:
            parts.append("/")
        after_star = before and before.kind in (ParamKind.VAR_POSITIONAL, ParamKind.KEYWORD_ONLY)
        if param.kind is ParamKind.KEYWORD_ONLY and not after_star:
            parts.append("*")
        parts.append(param.name + ("=None" if param.default else ""))
    if params and params[-1].kind is ParamKind.POSITIONAL_ONLY:
        parts.append("/")
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(f"def f({', '.join(parts)}): ...", namespace)
    made: Callable[..., object] = namespace["f"]
    return made


def body(signature: Signature) -> str:
    """Returns the clauses of ``signature`` as text."""
    lines = write_signature(signature).split("\n")
    header = next(i for i, line in enumerate(lines) if re.match(r"\S.*:( \.\.\.)?$", line))
    return textwrap.dedent("\n".join(lines[header + 1 :]))


def expressible(signature: Signature) -> bool:
    try:
        for param in signature.params:
            if param.kind in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD):
                return False
            annotation(param.type, 0)
        if signature.returns is not None:
            annotation(signature.returns, 0)
    except _Inexpressible:
        return False
    return True


@given(strategies.signatures(safe=True) | strategies.signatures(cases=True), st.integers(0, 1))
@settings(max_examples=300, suppress_health_check=list(HealthCheck))
def test_annotations_and_text_agree(signature: Signature, spelling: int) -> None:
    assume(expressible(signature))
    f = function(signature.params)
    f.__annotations__ = {param.name: annotation(param.type, spelling) for param in signature.params}
    if signature.returns is not None:
        f.__annotations__["return"] = annotation(signature.returns, spelling)
    report = Report()  # the frontends alone: what they read may well be refused later, a divisor that can be 0 say
    annotated = read_callable(sd.shapes(body(signature))(f), report)
    (written,) = read(Source("pair.shapes", write_signature(signature)), report)
    assert annotated is not None
    assert [d.message for d in report.errors] == []
    assert annotated == written, f"{write_signature(annotated)}\n\n{write_signature(written)}"


def test_enough_signatures_are_expressible() -> None:
    """Else the law above would hold of nothing."""
    seen: list[bool] = []

    @given(strategies.signatures(safe=True) | strategies.signatures(cases=True))
    @settings(max_examples=100, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def collect(signature: Signature) -> None:
        seen.append(expressible(signature))

    collect()
    assert sum(seen) >= 0.4 * len(seen)


def by_hand() -> list[tuple[Callable[..., object], str]]:
    """The same in both languages, as people write them."""
    from shapedsl import Scalar, Shape, Tensor, shapes, where
    from shapedsl.dims import B, D, S, n
    from shapedsl.dtypes import floating, int64

    @shapes(hints={"B": 8})
    @where(B < 32, D % 8 == 0)
    def names(x: Tensor[B, D], ids: int64[B, L[1]]) -> floating[B, D]: ...  # type: ignore[empty-body]

    @shapes
    @where((B == 1) | (B >= 8), ~(S == 3))
    def logic(x: Tensor[B, S]) -> None: ...

    @shapes("int n in [0, 4]\ncase one: n == 1\notherwise")
    def scalars(x: Tensor[B, L["2*B + n"]], n: Scalar[n]) -> None: ...

    @shapes
    def annotated(
        x: Annotated[Any, "B, D"], y: Annotated[Any, Shape["D"]], z: Annotated[Any, "the z of it all"] = None
    ) -> None: ...

    @shapes(x="*batch, D", w="D", where="D < 8", returns="*batch")
    def keywords(x, w):  # type: ignore[no-untyped-def]
        ...

    return [
        (
            names,
            "def names(x: Tensor[B, D], ids: int64[B, 1]) -> floating[B, D]:\n"
            "    dim B hint 8\n    where B < 32, D % 8 == 0",
        ),
        (logic, "def logic(x: Tensor[B, S]) -> None:\n    where B == 1 or B >= 8, not S == 3"),
        (
            scalars,
            "def scalars(x: Tensor[B, 2*B + n], n: Scalar[n]) -> None:\n"
            "    int n in [0, 4]\n    case one: n == 1\n    otherwise",
        ),
        (annotated, "def annotated(x: Tensor[B, D], y: Tensor[D], z = _) -> None: ..."),
        (keywords, "def keywords(x: Tensor[*batch, D], w: Tensor[D]) -> Tensor[*batch]:\n    where D < 8"),
    ]


@pytest.mark.parametrize("index", range(5))
def test_pairs_written_by_hand(index: int, recwarn: pytest.WarningsRecorder) -> None:
    annotated, written = by_hand()[index]
    spec = sd.spec_of(annotated)
    assert spec == sd.loads(written)[annotated.__name__], str(spec)
