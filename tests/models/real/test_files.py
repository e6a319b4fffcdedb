"""The files of ``docs/examples/`` are as the checker and the formatter want them, and documented."""

from __future__ import annotations

from pathlib import Path

import pytest

import shapedsl as sd
from tests.cli.helpers import run

FILES = sorted((Path(__file__).parents[3] / "docs/examples").glob("*.shapes"))
ALL = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@ALL
def test_a_file_is_clean(path: Path) -> None:
    found = run("check", "--strict", path)
    assert found.exit_code == 0, found.output


@ALL
def test_a_file_is_formatted(path: Path) -> None:
    found = run("fmt", "--check", path)
    assert found.exit_code == 0, found.output


@ALL
def test_each_spec_says_what_it_is_and_returns(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# ")
    for spec in sd.load(path).values():
        assert spec.signature.doc, spec.name
        assert spec.signature.returns is not None, spec.name
