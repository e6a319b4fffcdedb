"""``shapedsl lower``. That the printed Python builds the same ShapesSpec is tested with the writer."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from .helpers import BROKEN, FIRST, process, run

PYTHON = """\
from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapesSpec, ShapeVar, TensorSpec

B = ShapeVar("B", max=31, optimization_hint=8)
D = ShapeVar("D", optimization_hint=64)

project_spec = ShapesSpec(
    ParamsSpec({
        "x": TensorSpec([B, D]),
        "w": TensorSpec([D, D]),
    }),
)
"""


def test_python() -> None:
    result = run("lower", "-", text=FIRST)
    assert (result.exit_code, result.output) == (0, PYTHON)


def test_what_is_printed_runs() -> None:
    pytest.importorskip("torch", reason="the printed Python imports torch")
    source = run("lower", "-", text=FIRST).output + "print(project_spec)\n"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "max=31" in done.stdout


def test_it_imports_no_torch() -> None:
    done = process("lower", "-", text=FIRST.encode(), PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "click" in modules
    assert "torch" not in modules


def test_json_of_one_and_of_several() -> None:
    one = json.loads(run("lower", "--to", "json", "-", text=FIRST).output)
    assert one["ir"]["node"] == "Signature"
    several = json.loads(
        run("lower", "--to", "json", "-", text="def f(x: Tensor[B]): ...\ndef g(x: Tensor[B]): ...\n").output
    )
    assert [each["name"] for each in several["ir"]["signatures"]] == ["f", "g"]


CASES = "def f(x: Tensor[B]):\n    case one: B == 1\n    case small: B <= 8\n    otherwise\n"


def test_cases() -> None:
    whole = run("lower", "-", text=CASES)
    assert whole.exit_code == 0
    assert "warning[cases-not-lowered]" in whole.stderr
    small = run("lower", "--case", "small", "-", text=CASES)
    assert (small.exit_code, small.stderr) == (0, "")
    assert "max=8" in small.stdout
    missing = run("lower", "--case", "large", "-", text=CASES)
    assert missing.exit_code == 1
    assert "error[unknown-case]" in missing.stderr


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BROKEN, "syntax-error"),
        ("def f(x: Tensor[*batch]): ...\n", "unknown-rank"),
        ("def f(x: Tensor[B]):\n    where B > 8, B < 8\n", "contradiction"),
        ("def f(n: Scalar[N]): ...\n", "negative-int"),
    ],
)
def test_what_cannot_be_lowered(text: str, code: str) -> None:
    result = run("lower", "-", text=text)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[{code}]" in result.stderr
