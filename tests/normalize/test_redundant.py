"""What is redundant, what it follows from, and what is left when the fixes are applied. Expected texts are by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedsl import pipeline
from shapedsl.diagnostics import Diagnostic, Report, Source
from tests.cli.helpers import run


def found(text: str) -> list[Diagnostic]:
    report = Report()
    pipeline.check(Source("f.shapes", text), report)
    assert not report.errors, str(report.errors[0])
    return [diagnostic for diagnostic in report if diagnostic.code == "redundant"]


def headlines(text: str) -> list[str]:
    return [diagnostic.message for diagnostic in found(text)]


def fixed(text: str, folder: Path) -> str:
    file = folder / "f.shapes"
    file.write_text(text, newline="")
    run("check", "--fix", file)
    with file.open(newline="") as written:
        return written.read()


PARAMS = "x: Tensor[A, B, C], k: Scalar[k]"

# what a body says -> what it says after the fixes
BODIES = {
    "first of three": ("where A >= 0, A <= B, B <= C", "where A <= B, B <= C"),
    "second of three": ("where A <= B, A >= 0, B <= C", "where A <= B, B <= C"),
    "last of three": ("where A <= B, B <= C, A <= C", "where A <= B, B <= C"),
    "trailing comma": ("where A <= B, A >= 0,", "where A <= B,"),
    "first and last": ("where A >= 0, A <= B, B >= 0", "where A <= B"),
    "the first two": ("where A >= 0, C >= 0, A <= B", "where A <= B"),
    "the last two": ("where A <= B, A >= 0, C >= 0", "where A <= B"),
    "the only line": ("where A >= 0", "..."),
    "all of the only line": ("where A >= 0, B >= 0, C + A >= 0,", "..."),
    "both lines": ("where A >= 0\n    where B >= 0", "..."),
    "one of two lines": ("where A <= 5\n    where A <= 6", "where A <= 5"),
    "a line with a comment": ("where A <= 5\n    where A <= 6  # never", "where A <= 5\n    # never"),
    "the only line, with a comment": ("where A >= 0  # never", "...  # never"),
    "a comment inside brackets": (
        "where A <= 5\n    where (A  # never\n        <= 6)",
        "where A <= 5\n    where (A  # never\n        <= 6)",
    ),
    "a comment between": (
        "where A <= 5\n    # of B\n    where A <= 6\n    # of C",
        "where A <= 5\n    # of B\n    # of C",
    ),
    "documentation stays": ('"doc"\n    where A >= 0', '"doc"'),
    "a message goes along": ('where A <= 5, A <= 6 "too many", B <= 1', "where A <= 5, B <= 1"),
    "a message stays": ('where 0 <= A <= 6 "too many"', 'where A <= 6 "too many"'),
    "left of a chain": ("where 0 <= A <= 9", "where A <= 9"),
    "right of a chain": ("where A <= 3, 1 <= A <= 9", "where A <= 3, 1 <= A"),
    "middle of a chain": ("where A == 1, B == 2, A < B < C <= 7", "where A == 1, B == 2, B < C <= 7"),
    "between links": ("where B <= C, A <= B <= C <= k, k <= 9", "where B <= C, A <= B and C <= k, k <= 9"),
    "a cut in a chain": (
        "dim B in [4, inf]\n    where A >= B >= 4 >= k",
        "dim B in [4, inf]\n    where A >= B and 4 >= k",
    ),
    "of an and": ("where A <= 3 and A <= 4 and B <= 2", "where A <= 3 and B <= 2"),
    "in parentheses": ("where (A <= 3 and (A <= 4)) and B <= 2", "where (A <= 3) and B <= 2"),
    "lower end of a range": ("where A >= 3\n    where A in [2, 8]", "where A >= 3\n    where A <= 8"),
    "upper end of a range": ("where A <= 3\n    where A in [2, 8]", "where A <= 3\n    where A >= 2"),
    "both ends of a range": ("where A == 3\n    where A in [2, 8]", "where A == 3"),
    "over several lines": ("where (A <=\n        5), (A\n        <= 6), B <= 1", "where (A <=\n        5), B <= 1"),
    "upper end of a declaration": (
        "dim A in [2, 64] hint 8\n    where A < 32",
        "dim A in [2, inf] hint 8\n    where A < 32",
    ),
    "lower end of a declaration": ("dim A in [2, 64]\n    where A >= 4", "dim A in [0, 64]\n    where A >= 4"),
    "the only end of a declaration": ("dim A in [0, 64]\n    where A < 32", "dim A\n    where A < 32"),
    "all of a declaration": ("dim A in [2, 64]\n    where A == 8", "dim A\n    where A == 8"),
    "a residue": (
        "dim A in [0, 64] multiple of 4 hint 8\n    where A % 8 == 0",
        "dim A in [0, 64] hint 8\n    where A % 8 == 0",
    ),
    "of two names only one": ("dim A, B in [2, 64]\n    where A < 32", "dim A, B in [2, 64]\n    where A < 32"),
    "of two names both": (
        "dim A, B in [2, 64]\n    where A < 32, B < 32",
        "dim A, B in [2, inf]\n    where A < 32, B < 32",
    ),
    "the end of an int": ("int k in [-4, 9]\n    where k >= 3", "int k in [-inf, 9]\n    where k >= 3"),
    "what is written twice": ("where A <= 5\n    where 5 >= A", "where A <= 5"),
    "the same up to algebra": ("where A == 2 * B + 2, A == 2 * (B + 1)", "where A == 2 * B + 2"),
    "a declaration rather than a where": ("dim A in [0, 5]\n    where A <= 5", "dim A in [0, 5]"),
    "a let": ("let D = 2 * A\n    where D <= 10, A <= 5", "let D = 2 * A\n    where D <= 10"),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_left_of_a_body(name: str, tmp_path: Path) -> None:
    before, after = BODIES[name]
    assert fixed(f"def f({PARAMS}):\n    {before}\n", tmp_path) == f"def f({PARAMS}):\n    {after}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("where A >= 0\ndef f(x: Tensor[A]): ...\n", "def f(x: Tensor[A]): ...\n"),
        ("def f(x: Tensor[A]): where A >= 0\n", "def f(x: Tensor[A]): ...\n"),
        ("def f(x: Tensor[A]): where A >= 0, A <= 3  # few", "def f(x: Tensor[A]): where A <= 3  # few"),
        (
            "def f(x: Tensor[A]):\r\n    where A >= 0\r\n    where A <= 3\r\n",
            "def f(x: Tensor[A]):\r\n    where A <= 3\r\n",
        ),
        ("def f(x: Tensor[A]):\n    where A <= 3\n    where A <= 4", "def f(x: Tensor[A]):\n    where A <= 3\n"),
        ("dim A in [0, 4]\nwhere A <= 4\ndef f(x: Tensor[A]): ...\n", "dim A in [0, 4]\ndef f(x: Tensor[A]): ...\n"),
        (
            "class N:\n    dim A in [1, 4]\n    where A <= 3\n    def f(x: Tensor[A]): ...\n",
            "class N:\n    dim A in [1, inf]\n    where A <= 3\n    def f(x: Tensor[A]): ...\n",
        ),
    ],
)
def test_what_is_left_of_a_file(before: str, after: str, tmp_path: Path) -> None:
    assert fixed(before, tmp_path) == after


@pytest.mark.parametrize(
    "text",
    [
        "dim A in [0, 1024]\ndef f(x: Tensor[A]):\n    where A < 32\n",  # a def narrows what its file declares
        "dim A in [0, 8]\ndef f(x: Tensor[A - 2]): ...\n",
        "def f(x: Tensor[A]):\n    dim A in [0, inf]\n",  # says what a size is
        "def f(x: Tensor[A]):\n    where A in [0, 8]\n",
        "def f(x: Tensor[A], y: Tensor[B]):\n    where A <= B, B <= 8\n    case A == 1\n    otherwise\n",
        "where A <= B\ndim A in [1, 8]\ndef f(x: Tensor[A], y: Tensor[B]):\n    where B >= 4\n",
        "def f(x: Tensor[B], y: Tensor[S]):\n    where S >= 1, B % S == 0\n",  # the divisor needs it
        "def f(x: Tensor[A, B], y: Tensor[C] | None):\n    where A <= C, C <= B, A <= B\n",  # C may be missing
        "def f(x: Tensor[A, B], y: [Tensor[C], ...]):\n    where A <= C, C <= B, A <= B\n",
        "def f(x: Tensor[A, B], y: Tensor[C] = _):\n    where A <= C, C <= B, A <= B\n",
        "def f(x: Tensor[*b, N]):\n    where N >= 1, prod(*b) <= N\n",
        "def f(x: Tensor[A], y: Tensor[A - 4] | None):\n    where A >= 4\n",
        "def f(x: Tensor[*b]):\n    dim *b in [1, 8]\n    where prod(*b) <= 8\n",
    ],
)
def test_what_is_needed_is_no_finding(text: str) -> None:
    assert headlines(text) == []


def test_a_constraint_of_a_file_must_follow_in_every_def() -> None:
    both = "where A <= B\nwhere A <= C\nwhere B <= C\n"
    assert headlines(f"{both}def f(x: Tensor[A, B, C]): ...\n") == ["`A <= C` is implied by `A <= B` and `B <= C`"]
    assert headlines(f"{both}def f(x: Tensor[A, B, C]): ...\ndef g(x: Tensor[A, C]): ...\n") == []


def test_a_wrong_spec_may_need_what_it_shares() -> None:
    report = Report()
    text = "dim A in [1, 8]\nwhere A <= 9\ndef f(x: Tensor[A]): ...\ndef g(x: Tensor[A]):\n    where A >= 20\n"
    pipeline.check(Source("f.shapes", text), report)
    assert [diagnostic.code for diagnostic in report] == ["contradiction"]


def test_a_contradiction_that_two_specs_share_makes_both_wrong() -> None:
    report = Report()
    text = "dim A in [0, 0]\nwhere A >= 1, A >= 0\ndef f(x: Tensor[A]): ...\ndef g(x: Tensor[A]): ...\n"
    pipeline.check(Source("f.shapes", text), report)
    assert [diagnostic.code for diagnostic in report] == ["contradiction"]


def test_deleting_a_name_would_change_which_defs_a_where_is_for() -> None:
    text = "where A <= 4, B >= 0\ndef f(x: Tensor[A, B]): ...\ndef g(x: Tensor[A]): ...\n"
    (diagnostic,) = found(text)
    assert (diagnostic.message, diagnostic.fix) == ("`B >= 0` always holds", None)


def test_another_file_may_need_what_a_file_declares() -> None:
    of_file, of_class = found(
        "dim A in [2, 64]\nwhere A >= 3\nclass N:\n    dim B in [2, 64]\n    where B >= 3\n    def f(x: Tensor[A, B]): ...\n"
    )
    assert of_file.fix is not None
    assert of_class.fix is not None
    assert (of_file.fix.safe, of_class.fix.safe) == (False, True)


def test_thousands_of_constraints_are_no_matter(tmp_path: Path) -> None:
    lines = "\n".join(f"    where A >= {number}, B <= A + {number}" for number in range(500))
    assert headlines(f"def f(x: Tensor[A, B]):\n{lines}\n")


def test_an_imported_file_has_other_readers(tmp_path: Path) -> None:
    (tmp_path / "common.shapes").write_text("dim A in [2, 64]\n")
    text = 'from "common.shapes" import A\nwhere A <= 32\ndef f(x: Tensor[A]): ...\n'
    report = Report()
    pipeline.check(Source("f.shapes", text), report, base=tmp_path)
    assert list(report) == []


def test_what_it_follows_from_is_minimal_and_labelled() -> None:
    text = "def f(x: Tensor[A, B, C]):\n    where A <= B, C >= 7\n    where 2 * B <= 9, A <= 4\n"
    (diagnostic,) = found(text)
    assert diagnostic.message == "`A <= 4` is implied by `A <= B` and `2 * B <= 9`"
    assert [(a.span.text, a.label) for a in diagnostic.annotations] == [
        ("A <= 4", "implied"),
        ("A <= B", "so A <= B"),
        ("2 * B <= 9", "so B <= 4"),
    ]
    assert diagnostic.helps == ("delete it",)


def test_why_something_always_holds() -> None:
    by_sign, by_algebra, by_logic, by_one_sign = found(
        "def f(x: Tensor[A, B]):\n    where A + B >= 0, A == A, A == 1 or A != 1, A >= 0 or B >= 5\n"
    )
    assert by_sign.message == "`A + B >= 0` always holds"
    assert by_sign.notes == ("A is a size, so A >= 0", "B is a size, so B >= 0")
    assert (by_algebra.message, by_algebra.notes) == ("`A == A` always holds", ())
    assert by_logic.notes == ()
    assert by_one_sign.notes == ("A is a size, so A >= 0",)


def test_the_finding_can_be_silenced() -> None:
    assert headlines("def f(x: Tensor[A]):\n    where A >= 0  # shapedsl: ignore[redundant]\n") == []


def test_what_leans_on_the_value_of_a_const_is_no_finding() -> None:
    """Whoever loads the file may set another value."""
    declared = (
        "const LIMIT = 64\nconst TWO = 2\nlet M = LIMIT\ndim B in [1, LIMIT]\ndef f(x: Tensor[B, C]):\n    where "
    )
    for predicate in ("B <= 64", "B <= M", "2*B <= 2*M", "C multiple of 4, C multiple of TWO", "C in {2, TWO}, C >= 1"):
        assert headlines(f"{declared}{predicate}\n") == [], predicate
    assert headlines(f"{declared}B >= 1\n") == ["`B >= 1` is stated twice"]
    assert headlines(f"{declared}C <= M, C <= M\n") == ["`C <= M` is stated twice"]
    assert headlines(f"{declared}C multiple of 4, C multiple of 2\n")


def test_a_message_for_a_declared_bound_is_no_finding() -> None:
    text = "dim B in [1, 64] multiple of 8\ndef f(x: Tensor[B]):\n    where "
    assert headlines(text + 'B <= 64 "too many", B % 8 == 0 "pad it", B >= 1 "empty"\n') == []
    assert headlines(text + 'B <= 65 "too many"\n') == ["`B <= 65` is implied by `B <= 64`"]
    assert headlines('def f(x: Tensor[B]):\n    where B <= 6 "six", B <= 6\n') == ["`B <= 6` is stated twice"]


def test_a_class_keeps_its_methods_and_needs_no_dots(tmp_path: Path) -> None:
    text = "class N:\n    where A >= 0\n    def f(self, x: Tensor[A]): where A >= 0\n"
    assert fixed(text, tmp_path) == "class N:\n    def f(self, x: Tensor[A]): ...\n"


def test_a_byte_order_mark_and_line_ends_stay(tmp_path: Path) -> None:
    text = "\ufeffdef f(x: Tensor[A]):\r\n    where A >= 0\r\n    where A <= 9\r\n"
    assert fixed(text, tmp_path) == "\ufeffdef f(x: Tensor[A]):\r\n    where A <= 9\r\n"


def test_of_two_that_imply_each_other_one_stays(tmp_path: Path) -> None:
    text = "def f(x: Tensor[A, B]):\n    where A == B + 1, B == A - 1, 2 * A == 2 * B + 2\n"
    assert len(found(text)) == 2
    assert fixed(text, tmp_path) == "def f(x: Tensor[A, B]):\n    where A == B + 1\n"
