"""SARIF 2.1.0, what code-scanning services read (https://docs.oasis-open.org/sarif/sarif/v2.1.0/)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from ..codes import CODES
from ..diagnostic import Annotation, Diagnostic, Fix, Severity
from ..span import Span
from .full import footers

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render(diagnostics: Iterable[Diagnostic], *, page: Callable[[str], str] | None = None, version: str = "") -> str:
    """Returns a SARIF log with one run, indented, without a newline at the end.

    Args:
        diagnostics: One result each.
        page: Returns the page of a code, in Markdown: what a service shows beside a finding.
        version: The tool's.
    """
    found = list(diagnostics)
    codes = sorted({diagnostic.code for diagnostic in found})
    driver: dict[str, object] = {"name": "shapedsl"}
    if version:
        driver["version"] = version
    driver["rules"] = [_rule(code, found, page) for code in codes]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, codes.index(diagnostic.code)) for diagnostic in found],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=True)


def _rule(code: str, found: Iterable[Diagnostic], page: Callable[[str], str] | None) -> dict[str, object]:
    """Returns what is said of a code: one line, its page, and how bad its worst finding is."""
    severities = {diagnostic.severity for diagnostic in found if diagnostic.code == code}
    worst = next(severity for severity in _LEVELS if severity in severities)
    rule: dict[str, object] = {
        "id": code,
        "shortDescription": {"text": CODES[code]},
        "defaultConfiguration": {"level": _LEVELS[worst]},
    }
    if page is not None:
        text = page(code)
        rule["help"] = {"text": text, "markdown": text}
    return rule


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, object]:
    text = "\n".join([diagnostic.message, *(f"{title}: {line}" for title, line in footers(diagnostic))])
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": text},
    }
    main, others = diagnostic.annotations[:1], diagnostic.annotations[1:]
    if main:
        result["locations"] = [_location(main[0])]
    if others:
        result["relatedLocations"] = [_location(annotation) for annotation in dict.fromkeys(others)]  # each once
    if diagnostic.fix is not None and diagnostic.fix.edits:
        result["fixes"] = [_fix(diagnostic.fix)]
    properties: dict[str, object] = {}
    if diagnostic.core:
        properties["core"] = list(diagnostic.core)
    if diagnostic.witness:
        properties["witness"] = dict(diagnostic.witness)
    if diagnostic.fix is not None and diagnostic.fix.edits:
        properties["safeFix"] = diagnostic.fix.safe
    if properties:
        result["properties"] = properties
    return result


def _location(annotation: Annotation) -> dict[str, object]:
    location: dict[str, object] = {
        "physicalLocation": {"artifactLocation": _artifact(annotation.span), "region": _region(annotation.span)}
    }
    if annotation.label:
        location["message"] = {"text": annotation.label}
    return location


def _artifact(span: Span) -> dict[str, object]:
    from urllib.parse import quote

    path = Path(span.source.name)
    text = quote(path.as_posix(), errors="replace")  # a file's name need not be text
    return {"uri": f"file://{'' if text.startswith('/') else '/'}{text}" if path.is_absolute() else text}


def _region(span: Span) -> dict[str, int]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _fix(fix: Fix) -> dict[str, object]:
    changes: dict[str, list[dict[str, object]]] = {}
    artifacts: dict[str, dict[str, object]] = {}
    for edit in fix.edits:
        artifacts[edit.span.source.name] = _artifact(edit.span)
        replacement: dict[str, object] = {
            "deletedRegion": _region(edit.span),
            "insertedContent": {"text": edit.replacement},
        }
        changes.setdefault(edit.span.source.name, []).append(replacement)
    return {
        "description": {"text": fix.description},
        "artifactChanges": [
            {"artifactLocation": artifacts[name], "replacements": replacements}
            for name, replacements in changes.items()
        ],
    }
