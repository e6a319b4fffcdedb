"""``shapedsl explain``."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedsl.diagnostics import CODES

from .helpers import BROKEN, FIRST, run


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("project.shapes").write_text(FIRST)
    return "project.shapes"


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code: str) -> None:
    result = run("explain", code)
    assert result.exit_code == 0
    assert result.output.startswith(f"# {code}\n\n## What it does\n")
    for section in ("## Why", "## Example", "## Use instead"):
        assert section in result.output


def test_stages(first: str) -> None:
    result = run("explain", first)
    assert result.exit_code == 0
    assert result.output == (
        "project  (project.shapes:7)\n"
        "\n"
        "as read\n"
        "    def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:\n"
        "        dim B in [0, 1024] hint 8\n"
        "        dim D hint 64\n"
        "        where B < 32\n"
        "\n"
        "variables\n"
        "    dim   B   in [0, 31]    hint 8    from x.shape[0]\n"
        "    dim   D   in [0, inf]   hint 64   from x.shape[1]\n"
        "\n"
        "where the ranges come from\n"
        "    B <= 31   line 8: B < 32\n"
        "\n"
        "assumptions\n"
        "    B <= 1024   declared   line 4\n"
        "    B < 32                 line 8\n"
        "\n"
        "normal form\n"
        "    def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:\n"
        "        dim B in [0, 31] hint 8\n"
        "        dim D hint 64\n"
    )


@pytest.mark.parametrize(
    ("size", "code", "words"), [(5, 0, ["holds", "accepted"]), (40, 1, ["does not hold", "refused"])]
)
def test_sizes_are_tried(first: str, size: int, code: int, words: list[str]) -> None:
    result = run("explain", first, f"B={size}")
    assert result.exit_code == code
    for word in words:
        assert word in result.output.partition(f"with B = {size}")[2]


TWO = "def f(x: Tensor[T, S]):\n    where T <= S, T >= 2\n"


@pytest.mark.parametrize(
    ("sizes", "code", "last"),
    [
        (["T=3"], 3, ["T >= 2 holds", "open"]),
        (["T=1"], 1, ["T >= 2 does not hold", "refused"]),
        (["T=3", "S=3"], 0, ["T >= 2 holds", "accepted"]),
        (["T=4", "S=3"], 1, ["T >= 2 holds", "refused"]),
    ],
)
def test_without_all_sizes_the_answer_is_open(sizes: list[str], code: int, last: list[str]) -> None:
    result = run("explain", "-", *sizes, text=TWO)
    assert result.exit_code == code
    assert [" ".join(line.split()) for line in result.output.splitlines()[-2:]] == last


def test_what_has_no_value_does_not_hold() -> None:
    result = run("explain", "-", "T=0", text="def f(x: Tensor[T]):\n    where 8 // T < 9\n")
    assert result.exit_code == 1
    assert "8 // T < 9 does not hold it has no value" in " ".join(result.output.split())


VARIADIC = """\
def f(x: Tensor[*batch, T]):
    dim *batch in [2, inf]
    where prod(*batch) <= T
    case a: prod(*batch) == 6
    otherwise
"""


@pytest.mark.parametrize(
    ("sizes", "code", "said"),
    [
        (["batch=2,3", "T=6"], 0, "with batch = (2, 3), T = 6 prod(*batch) <= T holds accepted"),
        (["batch=2,3", "T=6"], 0, "batch[0]=2, batch[1]=3, T=6 → case a → artifact 1 of 2"),
        (["batch=2,4", "T=8"], 0, "→ otherwise → artifact 2 of 2"),
        (["batch=2,3", "T=5"], 1, "does not hold"),
        (["batch=2,1", "T=6"], 1, "batch[1] >= 2 does not hold"),
        (["batch=", "T=1"], 0, "accepted"),
        (["batch=9"], 3, "T not given"),
        (["T=9"], 3, "batch not given"),
    ],
)
def test_the_sizes_of_a_variadic(sizes: list[str], code: int, said: str) -> None:
    result = run("explain", "-", *sizes, text=VARIADIC)
    assert said in " ".join(result.output.split())
    assert result.exit_code == code


CASES = """\
dim B in [1, 64]
dim P in [0, 8192]
def f(x: Tensor[B, P]) -> Tensor[B, P]:
    case one: B == 1
    case small:
        bucket B in {2, 4, 8}
    case padded:
        where B_pad * P_pad <= 32768
        bucket B in {16, 32, 64} pad x with 0 as masked
        bucket P in {512, 1024, ..., 8192} pad x with 0 as masked
"""


@pytest.mark.parametrize(
    ("sizes", "outcome"),
    [
        (["B=1", "P=9"], "B=1, P=9 → case one → artifact 1 of 10"),
        (["B=4", "P=9"], "B=4, P=9 → case small → artifact 3 of 10"),
        (["B=5", "P=600"], "→ case padded → pad B 5→16, P 600→1024 (81 % waste) → artifact 6 of 10"),
        (["B=40", "P=600"], "B=40, P=600 → no alternative"),
        (["B=16", "P=512"], "B=16, P=512 → case padded → no padding → artifact 5 of 10"),
        (["P=600"], "P=600 → case one, if it matches: a size is not given"),
    ],
)
def test_the_alternative_that_takes_the_sizes(sizes: list[str], outcome: str) -> None:
    result = run("explain", "-", *sizes, text=CASES)
    assert outcome in result.output


def test_how_many_artifacts_a_spec_makes() -> None:
    output = run("explain", "-", text=CASES.replace("case one: B == 1", "case one: B == 1 eager")).output
    assert "artifacts\n    9 artifacts\n    without one: case one\n" in output


def test_one_spec_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "net.shapes"
    file.write_text("def a.f(x: Tensor[B]): ...\ndef a.g(x: Tensor[D]): ...\ndef b.g(x: Tensor[E]): ...\n")
    assert run("explain", f"{file}:f").output.startswith("a.f  (")
    assert run("explain", f"{file}:b.g").output.startswith("b.g  (")
    ambiguous = run("explain", f"{file}:g")
    assert ambiguous.exit_code == 2
    assert "a.g, b.g" in ambiguous.stderr
    missing = run("explain", f"{file}:h")
    assert missing.exit_code == 2
    assert "there is no spec `h`" in missing.stderr


def test_a_contradiction_has_no_normal_form() -> None:
    result = run("explain", "-", text="def f(x: Tensor[B]):\n    where B > 8, B < 8\n")
    assert result.exit_code == 1
    assert "normal form\n    none: no sizes satisfy the spec\n" in result.stdout
    assert "error[contradiction]" in result.stderr


def test_errors_are_shown_instead() -> None:
    result = run("explain", "-", text=BROKEN)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[syntax-error]" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["contradition"], "did you mean the code 'contradiction'?"),
        (["nope.shapes"], "it is neither a file nor a diagnostic's code"),
        (["contradiction", "B=5"], "sizes belong to a spec"),
        ([__file__, "B=5", "B=6"], "'B' is given twice"),
        ([__file__, "B=5,x"], "is not NAME=INTEGER"),
        ([__file__, "B"], "is not NAME=INTEGER"),
        ([__file__, "=5"], "is not NAME=INTEGER"),
    ],
)
def test_misuse(arguments: list[str], message: str) -> None:
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_several_sizes_of_one_are_misuse(first: str) -> None:
    result = run("explain", first, "B=5,6")
    assert result.exit_code == 2
    assert "'B' is one size, not 2." in result.stderr


def test_unknown_variables_are_misuse(first: str) -> None:
    result = run("explain", first, "X=5")
    assert result.exit_code == 2
    assert "has no variable 'X'; it has B, D." in result.stderr


def test_the_path_of_an_imported_file_is_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("common.shapes").write_text("dim B in [0, 64]\n")
    Path("sub/net.shapes").write_text('from "../common.shapes" import B\ndef f(x: Tensor[B]): where B < 32\n')
    output = run("explain", "sub/net.shapes").output
    assert "common.shapes:1" in output
    assert ".." not in output


@pytest.mark.parametrize(
    ("clause", "size", "words"),
    [
        ("bucket H multiple of 8", 12, "H=12 → otherwise → artifact 2 of 2"),  # without `pad`, multiples only
        ("bucket H multiple of 8", 16, "H=16 → bucket H → artifact 1 of 2"),
        ("bucket H multiple of 8 pad x with 0", 12, "H=12 → bucket H → pad 12→16 (25 % waste) → artifact 1 of 2"),
        ("bucket H in {8, 16} pad x with 0", 17, "H=17 → otherwise → artifact 3 of 3"),
        ("bucket H in {8, 16}", 12, "H=12 → otherwise → artifact 3 of 3"),
    ],
)
def test_a_bucket_takes_what_it_asks_for(clause: str, size: int, words: str) -> None:
    result = run("explain", "-", f"H={size}", text=f"def f(x: Tensor[H]):\n    {clause}\n    otherwise\n")
    assert words in result.output
