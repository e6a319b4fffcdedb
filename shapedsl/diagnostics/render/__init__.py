"""Diagnostics → text. One module per ``--format``, each with ``render(diagnostics) -> str``."""

from __future__ import annotations

from typing import Final

# The names of `--format`; each is a module here. Listed so that none is imported before it is asked for.
FORMATS: Final = ("full", "concise", "json", "github", "sarif")
