"""docs/pythons.md: every row is tried on the Python that runs this, from either side of what it needs."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

import shapedsl as sd

from .spellings import SPELLINGS, Spelling

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pythons.md").read_text(encoding="utf-8")

each_spelling = pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.shown[:40])


def spec(folder: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> sd.Spec | None:
    """Returns the spec of ``f`` in a module of that source."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "spelled", raising=False)
    (folder / "spelled.py").write_text(source + "\n", encoding="utf-8")
    importlib.invalidate_caches()
    try:
        return sd.spec_of(importlib.import_module("spelled").f)
    finally:
        sys.modules.pop("spelled", None)


@each_spelling
@pytest.mark.filterwarnings("ignore::shapedsl.ShapeWarning")
def test_a_spelling_needs_what_the_page_says(
    spelling: Spelling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = sd.loads(spelling.spec)["f"]
    if sys.version_info >= spelling.since:
        assert spec(tmp_path, spelling.source, monkeypatch) == wanted
    else:
        with pytest.raises((SyntaxError, ImportError, NameError)):
            spec(tmp_path, spelling.source, monkeypatch)
    if spelling.older:
        (tmp_path / "older").mkdir()
        assert spec(tmp_path / "older", spelling.older, monkeypatch) == wanted


def test_the_page_has_the_rows() -> None:
    rows = [
        f"| {each.shown} | {each.since[0]}.{each.since[1]} | {each.before} |".replace("|  |", "| |")
        for each in SPELLINGS
    ]
    assert re.findall(r"^\| .* \| 3\.\d+ \| .*\|$", PAGE, re.MULTILINE) == rows


def test_the_page_says_what_is_run_where() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (main,) = re.findall(r"^main=\$\(interpreter (\S+)\)", script, re.MULTILINE)
    (others,) = re.findall(r"^for version in (.*); do", script, re.MULTILINE)
    run = dict(re.findall(r"^\| (3\.\d+) \| (.*?) \|", PAGE, re.MULTILINE))
    assert {version for version, what in run.items() if "all tests" in what} == {main}
    assert {version for version, what in run.items() if "without torch" in what} == set(others.split())
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    classified = set(re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project))
    assert classified == {main, *others.split()}
