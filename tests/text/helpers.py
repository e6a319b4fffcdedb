"""What the tests of the text frontend share."""

from __future__ import annotations

from pathlib import Path

from shapedsl.diagnostics import Diagnostic, Report, Source
from shapedsl.frontends.text import read
from shapedsl.ir import Module, Signature
from shapedsl.ir.write import write_module


def module(text: str) -> Module:
    """The module of a text without findings."""
    report = Report()
    made = read(Source("<text>", text), report)
    assert not report.diagnostics, report.diagnostics
    return made


def one(text: str) -> Signature:
    """The only signature of a text without findings."""
    (signature,) = module(text).signatures
    return signature


def written(text: str) -> str:
    """The canonical text of a text without findings."""
    return write_module(module(text))


def same(left: str, right: str) -> bool:
    """Whether two texts have equal IR."""
    return module(left) == module(right)


def constraints(text: str) -> set[str]:
    """The constraints of the only signature, as texts."""
    return {constraint.text for constraint in one(text).constraints}


def findings(text: str, **options: object) -> list[Diagnostic]:
    """What is wrong with a text."""
    report = Report()
    read(Source("<text>", text), report, **options)  # type: ignore[arg-type]
    return list(report.diagnostics)


def marked(text: str, **options: object) -> list[tuple[str, str]]:
    """The code of each finding and the text at its main span."""
    return [(d.code, d.span.text if d.span is not None else "") for d in findings(text, **options)]


def write_files(folder: Path, **files: str) -> Path:
    """Writes ``name.shapes`` for each keyword; returns the folder."""
    for name, text in files.items():
        (folder / f"{name}.shapes").write_text(text, encoding="utf-8")
    return folder
