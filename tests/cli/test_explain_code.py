"""``shapedsl explain --code``: the generated check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import shapedsl as sd

from .helpers import FIRST, ROOT, run

CODE = """\
def project(x, w):
    try:
        if type(x) is not Tensor: no_plain_tensor(x)
        B, D = x.shape
        if type(w) is not Tensor: no_plain_tensor(w)
        w_0, w_1 = w.shape
        if modes() and are_symbolic(B, D, w_0, w_1): raise Symbolic
        if not (w_0 == D and w_1 == D and B < 32): raise Mismatch
    except Symbolic: return check_known(x, w)
    except Exception:
        explain(x, w)
        raise
    return None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.shapes").write_text(FIRST)
    return tmp_path


def test_one_structure(folder: Path) -> None:
    result = run("explain", "--code", "first.shapes")
    assert (result.exit_code, result.output) == (0, CODE)
    assert sd.load(folder / "first.shapes")["project"].code() + "\n" == CODE


def test_open_structures_say_what_is_chosen(folder: Path) -> None:
    (folder / "open.shapes").write_text(
        "def f(x: Tensor[*batch, D], bias: Tensor[D] | None, kvs: [{'k': Tensor[...]}, ...], n: Scalar[D] = _): ...\n"
    )
    result = run("explain", "--code", "open.shapes")
    assert result.exit_code == 0
    comments = [line for line in result.output.splitlines() if line.startswith("#")]
    assert comments == [
        "# chosen at each call by the number of dims of `x`, whether `bias` is None, the length of `kvs`, "
        'the number of dims of `kvs[0]["k"]` and whether `n` is passed',
        "# one that is chosen, for a call where `x` has 2 dims, `bias` is not None, `kvs` has length 1, "
        '`kvs[0]["k"]` has 0 dims and `n` is passed',
    ]
    assert "    if chosen is None: chosen = find(key, (x, bias, kvs, n,))\n" in result.output
    assert "batch_0, D = x.shape\n" in result.output


def test_names_that_would_clash_stay_apart(folder: Path) -> None:
    (folder / "names.shapes").write_text(
        "def f(B: int64[B, class], Mismatch: Tensor[type]):\n    where max(B, 1) == class, type != B\n"
    )
    result = run("explain", "--code", "names.shapes")
    assert result.exit_code == 0
    compile(result.output, "shown", "exec")
    assert "B_, class_ = B.shape\n" in result.output
    assert "class_ == max(B_, 1)" in result.output.replace("max(B_, 1) == class_", "class_ == max(B_, 1)")
    assert "raise Mismatch_" in result.output


def test_several_specs_and_one_without_a_check(folder: Path) -> None:
    (folder / "two.shapes").write_text("def f(x: Tensor[B]): ...\ndef g(x: Tensor[A * B]): ...\n")
    result = run("explain", "--code", "two.shapes")
    assert result.exit_code == 1
    assert result.output.startswith("# f\ndef f(x):\n")
    assert "\n# g\n" in result.output
    assert "error[not-invertible]" in result.output


def test_it_is_of_a_spec_and_of_all_sizes(folder: Path) -> None:
    assert run("explain", "--code", "contradiction").exit_code == 2
    assert run("explain", "--code", "first.shapes", "B=3").exit_code == 2


def test_torch_is_not_loaded(folder: Path) -> None:
    code = (
        "import sys; from shapedsl.cli import main; sys.argv = ['shapedsl', 'explain', '--code', 'first.shapes']\n"
        "try: main()\nexcept SystemExit as exit: assert not exit.code\nassert 'torch' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
