"""Stub → IR: how many functions a second, and whether ten times as many take ten times as long.

Compared with what parsing the same text with libcst alone takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source

from .measure import Row, compare, timed

HEAD = """\
from typing import Literal as L, Optional
from shapedsl import Tensor, shapes, where
from shapedsl.dims import B, D, S
from shapedsl.dtypes import int64

Hidden = Tensor[B, D]
"""
BODY = """
@where(B < 32)
def plain{i}(x: Hidden, w: Tensor["D", "D"], ids: Optional[int64[B, L["2*S+1"]]] = None) -> Hidden: ...

@shapes("dim B in [1, 64]")
class Net{i}:
    def forward(self, x: Tensor[B, 2 * D], *, mask: Tensor[B, S] | None = None) -> tuple[Tensor[B], Tensor[S]]: ...
"""


def text(count: int) -> str:
    """Returns a stub with ``count`` functions."""
    return HEAD + "".join(BODY.format(i=i) for i in range(count // 2))


def reading(count: int) -> Callable[[], object]:
    """Returns a call that reads ``count`` functions."""
    source = Source("generated.pyi", text(count))

    def read() -> object:
        report = Report()
        module = pipeline.read_stub(source, report)
        assert len(tuple(module)) == count
        assert not report.diagnostics
        return module

    return read


def rows() -> Iterator[Row]:
    """Yields the rows."""
    import libcst

    for count in (100, 1000):
        written = text(count)
        row = compare(
            f"stub → IR, {count:,} functions",
            reading(count),
            "libcst's tree of the text",
            lambda written=written: libcst.parse_module(written),  # type: ignore[misc]
            rounds=5,
        )
        yield replace(row, what=f"{row.what} ({count / row.seconds:,.0f} a second)")
    one, ten = timed(reading(1000)) / 1000, timed(reading(10000)) / 10000
    yield Row("stub → IR: one of 10,000 functions", "one of 1,000", ten / one, 2, ten)
