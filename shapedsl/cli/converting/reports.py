"""A run → a report, as JSON for programs and as Markdown for a pull request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from ...diagnostics import Diagnostic
from ...diagnostics.render.json import as_dict
from .outcome import Outcome
from .summary import Summary

REPORTS: Final = ("json", "md")


def as_json(outcomes: Sequence[Outcome], others: Sequence[Diagnostic], summary: Summary) -> str:
    """Returns a document with a verdict for each call site.

    Args:
        outcomes: The files about which there is something to tell.
        others: What is wrong with no file among them.
        summary: Of all files.
    """
    document = {
        "version": 1,
        "summary": summary.as_dict(),
        "files": [
            {
                "path": outcome.name,
                "changed": outcome.change is not None,
                "skipped": outcome.skipped,
                "sites": [asdict(site) for site in outcome.sites],
                "diagnostics": [as_dict(diagnostic) for diagnostic in outcome.diagnostics],
            }
            for outcome in outcomes
        ],
        "diagnostics": [as_dict(diagnostic) for diagnostic in others],
    }
    return json.dumps(document, indent=2, ensure_ascii=True)


def as_markdown(outcomes: Sequence[Outcome], others: Sequence[Diagnostic], summary: Summary, *, done: bool) -> str:
    """Returns a document with a table for each file; see `as_json`.

    Args:
        done: Whether the files were written.
    """
    return "\n".join(_markdown(outcomes, others, summary, done=done))


def _markdown(
    outcomes: Sequence[Outcome], others: Sequence[Diagnostic], summary: Summary, *, done: bool
) -> Iterator[str]:
    yield "# Legacy specs"
    yield ""
    yield f"{summary.line(done=done)}."
    if summary.verdicts:
        yield ""
        yield "| verdict | call sites |"
        yield "|---|---|"
        for verdict in ("exact", "stricter", "choice", "loss"):
            if summary.verdicts[verdict]:
                yield f"| {verdict} | {summary.verdicts[verdict]} |"
    for outcome in outcomes:
        yield ""
        yield f"## {_code(outcome.name)}"
        if outcome.sites:
            yield ""
            yield "| line | call | spec | outcome | notes |"
            yield "|---|---|---|---|---|"
            for site in outcome.sites:
                kind = site.summary if site.outcome == "converted" else "**kept**"
                told_of_it = "<br>".join(map(_cell, site.notes))
                yield f"| {site.line} | {_code(site.api)} | {_code(site.name)} | {_cell(kind)} | {told_of_it} |"
        notes = [_line(note) for site in outcome.sites for note in site.notes]
        told = [d for d in outcome.diagnostics if not _is_among(notes, _line(d.message))]
        if told:
            yield ""
            yield from map(_finding, told)
    if others:
        yield ""
        yield "## Elsewhere"
        yield ""
        yield from map(_finding, others)


def _is_among(notes: Sequence[str], message: str) -> bool:
    """Returns whether the notes of call sites say what a message says."""
    return any(note in message or message in note for note in notes)


def _finding(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    place = f" (line {span.source.position(span.start)[0]})" if span is not None else ""
    return f"- {diagnostic.severity.value} `{diagnostic.code}`{place}: {_line(diagnostic.message)}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _code(text: str) -> str:
    """Returns text in backquotes, for a cell; of nothing, nothing."""
    return f"`{_cell(text)}`" if text else ""


__all__ = ["REPORTS", "as_json", "as_markdown"]
