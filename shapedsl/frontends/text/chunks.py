"""Where the next statement or clause of a text with errors begins, whatever state the parser is in.

A line begins a chunk if it begins as a statement or clause does: with the keyword, with a slip of it
(``whre B < 3``), or with the word of another language (``assert B < 3``). Otherwise one mistake would
hide the next, which would be taken for a part of the same line.
"""

from __future__ import annotations

import re
from typing import Final

from .mistakes.foreign import FIRST, SAME
from .mistakes.place import CLAUSES, STATEMENTS
from .slips import closest, is_slip

_KEYWORDS: Final = (*STATEMENTS, *CLAUSES)

# What follows the keyword tells it from a parameter of that name.
_STATEMENT: Final = re.compile(
    r"""(?:
        (?:def|class|type|let)[ \t]+[A-Za-z_]
      | (?:dim|int|const)[ \t]+[*A-Za-z_]
      | from[ \t]*["'] | language[ \t]+[0-9]
      | (?:where|case|bucket|drop|keep|values|rank|hint)(?:[ \t]+[^\s=:,.)\]}|*]|[ \t]*:[ \t]*(?:\#[^\n]*)?$)
      | otherwise(?![A-Za-z_0-9]) | (?:eager|backed)[ \t]*(?:\#[^\n]*)?$
      | \.\.\.[ \t]*(?:\#[^\n]*)?$
    )""",
    re.VERBOSE | re.MULTILINE,
)
_ROW: Final = re.compile(r"^[ \t]*(?=[^\s#])(?:([A-Za-z]+)(?![A-Za-z_0-9]))?", re.MULTILINE)
_INSIDE: Final = re.compile(r"[(\[{,][ \t]*(?:#[^\n]*)?\s*\Z")
_LOOK_BACK: Final = 400  # code points before a row that tell whether it continues the row before


def chunk_starts(text: str) -> list[int]:
    """Returns the offset of each line that begins a chunk; the first is the text's, if anything stands before them."""
    starts: list[int] = []
    for row in _ROW.finditer(text):
        word = row[1]
        if _STATEMENT.match(text, row.end() - len(word or "")) or (
            word is not None and _is_like(word, text, row.end()) and not _continues(text, row.start())
        ):
            starts.append(row.start())
    if not starts or text[: starts[0]].strip(" \t\r\n\ufeff"):
        starts.insert(0, 0)
    return starts


def begins_line(keyword: str, text: str, end: int) -> bool:
    """Returns whether ``keyword`` and what follows ``end`` on its line begin a statement or clause."""
    stop = text.find("\n", end)
    return _STATEMENT.match(keyword + text[end : stop if stop >= 0 else len(text)]) is not None


def meant(word: str) -> str:
    """Returns the keyword that the first word of a chunk is, or is a slip of, or stands for."""
    if word in _KEYWORDS:
        return word
    return "def" if word == "async" else SAME.get(word) or closest(word, _KEYWORDS) or word


def _is_like(word: str, text: str, end: int) -> bool:
    """Returns whether a word is no keyword but begins a line as one: a bare keyword, a slip, or a foreign word."""
    follows = text[end : end + 2].strip(" \t\r\n")[:1]
    if word in _KEYWORDS:
        return not text[end : _end_of_row(text, end)].partition("#")[0].strip()
    if word in FIRST:
        return follows not in ("=", ":", ",", ")", "]", "}", ".") or word in ("else", "try")
    keyword = closest(word, _KEYWORDS)
    return keyword is not None and is_slip(word, keyword, _KEYWORDS) and begins_line(keyword, text, end)


def _continues(text: str, start: int) -> bool:
    """Returns whether the row before ends inside a bracket: behind an opening one or a comma."""
    return _INSIDE.search(text[max(0, start - _LOOK_BACK) : start]) is not None


def _end_of_row(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)
