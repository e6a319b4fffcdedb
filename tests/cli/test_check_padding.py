"""``shapedsl check-padding``: the exit code says whether padding changes results."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="a padding check runs the function")

from tests.cli.helpers import run

MODULE = '''
import torch
from shapedsl import shapes

class Pool(torch.nn.Module):
    def forward(self, x):
        return x.sum(1)

class Picky(torch.nn.Module):
    def __init__(self, size):
        super().__init__()

class Dropping(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.5, self.training).sum(1)

pool = Pool()

def mean(x):
    return x.mean(1)

def make():
    return pool

def calls():
    return [((torch.ones(2, 5),), {}), ((torch.ones(2, 16),), {})]

wrong_calls = [torch.ones(2, 5)]

@shapes("""bucket S in {8, 16} pad x with 0 as neutral""")
def annotated(x):
    return x

def static(x):
    return x
'''
SPEC = """
def NAME(x: float32[B, S]) -> float32[B]:
    where 1 <= B <= 2, 1 <= S <= 16
    bucket S in {8, 16} pad x with 0 as neutral
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "padded_net.py").write_text(MODULE)
    (tmp_path / "net.shapes").write_text(SPEC.replace("NAME", "forward"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("padded_net", None)


@pytest.mark.parametrize("target", ["pool", "Pool", "make()", "Dropping", "pool.forward"])
def test_nothing_changes(folder: Path, target: str) -> None:
    result = run("check-padding", f"padded_net:{target}", "net.shapes", "-n", "4")
    assert result.exit_code == 0
    assert result.output.splitlines()[1].endswith("same")


def test_something_changes(folder: Path) -> None:
    result = run("check-padding", "padded_net:mean", "net.shapes")
    assert result.exit_code == 1
    assert "error[unsafe-padding]: padding `S` changes `return` by" in result.output
    assert "net.shapes:4:5" in result.output
    assert result.output.splitlines()[-1].endswith("differs")


def test_a_tolerance_may_allow_it(folder: Path) -> None:
    assert run("check-padding", "padded_net:mean", "net.shapes", "--tolerance", "1e6").exit_code == 0


def test_own_examples(folder: Path) -> None:
    result = run("check-padding", "padded_net:pool", "net.shapes", "--examples", "padded_net:calls")
    assert result.exit_code == 0
    assert "note: 1 of 2 examples are not padded" in result.output
    result = run("check-padding", "padded_net:pool", "net.shapes", "--examples", "padded_net:wrong_calls")
    assert result.exit_code == 2
    assert "(args, kwargs)" in result.output


def test_what_cannot_be_checked(folder: Path) -> None:
    (folder / "none.shapes").write_text(
        SPEC.replace("NAME", "f").replace("    bucket", "    case all: S >= 1\n    bucket")
    )
    result = run("check-padding", "padded_net:pool", "none.shapes")
    assert result.exit_code == 3
    assert "not checked: `S`" in result.output


def test_one_of_several_specs(folder: Path) -> None:
    text = SPEC.replace("NAME", "other").replace("B]", "B, S]") + SPEC.replace("NAME", "padded_net.mean")
    (folder / "two.shapes").write_text(text)
    assert run("check-padding", "padded_net:mean", "two.shapes").exit_code == 1
    assert run("check-padding", "padded_net:pool", "two.shapes").exit_code == 2
    assert run("check-padding", "padded_net:pool", "two.shapes:mean").exit_code == 0


def test_static_parts(folder: Path) -> None:
    (folder / "static.shapes").write_text(
        "const D = _\ndef static(x: float32[S, D]) -> float32[S, D]:\n    where 1 <= S <= 8\n"
        "    bucket S in {8} pad x with 0 as masked\n"
    )
    result = run("check-padding", "padded_net:static", "static.shapes")
    assert result.exit_code == 2
    assert "missing-input" in result.output
    assert run("check-padding", "padded_net:static", "static.shapes", "--size", "D=4").exit_code == 0
    result = run("check-padding", "padded_net:static", "static.shapes", "--size", "E=4")
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["padded_net:nope", "net.shapes"], "has no `nope`"),
        (["no_such_module:x", "net.shapes"], "no module `no_such_module`"),
        (["padded_net:Picky", "net.shapes"], "making `padded_net:Picky` failed"),
        (["padded_net:wrong_calls", "net.shapes"], "nothing that can be called"),
        (["padded_net", "net.shapes"], "names no object"),
        (["padded_net:pool", "gone.shapes"], "gone.shapes"),
        (["padded_net:pool"], "no spec"),
        (["padded_net:pool", "net.shapes", "--size", "S"], "NAME=INTEGER"),
        (["padded_net:pool", "net.shapes", "-n", "0"], "0"),
    ],
)
def test_misuse(folder: Path, arguments: list[str], told: str) -> None:
    result = run("check-padding", *arguments)
    assert result.exit_code == 2
    assert told in result.output


def test_a_wrong_file(folder: Path) -> None:
    (folder / "wrong.shapes").write_text(SPEC.replace("NAME", "f").replace("neutral", "neutrl"))
    result = run("check-padding", "padded_net:pool", "wrong.shapes")
    assert result.exit_code == 1
    assert "error[unknown-reason]" in result.output
    assert "did you mean `neutral`?" in result.output


def test_check_warns_and_is_strict(folder: Path) -> None:
    (folder / "bare.shapes").write_text(SPEC.replace("NAME", "f").replace(" as neutral", ""))
    result = run("check", "bare.shapes")
    assert result.exit_code == 0
    assert "warning[unchecked-padding]" in result.output
    assert run("check", "--strict", "bare.shapes").exit_code == 1
    assert run("check", "--strict", "net.shapes").exit_code == 0


def test_a_spec_that_nothing_satisfies_is_an_error_and_no_verdict(folder: Path) -> None:
    (folder / "wrong.shapes").write_text(SPEC.replace("NAME", "forward").replace("1 <= B <= 2", "B < 1, B > 2"))
    result = run("check-padding", "padded_net:pool", "wrong.shapes")
    assert result.exit_code == 1
    assert "error[contradiction]: no shape satisfies this spec" in result.output
