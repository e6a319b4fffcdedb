"""Workflow commands: GitHub shows each diagnostic beside its line in a pull request.

See https://docs.github.com/actions/reference/workflow-commands-for-github-actions: ``%``, carriage
returns and newlines are escaped in data, ``:`` and ``,`` in properties too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..diagnostic import Diagnostic, Severity
from .full import footers

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Returns a workflow command for each of ``diagnostics``, one a line, without a newline at the end."""
    return "\n".join(_command(diagnostic) for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    properties = {"title": f"shapedsl {diagnostic.code}"}
    span = diagnostic.span
    if span is not None:
        line, column = span.source.position(span.start)
        end_line, end_column = span.source.position(span.end)
        properties = {"file": span.source.name, "line": str(line), "endLine": str(end_line)} | properties
        if line == end_line:  # columns are refused where a command spans lines
            properties |= {"col": str(column), "endColumn": str(end_column)}
    listed = ",".join(f"{name}={_escape(value, ':,')}" for name, value in properties.items())
    text = "\n".join([diagnostic.message, *(f"{title}: {line}" for title, line in footers(diagnostic))])
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_escape(text)}"


def _escape(text: str, more: str = "") -> str:
    """Returns ``text`` with ``%``, line ends and the characters of ``more`` written as ``%XX``."""
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" or c in more else c for c in text)
