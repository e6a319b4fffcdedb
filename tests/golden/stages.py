"""Runs a case through the compiler and compares what it says with what the document expects."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from shapedsl.diagnostics import Report, Severity, Source
from shapedsl.ir import Module, Signature

from . import expectations, sampling
from .markdown import Block, Case

# the folder under tests/cases -> whether its cases are normalized; documentation is
READ_ONLY = {"text", "format", "syntax"}
CHECKED = {"check"}  # whether they are given to all of `pipeline.check`; documentation is


class Mismatch(Exception):
    """A case differs from its expectation; the text says how."""


@dataclass
class Outcome:
    """What a case gave.

    Attributes:
        problems: One text for each difference.
        edits: What would make each block right.
        refused: Differences that ``--bless`` must not accept.
    """

    problems: list[str] = field(default_factory=list)
    edits: list[tuple[Block, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def read(source: Source, report: Report, folder: Path | None) -> Module:
    """Text → IR."""
    from shapedsl.frontends import text

    return text.read(source, report, base=folder)


def check(source: Source, report: Report, folder: Path | None) -> Module:
    """Text → IR, with all that ``shapedsl check`` finds."""
    from shapedsl import pipeline

    return pipeline.check(source, report, base=folder)


def normalized(module: Module, report: Report) -> list[Signature]:
    """IR → normal forms, in order."""
    from shapedsl.normalize import normalize

    return [normalize(signature, report).signature for signature in module.signatures]


def write(signatures: list[Signature]) -> str:
    """IR → canonical text."""
    from shapedsl.ir.write import write_module

    return write_module(Module(signatures=tuple(signatures)))


def run_case(case: Case, files: dict[str, Block], folder: Path, *, normalize: bool, checked: bool = False) -> Outcome:
    """Runs ``case`` and compares.

    Args:
        case: The case.
        files: The named files of its section; they are written into ``folder``.
        folder: An empty folder; imports are relative to it.
        normalize: Whether the case is normalized even where no block asks for it.
        checked: Whether its findings are those of ``shapedsl check``.
    """
    for name, block in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(expectations.strip(block.body), encoding="utf-8")
    outcome = Outcome()
    text = expectations.strip(case.source.body)
    source = Source(case.source.file or "example.shapes", text)
    report = Report()
    module = (check if checked else read)(source, report, folder)
    roles = {block.role for block in case.expected}
    read_well = not report.errors
    normal: list[Signature] = []
    if read_well and (normalize or "normalized" in roles):
        normal = normalized(module, Report() if checked else report)
    _compare_findings(case, files, source, report, outcome, folder)
    for block in case.expected:
        got: str | None
        if block.language == "text":
            got = _rendered(block.role, report)
        elif block.role == "written":
            got = write(list(module.signatures))
        elif block.role == "formatted":
            got = _formatted(source)
        elif block.role == "normalized":
            got = write(normal) if read_well else None
        else:
            raise Mismatch(f"line {block.line}: unknown block {' '.join(block.info)!r}")
        _compare(block, got, outcome)
    if normal and not report.errors:
        outcome.refused += _sample(module, normal)
    return outcome


def _compare_findings(
    case: Case, files: dict[str, Block], source: Source, report: Report, outcome: Outcome, folder: Path
) -> None:
    names = {name: {name, str(folder / name)} for name in files if name != source.name}
    others = [alias for aliases in names.values() for alias in aliases]
    want = expectations.expected(case.source.body)
    got = expectations.actual(report, source.name, others)
    if lines := expectations.differences(want, got):
        with_labels = any(label is not None for *_, label in want) or not want
        keep = [f for f in got if f[2] or any(not code for _, _, code, _ in want)]
        shown = keep if with_labels else [(line, severity, code, None) for line, severity, code, _ in keep]
        outcome.problems.append("\n".join(lines) + _listing(report))
        outcome.edits.append((case.source, expectations.annotate(case.source.body, shown)))


def _listing(report: Report) -> str:
    return "".join(f"\n  {d.severity.value}[{d.code}]: {d.message}" for d in report)


def _rendered(role: str, report: Report) -> str:
    name = "full" if role == "diagnostics" else role
    module = importlib.import_module(f"shapedsl.diagnostics.render.{name}")
    render: Callable[..., str] = module.render
    return render(report.diagnostics).rstrip("\n") + "\n"


def _formatted(source: Source) -> str | None:
    from shapedsl.frontends.text.format import format_text

    report = Report()
    text = format_text(source, report)
    if text is not None:
        again = format_text(Source(source.name, text), Report())
        if again != text:
            raise Mismatch(f"fmt is not idempotent:\n{_diff(text, again or '')}")
    return text


def _compare(block: Block, got: str | None, outcome: Outcome) -> None:
    if got is None:
        outcome.refused.append(f"line {block.line}: the case gave errors, so there is nothing to compare")
    elif got != block.body:
        outcome.problems.append(f"line {block.line}, {' '.join(block.info)}:\n{_diff(block.body, got)}")
        outcome.edits.append((block, got))


def _diff(want: str, got: str) -> str:
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), "expected", "got", lineterm="", n=3)
    return "\n".join(lines)


def _sample(module: Module, normal: list[Signature]) -> list[str]:
    return [
        f"`{before.name}` changed its meaning: {found}"
        for before, after in zip(module.signatures, normal, strict=True)
        if (found := sampling.difference(before, after))
    ]


def errors(report: Report) -> list[str]:
    """Returns the codes of the errors in ``report``."""
    return [d.code for d in report if d.severity is Severity.ERROR]
