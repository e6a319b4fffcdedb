"""``pytest --shapedsl-check=PACKAGE``, in real runs of pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Arguments are checked without torch where nothing is a tensor: these runs need none.
PACKAGE = """\
from shapedsl import Scalar, shapes


@shapes("where N <= 3")
def small(n: Scalar["N"]):
    return n
"""
TESTS = """\
import inspect

import pytest
import {package}.sub as sub


def test_checked():
    assert hasattr(sub.small, "__wrapped__")


def test_asserts_are_rewritten():
    with pytest.raises(AssertionError, match="assert 1 == 2"):
        assert 1 == 2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two packages, and tests of the first that fail unless it is checked."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "sub.py").write_text(PACKAGE)
    (tmp_path / "test_first.py").write_text(TESTS.format(package="first"))
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return tmp_path


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Returns a run of pytest in ``project`` with this plugin alone."""
    plugins = ["shapedsl.pytest_plugin", *(["xdist"] if "-n2" in arguments else [])]
    command = [sys.executable, "-m", "pytest", *(part for name in plugins for part in ("-p", name)), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_off_by_default(project: Path) -> None:
    done = run(project)
    assert "1 failed, 1 passed" in done.stdout
    assert "shapedsl: " not in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--shapedsl-check=first"],
        ["--shapedsl-check", "first"],
        ["--shapedsl-check=first.sub"],
        ["--shapedsl-check=second, first"],
        ["--shapedsl-check=second", "--shapedsl-check=first"],
    ],
    ids=" ".join,
)
def test_a_package_is_checked(project: Path, arguments: list[str]) -> None:
    done = run(project, *arguments)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert "shapedsl: calls are checked in " in done.stdout
    unused = "shapedsl: no module of `second` was imported, so nothing was checked"
    assert (unused in done.stdout) == ("second" in " ".join(arguments))


def test_in_the_configuration_and_before_a_conftest(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = --shapedsl-check=first\n")
    (project / "conftest.py").write_text("import first.sub\n")
    assert "2 passed" in run(project).stdout


def test_in_the_workers_of_xdist(project: Path) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    done = run(project, "-n2", "--shapedsl-check=first,nowhere")
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert "no module of `nowhere` was imported" in done.stdout
    assert "no module of `first`" not in done.stdout


def test_what_is_imported_already_is_a_usage_error(project: Path) -> None:
    (project / "early.py").write_text("import first\n")
    done = run(project, "-p", "early", "--shapedsl-check=first")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--shapedsl-check=first: first is imported already" in done.stderr


@pytest.mark.parametrize("name", ["a/b", "first..sub", "3d", "", ","])
def test_what_names_no_package_is_a_usage_error(project: Path, name: str) -> None:
    done = run(project, f"--shapedsl-check={name}")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"takes the dotted name of a package, not {name.strip(',')!r}" in done.stderr


def test_a_failing_call_shows_the_test_and_what_is_wrong(project: Path) -> None:
    pytest.importorskip("torch", reason="calls take tensors")
    (project / "test_first.py").write_text(
        "from first.sub import small\n\n\ndef test_call():\n    small(2)\n    small(4)\n"
    )
    done = run(project, "--shapedsl-check=first")
    assert ">       small(4)" in done.stdout
    assert "= note: in a call of `first.sub.small`" in done.stdout
    assert "def small" not in done.stdout
    assert "entries.py" not in done.stdout


def test_it_is_light(project: Path) -> None:
    """Everybody's pytest loads it."""
    code = (
        "import sys, pytest\nbefore = set(sys.modules)\nimport shapedsl.pytest_plugin\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['shapedsl', 'shapedsl.pytest_plugin']"
