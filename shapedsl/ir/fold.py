"""Breaks a line that is too long at its brackets, one item a line, as `fmt` does.

Before::

    bucket B in {64, 128, ..., 1024} pad (dense with 0, bags with edge) as rows_independent

After::

    bucket B in {64, 128, ..., 1024} pad (
        dense with 0,
        bags with edge,
    ) as rows_independent
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

WIDTH: Final = 88  # columns
INDENT: Final = "    "
_OPENERS: Final = "([{"
_CLOSERS: Final = ")]}"


class _Group(NamedTuple):
    """A bracket pair outside all others: the offsets of its brackets, and of the commas right inside."""

    start: int
    end: int
    commas: tuple[int, ...]


def fold(text: str, column: int) -> list[str]:
    """Returns ``text`` as one line if it fits, else as several.

    Args:
        text: Balanced; without a margin.
        column: The width of the margin that the caller puts before each line.
    """
    if column + len(text) <= WIDTH:
        return [text]
    groups = [group for group in _groups(text) if group.end > group.start + 1]
    plain = [group for group in groups if not _is_subscript(text, group)]
    if not groups:
        return [text]
    start, end, commas = (plain or groups)[-1]
    edges = [start, *commas, end]
    items = [text[left + 1 : right].strip() for left, right in pairwise(edges)]
    if not items[-1]:
        items.pop()  # a comma stood before the bracket
    comma = len(items) > 1 or text[start] == "{" or text[start] == "("
    lines = [text[: start + 1]]
    for item in items:
        lines += [INDENT + line for line in fold(f"{item}," if comma else item, column + len(INDENT))]
    return [*lines, text[end:]]


def _is_subscript(text: str, group: _Group) -> bool:
    return (
        text[group.start] == "["
        and group.start > 0
        and (text[group.start - 1].isalnum() or text[group.start - 1] in "_]")
    )


def _groups(text: str) -> list[_Group]:
    """Returns the outermost bracket pairs of ``text``; brackets in strings do not count."""
    groups: list[_Group] = []
    depth = start = i = 0
    commas: list[int] = []
    while i < len(text):
        char = text[i]
        if char == '"':
            i += 1
            while text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif char in _OPENERS:
            if depth == 0:
                start, commas = i, []
            depth += 1
        elif char in _CLOSERS:
            depth -= 1
            if depth == 0:
                groups.append(_Group(start, i, tuple(commas)))
        elif char == "," and depth == 1:
            commas.append(i)
        i += 1
    return groups
