"""What is said of pieces of the language that stand in Python, and of pieces in the wrong place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shapedsl.diagnostics import Diagnostic, Report, Source
from shapedsl.frontends.text import parse_dims, parse_type, parse_where, read

Parse = Callable[[Source, Report], object]


def only(parse: Parse, text: str) -> Diagnostic:
    report = Report()
    parse(Source("<text>", text), report)
    (found,) = report
    return found


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_dims, "B D", "a comma is missing here"),
        (parse_dims, "B D, E", "a comma is missing here"),
        (parse_dims, "B 3", "a comma is missing here"),
        (parse_dims, "dim B", "a comma is missing here"),
        (parse_dims, '"B", D', "sizes are written without quotes"),
        (parse_dims, "D +", "something is missing after `+`"),
        (parse_type, "Tensor[B D]", "a comma is missing here"),
        (parse_type, "Tensor['B']", "sizes are written without quotes"),
        (parse_type, "Tensor[B] or None", "what may be absent is `T | None`"),
        (parse_where, "B = 3", "sizes are compared with `==`"),
        (parse_where, "where B < 3", "only the predicates stand here"),
        (parse_where, "B < 3 D > 2", "a comma is missing between two predicates"),
    ],
)
def test_a_piece_is_explained_as_what_it_is(parse: Parse, text: str, message: str) -> None:
    assert only(parse, text).message == message


DEF = "def f(x: Tensor[B, D]):\n    "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(x: Tensor[None, D]): ...\n", "a dim that is taken from the example is `_`"),
        ("def f(x: Tensor[B, :]): ...\n", "a dim that is taken from the example is `_`"),
        ("def f(x: Tensor<B, D>): ...\n", "the dims of a tensor stand in square brackets: `Tensor[…]`"),
        ("def f(x: Tensor[B] float32): ...\n", "the dtype stands before the dims: `float32[…]`"),
        ("def f(n: Scalar(N)): ...\n", "the size of a scalar stands in square brackets: `Scalar[…]`"),
        ("dim B hint 8 in [0, 8]\n", "`in` stands too late"),
        ("dim B in {1, 2}\n", "a declared range is `[lo, hi]`, both ends included"),
        (f"{DEF}where B < 3 D > 2\n", "a comma is missing between two predicates"),
        (f"{DEF}case B == 1:\n        where D < 3\n", "a case with a block has a name, not a predicate"),
        (f"{DEF}where: B < 3\n", "`where` takes no colon"),
        (f"{DEF}otherwise B == 3\n", "`otherwise` has no predicate: it is the rest"),
        ("def f(x: Tensor[B] = 1.5): ...\n", "a default value is written `_`"),
        ("def f(x: Tensor[B]):\n\twhere B < 3\n    where B > 1\n", "tabs and spaces are mixed"),
    ],
)
def test_pieces_in_the_wrong_place(text: str, message: str) -> None:
    report = Report()
    read(Source("<text>", text), report)
    assert report.diagnostics[0].message == message


def test_clauses_under_a_def_that_says_it_has_none() -> None:
    found = only(read, "def f(x: Tensor[B]): ...\n    where B < 3\n")
    assert "delete that `...`" in found.helps[0]
