"""All errors of a file in one run: a broken statement costs itself, and nothing else."""

from __future__ import annotations

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import parse_clauses, read

from .helpers import module


def recovered(text: str) -> tuple[list[str], list[int]]:
    """The names of the defs that could be read, and the lines with errors."""
    report = Report()
    made = read(Source("<text>", text), report)
    lines = [d.span.source.position(d.span.start)[0] for d in report if d.span is not None]
    return [signature.name for signature in made], lines


def test_an_open_bracket_ends_at_the_next_statement() -> None:
    assert recovered(
        "dim B in [0, 8\ndef f(x: Tensor[B]): ...\ndef g(x: Tensor[B: ...\ndef h(x: Tensor[B]): ...\n"
    ) == (
        ["f", "h"],
        [1, 3],
    )


def test_clauses_of_a_broken_def_are_read_too() -> None:
    text = "def f(x: Tensor[B)\n    where B = 3\n    case:\ndef g(x: Tensor[B]):\n    where B < 3\n    where B = 3\n    where B > 1\n"
    names, lines = recovered(text)
    assert names == ["g"]
    assert lines == [1, 2, 3, 6]


def test_members_of_a_class_are_read_one_by_one() -> None:
    text = "class A:\n    def f(self, x: Tensor[B)): ...\n    dim B in [\n    def g(self, x: Tensor[B]): ...\nclass B C:\n    def h(self, x: Tensor[B B]): ...\n"
    assert recovered(text) == (["A.g"], [2, 3, 5, 6])


def test_a_block_of_broken_lines_only() -> None:
    text = "def f(x: Tensor[B]):\n    where B =\n    case c:\n        where <\ndef g(x: Tensor[B]): ...\n"
    assert recovered(text) == (["f", "g"], [2, 4])


def test_a_def_without_a_body() -> None:
    assert recovered("def f(x: Tensor[B]):\ndef g(x: Tensor[B]): ...\n") == (["g"], [1])
    assert recovered("class A:\n    def f(self, x: Tensor[B]):\ndef g(x: Tensor[B]): ...\n")[0] == ["g"]


def test_wrong_indentation() -> None:
    assert recovered("dim B\n  dim C\ndef g(x: Tensor[B]): ...\n") == (["g"], [2])
    assert recovered("def f(x: Tensor[B]):\n    where B < 3\n  where B < 4\ndef g(x: Tensor[B]): ...\n") == (
        ["f", "g"],
        [3],
    )
    assert recovered("def f(x: Tensor[B]):\n    where B < 3\n        where B < 4\n    where B < 5\n") == (["f"], [3])


def test_the_last_statement_may_be_too_large() -> None:
    text = (
        "def f(x: Tensor[B]): ...\ndef g(x: Tensor[2**99999999]): ...\ndef h(x: Tensor[B]): ...\nwhere B < 2**99999999"
    )
    assert recovered(text) == (["f", "h"], [2, 4])


def test_parameters_at_column_zero_begin_no_statement() -> None:
    text = "def f(\nwhere: Tensor[B],\ndim: Tensor[B],\n): ...\n"
    assert module(text) == module("def f(where: Tensor[B], dim: Tensor[B]): ...")


def test_what_leans_on_a_broken_declaration_is_left_out_silently() -> None:
    text = (
        "let S = 2 *\nconst K = \ntype P[N] = (\nlet T = S + 1\n\ndef f(x: Tensor[B, S]): ...\ndef g(x: P[B]): ...\n"
        "def h(x: Tensor[B]): where B < K\ndef i(x: Tensor[T]): ...\ndef j(x: Tensor[B]): ...\nwhere S < 3, B < 2\n"
    )
    assert recovered(text) == (["j"], [1, 2, 3])


def test_no_complaint_about_a_where_whose_def_is_broken() -> None:
    assert recovered("where B < 3\ndef f(x: Tensor[B): ...\n") == ([], [2])


@pytest.mark.parametrize(
    "text",
    [
        "\n    where B < 3\n    case one: B == 1\n    otherwise\n",
        "where B < 3\n    case one: B == 1\n    otherwise\n    ",
        "where B < 3\ncase one: B == 1\notherwise",
        "where B < 3\r\ncase one:\r\n    where B == 1\r\notherwise\r\n",
    ],
)
def test_clauses_as_in_a_docstring(text: str) -> None:
    report = Report()
    made = parse_clauses(Source("<text>", text), report)
    assert not report.diagnostics
    assert made is not None
    assert len(made.clauses) == 3


@pytest.mark.parametrize(
    "text",
    [
        "case one:\n    where B == 1",
        "case one:  # so\n        where B == 1\n    ",
        "case one:\n        where B == 1\n    otherwise",
        "case one:\n    where B == 1\notherwise",
    ],
)
def test_clauses_that_begin_with_a_block(text: str) -> None:
    report = Report()
    made = parse_clauses(Source("<text>", text), report)
    assert not report.diagnostics
    assert made is not None
    assert len(made.clauses) == 1 + text.count("otherwise")


def test_clauses_with_errors() -> None:
    report = Report()
    made = parse_clauses(
        Source("<text>", "where B < 3\nwhere B = 3\ncase x:\n    where C =\n    where D < 3\nrank b = 3"), report
    )
    assert len(report.errors) == 2
    assert made is not None
    assert len(made.clauses) == 3


@pytest.mark.parametrize(
    "line",
    [
        "whre B <",
        "wher B == = 1",
        "assert B < 3",
        "where !(B < 3)",
        "where +",
        "if B == 1:",
        "where",
        "bukcet B in {8}",
    ],
)
def test_each_line_that_begins_a_clause_has_its_own_error(line: str) -> None:
    names, lines = recovered(
        f"def f(x: Tensor[B]):\n    where B <\n    {line}\n    where B = 3\ndef g(x: Tensor[B]): ...\n"
    )
    assert (names, lines) == (["f", "g"], [2, 3, 4])


def test_a_misspelled_head_opens_its_block() -> None:
    text = "dim B = 3\ndeff f(x: Tensor[B]):\n    where B = 3\n    where B < 3\ndef g(x: Tensor[B]): ...\n"
    assert recovered(text) == (["g"], [1, 2, 3])


def test_a_parameter_in_a_broken_head_begins_no_statement() -> None:
    assert recovered("def f(\n    lett Tensor[B],\n    default Tensor[B],\n): ...\ndef g(x: Tensor[B]): ...\n") == (
        ["g"],
        [2],
    )


@pytest.mark.parametrize("start", ["", "\ufeff", "\n", "# c\n", "\n\n"])
def test_an_indented_first_line_is_an_error_like_any_other(start: str) -> None:
    line = 1 + start.count("\n")
    assert recovered(f"{start}  dim B in [0, 3]\ndef f(x: Tensor[B]): ...\n") == (["f"], [line])
    assert recovered(f"{start}  # a comment\ndef f(x: Tensor[B]): ...\n") == (["f"], [])


def test_a_backslash_says_how_lines_are_continued() -> None:
    report = Report()
    read(Source("<text>", "def f(x: Tensor[B]):\n    where B >= 3 and \\\n        B < 5\n"), report)
    (found,) = report
    assert found.message == "a line cannot be continued with `\\`"
    assert "until its brackets are closed" in found.helps[0]
