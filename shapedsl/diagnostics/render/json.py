"""Diagnostics as one JSON document, for tools.

Offsets are 0-based code points, half-open; lines and columns are 1-based, columns in code points;
``end_column`` is one past the last. ``edits`` of a fix do not overlap and all refer to the text as
it was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..diagnostic import Diagnostic
from ..span import Span


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Returns ``{"version": 1, "diagnostics": [...]}``, indented, without a newline at the end."""
    document = {"version": 1, "diagnostics": [as_dict(diagnostic) for diagnostic in diagnostics]}
    return json.dumps(document, indent=2, ensure_ascii=True)


def as_dict(diagnostic: Diagnostic) -> dict[str, object]:
    """Returns one diagnostic as JSON values."""
    fix = diagnostic.fix
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "spans": [
            {**span_as_dict(annotation.span), "label": annotation.label, "main": index == 0}
            for index, annotation in enumerate(diagnostic.annotations)
        ],
        "notes": list(diagnostic.notes),
        "helps": list(diagnostic.helps),
        "fix": None
        if fix is None
        else {
            "description": fix.description,
            "safe": fix.safe,
            "edits": [{**span_as_dict(edit.span), "replacement": edit.replacement} for edit in fix.edits],
        },
        "core": list(diagnostic.core),
        "witness": dict(diagnostic.witness),
    }


def span_as_dict(span: Span) -> dict[str, object]:
    """Returns where ``span`` lies: file, offsets, lines and columns."""
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "file": span.source.name,
        "start": span.start,
        "end": span.end,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }
