"""How much is read. Hostile text must give a diagnostic in bounded time and memory, never a RecursionError.

A spec that people write stays orders of magnitude below each of these.
"""

from __future__ import annotations

from typing import Final, NoReturn

from ...diagnostics import Report, Span

TEXT: Final = 32 * 1024 * 1024  # code points in a file
BRACKETS: Final = 100  # open at once
DEPTH: Final = 100  # operators inside each other, after expansion
NODES: Final = 5_000  # nodes of one size, predicate or type, after expansion
MEMBERS: Final = 4096  # of a set
REPEATS: Final = 10_000  # element types of `[T] * n`, nested ones multiplied
EXPONENT: Final = 63  # above it, every base but -1, 0, 1 leaves int64
INTEGER: Final = 2**63 - 1
SYNTAX_ERRORS: Final = 100  # reported for one file
NOTES: Final = 8  # lets that a constraint names
IMPORTS: Final = 50  # files deep
BUDGET: Final = 200_000  # nodes that the lets, types and wheres of one file may expand to,
BUDGET_PER_CHARACTER: Final = 2  # and for each code point of its text
CONSTRAINT: Final = 20  # nodes that a constraint of a file's `where` counts for, in each def


class UnreadableError(Exception):
    """Ends the parse of a statement: going on would cost too much, or mean nothing.

    Attributes:
        code: Of the diagnostic.
        span: Where.
    """

    def __init__(self, code: str, message: str, span: Span | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span

    def tell(self, report: Report) -> None:
        """Adds the finding to ``report``."""
        report.error(self.code, self.message, at=self.span)


class LeansOnBrokenError(UnreadableError):
    """What uses a declaration that could not be read cannot be understood; the cause was told already."""

    def __init__(self, name: str) -> None:
        super().__init__("syntax-error", f"`{name}` could not be read", None)

    def tell(self, report: Report) -> None:
        """Adds nothing."""


def fail(code: str, message: str, span: Span | None) -> NoReturn:
    """Ends the parse of a statement with one error."""
    raise UnreadableError(code, message, span)
