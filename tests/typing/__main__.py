"""Runs every checker and rewrites the table of docs/checkers.md: ``python -m tests.typing``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .matrix import bless, run_all


def main() -> None:
    """Prints the table, and what was found."""
    with tempfile.TemporaryDirectory() as folder:
        table, findings = run_all(Path(folder))
    for each in findings:
        print(f"{each.file}:{each.line}: {each.message}")
    print(table, end="")
    bless(table)


main()
