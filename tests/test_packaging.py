"""Wheel, sdist and editable install: each is installed into a virtual environment of its own and run from elsewhere.

Nothing is downloaded: the build backend and the dependencies are those of the running environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = ("grammar", "stubs", "docs/codes")

pytestmark = pytest.mark.packaging

FIRST_FILE = """\
dim B in [0, 1024] hint 8

def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
    where B < 32
"""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, and the wheel built from it: what the sdist lacks, the wheel lacks too."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


def data_files() -> set[str]:
    found = {path.relative_to(ROOT).as_posix() for name in DATA for path in (ROOT / name).rglob("*") if path.is_file()}
    return {name for name in found if "__pycache__" not in name}


def test_wheel_holds_the_package_and_its_data(distributions: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(distributions["wheel"]).namelist())
    modules = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "shapedsl").rglob("*")
        if path.suffix in (".py", ".pyi") or path.name == "py.typed"
    }
    assert modules <= names
    assert {f"shapedsl/_data/{name}" for name in data_files()} <= names
    metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
    top = metadata.partition("/")[0]
    assert {name.partition("/")[0] for name in names} == {"shapedsl", top}
    assert f"{top}/licenses/LICENSE" in names


def test_wheel_says_what_it_needs(distributions: dict[str, Path]) -> None:
    wheel = zipfile.ZipFile(distributions["wheel"])
    metadata = wheel.read(next(n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))).decode()
    required = {
        line.removeprefix("Requires-Dist: ").split(";")[0].split(">")[0].split("[")[0].strip()
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    }
    assert required == {"click", "lark", "sympy", "typing-extensions"}
    extras = {
        name: {line.partition(";")[0].strip() for line in metadata.splitlines() if f"extra == '{name}'" in line}
        for name in re.findall(r"^Provides-Extra: (.*)$", metadata, re.MULTILINE)
    }
    assert extras["stubs"] == {"Requires-Dist: libcst>=1.5"}
    assert extras["corpus"] == {"Requires-Dist: pyrefly-torch-stubs<2,>=1.4"}
    # everything but `corpus`, whose package takes the place of torch's types for mypy and pyright
    assert extras["dev"] >= set().union(*(extras[name] for name in ("torch", "stubs", "models", "test", "lint")))
    assert not extras["dev"] & extras["corpus"]
    assert "Requires-Python: >=3.10" in metadata
    entries = wheel.read(next(n for n in wheel.namelist() if n.endswith(".dist-info/entry_points.txt"))).decode()
    assert "[pytest11]\nshapedsl = shapedsl.pytest_plugin\n" in entries
    assert "License-Expression: BSD-3-Clause" in metadata


def test_sdist_holds_everything(distributions: dict[str, Path]) -> None:
    with tarfile.open(distributions["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert data_files() <= names
    tests = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py")}
    assert tests <= names
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "docs/architecture.md"} <= names


@pytest.mark.parametrize("form", ["wheel", "sdist", "editable"])
def test_installed_it_finds_its_files_and_runs(form: str, distributions: dict[str, Path], tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    (site,) = environment.glob("lib/python3*/site-packages")
    # Dependencies are found where the running interpreter has them; a path in a .pth file is not searched for further
    # .pth files, so an editable install there does not count.
    (site / "zz_borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    what = ["--editable", ROOT] if form == "editable" else [distributions[form]]
    run(
        sys.executable,
        *("-m", "pip", "--python", python, "--quiet", "install", "--no-deps", "--no-build-isolation", "--no-index"),
        *what,
    )
    home = tmp_path / "elsewhere"
    home.mkdir()
    (home / "first.shapes").write_text(FIRST_FILE, encoding="utf-8")

    where = run(python, "-I", "-c", "from shapedsl.assets import asset; print(asset('grammar/shapes.lark'))", cwd=home)
    grammar = Path(where.strip())
    assert grammar.is_file()
    assert grammar.is_relative_to(ROOT if form == "editable" else environment)
    assert grammar.read_bytes() == (ROOT / "grammar" / "shapes.lark").read_bytes()

    shapedsl = environment / "bin" / "shapedsl"
    assert "B" in run(shapedsl, "explain", "first.shapes", cwd=home)
    run(shapedsl, "check", "first.shapes", cwd=home)
    assert "# contradiction" in run(shapedsl, "explain", "contradiction", cwd=home)
    assert "torch.nn.modules.linear.Linear" in run(shapedsl, "stubs", "--list", cwd=home)
    assert run(python, "-I", "-m", "shapedsl", "--version", cwd=home) == run(shapedsl, "--version", cwd=home)
