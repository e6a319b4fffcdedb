"""``shapedsl ask``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shapedsl.api import asking
from shapedsl.normalize.decide import Unknown

from .helpers import BROKEN, process, run

NET = """\
const LIMIT = 64
dim B in [1, LIMIT]
let S = 2 * B

def f(x: Tensor[B, D]):
    where D == S + 1
    case single: B == 1
    otherwise
"""
TWO = NET + "\ndef pkg.Net.g(x: Tensor[E, B]): ...\n"


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("net.shapes").write_text(NET)
    Path("two.shapes").write_text(TWO)
    return "net.shapes"


@pytest.mark.parametrize(
    ("question", "code", "output"),
    [
        ("D <= 129", 0, "proved: D <= 129\n    net.shapes:2  B <= 64\n    net.shapes:6  D == S + 1\n"),
        ("B >= 0", 0, "proved: B >= 0\n    it always holds\n"),
        (
            "S <= 2*LIMIT, D > S",
            0,
            "proved: S <= 2*LIMIT, D > S\n    net.shapes:2  B <= 64\n    net.shapes:6  D == S + 1\n",
        ),
        ("B % 8 == 0", 1, "refuted: B % 8 == 0\n    fails at B = 1, D = 3\n"),
        ("1 == 2", 1, "refuted: 1 == 2\n    never holds\n"),
        ("2*D", 0, "2*D is in [6, 258], 2 modulo 4\n"),
        ("7", 0, "7 is 7\n"),
        ("B\n  <= 64", 0, "proved: B <= 64\n    net.shapes:2  B <= 64\n"),
    ],
)
def test_answers(net: str, question: str, code: int, output: str) -> None:
    result = run("ask", net, question)
    assert (result.output, result.exit_code) == (output, code)


def test_undecided(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "decide", lambda *_, **__: Unknown("it would take too long"))
    result = run("ask", net, "B*D*D != 7")
    assert (result.output, result.exit_code) == ("undecided: B*D*D != 7\n    it would take too long\n", 3)


def test_cases(net: str) -> None:
    assert run("ask", net, "B >= 2").exit_code == 1
    result = run("ask", "--case", "otherwise", net, "B >= 2")
    assert result.exit_code == 0
    assert result.output == "proved: B >= 2\n    net.shapes:2  B >= 1\n    net.shapes:7  not single\n"
    assert run("ask", "--case", "single", net, "D").output == "D is 3\n"
    wrong = run("ask", "--case", "other", net, "D == 3")
    assert wrong.exit_code == 2
    assert "its cases are single, otherwise" in wrong.output


def test_a_contradictory_spec(net: str) -> None:
    Path(net).write_text("def f(x: Tensor[B]):\n    where B < 3\n    where B > 3\n")
    result = run("ask", net, "B == 7")
    assert result.exit_code == 0
    assert result.output == (
        "proved: B == 7\n    no shape satisfies the spec, so everything follows\n"
        "    net.shapes:2  B < 3\n    net.shapes:3  B > 3\n"
    )
    result = run("ask", net, "2*B")
    assert result.exit_code == 1
    assert "error[contradiction]" in result.output


def test_several_specs(net: str) -> None:
    del net
    both = run("ask", "two.shapes", "B <= 64")
    assert both.exit_code == 0
    assert both.output.splitlines()[::2] == ["f: proved: B <= 64", "pkg.Net.g: proved: B <= 64"]
    one = run("ask", "two.shapes", "E <= 64")  # the other has no E
    assert (one.exit_code, one.output) == (1, "pkg.Net.g: refuted: E <= 64\n    fails at E = 65\n")
    named = run("ask", "two.shapes:g", "B >= 1")
    assert (named.exit_code, named.output) == (0, "proved: B >= 1\n    two.shapes:2  B >= 1\n")
    mixed = run("ask", "two.shapes", "B <= 63")
    assert mixed.exit_code == 1
    assert run("ask", "two.shapes:h", "B >= 1").exit_code == 2


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("b <= 64", "did you mean `B`?"),
        ("Q <= 64", "its sizes are B, D"),
        ("B <", "something is missing"),
        ("", "<question>:1:1"),
        ("1 // (B - 3) == 0", "maybe-zero-divisor"),
        ("B, D", "error[syntax-error]"),
        ("\udcff < 3", "error[syntax-error]"),
        ("(" * 500 + "B" + ")" * 500, "error[input-too-large]"),
    ],
)
def test_questions_that_cannot_be_asked(net: str, question: str, words: str) -> None:
    result = run("ask", net, question)
    assert result.exit_code == 2
    assert words in result.output


def test_files_with_errors(net: str) -> None:
    assert run("ask", "none.shapes", "B == 1").exit_code == 2
    Path(net).write_text(BROKEN)
    assert run("ask", net, "B == 1").exit_code == 1
    Path(net).write_text("dim B\n")
    empty = run("ask", net, "B == 1")
    assert empty.exit_code == 2
    assert "has no specs" in empty.output


def test_json(net: str) -> None:
    answers = json.loads(run("ask", "--json", net, "D <= 129").output)
    assert answers["version"] == 1
    [answer] = answers["answers"]
    assert (answer["spec"], answer["question"], answer["verdict"]) == ("f", "D <= 129", "proved")
    assert [(part["text"], part["span"]["file"], part["span"]["line"]) for part in answer["core"]] == [
        ("B <= 64", net, 2),
        ("D == S + 1", net, 6),
    ]
    [answer] = json.loads(run("ask", "--json", net, "D").output)["answers"]
    assert answer["range"] == {"lo": 3, "hi": 129, "modulus": 2, "residue": 1, "exact": True}


def test_consts_and_standard_input(net: str) -> None:
    assert run("ask", "--const", "LIMIT=32", net, "B <= 32").exit_code == 0
    assert run("ask", net, "B <= 32").exit_code == 1
    result = run("ask", "-", "B <= 64", text=NET)
    assert result.output == "proved: B <= 64\n    <stdin>:2  B <= 64\n"


def test_a_question_that_begins_with_a_minus(net: str) -> None:
    assert run("ask", net, "--", "-B <= 0").exit_code == 0


def test_it_needs_no_torch(net: str, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('torch')\n")
    done = process("ask", net, "B <= 64", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"proved")


def test_help_is_worked_examples() -> None:
    result = run("ask", "--help")
    assert result.output.count("shapedsl ask ") >= 4
    assert "Exit codes:" in result.output


def test_a_mistyped_spec_is_no_answer(net: str) -> None:
    """It exits with 2: 1 would read as refuted."""
    result = run("ask", f"{net}:g.h", "B >= 1")
    assert result.exit_code == 2
    assert "there is no spec `g.h`" in result.stderr
