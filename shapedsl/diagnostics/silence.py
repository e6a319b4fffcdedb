"""``# shapedsl: ignore[code]`` at the end of a line: that warning is not wanted there.

Errors cannot be silenced: what they stop would still be wrong.
"""

from __future__ import annotations

import re
from typing import Final

from .diagnostic import Diagnostic, Severity

_COMMENT: Final = re.compile(r"#[ \t]*shapedsl:[ \t]*ignore\[([a-z0-9, \t-]*)\]")


def is_silenced(diagnostic: Diagnostic) -> bool:
    """Returns whether the line of the main span ends with a comment that names the diagnostic's code."""
    span = diagnostic.span
    if span is None or diagnostic.severity is Severity.ERROR or "shapedsl:" not in span.source.text:
        return False
    line, column = span.source.position(span.start)
    comment = _COMMENT.search(span.source.line(line), column - 1)
    return comment is not None and diagnostic.code in [code.strip() for code in comment[1].split(",")]
