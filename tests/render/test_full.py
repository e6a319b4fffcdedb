"""The full format: what a user sees, compared with text that was drawn by hand."""

from __future__ import annotations

import io
import re
from textwrap import dedent

import pytest

from shapedsl.diagnostics import Fix, Report, Source, Span
from shapedsl.diagnostics.render.full import render
from shapedsl.diagnostics.render.style import wants_color

TEXT = """\
# a net
dim B in [2, 64] multiple of 8
let S = 2*B

def net(x: Tensor[B]):
    doc
    where S >= 200, B < 3
"""


def spot(source: Source, text: str) -> Span:
    start = source.text.index(text)
    return source.span(start, start + len(text))


def drawn(text: str) -> str:
    return dedent(text).strip("\n")


def one(text: str, mark: str, label: str = "") -> str:
    """Renders an error on ``mark`` in ``text``."""
    report = Report()
    report.error("syntax-error", "m", at=spot(Source("a.shapes", text), mark), label=label)
    return render(report)


def test_lines_marks_labels_core_and_help() -> None:
    source, report = Source("net.shapes", TEXT), Report()
    report.error(
        "contradiction",
        "no shape satisfies this spec",
        at=spot(source, "S >= 200"),
        label="needs B >= 100",
        also=[(spot(source, "[2, 64]"), "so B <= 64"), (spot(source, "2*B"), "S is 2*B")],
        core=["B <= 64", "S >= 200"],
        witness=[("B", 64)],
        note="one\ntwo",
        help="raise B's upper bound to 104, or use S >= 128",
        fix=Fix("use S >= 128", ()),
    )
    assert render(report) == drawn(
        """
        error[contradiction]: no shape satisfies this spec
          --> net.shapes:7:11
         2 | dim B in [2, 64] multiple of 8
           |          ------- so B <= 64
         3 | let S = 2*B
           |         --- S is 2*B
         7 |     where S >= 200, B < 3
           |           ^^^^^^^^ needs B >= 100
           = minimal core: B <= 64; S >= 200
           = witness: B = 64
           = note: one
                   two
           = help: raise B's upper bound to 104, or use S >= 128
           = help: use S >= 128
        """
    )


def test_labels_of_one_line_hang_and_overlaps_take_another_row() -> None:
    source, other, report = Source("net.shapes", TEXT), Source("other.shapes", "\n" * 9 + "dim B in [0, 1]\n"), Report()
    report.warning(
        "ambiguous-multiple",
        "m",
        at=spot(source, "S >= 200"),
        label="main",
        also=[(spot(source, "B < 3"), "right"), (spot(source, "where S"), "left"), (spot(other, "[0, 1]"), "there")],
    )
    assert render(report) == drawn(
        """
        warning[ambiguous-multiple]: m
           --> net.shapes:7:11
          7 |     where S >= 200, B < 3
            |           ^^^^^^^^  ----- right
            |           main
            |     ------- left
           ::: other.shapes:10:10
         10 | dim B in [0, 1]
            |          ------ there
        """
    )


def test_three_labels_of_one_line_keep_their_stems() -> None:
    source, report = Source("a", "aa bb cc"), Report()
    report.error(
        "syntax-error",
        "m",
        at=spot(source, "aa"),
        label="1",
        also=[(spot(source, "bb"), "2"), (spot(source, "cc"), "3")],
    )
    assert render(report) == drawn(
        """
        error[syntax-error]: m
          --> a:1:1
         1 | aa bb cc
           | ^^ -- -- 3
           | |  2
           | 1
        """
    )


def test_long_span_shows_its_first_and_last_line() -> None:
    rendered = one("def f(\n  x,\n  y,\n  z,\n  w,\n)\n", "(\n  x,\n  y,\n  z,\n  w,\n)", "never closed")
    assert rendered == drawn(
        """
        error[syntax-error]: m
          --> a.shapes:1:6
         1 | def f(
           |      ^
         6 | )
           | ^ never closed
        """
    )


def test_short_span_over_lines_shows_each() -> None:
    assert one("f(a,\n  b,\n  c)\n", "a,\n  b,\n  c", "these") == drawn(
        """
        error[syntax-error]: m
          --> a.shapes:1:3
         1 | f(a,
           |   ^^
         2 |   b,
           |   ^^
         3 |   c)
           |   ^ these
        """
    )


@pytest.mark.parametrize(
    ("text", "mark", "line", "marks"),
    [
        ("\twhere BAD", "BAD", "    where BAD", "          ^^^"),
        ("ab\tBAD", "BAD", "ab  BAD", "    ^^^"),
        ("日本 = BAD", "BAD", "日本 = BAD", "       ^^^"),
        ("e\u0301 = BAD", "BAD", "e\u0301 = BAD", "    ^^^"),
        ("\0 BAD", "BAD", "\u2400 BAD", "  ^^^"),
        ("a\u202e BAD", "BAD", "a<U+202E> BAD", "          ^^^"),
        ("日本", "日本", "日本", "^^^^"),
    ],
)
def test_marks_stand_under_what_they_mark(text: str, mark: str, line: str, marks: str) -> None:
    shown = one(text, mark).splitlines()
    assert shown[2:] == [f" 1 | {line}", f"   | {marks}"]


def test_end_of_file_and_empty_span_show_one_caret() -> None:
    source, report = Source("a", "dim B in [0, 1"), Report()
    report.error("syntax-error", "m", at=source.span(14, 14), label="here")
    assert render(report).splitlines()[2:] == [" 1 | dim B in [0, 1", "   |               ^ here"]


def test_long_line_is_cut_around_the_mark() -> None:
    shown = one("x " * 5000 + "BAD " + "y " * 5000, "BAD").splitlines()
    assert len(shown[2]) < 140
    assert shown[2].startswith(" 1 | ...x x")
    assert shown[2].endswith("...")
    assert shown[2].index("BAD") == shown[3].index("^^^")


def test_line_numbers_of_an_excerpt() -> None:
    report = Report()
    report.error("syntax-error", "m", at=Source("f.py", "a\nb", first_line=99).span(2, 3))
    assert render(report).splitlines()[1:3] == ["    --> f.py:100:1", " 100 | b"]


def test_without_a_place_only_the_facts_are_shown() -> None:
    report = Report()
    report.error("shape-violation", "x.shape[0] is 40", note="B is 40")
    report.warning("undecided", "b")
    assert render(report) == "error[shape-violation]: x.shape[0] is 40\n  = note: B is 40\n\nwarning[undecided]: b"


def test_controls_in_messages_are_shown_not_sent() -> None:
    report = Report()
    report.error("syntax-error", "bad \x1b[31m and\nlines")
    assert render(report) == "error[syntax-error]: bad \u241b[31m and lines"


def test_color_changes_nothing_but_colors() -> None:
    source, report = Source("net.shapes", TEXT), Report()
    report.error(
        "contradiction", "m", at=spot(source, "S >= 200"), label="a", also=[(spot(source, "B < 3"), "b")], note="n"
    )
    colored = render(report, color=True)
    assert "\x1b[1;31m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(report)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "environment", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_color_is_for_terminals(
    terminal: bool, environment: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_color(_Terminal() if terminal else io.StringIO()) is expected


def test_a_message_of_a_megabyte_is_cut() -> None:
    report = Report()
    report.error("syntax-error", "x" * 1_000_000, note="y" * 1_000_000)
    headline, note = render(report).splitlines()
    assert len(headline) < 500
    assert len(note) < 500
    assert headline.endswith("xxx...")
