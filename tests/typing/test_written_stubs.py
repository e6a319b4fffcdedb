"""Stubs written from specs, under type checkers: the samples, and what stubs have that samples lack."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the stubs speak of torch.Tensor")

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from shapedsl.ir.write_pyi import write_pyi

from .checkers import PYTHON, ROOT

MORE = """\
def a.b.f(x: Tensor[B]): ...
def a.b.f@2(x: Tensor[B, D], n: Scalar[n] = _) -> Tensor[B]:
    where B < 3 "it's \\"small\\" \\\\ so"
class a.b.Net:
    def forward(self, x: Tensor[B], *args: Tensor[B], **kw: {"k": Tensor[B]}) -> (Tensor[B], None): ...
    def shapes(self, x: Tensor[C], ids: int64[B, _] | None = _, *, flag: bool[()]): ...
    def attributes(self: object(w: Tensor[B]), x: [Tensor[B]] * 3): ...
    def make(cls, x: [Tensor[*lead, 2 * batch], ...]) -> Scalar[batch]: ...
class a.b.c.Net:
    def forward(self, x: Tensor[Net, lambda]): ...
    def forward@2(self, x: Tensor[B, B, B]): ...
def a.b.c.h(x: _, y: _): ...
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder of written stubs."""
    made = tmp_path_factory.mktemp("written")
    (made / "given").mkdir()
    paths = sorted((ROOT / "tests" / "cases" / "samples").glob("*.shapes"))
    sources = [Source(str(path), path.read_text(encoding="utf-8")) for path in paths]
    sources.append(Source("more.shapes", MORE))
    for number, source in enumerate(sources):
        report = Report()
        module = pipeline.read(source, report, base=Path(source.name).parent)
        text = write_pyi(module, report)
        assert [d.message for d in report.errors] == []
        (made / f"stub_{number}.pyi").write_text(text, encoding="utf-8")
    assert len(sources) == 22
    return made


def run(folder: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
    return f"{done.stdout}{done.stderr}".strip() if done.returncode else ""


def test_mypy_strict(folder: Path) -> None:
    pytest.importorskip("mypy", reason="it checks the stubs")
    cache = f"--cache-dir={ROOT / '.mypy_cache' / 'users'}"
    assert run(folder, "mypy", "--strict", "--config-file=", cache, f"--python-version={PYTHON}", ".") == ""


def test_pyright_strict(folder: Path) -> None:
    pytest.importorskip("pyright", reason="it checks the stubs")
    settings = f'{{"typeCheckingMode": "strict", "pythonVersion": "{PYTHON}", "include": ["."]}}'
    (folder / "pyrightconfig.json").write_text(settings, encoding="utf-8")
    assert run(folder, "pyright", "--pythonpath", sys.executable) == ""


def test_ruff(folder: Path) -> None:
    pytest.importorskip("ruff", reason="it checks the stubs")
    assert run(folder, "ruff", "check", "--isolated", "--no-cache", "--extend-select=I,UP", ".") == ""
    assert run(folder, "ruff", "format", "--isolated", "--no-cache", "--line-length=120", "--check", ".") == ""
