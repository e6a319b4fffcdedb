"""Characters the language has not: look-alikes, typographic signs, other languages' operators, open strings."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category

from ....diagnostics import Diagnostic, Span
from .lookalikes import DOUBTFUL, SIGNS, is_look_alike, name_of, plain
from .place import Place, problem

_SPACES: Final = re.compile(r"[^\S\r\n]|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SYMBOLS: Final = {
    "&&": "and",
    "&": "and",
    "||": "or",
    "!": "not",
    "~": "not",
    "^": "**",
}
_WORD: Final = re.compile(r"\w+")


def character(place: Place) -> Diagnostic | None:
    """Explains a character that begins no token."""
    text, at = place.source.text, place.offset
    if place.kind or at >= len(text):
        return None
    symbol = text[at]
    span = place.source.span(at, at + 1)
    if symbol in "\"'":
        return _open_string(place, symbol)
    if symbol in SIGNS:
        return _sign(place, symbol)
    if _SPACES.fullmatch(symbol):
        message = f"an invisible character: {name_of(symbol)}"
        return problem(message, span, fix=("write a plain space", [(span, " ")]), safe=_separates(text, at))
    if symbol < " " or symbol == "\x7f":
        name = "a NUL character" if symbol == "\0" else f"a control character: {name_of(symbol)}"
        return problem(
            f"{name} in the text", span, "delete it", note="is this a binary file?" if symbol == "\0" else ""
        )
    if not symbol.isascii():
        return _foreign(place)
    for spelling in ("&&", "||", symbol):
        if spelling in _SYMBOLS and text.startswith(spelling, at):
            span = place.source.span(at, at + len(spelling))
            meant = _SYMBOLS[spelling]
            fix = _replace(place, span.start, span.end, meant)
            certain = len(spelling) == 2 and place.takes(meant)  # `T || None` is another mistake
            return problem(f"`{spelling}` is written `{meant}`", span, fix=fix, safe=certain)
    if symbol == ";":
        return problem("statements end with their line, not with `;`", span, help="delete it, and begin a new line")
    if symbol == "\\":
        advice = "put the expression in brackets: a line goes on until its brackets are closed"
        return problem("a line cannot be continued with `\\`", span, help=advice)
    return problem(f"`{symbol}` means nothing here", span)


def _separates(text: str, at: int) -> bool:
    """Returns whether the invisible character at ``at`` can only stand for a space: not in a word or an operator."""
    if category(text[at]) == "Zs":
        return True
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    apart = "()[]{},: \t\r\n"
    return not before or not after or before in apart or after in apart


def _replace(place: Place, start: int, end: int, meant: str) -> tuple[str, list[tuple[Span, str]]]:
    """Returns a fix that writes ``meant``, with spaces where words would run together."""
    text = place.source.text
    before = " " if meant.isidentifier() and start and (text[start - 1].isalnum() or text[start - 1] in "_)]}") else ""
    after = " " if meant.isidentifier() and end < len(text) and (text[end].isalnum() or text[end] in "_([{-") else ""
    return f"write `{meant}`", [(place.source.span(start, end), before + meant + after)]


def _sign(place: Place, symbol: str) -> Diagnostic:
    at, meant = place.offset, SIGNS[symbol]
    message = f"`{symbol}` ({name_of(symbol)}) is written `{meant}`"
    if meant not in "\"'":
        certain = place.takes(meant.split()[0].rstrip("23")) and not _is_doubtful(place, symbol)
        return problem(message, place.source.span(at, at + 1), fix=_replace(place, at, at + 1, meant), safe=certain)
    end = place.source.text.find("\n", at)
    row = place.source.text[at : end if end >= 0 else None]
    closing = next((i for i, c in enumerate(row) if i and SIGNS.get(c) == meant), None)
    edits = [(place.source.span(at + i, at + i + 1), meant) for i in (0, closing) if i is not None]
    return problem(message, place.source.span(at, at + 1), fix=("write plain quotes", edits), safe=closing is not None)


def _is_doubtful(place: Place, symbol: str) -> bool:
    """Returns whether a sign could mean something else: a hyphen in a name, a congruence, a division with a fraction."""
    if SIGNS[symbol] == "-":
        text, at = place.source.text, place.offset
        return text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
    return symbol in DOUBTFUL


def _foreign(place: Place) -> Diagnostic:
    """Explains a letter (or sign) that is not ASCII, the whole word at once."""
    text, at = place.source.text, place.offset
    start = at
    while start > place.start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    match = _WORD.match(text, start) if text[at].isalnum() else None
    start, end = (start, max(match.end(), at + 1)) if match else (at, at + 1)
    word, symbol = text[start:end], text[at]
    span, meant = place.source.span(start, end), plain(word)
    if meant is None:
        return problem("names are written in ASCII letters", span, f"`{symbol}` is {name_of(symbol)}")
    label = f"`{symbol}` is {name_of(symbol)}, which looks like `{plain(symbol)}`"
    fix = (f"write `{meant}`", [(span, meant)])
    return problem(f"`{word}` is not the ASCII `{meant}`", span, label, fix=fix, safe=all(map(is_look_alike, word)))


def _open_string(place: Place, quote: str) -> Diagnostic:
    text, at = place.source.text, place.offset
    for start in (at, at - 2):
        if start >= 0 and text.startswith('"""', start):
            return problem('this `"""` is never closed', place.source.span(start, start + 3))
    end = text.find("\n", at)
    end = len(text.rstrip()) if end < 0 else end
    span = place.source.span(at, len(text[at:end].rstrip()) + at)
    return problem("this string is not closed on its line", span, help=f"end it with {quote}")
