"""Writes ``docs/stub-library.md`` from the entries that the tests run: ``python -m tests.models``."""

from __future__ import annotations

from tests.models.table import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
