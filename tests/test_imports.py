"""Heavy libraries stay unloaded where nobody needs them; each case in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST_FILE = """\
language 1

dim B in [0, 1024] hint 8
dim D hint 64

def project(x: Tensor[B, D], w: Tensor[D, D]) -> Tensor[B, D]:
    where B < 32
"""
ANNOTATED = """\
from shapedsl import Tensor, shapes, where
from shapedsl.dims import B, D

@shapes(hints={"B": 8, "D": 64})
@where(0 <= B, B <= 1024, B < 32)
def project(x: Tensor[B, D], w: Tensor["D", "D"]) -> Tensor[B, D]:
    return x @ w
"""


def loaded(code: str, folder: Path, heavy: set[str]) -> set[str]:
    """Returns which of ``heavy`` a fresh interpreter has loaded after ``code``."""
    script = folder / "probe.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{code}\nprint('LOADED', *sorted(sys.modules))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-I", str(script)], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "LOADED"
    return heavy & set(last)


def command(arguments: list[str]) -> str:
    """Returns code that runs a command line in the process."""
    return (
        "from shapedsl.cli import main\n"
        f"sys.argv = ['shapedsl', *{arguments!r}]\n"
        "try:\n    main()\n"
        "except SystemExit as exit:\n    assert not exit.code, exit.code\n"
    )


def test_import_loads_nothing_heavy(tmp_path: Path) -> None:
    heavy = {"lark", "sympy", "torch", "dataclasses", "typing_extensions", "click", "inspect", "shapedsl.ir"}
    assert loaded("import shapedsl", tmp_path, heavy) == set()


@pytest.mark.parametrize(
    ("arguments", "unloaded"),
    [
        (["check", "first.shapes"], {"torch"}),
        (["fmt", "--check", "first.shapes"], {"torch", "sympy"}),
        (["explain", "first.shapes"], {"torch"}),
        (["explain", "contradiction"], {"torch", "sympy"}),
        (["--version"], {"torch", "sympy", "lark"}),
        (["--help"], {"torch", "sympy", "lark"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_commands_load_only_what_they_need(tmp_path: Path, arguments: list[str], unloaded: set[str]) -> None:
    (tmp_path / "first.shapes").write_text(FIRST_FILE, encoding="utf-8")
    assert loaded(command(arguments), tmp_path, unloaded) == set()


def test_check_survives_without_torch(tmp_path: Path) -> None:
    """An import of torch that is caught would hide in a process that has it: here there is none."""
    (tmp_path / "first.shapes").write_text(FIRST_FILE, encoding="utf-8")
    block = "sys.modules['torch'] = None\n"
    assert loaded(block + command(["check", "first.shapes"]), tmp_path, {"shapedsl.normalize"}) == {
        "shapedsl.normalize"
    }


def test_annotating_loads_no_torch(tmp_path: Path) -> None:
    """``@shapes`` on a module's functions costs no parsing and no torch until someone asks."""
    assert loaded(ANNOTATED, tmp_path, {"torch", "sympy", "lark"}) == set()
