"""Whole processes: what a user waits for on the command line."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .corpus import FIRST_FILE
from .measure import Row, compare, process


def rows() -> Iterator[Row]:
    """Yields the rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "first.shapes").write_text(FIRST_FILE, encoding="utf-8")
        libraries = process(code="import lark, click", cwd=folder)
        for verb, aim in (("fmt", 1.5), ("check", None)):
            extra = ("--check",) if verb == "fmt" else ()
            yield compare(
                f"`shapedsl {verb}` of the first file, a whole process",
                process("-m", "shapedsl", verb, *extra, "first.shapes", cwd=folder),
                "`import lark, click`",
                libraries,
                aim=aim,
                clock=time.perf_counter,
            )
        yield compare(
            "`shapedsl check` of the first file, a whole process",
            process("-m", "shapedsl", "check", "first.shapes", cwd=folder),
            "`import lark, click, sympy`",
            process(code="import lark, click, sympy", cwd=folder),
            clock=time.perf_counter,
        )
        yield compare(
            "`import shapedsl`, a whole process",
            process(code="import shapedsl", cwd=folder),
            "an empty process",
            process(code="pass", cwd=folder),
            clock=time.perf_counter,
        )
