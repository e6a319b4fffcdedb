"""Reading costs less than Lark's own tree, and grows with the file."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from shapedsl.assets import asset
from shapedsl.diagnostics import Report, Source
from shapedsl.frontends.text import read
from shapedsl.frontends.text.grammar import compile_grammar
from shapedsl.frontends.text.tables import GRAMMAR

HEAD = "language 1\n\ndim B in [0, 1024] hint 8\ndim D hint 64\n"
SPEC = "\ndef project{}(x: Tensor[B, D], w: Tensor[D, 2 * D + 1]) -> Tensor[B, D]:\n    where B < 32\n"


def text(specs: int) -> str:
    return HEAD + "".join(SPEC.format(i) for i in range(specs))


def best(function: Callable[[], object], times: int = 5) -> float:
    shortest = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        function()
        shortest = min(shortest, time.perf_counter() - begun)
    return shortest


def test_text_to_ir_costs_less_than_larks_tree() -> None:
    lark = compile_grammar(asset(GRAMMAR).read_text(encoding="utf-8"))
    written = text(100)
    source = Source("<text>", written)
    gc.disable()  # Lark does not pause it, and would lose for that alone
    try:
        theirs = best(lambda: lark.parse(written, start="file"))
        ours = best(lambda: read(source, Report()))
    finally:
        gc.enable()
    assert ours <= 0.8 * theirs


def test_it_is_linear() -> None:
    small, large = Source("<small>", text(200)), Source("<large>", text(2000))
    assert best(lambda: read(large, Report()), 2) <= 20 * best(lambda: read(small, Report()), 5)
