"""The real specs: their layout is stable, says the same, and is what the canonical writer would make of short ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import read
from shapedsl.frontends.text.format import format_text
from shapedsl.ir.write import write_module

SAMPLES = sorted((Path(__file__).parents[1] / "cases" / "samples").glob("*.shapes"))


def formatted(text: str) -> str:
    report = Report()
    result = format_text(Source("sample.shapes", text), report)
    assert result is not None, report.diagnostics
    assert len(report) == 0
    return result


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_layout_is_stable_and_means_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    once = formatted(text)
    assert formatted(once) == once
    assert read(Source("a", once), Report()) == read(Source("a", text), Report())
    assert sorted(part.partition("#")[2].strip() for part in once.splitlines() if "#" in part) == sorted(
        part.partition("#")[2].strip() for part in text.splitlines() if "#" in part
    )


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_rows_fit(path: Path) -> None:
    """Only what has no bracket to break at, and comments, go beyond 88 columns."""
    for row in formatted(path.read_text(encoding="utf-8")).splitlines():
        code = row.partition("#")[0].rstrip()
        assert len(code) <= 88 or code.lstrip().startswith(("bucket", "where", "case", "let", "const")), row


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_writer_spaces_as_the_formatter_does(path: Path) -> None:
    """They may break long rows differently, but put the same spaces between tokens."""
    written = write_module(read(Source("a", path.read_text(encoding="utf-8")), Report()))
    squeezed = [" ".join(text.split()).replace(",)", ")").replace(", )", ")") for text in (written, formatted(written))]
    for old, new in (("( ", "("), (" )", ")"), (",]", "]"), ("[ ", "["), (", ]", "]"), (" ]", "]")):
        squeezed = [text.replace(old, new) for text in squeezed]
    assert squeezed[0] == squeezed[1]
