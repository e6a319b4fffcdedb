"""``shapedsl check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .helpers import BROKEN, FIRST, run


def test_a_clean_file(tmp_path: Path) -> None:
    file = tmp_path / "first.shapes"
    file.write_text(FIRST)
    result = run("check", file)
    assert (result.exit_code, result.output) == (0, "1 spec: no findings\n")


def test_findings_exit_with_1(tmp_path: Path) -> None:
    file = tmp_path / "broken.shapes"
    file.write_text(BROKEN)
    result = run("check", file)
    assert result.exit_code == 1
    assert result.output == (
        "error[syntax-error]: sizes are compared with `==`\n"
        f"  --> {file}:3:13\n"
        " 3 |     where B = 3\n"
        "   |             ^\n"
        "   = help: write `==`\n"
        "\n"
        "1 error, 1 can be fixed with --fix\n"
    )


def test_standard_input() -> None:
    assert run("check", "-", text=FIRST).exit_code == 0
    result = run("check", "--format", "concise", "-", text=BROKEN)
    assert (result.exit_code, result.output) == (
        1,
        "<stdin>:3:13: error[syntax-error] sizes are compared with `==`\n",
    )


WARNED = "def f(x: Tensor[batch], y: Tensor[batch], z: Tensor[btach]): ...\n"


def test_warnings_count_only_under_strict() -> None:
    assert run("check", "-", text=WARNED).exit_code == 0
    assert run("check", "--strict", "-", text=WARNED).exit_code == 1
    assert "1 warning" in run("check", "-", text=WARNED).output


REDUNDANT = "def f(x: Tensor[B]):\n    where B <= 8, B <= 9\n"


def test_what_is_redundant_counts_only_under_strict() -> None:
    result = run("check", "-", text=REDUNDANT)
    assert (result.exit_code, result.output) == (
        0,
        "warning[redundant]: `B <= 9` is implied by `B <= 8`\n"
        "  --> <stdin>:2:19\n"
        " 2 |     where B <= 8, B <= 9\n"
        "   |           ------  ^^^^^^ implied\n"
        "   |           so B <= 8\n"
        "   = help: delete it\n"
        "\n"
        "1 warning, 1 can be fixed with --fix\n",
    )
    assert run("check", "--strict", "-", text=REDUNDANT).exit_code == 1


# whether 114 is a sum of three cubes is an open problem
UNDECIDED = "def f(a: Scalar[a], b: Scalar[b], c: Scalar[c]):\n    where a**3 + b**3 + c**3 == 114\n"


def test_what_is_undecided_has_an_exit_code_of_its_own() -> None:
    result = run("check", "-", text=UNDECIDED)
    assert result.exit_code == 3, result.output
    assert "warning[undecided]: could not decide whether any shape satisfies this spec" in result.output
    assert run("check", "--strict", "-", text=UNDECIDED).exit_code == 1
    assert run("check", "-", text=UNDECIDED + "def g(x: Tensor[B]):\n    where B < 0\n").exit_code == 1


def test_help_tells_of_fixes_and_exit_codes() -> None:
    text = " ".join(run("check", "--help").output.split())
    for said in ("--strict", "--fix", "3 only undecided", "constraints that follow from others"):
        assert said in text


@pytest.mark.parametrize("format_", ["json", "sarif"])
def test_machine_formats_are_one_document(format_: str, tmp_path: Path) -> None:
    (tmp_path / "a.shapes").write_text(BROKEN)
    (tmp_path / "b.shapes").write_text(BROKEN)
    result = run("check", "--format", format_, tmp_path / "a.shapes", tmp_path / "b.shapes")
    document = json.loads(result.output)
    found = document["diagnostics"] if format_ == "json" else document["runs"][0]["results"]
    assert (result.exit_code, len(found)) == (1, 2)


def test_github_annotations() -> None:
    assert run("check", "--format", "github", "-", text=BROKEN).output.startswith("::error file=<stdin>,line=3,")


def test_consts_are_overridden() -> None:
    text = "const LIMIT = 8\ndim B in [16, 32]\ndef f(x: Tensor[B]):\n    where B <= LIMIT\n"
    assert run("check", "-", text=text).exit_code == 1
    assert run("check", "--const", "LIMIT=64", "-", text=text).exit_code == 0


@pytest.mark.parametrize("value", ["LIMIT", "LIMIT=", "=3", "LIMIT=x", "LIMIT=1.5", "LIMIT=" + "9" * 10_000, "N=²"])
def test_a_bad_const_is_misuse(value: str) -> None:
    result = run("check", "--const", value, "-", text=FIRST)
    assert result.exit_code == 2
    assert "is not NAME=INTEGER" in result.output


def test_imports_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "common.shapes").write_text("dim B in [1, 64]\n")
    (tmp_path / "net.shapes").write_text('from "common.shapes" import B\ndef f(x: Tensor[B]): ...\n')
    assert run("check", tmp_path / "net.shapes").exit_code == 0


def test_every_file_is_checked_and_one_file_once(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.shapes", tmp_path / "bad.shapes"
    good.write_text(FIRST)
    bad.write_text(BROKEN)
    assert run("check", bad, good, bad).output.count("error[syntax-error]") == 1


def test_findings_are_in_the_order_of_the_text() -> None:
    text = "def f(x: Tensor[B]):\n    where Q < 3\n\ndef g(x: Tensor[B]):\n    where B = 3\n\nlet S = B / 2\n"
    lines = run("check", "--format", "concise", "-", text=text).output.splitlines()
    assert [line.split(":")[1] for line in lines] == ["2", "5", "7"]


def test_pythons_truth_values_are_no_sizes() -> None:
    text = "def f(x: Tensor[B]) -> Tensor[B]:\n    bucket B in {8} pad x with True\n"
    assert "what fills padding is written `true` or `false`" in run("check", "-", text=text).output


class TestFix:
    def test_safe_fixes_are_written(self, tmp_path: Path) -> None:
        file = tmp_path / "broken.shapes"
        file.write_text("def f(x: Tensor(B, D))\n    where B = 3 && D <> 2  # keep me\n    wher D =< 9\n")
        result = run("check", "--fix", file)
        assert file.read_text() == "def f(x: Tensor[B, D]):\n    where B == 3 and D != 2  # keep me\n    where D <= 9\n"
        assert result.exit_code == 0
        assert "fixed" in result.output

    def test_what_cannot_be_fixed_is_still_reported(self, tmp_path: Path) -> None:
        file = tmp_path / "broken.shapes"
        file.write_text("def f(x: Tensor[B]):\n    where B = 3\n    where B < \n")
        result = run("check", "--fix", file)
        assert result.exit_code == 1
        assert "where B == 3" in file.read_text()
        assert "something is missing after `<`" in result.output

    def test_unsafe_fixes_are_left_to_people(self, tmp_path: Path) -> None:
        file = tmp_path / "broken.shapes"
        text = "def f(x: Tensor[B D]): ...\n"
        file.write_text(text)
        assert run("check", "--fix", file).exit_code == 1
        assert file.read_text() == text

    @pytest.mark.parametrize(
        "line",
        [
            "dim B hint 8b",
            "dim B in [1B 32] hint 8",
            "dim B in [0, 128] hint8 64",
            "let S = cdiv(2B E)",
            "cas e guided: CB == 2",
        ],
    )
    def test_a_fix_that_only_moves_the_mistake_is_not_applied(self, tmp_path: Path, line: str) -> None:
        file = tmp_path / "broken.shapes"
        text = f"{line}\ndef f(x: Tensor[B]): ...\n"
        file.write_text(text)
        assert run("check", "--fix", file).exit_code == 1
        assert file.read_text() == text

    def test_what_is_redundant_goes_once_the_file_can_be_read(self, tmp_path: Path) -> None:
        file = tmp_path / "loose.shapes"
        file.write_text("def f(x: Tensor[B, D]):\n    where B = 3\n    where B <= 9, D >= 0, D <= 4\n")
        result = run("check", "--fix", file)
        assert file.read_text() == "def f(x: Tensor[B, D]):\n    where B == 3\n    where D <= 4\n"
        assert (result.exit_code, result.output) == (0, "1 spec: no findings, 3 fixed\n")

    def test_a_fix_of_a_warning_is_left_alone_where_it_would_bring_an_error(self, tmp_path: Path) -> None:
        file = tmp_path / "kept.shapes"
        text = "def f(x: Tensor[B], y: Tensor[S]):\n    where S >= 1, B % S == 0, B == 2 * S\n"
        file.write_text(text)
        run("check", "--fix", file)
        assert file.read_text() == "def f(x: Tensor[B], y: Tensor[S]):\n    where S >= 1, B == 2 * S\n"

    def test_standard_input_cannot_be_fixed(self) -> None:
        assert run("check", "--fix", "-", text=BROKEN).exit_code == 2


def test_a_size_that_cannot_be_computed_is_found_without_a_call() -> None:
    text = "def f(x: Tensor[A // 2]):\n    where A in [4, 5]\ndef g(x: Tensor[A // 2]):\n    where A % 2 == 0\n"
    result = run("check", "--format", "concise", "-", text=text)
    assert (result.exit_code, result.output) == (
        1,
        "<stdin>:1:17: error[not-invertible] `A` cannot be computed from its only use\n",
    )


CASES = "def f(x: Tensor[B]):\n    case small: B <= 8\n    case four: B == 4\n"


def test_cases_are_compared_and_count_only_under_strict() -> None:
    result = run("check", "--format", "json", "-", text=CASES)
    assert result.exit_code == 0
    findings = {each["code"]: each for each in json.loads(result.output)["diagnostics"]}
    assert set(findings) == {"unreachable-case", "case-gap"}
    assert findings["case-gap"]["witness"] == {"B": 9}
    assert run("check", "--strict", "-", text=CASES).exit_code == 1
    assert run("check", "--strict", "-", text=CASES + "    otherwise\n").exit_code == 1
    assert run("check", "--strict", "-", text=CASES.replace("four: B == 4", "rest: B > 8")).exit_code == 0


def test_a_contradiction_that_specs_share_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "f.shapes"
    file.write_text(
        "dim B in [0, 64]\nwhere B >= 100\ndef f(x: Tensor[B]): ...\ndef g(x: Tensor[B, C]): where C == 4\n"
    )
    assert run("check", file).output.count("error[contradiction]") == 1


def test_findings_that_one_edit_cures_all_count(tmp_path: Path) -> None:
    file = tmp_path / "f.shapes"
    file.write_text(
        "dim B in [1, 64]\ndef f(x: Tensor[B]):\n    where B >= 1, B <= 128\ndef g(x: Tensor[B]):\n    where B <= 65\n"
    )
    assert "3 can be fixed" in run("check", file).output
    assert "3 fixed" in run("check", "--fix", file).output
