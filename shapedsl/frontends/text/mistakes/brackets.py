"""Brackets that do not pair: the message points at the opener, where the mistake usually is."""

from __future__ import annotations

from ....diagnostics import Diagnostic
from ....layout.tokens import CLOSERS, OPENERS
from .place import CLAUSES, STATEMENTS, Place, problem


def unpaired(place: Place) -> Diagnostic | None:
    """Explains a bracket that is never closed, closed by another kind, or never opened."""
    text = place.token.text
    if text in CLOSERS:
        if not place.opened:
            return problem(f"`{text}` closes nothing", place.span, help="delete it, or open a bracket before it")
        opener = place.opened[-1]
        if OPENERS[opener.text] == text:
            return None
        want = OPENERS[opener.text]
        message = f"`{opener.text}` is closed by `{text}`"
        also = (place.span_of(opener), f"this needs `{want}`")
        return problem(message, place.span, f"`{want}` is missing before this", also=also)
    if not place.opened:
        return None
    new_statement = place.starts_row and text in (*STATEMENTS, *CLAUSES)
    if not (place.at_end or new_statement):
        return None
    opener = place.opened[-1]
    want = OPENERS[opener.text]
    where = place.before().end
    return problem(
        f"this `{opener.text}` is never closed",
        place.span_of(opener),
        also=(place.source.span(where, where), f"`{want}` is missing, here or before"),
    )


def colon_in_bracket(place: Place) -> Diagnostic | None:
    """``def f(x: Tensor[B, D:`` : the head's colon stands inside a bracket that was meant to be closed."""
    if place.token.text != ":" or not place.opened or place.after().kind not in ("none", "newline"):
        return None
    opener = place.opened[-1]
    want = OPENERS[opener.text]
    also = (place.span_of(opener), "opened here")
    return problem(f"`{want}` is missing before this `:`", place.span, also=also, help=f"close the `{opener.text}`")
