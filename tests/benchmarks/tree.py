"""Text → IR with spans, against the tree with positions that Lark alone builds for the same file."""

from __future__ import annotations

from collections.abc import Iterator

from shapedsl.assets import asset
from shapedsl.frontends.text.grammar import compile_grammar

from .corpus import specs
from .measure import Row, compare
from .stages import read


def rows() -> Iterator[Row]:
    """Yields the rows."""
    lark = compile_grammar(asset("grammar/shapes.lark").read_text(encoding="utf-8"))
    for count in (10, 1000):
        text = specs(count)
        yield compare(
            f"text → IR with spans, {count:,} specs",
            read(count),
            "Lark's tree with positions",
            lambda text=text: lark.parse(text, start="file"),  # type: ignore[misc]
            aim=0.8,
            rounds=9,
        )
