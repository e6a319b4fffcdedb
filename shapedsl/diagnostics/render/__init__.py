"""Diagnostics → text. One module per ``--format``, each with ``render(diagnostics) -> str``."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from ..diagnostic import Diagnostic

# The names of `--format`; each is a module here. Listed so that none is imported before it is asked for.
FORMATS: Final = ("full", "concise", "json", "github", "sarif")

MOST: Final = 200  # findings that are shown to a person at once; formats for machines hold them all


def capped(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], str]:
    """Returns the findings to show, and a line about those left out: empty if there are none."""
    found = iter(diagnostics)
    shown = list(islice(found, MOST))
    more = sum(1 for _ in found)
    return shown, f"... and {more} more finding{'' if more == 1 else 's'}" if more else ""
