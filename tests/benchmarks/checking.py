"""``shapedsl check`` by the number of specs, and of one spec by the number of its cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source

from .corpus import cases, grid, specs
from .measure import Row, side_by_side, timed


def check(text: str, allowed: frozenset[str] = frozenset()) -> Callable[[], Report]:
    """Returns a call that checks ``text``, which holds nothing wrong but what is ``allowed``."""
    source = Source("specs.shapes", text)

    def run() -> Report:
        report = Report()
        pipeline.check(source, report)
        unexpected = [each for each in report if each.code not in allowed]
        assert not unexpected, unexpected
        return report

    return run


def rows() -> Iterator[Row]:
    """Yields the rows."""
    timed(check(specs(4)))
    for count in (300, 1000):
        ours, theirs = side_by_side(check(specs(count)), check(specs(100)), rounds=5, budget=40)
        yield Row(
            f"`check`: one of {count:,} specs ({1000 * ours / count:.2f} ms)",
            "one of 100",
            (ours / count) / (theirs / 100),
            2.0,
            ours / count,
        )
    for what, text in (("boxes", grid), ("residues and products", cases)):
        for count in (40, 80):
            ours, theirs = side_by_side(check(text(count)), check(text(10)), rounds=5, budget=20)
            yield Row(
                f"`check` of {count} cases over 4 variables, {what} ({1000 * ours:.0f} ms)",
                f"10 cases ({1000 * theirs:.0f} ms)",
                ours / theirs,
                None,
                ours,
            )
