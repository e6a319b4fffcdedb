"""Where something stands: sources and spans.

A span carries its source, so that a message about two files needs no side table. Offsets are
0-based code points, half-open; lines and columns are 1-based, columns in code points.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from typing import Final


class Source:
    """A text and the name it is known by (a path as the user gave it, or ``<string>``)."""

    __slots__ = ("_starts", "first_line", "name", "text")

    def __init__(self, name: str, text: str, first_line: int = 1) -> None:
        """Args:
        name: What ``-->`` prints.
        text: The whole text.
        first_line: The number of the text's first line; above 1 for an excerpt of a Python file.
        """
        self.name: Final = name
        self.text: Final = text
        self.first_line: Final = first_line
        self._starts: list[int] | None = None

    @property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins; built on first use, since most runs report nothing."""
        if self._starts is None:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._starts = starts
        return self._starts

    @property
    def file(self) -> Source:
        """The source that lines are counted in: itself, unless it is a text within another one."""
        return self

    def position(self, offset: int) -> tuple[int, int]:
        """Returns ``(line, column)`` of ``offset``, both 1-based."""
        starts = self.line_starts
        row = bisect_right(starts, offset) - 1
        return row + self.first_line, offset - starts[row] + 1

    def line(self, number: int) -> str:
        """Returns the text of line ``number`` (1-based, counted as `position` counts), without its newline."""
        starts, row = self.line_starts, number - self.first_line
        end = starts[row + 1] - 1 if row + 1 < len(starts) else len(self.text)
        return self.text[starts[row] : end].removesuffix("\r")

    def span(self, start: int, end: int) -> Span:
        """Returns the span ``[start, end)`` of this source."""
        return Span(self, start, end)

    def called(self, name: str) -> Source:
        """Returns the same text under another name."""
        made = copy(self)
        made.name = name  # type: ignore[misc]  # nobody else has it yet
        return made

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} code points)"


class Span:
    """A half-open range ``[start, end)`` of code points in a source.

    A plain slotted class: the parser makes one for every node, and a frozen dataclass costs
    three times as much to make.
    """

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    @property
    def text(self) -> str:
        """The source text that the span covers."""
        return self.source.text[self.start : self.end]

    def to(self, other: Span | None) -> Span:
        """Returns the smallest span that covers this one and ``other`` (of the same source)."""
        if other is None or other.source is not self.source:
            return self
        return Span(self.source, min(self.start, other.start), max(self.end, other.end))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (self.source, self.start, self.end) == (other.source, other.start, other.end)

    def __hash__(self) -> int:
        return hash((id(self.source), self.start, self.end))

    def __repr__(self) -> str:
        line, column = self.source.position(self.start)
        return f"Span({self.source.name}:{line}:{column}, {self.text!r})"
