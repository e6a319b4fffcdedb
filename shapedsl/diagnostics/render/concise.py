"""One line a diagnostic, as compilers print them: ``net.shapes:7:11: error[contradiction] no shape satisfies this spec``."""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostic import Diagnostic
from . import capped
from .glyphs import visible


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Returns a line for each of ``diagnostics``, without a newline at the end; of very many, for the first."""
    shown, more = capped(diagnostics)
    lines = [_line(diagnostic) for diagnostic in shown]
    return "\n".join([*lines, more] if more else lines)


def _line(diagnostic: Diagnostic) -> str:
    place = ""
    if diagnostic.span is not None:
        line, column = diagnostic.span.source.position(diagnostic.span.start)
        place = f"{visible(diagnostic.span.source.name)}:{line}:{column}: "
    return f"{place}{diagnostic.severity.value}[{diagnostic.code}] {visible(diagnostic.message)}"
