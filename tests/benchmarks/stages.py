"""Reading, normalizing and lowering, by the number of specs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shapedsl.diagnostics import Report, Source
from shapedsl.frontends import text
from shapedsl.ir import Module

from .corpus import specs
from .measure import Row, side_by_side, timed


def read(count: int) -> Callable[[], Module]:
    """Returns a call that reads ``count`` specs."""
    source = Source("specs.shapes", specs(count))

    def run() -> Module:
        report = Report()
        module = text.read(source, report)
        assert not report.errors, report.errors
        assert len(module.signatures) == count
        return module

    return run


def normalize(count: int) -> Callable[[], None]:
    """Returns a call that normalizes ``count`` specs, read beforehand."""
    from shapedsl.normalize import normalize as normal_form

    signatures = read(count)().signatures

    def run() -> None:
        for signature in signatures:
            report = Report()
            normal_form(signature, report)
            assert not report.errors, report.errors

    return run


def _growth(what: str, stage: Callable[[int], Callable[[], object]], counts: tuple[int, ...]) -> Iterator[Row]:
    """Yields the time a spec takes among ``n``, against what it takes among the fewest."""
    small = counts[0]
    for count in counts[1:]:
        ours, theirs = side_by_side(stage(count), stage(small), rounds=7)
        yield Row(
            f"{what}: one of {count:,} specs",
            f"one of {small:,}",
            (ours / count) / (theirs / small),
            2.0,
            ours / count,
        )


def rows() -> Iterator[Row]:
    """Yields the rows."""
    timed(read(1))
    yield from _growth("text → IR", read, (10, 100, 1000, 10_000))
    yield from _growth("IR → normal form", normalize, (10, 100, 1000))
