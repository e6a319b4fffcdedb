"""One line a diagnostic, as compilers print them: ``net.shapes:7:11: error[contradiction] no shape satisfies this spec``."""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostic import Diagnostic
from .glyphs import visible


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Returns a line for each of ``diagnostics``, without a newline at the end."""
    return "\n".join(_line(diagnostic) for diagnostic in diagnostics)


def _line(diagnostic: Diagnostic) -> str:
    place = ""
    if diagnostic.span is not None:
        line, column = diagnostic.span.source.position(diagnostic.span.start)
        place = f"{visible(diagnostic.span.source.name)}:{line}:{column}: "
    return f"{place}{diagnostic.severity.value}[{diagnostic.code}] {visible(diagnostic.message)}"
