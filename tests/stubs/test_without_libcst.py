"""Where libcst is not installed, what reads stubs says so, and the rest works: tried in processes that never loaded it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STUB = 'from shapedsl import Tensor\ndef f(x: Tensor["B"]) -> Tensor["B"]: ...\n'
TOLD = """\
error[missing-extra]: reading Python source needs libcst, which is not installed
  = help: pip install 'shapedsl[stubs]'
"""
# a module that is None in sys.modules cannot be imported
CLI = "import sys; sys.modules['libcst'] = None; from shapedsl.cli import main; main()"


def run(folder: Path, code: str, *args: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args], cwd=folder, input=given, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    for name in ("a.pyi", "b.pyi", "pkg/__init__.py", "pkg/c.pyi"):
        (tmp_path / name).write_text(STUB)
    (tmp_path / "spec.shapes").write_text("def f(x: Tensor[B]) -> Tensor[B]: ...\n")
    return tmp_path


@pytest.mark.parametrize(
    "args",
    [["a.pyi"], ["a.pyi", "b.pyi"], ["pkg"], ["."], ["-"], ["--list"], ["a.pyi", "-o", "out.shapes"]],
    ids=" ".join,
)
def test_the_command_says_what_to_install_once(folder: Path, args: list[str]) -> None:
    done = run(folder, CLI, "stubs", *args, given=STUB)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.removesuffix("\n1 error\n") == TOLD
    assert not (folder / "out.shapes").exists()


@pytest.mark.parametrize("path", ["a.pyi", "pkg"])
def test_from_stub_raises_it(folder: Path, path: str) -> None:
    code = f"""
import sys; sys.modules["libcst"] = None
import shapedsl as sd
try:
    sd.from_stub({path!r})
except sd.ShapeError as error:
    print([found.code for found in error.diagnostics])
"""
    done = run(folder, code)
    assert (done.stdout, done.stderr) == ("['missing-extra']\n", "")


def test_the_way_back_needs_no_libcst(folder: Path) -> None:
    done = run(folder, CLI, "stubs", "--to", "pyi", "spec.shapes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "def f(x: Tensor[B]) -> Tensor[B]: ..."
