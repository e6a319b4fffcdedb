"""The notes of a conversion: what each difference is called, and how it is said."""

from __future__ import annotations

from collections.abc import Iterable

from ...diagnostics import Span
from .verdict import Note, Verdict


def remark(message: str, places: Iterable[str] = (), *, span: Span | None = None) -> Note:
    """Returns a note that changes nothing."""
    return Note(Verdict.EXACT, "legacy-note", message, tuple(places), span=span)


def stricter(message: str, places: Iterable[str], *, span: Span | None = None) -> Note:
    """Returns a note of what the legacy program ran and the new one rejects."""
    return Note(Verdict.STRICTER, "legacy-stricter", message, tuple(places), span=span)


def choice(message: str, places: Iterable[str], taken: str, others: Iterable[str], *, span: Span | None = None) -> Note:
    """Returns a note of what the legacy spec leaves open."""
    return Note(Verdict.CHOICE, "legacy-choice", message, tuple(places), taken, tuple(others), span)


def loss(message: str, places: Iterable[str] = (), *, span: Span | None = None) -> Note:
    """Returns a note of what has no counterpart."""
    return Note(Verdict.LOSS, "legacy-loss", message, tuple(places), span=span)


__all__ = ["choice", "loss", "remark", "stricter"]
