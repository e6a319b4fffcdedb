"""Measures entries, and prints their lines of the table: ``python -m tests.models.real [--write] [NAME…]``.

With ``--write`` the lines are put into ``docs/models.md``, one by one; those of entries that are not named stay.
"""

from __future__ import annotations

import sys

from tests.models.real import table
from tests.models.real.measured import measure


def main(arguments: list[str]) -> None:
    """Measures the entries whose names begin with one of ``arguments``, or all."""
    write = "--write" in arguments
    names = [each for each in arguments if not each.startswith("--")]
    for entry in table.entries():
        if names and not entry.name.startswith(tuple(names)):
            continue
        row = table.line(entry, measure(entry))
        print(row, flush=True)  # noqa: T201
        if write:
            text = table.page({**table.lines(), entry.name: row})
            table.PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
