"""Splits text into tokens and logical lines, comments and blank lines included.

The parser's own lexer drops comments and needs the parser's state to tell a keyword from a name.
The formatter and the explanations of syntax errors need neither the state nor Lark: every
character of the text ends up in a token here, whether the text is correct or not.

``dim B in [0, 8]  # sizes`` → ``dim`` ``B`` ``in`` ``[`` ``0`` ``,`` ``8`` ``]`` and the comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

OPENERS: Final = {"(": ")", "[": "]", "{": "}"}
CLOSERS: Final = {close: opener for opener, close in OPENERS.items()}

_TOKEN: Final = re.compile(
    r"""
    (?P<space>[ \t]+|\A\ufeff)
  | (?P<newline>\r?\n)
  | (?P<comment>\#[^\n]*)
  | (?P<number>\d[\d_]*(?:\.(?!\.)\d*)?(?:[eE][-+]?\d+)?)
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<string>"{3}(?:[^"\\]|\\.|"(?!""))*"{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<op>\.\.\.|->|\*\*|//|==|!=|<=|>=|[-+*/%<>=()\[\]{},:.@?|])
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A piece of text.

    Attributes:
        kind: ``name number string op comment newline space``, or ``other`` for what the language has not.
        text: As written.
        start: Offset of its first code point.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Offset behind its last code point."""
        return self.start + len(self.text)


def scan(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Yields the tokens of ``text[start:end]``; their texts, joined, are that text."""
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        yield Token(match.lastgroup or "other", match.group(), match.start())


@dataclass(slots=True)
class Line:
    """A logical line: a statement's (or clause's) tokens up to a newline outside brackets, or a comment on its own.

    Attributes:
        column: The width of its indentation, a tab reaching to the next multiple of 8.
        blanks: Blank lines before it.
        tokens: Without space and newlines; comments inside brackets are among them.
        comment: The comment at its end, or the whole line.
    """

    column: int
    blanks: int
    tokens: list[Token] = field(default_factory=list[Token])
    comment: Token | None = None


def lines_of(text: str) -> list[Line]:
    """Returns the logical lines of ``text``. Brackets that do not pair are taken as they come."""
    lines: list[Line] = []
    current: Line | None = None
    depth = blanks = column = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "space":
            if current is None:
                column = len(match.group().strip("\ufeff").expandtabs(8))
        elif kind == "newline":
            if depth and current is not None:
                continue
            if current is None:
                blanks += 1
            else:
                lines.append(current)
            current, column = None, 0
        else:
            token = Token(kind or "other", match.group(), match.start())
            if current is None:
                current, blanks = Line(column, blanks), 0
            if kind == "comment" and not depth:
                current.comment = token
            else:
                current.tokens.append(token)
                if token.text in OPENERS:
                    depth += 1
                elif token.text in CLOSERS:
                    depth = max(depth - 1, 0)
    if current is not None:
        lines.append(current)
    return lines
