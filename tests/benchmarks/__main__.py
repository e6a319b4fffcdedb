"""Runs the benchmarks named on the command line, or all of them, and prints the table of docs/performance.md."""

from __future__ import annotations

import importlib
import sys

from .measure import Row

ALL = (
    "start",
    "tree",
    "stages",
    "deciding",
    "checking",
    "lowering",
    "annotating",
    "stubs",
    "converting",
    "dispatching",
    "verifying",
    "curing",
)


def line(row: Row) -> str:
    """Returns a row of the table."""
    aim = "" if row.aim is None else f"≤ {row.aim:.3g}"
    return f"| {row.what} | {row.than} | {row.ratio:.3g} | {aim} |"


def main() -> None:
    """Prints each row as soon as it is known."""
    names = sys.argv[1:] or ALL
    if unknown := [name for name in names if name not in ALL]:
        sys.exit(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(ALL)}")
    print("| | compared with | ratio | aim |\n|---|---|---|---|")
    for name in names:
        module = importlib.import_module(f"tests.benchmarks.{name}")
        for row in module.rows():
            print(line(row), flush=True)


main()
