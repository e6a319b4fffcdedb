"""The matrix: which files each checker looks at, what it may find there, and the table of docs/checkers.md."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from .checkers import CHECKERS, RUFF, Checker, Finding, ruff
from .examples import every

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "checkers.md"
LIBRARY = HERE.parents[1] / "stubs"
_TABLE = re.compile(r"(?<=\n)\| checker \|.*\n\|(?:-+\|)+\n(?:\|.*\n)+")

# More than pyright's strict mode takes is only a name that no stub can list: its type is not known.
EXCEPTIONS = {("pyright", "strict"): "any_name.py"}


def write_files(folder: Path) -> Path:
    """Writes our own files, the documentation's examples and the library of stubs into ``folder``, and returns it.

    A stub is called by its whole path, since a folder called ``torch`` would hide torch.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((HERE / "clean").glob("*.py")):
        shutil.copy(file, folder)
    for example in every():
        (folder / example.name).write_text(example.text, encoding="utf-8")
    for stub in LIBRARY.rglob("*.pyi"):
        shutil.copy(stub, folder / ("stub_" + "_".join(stub.relative_to(LIBRARY).parts)))
    return folder


def torch_first(folder: Path) -> Path:
    """Returns a search path, made in ``folder``, that holds torch's own package and nothing else."""
    import torch

    path = folder / "real_torch"
    path.mkdir()
    (path / "torch").symlink_to(Path(torch.__file__).parent, target_is_directory=True)
    return path


def unexpected(checker: Checker, findings: Sequence[Finding]) -> list[Finding]:
    """Returns the findings that make ``checker`` no clean row."""
    allowed = EXCEPTIONS.get((checker.name, checker.mode))
    return [each for each in findings if each.file != allowed]


def lint(folder: Path) -> list[Finding]:
    """Returns what ruff's default rules find in our files and, with nothing put in front, in the examples.

    What an example uses of earlier ones is undefined in it, and what later ones use of it is unused; those two
    rules are asked about the whole files.
    """
    whole, alone = write_files(folder / "whole"), folder / "alone"
    alone.mkdir()
    for stub in whole.glob("*.pyi"):
        shutil.copy(stub, alone)
    for file in sorted((HERE / "clean").glob("*.py")):
        shutil.copy(file, alone)
    for example in every():
        (alone / example.name).write_text(example.body, encoding="utf-8")
    later = {example.name: example.later for example in every()}
    found = [each for each in ruff(alone, "--ignore=F821") if not _is_used_later(each, later.get(each.file, ()))]
    return found + ruff(whole, "--select=F")


def _is_used_later(finding: Finding, later: Collection[str]) -> bool:
    unused = re.match(r"`(?:[\w.]+\.| *[\w.]+ as )?(\w+)` imported but unused", finding.message)
    return unused is not None and unused[1] in later


def rows(results: Sequence[tuple[Checker, Sequence[Finding]]]) -> str:
    """Returns the table of what was found."""
    lines = ["| checker | version | mode | verdict |\n|---|---|---|---|\n"]
    for checker, findings in results:
        apart = (checker.name, checker.mode) in EXCEPTIONS
        clean = "clean, but for names that no stub can list" if apart else "clean"
        verdict = f"{len(findings)} findings" if findings else clean
        lines.append(f"| {checker.name} | {checker.version} | {checker.mode} | {verdict} |\n")
    return "".join(lines)


def without_versions(table: str) -> list[list[str]]:
    """Returns the cells of a table but for the versions: a newer checker alone is no reason to fail."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    return [[*line[:1], *line[2:]] for line in cells]


def table_of_page() -> str:
    """Returns the table that the page shows."""
    found = _TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None, f"there is no table in {PAGE}"
    return found[0]


def bless(table: str) -> None:
    """Puts ``table`` in the place of the one that the page shows."""
    PAGE.write_text(_TABLE.sub(lambda _: table, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def run_all(folder: Path) -> tuple[str, list[Finding]]:
    """Returns the table and the findings of every checker that is installed."""
    files, first = write_files(folder / "files"), torch_first(folder)
    results = [
        (checker, unexpected(checker, checker.findings(files, [first]))) for checker in CHECKERS if checker.is_installed
    ]
    if RUFF.is_installed:
        results.append((RUFF, lint(folder)))
    return rows(results), [each for _, findings in results for each in findings]
