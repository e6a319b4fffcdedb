"""The canonical layout: tokens, the space between them, and where a line that is too long is broken.

`fmt` and the writer of the IR share it, so that what the writer writes is what `fmt` would make of
it. Knows no grammar and imports nothing of the package.
"""

from __future__ import annotations

from .rows import INDENT, WIDTH, Row, lay_out
from .tokens import scan

__all__ = ["INDENT", "WIDTH", "Row", "fit", "lay_out"]


def fit(line: str, indent: int) -> list[str]:
    """Returns a logical line, correct and without comments, as the rows it takes; without their indentation.

    Args:
        line: On one row.
        indent: The width of what the caller puts before each row.
    """
    if indent + len(line) <= WIDTH:
        return [line]
    tokens = [token for token in scan(line) if token.kind != "space"]
    return [row.text[indent:] for row in lay_out(tokens, line, indent)]
