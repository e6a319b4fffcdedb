"""Where the def of a spec stands in its text, and which lines belong to which statement: offsets, from the tokens.

For this def, ``close`` is behind the bracket, ``colon`` at the second ``:``, and ``end`` behind ``eager``; the
statement that begins at ``case`` ends there too::

    def f(
        x: Tensor[B],
    ):
        case B == 1:
            eager

    # of the next def
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ...layout.tokens import CLOSERS, OPENERS, scan

MARGIN: Final = "    "


class Def(NamedTuple):
    """Where a def stands in a text: offsets.

    Attributes:
        margin: Its indentation.
        close: Of its parameters: behind the bracket.
        colon: Of its head.
        end: Behind the last line that belongs to it.
    """

    margin: str
    close: int
    colon: int
    end: int


def find_def(text: str, start: int, end: int) -> Def | None:
    """Returns where the def is whose name has this span."""
    line = text.rfind("\n", 0, start) + 1
    head = text[line:start]
    margin = head[: len(head) - len(head.lstrip())]
    depth = 0
    close = colon = -1
    for token in scan(text, end):
        if token.kind != "op":
            continue
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if token.text == ")" and depth == 0 and close < 0:
            close = token.end
        elif token.text == ":" and depth == 0:
            colon = token.start
            break
    if close < 0 or colon < 0:
        return None
    return Def(margin, close, colon, block_end(text, colon, len(margin)))


def block_end(text: str, at: int, indent: int) -> int:
    """Returns the offset behind the last line that belongs to the block whose head is at ``at``, indented by ``indent``."""
    end = after = logical_end(text, at)
    while after < len(text):
        row = text[after : line_end(text, after)]
        stripped = row.strip()
        column = len(row) - len(row.lstrip())
        if stripped and not stripped.startswith("#"):
            if column <= indent:
                break
            after = end = logical_end(text, after)
            continue
        after = next_line(text, after)
        if stripped and column > indent:
            end = after
    return end


def logical_end(text: str, at: int) -> int:
    """Returns the offset behind the line that ends the statement which begins at ``at``, brackets closed."""
    depth = 0
    for token in scan(text, at):
        if token.kind == "newline" and depth <= 0:
            return token.end
        if token.kind == "op":
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
    return len(text)


def statement(text: str, start: int, most: int) -> tuple[int, int]:
    """Returns the whole lines of a clause and of the block below it."""
    line = text.rfind("\n", 0, start) + 1
    indent = len(text[line:start]) - len(text[line:start].lstrip())
    return line, min(block_end(text, start, indent), most)


def next_statement(text: str, at: int) -> int:
    """Returns where the next line begins that is neither blank nor a comment."""
    while at < len(text):
        row = text[at : line_end(text, at)].strip()
        if row and not row.startswith("#"):
            return at
        at = next_line(text, at)
    return at


def line_end(text: str, at: int) -> int:
    """Returns where the line ends that ``at`` is on: at its newline."""
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def next_line(text: str, at: int) -> int:
    """Returns where the line behind the one that ``at`` is on begins."""
    end = text.find("\n", at)
    return end + 1 if end >= 0 else len(text)


__all__ = [
    "MARGIN",
    "Def",
    "block_end",
    "find_def",
    "line_end",
    "logical_end",
    "next_line",
    "next_statement",
    "statement",
]
