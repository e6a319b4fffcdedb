"""What is wrong in annotations and decorators is said, with file and line; nothing raises."""
# These annotations are for run time: most of them no type checker would pass.
# mypy: disable-error-code="dict-item,arg-type,attr-defined,call-arg,empty-body,func-returns-value,misc,name-defined,no-untyped-call,operator,syntax,type-arg,unused-ignore,valid-type,return,explicit-override"
# ruff: noqa: F722, UP007

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Union

import pytest

from shapedsl.annotations import Scalar, Shape, Tensor, shapes, where
from shapedsl.diagnostics import Report, ShapeError
from shapedsl.dims import B, D
from shapedsl.dtypes import floating, int64
from shapedsl.frontends.annotated import read_callable
from shapedsl.normalize import normalize


def syntax(x: Tensor["B +"]) -> None: ...


def division(x: Tensor[B / 2]) -> None: ...


def not_a_dim(x: Tensor[B, Callable]) -> None: ...


def bool_dim(x: Tensor[B, True]) -> None: ...


def shape_as_type(x: Shape[B]) -> None: ...


def two_scalars(n: Scalar[B, D]) -> None: ...


def union(x: Union[Tensor[B], int]) -> None: ...


def dictionary(x: Tensor[B], y: dict[str, Tensor[B]]) -> None: ...


def keywords(x: Tensor[B], **kwargs: Tensor[B]) -> None: ...


@shapes(q="B", widht="B")
def parameters(x: Tensor[B], width: Any) -> None: ...


@shapes(hints={"C": 3})
def hint(x: Tensor[B]) -> None: ...


@shapes(hints={"B": "8"}, consts={"D": 2.5})
def values(x: Tensor[B, D]) -> None: ...


@shapes(hints={3: 8, "B": True}, consts={"D": 2**70})
def stranger(x: Tensor[B, D]) -> None: ...


@shapes(x="B, 4")
def numbers(x: Tensor[B, 3]) -> None: ...


@shapes(x="B")
def ranks(x: Tensor[B, D]) -> None: ...


@shapes
def dtypes(x: Annotated[int64[B], floating]) -> None: ...


@where("B <")
def predicate(x: Tensor[B]) -> None: ...


@shapes(
    """
    where B < 3
    where B <
    case B = 1
    """
)
def body(x: Tensor[B]) -> None: ...


def metadata(x: Annotated[Any, Shape[B], where("B << 3")]) -> None: ...


@pytest.mark.parametrize(
    ("function", "codes", "line"),
    [
        (syntax, ["syntax-error"], 0),
        (division, ["true-division"], 0),
        (not_a_dim, ["unresolved-annotation"], 0),
        (bool_dim, ["unresolved-annotation"], 0),
        (shape_as_type, ["unresolved-annotation"], 0),
        (two_scalars, ["type-arity"], 0),
        (union, ["unsupported-union"], 0),
        (dictionary, ["ignored-metadata"], 0),
        (keywords, ["ignored-metadata"], 0),
        (parameters, ["unknown-parameter", "unknown-parameter"], 0),
        (hint, ["unbound-name"], 0),
        (values, ["not-constant", "not-constant"], 0),
        (stranger, ["not-constant"] * 3, 0),
        (numbers, ["conflicting-sources"], 0),
        (ranks, ["conflicting-sources"], 0),
        (dtypes, ["conflicting-sources"], 1),
        (predicate, ["syntax-error"], 0),
        (body, ["syntax-error", "syntax-error"], 3),
        (metadata, ["syntax-error"], 0),
    ],
)
def test_each_fault_is_one_diagnostic_in_this_file(function: Callable[..., Any], codes: list[str], line: int) -> None:
    report = Report()
    assert read_callable(function, report) is not None
    assert [d.code for d in report] == codes
    for diagnostic in report:
        assert diagnostic.span is not None
        assert diagnostic.span.source.name == __file__
    first = report.diagnostics[0].span
    assert first is not None
    assert first.source.position(first.start)[0] == function.__code__.co_firstlineno + line
    assert __file__ in str(ShapeError(report))


def test_a_conflict_shows_both_places() -> None:
    report = Report()
    read_callable(ranks, report)
    (conflict,) = report
    first = ranks.__code__.co_firstlineno
    places = [(a.span.source.position(0)[0] - first, a.span.text, a.label) for a in conflict.annotations]
    assert places == [(0, "B", "here it has rank 1"), (1, "B, D", "here it has rank 2")]


def test_an_unknown_parameter_asks_for_the_near_one() -> None:
    report = Report()
    read_callable(parameters, report)
    assert [d.helps for d in report] == [("its parameters are x, width",), ("did you mean `width`?",)]


@shapes
@where(B <= 8, B >= 9)
def contradictory(x: Tensor[B, D]) -> None: ...


def test_places_in_one_file_are_shown_together() -> None:
    report = Report()
    signature = read_callable(contradictory, report)
    assert signature is not None
    normalize(signature, report)
    rendered = str(ShapeError(report.errors))
    assert "@where(B <= 8, B >= 9)" in rendered
    assert rendered.count("@where") == 1
    assert ":::" not in rendered
