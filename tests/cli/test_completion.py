"""What a shell is told to complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import BashComplete, ShellComplete

from shapedsl.cli import group
from shapedsl.diagnostics import CODES

from .helpers import FIRST, run

NET = "def a.f(x: Tensor[B, D]): ...\ndef a.g(x: Tensor[E]): ...\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("project.shapes").write_text(FIRST)
    Path("net.shapes").write_text(NET)
    Path("broken.shapes").write_text("def f(x: Tensor[B: ...\n")


def offered(*words: str) -> list[tuple[str, str]]:
    complete = ShellComplete(group, {}, "shapedsl", "_SHAPEDSL_COMPLETE")
    return [(item.type, item.value) for item in complete.get_completions(list(words[:-1]), words[-1])]


def plain(*words: str) -> list[str]:
    return [value for type_, value in offered(*words) if type_ == "plain"]


def test_codes() -> None:
    assert plain("explain", "contr") == ["contradiction"]
    assert set(plain("explain", "un")) == {code for code in CODES if code.startswith("un")}


def test_files_that_begin_like_a_code_are_named_too() -> None:
    Path("contracts.shapes").write_text(NET)
    Path("contracts.txt").write_text("")
    assert plain("explain", "contr") == ["contradiction", "contracts.shapes"]


@pytest.mark.parametrize("incomplete", ["", "ne", "net.sh"])
@pytest.mark.parametrize("verb", ["explain", "ask", "lower"])
def test_files_are_left_to_the_shell(verb: str, incomplete: str) -> None:
    assert ("file", incomplete) in offered(verb, incomplete) or plain(verb, incomplete)
    assert offered("lower", incomplete) == [("file", incomplete)]


@pytest.mark.parametrize("verb", ["explain", "ask", "lower"])
def test_specs(verb: str) -> None:
    assert plain(verb, "net.shapes:") == ["net.shapes:a.f", "net.shapes:a.g"]
    assert plain(verb, "net.shapes:a.g") == ["net.shapes:a.g"]
    assert plain(verb, "nope.shapes:") == []
    assert plain(verb, "broken.shapes:") == []


def test_options_of_convert() -> None:
    assert plain("convert", "--to", "") == ["python", "shapes"]
    assert plain("convert", "--report", "m") == ["md"]
    assert plain("conv") == ["convert"]
    assert ("file", "ne") in offered("convert", "ne")


def test_sizes() -> None:
    assert plain("explain", "net.shapes", "") == ["B=", "D=", "E="]
    assert plain("explain", "net.shapes:a.f", "B=5", "D") == ["D="]
    assert plain("explain", "contradiction", "") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["net.shapes", ":"], ["a.f", "a.g"]),
        (["net.shapes", ":", "a.g"], ["a.g"]),
        (["net.shapes", ":", "a.g", "E"], ["E="]),
    ],
)
def test_bash_splits_words_at_colons(words: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", " ".join(["shapedsl", "explain", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words) + 1))
    complete = BashComplete(group, {}, "shapedsl", "_SHAPEDSL_COMPLETE")
    arguments, incomplete = complete.get_completion_args()
    assert [item.value for item in complete.get_completions(arguments, incomplete)] == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_SHAPEDSL_COMPLETE" in result.output
