"""The syntax tree of a stub: libcst parses what newer Pythons can, on any Python; places are found when asked for."""

from __future__ import annotations

import ast
import re
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ...diagnostics import Report, Source, Span
from .nesting import Nesting, nesting_of
from .room import with_room

if TYPE_CHECKING:
    from collections.abc import Mapping

    import libcst as cst

# The parser is recursive, and written in a language that cannot catch its stack's end; it takes exponential time for
# brackets in the pattern of a `case`. CPython itself stops at 200 brackets and 100 blocks.
_DEEPEST: Final = 400
_MOST_BRACKETS: Final = 100
_MOST_IN_PATTERN: Final = 12
# Form feeds that begin a line, which the parser loses from the tree; a new line there means the same.
_FEED: Final = re.compile(r"^[ \t]*\f[ \t\f]*", re.MULTILINE)
_SHALLOW: Final = 8  # what any thread's stack is large enough for


class NoExpressionError(Exception):
    """A text that is no expression; the text says why."""


class Tree:
    """A parsed stub.

    Attributes:
        source: Its text.
        module: Its root.
    """

    def __init__(self, source: Source, module: cst.Module) -> None:
        self.source = source
        self.module = module
        self._skipped = 1 if source.text.startswith("\ufeff") else 0  # a byte-order mark, which the parser leaves out

    @cached_property
    def _spans(self) -> Mapping[cst.CSTNode, tuple[int, int]]:
        from .spans import spans_of

        return with_room(lambda: spans_of(self.module))

    def extent(self, node: cst.CSTNode) -> tuple[int, int]:
        """Returns the offsets of a node in the text, in code points, half-open; (0, 0) for a node of another tree."""
        span = self._spans.get(node)
        return (0, 0) if span is None else (span[0] + self._skipped, span[1] + self._skipped)

    def span(self, node: cst.CSTNode) -> Span:
        """Returns where a node stands."""
        return self.source.span(*self.extent(node))

    def code(self, node: cst.CSTNode) -> str:
        """Returns a node's text."""
        start, end = self.extent(node)
        return self.source.text[start:end] or self.module.code_for_node(node)


def parse(source: Source, report: Report) -> Tree | None:
    """Returns the tree of a stub or a Python file; None, with a finding, if it is no Python.

    Args:
        source: The text.
        report: Receives ``syntax-error``, ``input-too-large``, or ``missing-extra`` where libcst is not installed.
    """
    try:
        import libcst as cst
    except ImportError:
        if all(found.code != "missing-extra" for found in report):  # said once, however many files are read
            report.error(
                "missing-extra",
                "reading Python source needs libcst, which is not installed",
                help="pip install 'shapedsl[stubs]'",
            )
        return None
    text = _FEED.sub(lambda found: found[0].replace("\f", "\n"), source.text)
    reason = _too_deep(text)
    if reason is not None:
        message, at = reason
        report.error("input-too-large", message, at=source.span(at, min(at + 1, len(text))))
        return None
    try:
        return Tree(source, with_room(lambda: cst.parse_module(text)))
    except cst.ParserSyntaxError as error:
        at, label = with_room(lambda: _fault(text)) or _told(text, error.message)
    except UnicodeEncodeError as error:  # half a surrogate pair
        at, label = error.start, "this is no character"
    except Exception as error:  # the tree's own checks: what its grammar takes and its nodes do not
        at, label = with_room(lambda: _fault(text)) or (0, str(error).partition("\n")[0])
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what the parser's language calls its errors
            raise
        at, label = with_room(lambda: _fault(text)) or (0, "")
    at = min(at, len(text))
    report.error("syntax-error", "this is no Python", at=source.span(at, min(at + 1, len(text))), label=label)
    return None


def is_python(source: Source, report: Report) -> bool:
    """Returns whether a text is Python, of any version; ``report`` receives what `parse` finds if it is not."""
    return _fault(source.text) is None or parse(source, report) is not None  # which is slower, and takes newer syntax


def _fault(text: str) -> tuple[int, str] | None:
    """Returns where Python's own parser stops, which tells more precisely, and what it says; None if it does not."""
    if "\0" in text:
        return text.index("\0"), "this is no character"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return _offset(text, error.lineno or 1, (error.offset or 1) - 1), error.msg
    except (ValueError, MemoryError, RecursionError):  # too much for it
        pass
    return None


def _told(text: str, message: str) -> tuple[int, str]:
    """Returns the place and the reason in a message of the parser: ``parser error: error at 2:9: expected one of …``."""
    place = re.search(r"error at (\d+):(\d+)", message)
    reason = message.partition("\n")[0].rpartition(": ")[2]
    return (0, reason) if place is None else (_offset(text, int(place[1]), int(place[2]) - 1), reason)


def _offset(text: str, line: int, column: int) -> int:
    starts = Source("", text).line_starts
    row = min(max(line, 1), len(starts)) - 1
    end = starts[row + 1] if row + 1 < len(starts) else len(text)
    return min(starts[row] + max(column, 0), end)


def parse_expression(text: str) -> cst.BaseExpression:
    """Returns the tree of a quoted annotation; of ``*Ts`` a starred element.

    Raises:
        NoExpressionError: It is none.
    """
    import libcst as cst

    text = text.strip()
    nesting = nesting_of(text)
    if _reason(nesting) is not None:
        raise NoExpressionError("it nests too deep")
    starred = text.startswith("*")
    written = f"({text},)" if starred else f"({text}\n)" if "\n" in text or "#" in text else text

    def work() -> cst.BaseExpression:
        return cst.parse_expression(written)

    try:
        tree = work() if nesting.depth <= _SHALLOW else with_room(work)
    except Exception:  # the parser's, or the tree's
        raise NoExpressionError("it is no expression") from None
    if starred and isinstance(tree, cst.Tuple) and len(tree.elements) == 1:
        return tree.elements[0]  # type: ignore[return-value]  # an element is interpreted as an expression is
    return tree


def _too_deep(text: str) -> tuple[str, int] | None:
    """Returns why a text is not given to the parser, and where that is seen; None if it is."""
    return _reason(nesting_of(text))


def _reason(nesting: Nesting) -> tuple[str, int] | None:
    if nesting.brackets > _MOST_BRACKETS:
        return f"brackets nest deeper than {_MOST_BRACKETS}", nesting.at
    if nesting.pattern > _MOST_IN_PATTERN:
        return f"brackets nest deeper than {_MOST_IN_PATTERN} in a `case`", nesting.at
    if nesting.depth > _DEEPEST:
        return f"this nests deeper than {_DEEPEST}", nesting.at
    return None


__all__ = ["NoExpressionError", "Tree", "is_python", "parse", "parse_expression"]
