"""``shapedsl demo``: what it claims is computed, so the test asks for the claims."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from .helpers import ROOT, process, run


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "shapedsl.targets.demo", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    result = run("demo")
    assert result.exit_code == 1
    assert "dim B in [0, 31] hint 8" in result.stdout
    assert "pip install 'shapedsl[torch]'" in result.stderr


def test_the_fast_path_is_taken_by_all_three() -> None:
    pytest.importorskip("torch", reason="the demo runs torch")
    result = run("demo", "--backend", "eager")
    assert result.exit_code == 0
    assert result.stdout.count("operations: unsqueeze, mul, sum: the fast path, since the spec says B < 32") == 3
    assert result.stdout.count("batch 31: as x @ w") == 3
    assert "1 graph for all of them" in result.stdout
    assert "DIFFERS" not in result.stdout
    refused = result.stdout.partition("A batch of 40")[2]
    assert "error[shape-violation]" in refused
    assert "project.shapes:8:11" in refused


def test_torchs_warning_about_numpy_is_not_shown(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the demo runs torch")
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('no numpy', name='numpy')\n")
    done = process("demo", "--backend", "eager", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}", timeout=300)
    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_a_backend_that_fails_is_named() -> None:
    torch = pytest.importorskip("torch", reason="the demo runs torch")
    from shapedsl.targets import demo

    def broken(*_: object) -> None:
        raise RuntimeError("no header\nand more")

    torch._dynamo.register_backend(broken, name="broken_for_the_demo")
    failed: list[str] = []
    backend = demo.recording("broken_for_the_demo", [], failed)
    module = torch.fx.symbolic_trace(lambda x: x + 1)
    assert backend(module, [])(torch.zeros(())).item() == 1
    assert failed == ["no header"]


def test_a_backend_that_torch_does_not_have() -> None:
    pytest.importorskip("torch", reason="the demo runs torch")
    result = run("demo", "--backend", "indutcor")
    assert result.exit_code == 2
    assert "torch.compile has no backend 'indutcor'" in result.stderr
