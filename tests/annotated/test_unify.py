"""Two sources of one parameter."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.annotated.equalities import Equality
from shapedsl.frontends.annotated.unify import unify
from shapedsl.frontends.text import parse_type
from shapedsl.ir.write import write_predicate, write_type


def merged(first: str, second: str) -> tuple[str, list[str], list[str]]:
    """Returns the type, the equalities, and the labels of conflicts."""
    report, equalities = Report(), list[Equality]()
    one, two = (parse_type(Source(name, text), report) for name, text in (("one.py", first), ("two.py", second)))
    assert one is not None
    assert two is not None
    type_ = unify(one, two, report, equalities, "parameter `x`")
    texts = [write_predicate(e.constraint().predicate) for e in equalities]
    labels = [f"{a.span.source.name}: {a.label}" for d in report for a in d.annotations]
    assert {d.code for d in report} <= {"conflicting-sources"}
    return write_type(type_), texts, labels


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("_", "Tensor[B]", "Tensor[B]"),
        ("Tensor[B, D]", "Tensor[B, D]", "Tensor[B, D]"),
        ("Tensor", "Tensor[B, D]", "Tensor[B, D]"),
        ("Tensor[B, _, 3]", "Tensor[_, 2 * D, _]", "Tensor[B, 2 * D, 3]"),
        ("Tensor[?, ?]", "Tensor[B, 3]", "Tensor[B, 3]"),
        ("Tensor[B, ...]", "Tensor[_, 3, D]", "Tensor[B, 3, D]"),
        ("Tensor[..., D]", "Tensor[B, ...]", "Tensor[B, ..., D]"),
        ("Tensor[B, ...]", "Tensor[_, 3, ..., D]", "Tensor[B, 3, ..., D]"),
        ("Tensor[..., D]", "Tensor[D]", "Tensor[D]"),
        ("Tensor[..., D]", "Tensor[*batch, D]", "Tensor[*batch, D]"),
        ("Tensor[...]", "Tensor[*batch, D]", "Tensor[*batch, D]"),
        ("Tensor[*batch, _]", "Tensor[*batch, 4]", "Tensor[*batch, 4]"),
        ("int64", "Tensor[B]", "int64[B]"),
        ("floating[B]", "float16", "float16[B]"),
        ("number", "integral[B]", "integral[B]"),
        ("Tensor[B] | None", "Tensor[_]", "Tensor[B] | None"),
        ("Tensor[_]", "Tensor[B] | None", "Tensor[B] | None"),
        ("Scalar", "Scalar[N]", "Scalar[N]"),
        ("(Tensor[B], _)", "(_, Tensor[D])", "(Tensor[B], Tensor[D])"),
        ("[Tensor[B], ...]", "[Tensor[_], Tensor[_]]", "[Tensor[B], Tensor[B]]"),
        ("[_, _]", "[Tensor[B], ...]", "[Tensor[B], Tensor[B]]"),
        ('{"a": Tensor[B]}', '{"a": int64, "b": Scalar}', '{"a": int64[B], "b": Scalar}'),
        ("Batch(x: Tensor[B])", "object(x: Tensor[_], y: _)", "Batch(x: Tensor[B], y: _)"),
    ],
)
def test_a_silent_source_yields(first: str, second: str, both: str) -> None:
    assert merged(first, second) == (both, [], [])


@pytest.mark.parametrize(
    ("first", "second", "both", "equalities"),
    [
        ("Tensor[B, D]", "Tensor[B, 2 * S]", "Tensor[B, D]", ["D == 2 * S"]),
        ("Tensor[B]", "Tensor[4]", "Tensor[B]", ["B == 4"]),
        ("Tensor[4]", "Tensor[B]", "Tensor[4]", ["B == 4"]),
        ("Scalar[N]", "Scalar[2 * M]", "Scalar[N]", ["N == 2 * M"]),
    ],
)
def test_two_expressions_become_an_equality(first: str, second: str, both: str, equalities: list[str]) -> None:
    assert merged(first, second) == (both, equalities, [])


@pytest.mark.parametrize(
    ("first", "second", "labels"),
    [
        ("Tensor[3]", "Tensor[4]", ["one.py: here it is 3", "two.py: here it is 4"]),
        ("Tensor[B]", "Tensor[B, D]", ["one.py: here it has rank 1", "two.py: here it has rank 2"]),
        ("Tensor[B, ..., D]", "Tensor[B]", ["one.py: here it has rank 2 or more", "two.py: here it has rank 1"]),
        ("int64[B]", "floating[B]", ["one.py: here it is int64", "two.py: here it is floating"]),
        ("Tensor[B]", "Scalar[B]", ["one.py: here it is a tensor", "two.py: here it is an int"]),
        ("[_, _]", "[_]", ["one.py: here it has 2 items", "two.py: here it has 1 items"]),
    ],
)
def test_a_conflict_shows_both_places(first: str, second: str, labels: list[str]) -> None:
    type_, equalities, found = merged(first, second)
    assert (type_, equalities, found) == (first, [], labels)
