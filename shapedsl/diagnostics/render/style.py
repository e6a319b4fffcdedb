"""Terminal colors: when to use them, and which."""

from __future__ import annotations

import os
from typing import Final, TextIO

_CODES: Final = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "frame": "1;34",
    "bold": "1",
    "removed": "31",
    "added": "32",
}


def wants_color(stream: TextIO | None) -> bool:
    """Returns whether text for ``stream`` should be colored.

    Only a terminal gets colors. ``NO_COLOR`` (https://no-color.org) turns them off, ``FORCE_COLOR``
    on, each where it is set and not empty; the former wins.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("TERM") == "dumb":
        return False
    try:
        return stream is not None and stream.isatty()  # None: it was closed before we began
    except ValueError:  # a closed stream
        return False


def paint(text: str, role: str, color: bool) -> str:
    """Returns ``text`` in the color of ``role`` (a severity, ``frame``, ``bold``), or unchanged where ``color`` is off."""
    return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if color and text else text
