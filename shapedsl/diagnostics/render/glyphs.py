r"""What a code point looks like in a terminal, and how many columns it takes.

A caret must stand under what it points at, whatever the line holds: tabs are widened to spaces,
East Asian wide characters take two columns, combining ones none. What a terminal would act upon or
hide (``\0``, escapes, the bidirectional overrides with which text can be made to look like other
text) is shown as a visible stand-in, so that a message never repeats the trick it reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

TAB: Final = 4

# Zero-width and bidirectional controls: invisible, or able to reorder what is shown.
_HIDDEN: Final = frozenset(
    chr(code)
    for first, last in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2064), (0x2066, 0x2069), (0xFEFF, 0xFEFF))
    for code in range(first, last + 1)
)


def glyph(character: str) -> str:
    """Returns what is shown for one code point other than a tab."""
    if " " <= character < "\x7f":
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures: ␀ for \0
    if code == 0x7F:
        return "\u2421"
    if character in _HIDDEN or 0x80 <= code < 0xA0 or code in (0x2028, 0x2029):
        return f"<U+{code:04X}>"
    if 0xD800 <= code < 0xE000:
        return "\ufffd"  # a lone surrogate cannot be printed
    return character


def width(text: str) -> int:
    """Returns how many terminal columns ``text`` takes; it holds no tabs or controls."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # a megabyte of tables that ASCII text does not need

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def cells(line: str) -> Iterator[tuple[str, int]]:
    """Yields for each code point of ``line`` what is shown for it and the columns that takes."""
    column = 0
    for character in line:
        shown = " " * (TAB - column % TAB) if character == "\t" else glyph(character)
        columns = width(shown)
        column += columns
        yield shown, columns


def visible(text: str, most: int = 400) -> str:
    """Returns ``text`` on one line of at most ``most`` code points, with nothing that a terminal would act upon."""
    cut = text if len(text) <= most else text[: most - 3] + "..."
    return "".join(" " if c in "\n\t" else glyph(c) for c in cut)
