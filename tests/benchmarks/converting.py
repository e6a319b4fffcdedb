"""Legacy specs in a tree of Python files: files a second with one process and two, and whether that grows linearly.

Compared with what libcst alone takes for the trees of those files that mention legacy specs: no codemod can do without.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from shapedsl.cli.converting.files import files_in
from shapedsl.cli.converting.pool import outcomes
from shapedsl.cli.converting.work import Task
from shapedsl.diagnostics import Report
from shapedsl.pipeline import may_use_legacy_specs

from .measure import Row, process, timed
from .sources import write_tree

FEW, MANY = 500, 2000


def tasks(folder: Path) -> list[Task]:
    """Returns what is to be done for a tree."""
    return [Task(each.name, each.named) for each in files_in([str(folder)], (), Report())]


def converting(given: list[Task]) -> Callable[[], object]:
    """Returns a call that converts files in this process."""

    def convert() -> object:
        sites = skipped = 0
        for outcome in outcomes(given, 1):
            sites += len(outcome.sites)
            skipped += outcome.skipped
        assert sites > len(given) // 5, "the tree has call sites"
        assert not skipped
        return sites

    return convert


def parsing(given: list[Task]) -> Callable[[], object]:
    """Returns a call that parses those files that mention legacy specs."""
    import libcst

    def parse() -> object:
        texts = (Path(task.name).read_bytes() for task in given)
        return sum(len(libcst.parse_module(text).body) for text in texts if may_use_legacy_specs(text))

    return parse


def command(folder: Path, jobs: int) -> Callable[[], object]:
    """Returns a call that converts a tree as a user does, in processes of their own."""
    return process("-m", "shapedsl", "convert", "--report", "json", "--jobs", str(jobs), str(folder), accept=(0, 1))


def rows() -> Iterator[Row]:
    """Yields the rows."""
    with tempfile.TemporaryDirectory() as name:
        few, many = Path(name, "few"), Path(name, "many")
        write_tree(few, FEW)
        write_tree(many, MANY)
        converting(tasks(few))()  # warms up
        theirs = timed(parsing(tasks(many)))
        before, ours, after = (timed(converting(tasks(folder))) for folder in (few, many, few))
        yield Row(
            f"`convert` of {MANY:,} files, one job ({MANY / ours:,.0f} files a second)",
            "libcst's trees of those that mention specs",
            ours / theirs,
            seconds=ours,
        )
        wall = time.perf_counter
        one, two = timed(command(many, 1), wall), timed(command(many, 2), wall)
        yield Row(
            f"the same, a whole process with two jobs ({MANY / two:,.0f} files a second)",
            "with one",
            two / one,
            0.7,
            two,
        )
        each = ours / MANY
        yield Row(
            f"`convert`: one of {MANY:,} files", f"one of {FEW:,}", each / ((before + after) / 2 / FEW), 1.2, each
        )


__all__ = ["rows"]
