"""Say the notes of a conversion as diagnostics: a choice and a loss are warnings, the rest is to be known.

Before::

    Note(CHOICE, "legacy-choice", "AUTO lets the trace decide", ("sig.shape[0]",), "a variable", ("a static size",))

After::

    warning[legacy-choice]: AUTO lets the trace decide
      = note: at `sig.shape[0]`
      = note: taken: a variable
      = note: it could also be a static size
"""

from __future__ import annotations

from collections.abc import Iterable

from ...diagnostics import Report, Severity
from .verdict import Note, Verdict


def tell(notes: Iterable[Note], report: Report) -> None:
    """Adds what ``notes`` say to ``report``."""
    for note in notes:
        grave = note.verdict in (Verdict.CHOICE, Verdict.LOSS)
        places = f"at {', '.join(f'`{place}`' for place in note.places)}" if note.places else ""
        lines = [places] if places and note.span is None else []
        if note.taken:
            lines.append(f"taken: {note.taken}")
        lines += [f"it could also be {other}" for other in note.others]
        report.emit(
            Severity.WARNING if grave else Severity.NOTE,
            note.code,
            note.message,
            at=note.span,
            label=places,
            note=lines,
        )


__all__ = ["tell"]
