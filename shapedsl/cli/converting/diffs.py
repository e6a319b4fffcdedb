"""Two texts → a unified diff, as ``patch -p0`` and ``git apply -p0`` take it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import unified_diff

from ...diagnostics.render.style import paint

_ROLES = {"+": "added", "-": "removed", "@": "note"}
_HEADERS = 2  # lines that name the files


def unified(name: str, before: str | None, after: str) -> tuple[str, ...]:
    """Returns the lines of a diff, without their newlines.

    Args:
        name: Of the file.
        before: What it holds; None where it is not there.
        after: What it is to hold.
    """
    old = [] if before is None else before.split("\n")
    new = after.split("\n")
    lines: list[str] = []
    # A text that ends with a newline has an empty piece behind it, which is no line; one that does not lacks it.
    ends = [bool(pieces and pieces[-1]) for pieces in (old, new)]
    for pieces in (old, new):
        if pieces and not pieces[-1]:
            pieces.pop()
    rows = [[f"{piece}\n" for piece in pieces] for pieces in (old, new)]
    for each, open_ended in zip(rows, ends, strict=True):
        if open_ended:
            each[-1] = each[-1][:-1]
    shown = f"{name}\t" if " " in name else name  # else a reader takes what is behind the space for a date
    for line in unified_diff(rows[0], rows[1], "/dev/null" if before is None else shown, shown):
        lines.append(line.removesuffix("\n"))
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file")
    return tuple(lines)


def colored(lines: Iterable[str], color: bool) -> str:
    """Returns a diff as it is printed."""
    return "\n".join(
        paint(line, "bold" if row < _HEADERS else _ROLES[line[0]], color) if line[:1] in _ROLES else line
        for row, line in enumerate(lines)
    )


__all__ = ["colored", "unified"]
