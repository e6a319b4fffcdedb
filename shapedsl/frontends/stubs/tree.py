"""The syntax tree of a stub: libcst parses what newer Pythons can, on any Python; places are found when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ...diagnostics import Report, Source, Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    import libcst as cst
    from libcst.metadata import CodeSpan

_DEEPEST = 400  # the parser is recursive, and written in a language that cannot catch its stack's end


class Tree:
    """A parsed stub.

    Attributes:
        source: Its text.
        module: Its root.
    """

    def __init__(self, source: Source, module: cst.Module) -> None:
        self.source = source
        self.module = module

    @cached_property
    def _spans(self) -> Mapping[cst.CSTNode, CodeSpan]:
        from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

        wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
        return wrapper.resolve(ByteSpanPositionProvider)

    @cached_property
    def _ascii(self) -> bool:
        return self.source.text.isascii()

    def extent(self, node: cst.CSTNode) -> tuple[int, int]:
        """Returns the offsets of a node in the text, in code points, half-open; (0, 0) for a node of another tree."""
        span = self._spans.get(node)
        if span is None:
            return 0, 0
        start, end = span.start, span.start + span.length
        if self._ascii:
            return start, end
        raw = self.source.text.encode()
        first = len(raw[:start].decode(errors="ignore"))
        return first, first + len(raw[start:end].decode(errors="ignore"))

    def span(self, node: cst.CSTNode) -> Span:
        """Returns where a node stands."""
        return self.source.span(*self.extent(node))

    def code(self, node: cst.CSTNode) -> str:
        """Returns a node's text."""
        return self.module.code_for_node(node)


def parse(source: Source, report: Report) -> Tree | None:
    """Returns the tree of a stub or a Python file; None, with a finding, if it is no Python.

    Args:
        source: The text.
        report: Receives ``syntax-error``, or ``missing-extra`` where libcst is not installed.
    """
    try:
        import libcst as cst
    except ImportError:
        report.error(
            "missing-extra",
            "reading stubs needs libcst, which is not installed",
            help="pip install 'shapedsl[stubs]'",
        )
        return None
    text = source.text
    if _depth(text) > _DEEPEST:
        report.error("input-too-large", f"brackets nest deeper than {_DEEPEST}", at=source.span(0, 0))
        return None
    try:
        return Tree(source, cst.parse_module(text))
    except cst.ParserSyntaxError as error:
        start = source.line_starts[min(error.raw_line, len(source.line_starts)) - 1] + error.raw_column
        start = min(start, len(text))
        report.error(
            "syntax-error",
            "this is no Python",
            at=source.span(start, min(start + 1, len(text))),
            label=error.message.partition("\n")[0].removeprefix("parser error: error at ").partition(": ")[2]
            or error.message.partition("\n")[0],
        )
        return None


def _depth(text: str) -> int:
    """Returns how deep brackets nest at most, strings and comments included: a bound, not a measure."""
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest


__all__ = ["Tree", "parse"]
