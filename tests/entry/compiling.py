"""Compile under a spec given as text, and count the graphs that torch makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shapedsl import pipeline
from shapedsl.diagnostics import Report
from shapedsl.ir.expanded import Expanded, Lowered
from shapedsl.targets.entry.compile import compile_callable
from tests.runtime.fakes import signature


def lower(expanded: Expanded, statics: Mapping[str, int], allow_negative_ints: bool) -> Lowered:
    """Lowers as the API does."""
    report = Report()
    lowered = pipeline.lower(expanded, report, statics=statics, allow_negative_ints=allow_negative_ints)
    report.raise_errors()
    assert lowered is not None
    return lowered


class Graphs:
    """A backend that runs graphs eagerly and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, graph: Any, examples: object) -> Callable[..., Any]:
        self.count += 1
        forward: Callable[..., Any] = graph.forward
        return forward


def compiled(target: Any, text: str, **options: Any) -> tuple[Any, Graphs]:
    """Returns ``target`` compiled under the only spec of ``text``, and the count of its graphs."""
    graphs = Graphs()
    return compile_callable(
        target, signature(text), lower, solve=pipeline.solve, **{"backend": graphs, **options}
    ), graphs
