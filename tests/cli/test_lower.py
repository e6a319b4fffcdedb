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


def test_a_whole_file_is_one_module() -> None:
    torch_spec = pytest.importorskip("torch.fx.experimental.dynamic_spec", reason="the printed Python imports torch")
    text = (
        "def a.A.forward(x: Tensor[B]): where B <= 8\n"
        "def b.B.forward(x: Tensor[B]): ...\n"
        "def b.B.forward@2(x: Tensor[B, A_forward_spec]): ...\n"
        "def b.B.step(x: Tensor[B, C]): where B % 2 == 0, max(B, C) % 5 == 0\n"
        "def c.B.forward(x: Tensor[B]): where B <= 9\n"
        "def forward(x: Tensor[B]): where B <= 7\n"
        "def A_forward(x: Tensor[B]): where B <= 6\n"
    )
    source = run("lower", "-", text=text).stdout
    names: dict[str, object] = {}
    exec(compile(source, "<lowered>", "exec"), names)
    specs = {name: spec for name, spec in names.items() if isinstance(spec, torch_spec.ShapesSpec)}
    assert list(specs) == [
        "A_forward_spec",
        "b_B_forward_spec",
        "b_B_forward_2_spec",
        "step_spec",
        "c_B_forward_spec",
        "forward_spec",
        "A_forward_spec_2",
    ]
    for name, high in (("A_forward_spec", 8), ("forward_spec", 7), ("A_forward_spec_2", 6)):
        assert f"max={high})" in repr(specs[name])
    assert [line for line in source.splitlines() if "import" in line] == source.splitlines()[:2]
    assert source.startswith("import torch\nfrom torch.")


def test_overloads_have_a_document_each() -> None:
    text = "def f(x: Tensor[B]): ...\ndef f@2(x: Tensor[B, C]): ...\n"
    assert list(json.loads(run("lower", "--to", "json", "-", text=text).stdout)) == ["f", "f@2"]


@pytest.mark.parametrize("language", ["python", "json"])
def test_it_imports_no_torch(language: str) -> None:
    done = process("lower", "--to", language, "-", text=FIRST.encode(), PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "click" in modules
    assert "torch" not in modules


def test_json_of_one_and_of_several() -> None:
    one = run("lower", "--to", "json", "-", text=FIRST)
    assert one.exit_code == 0
    sides = {"type": "ShapeVar", "min": 0}
    assert json.loads(one.output) == {
        "project": {
            "type": "ShapesSpec",
            "variables": {
                "B": {**sides, "name": "B", "max": 31, "optimization_hint": 8},
                "D": {**sides, "name": "D", "max": None, "optimization_hint": 64},
            },
            "params": {
                "x": {"type": "TensorSpec", "dims": ["B", "D"]},
                "w": {"type": "TensorSpec", "dims": ["D", "D"]},
            },
            "assumptions": [],
        }
    }
    text = "def f(x: Tensor[B]): ...\ndef g(x: Tensor[B, 2 * B, 3, _], n: Scalar[n]):\n    int n in [0, 9]\n"
    several = json.loads(run("lower", "--to", "json", "-", text=text).output)
    assert list(several) == ["f", "g"]
    assert several["g"]["params"]["x"]["dims"] == ["B", "size_2_B", 3, None]
    assert several["g"]["params"]["n"] == "n"
    assert several["g"]["variables"]["size_2_B"]["name"] == "2*B"
    assert several["g"]["variables"]["n"] == {
        "type": "IntVar",
        "name": "n",
        "min": 0,
        "max": 9,
        "optimization_hint": None,
    }
    assert "size_2_B == 2 * B" in several["g"]["assumptions"]


def test_json_of_a_case() -> None:
    small = run("lower", "--to", "json", "--case", "small", "-", text=CASES)
    assert (small.exit_code, small.stderr) == (0, "")
    document = json.loads(small.stdout)["f"]
    assert document["variables"]["B"]["max"] == 8
    assert document["assumptions"] == ["B != 1"]


CASES = "def f(x: Tensor[B]):\n    case one: B == 1\n    case small: B <= 8\n    otherwise\n"


def test_cases() -> None:
    whole = run("lower", "-", text=CASES)
    assert whole.exit_code == 0
    assert "warning[cases-not-lowered]" in whole.stderr
    small = run("lower", "--case", "small", "-", text=CASES)
    assert (small.exit_code, small.stderr) == (0, "")
    assert "max=8" in small.stdout
    missing = run("lower", "--case", "large", "-", text=CASES)
    assert missing.exit_code == 2
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
    for language in ("python", "json"):
        result = run("lower", "--to", language, "-", text=text)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"error[{code}]" in result.stderr
