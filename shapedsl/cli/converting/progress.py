"""A line on a terminal that says how far a run is."""

from __future__ import annotations

import sys
import time
from typing import Final, TextIO

_WIDTH: Final = 30
_EVERY: Final = 0.1  # seconds
_AFTER: Final = 0.5  # a run that is done by then needs no bar


class Progress:
    """Draws on a terminal, and nowhere else: logs and pipes get nothing."""

    def __init__(self, total: int, stream: TextIO | None = None, *, wanted: bool = True) -> None:
        """Args:
        total: How many steps there are.
        stream: Where to draw; standard error by default.
        wanted: Whether to draw at all.
        """
        self._stream = sys.stderr if stream is None else stream
        self._total = total
        self._done = 0
        self._drawn = False
        self._next = time.monotonic() + _AFTER
        self._on = wanted and total > 1 and _is_terminal(self._stream)

    def step(self) -> None:
        """Notes that a step is done."""
        self._done += 1
        if self._on and time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            filled = _WIDTH * self._done // self._total
            bar = "#" * filled + "." * (_WIDTH - filled)
            self._put(f"\r[{bar}] {self._done:,} of {self._total:,} files\x1b[K")
            self._drawn = True

    def clear(self) -> None:
        """Takes the line away, so that something else can be printed."""
        if self._drawn:
            self._put("\r\x1b[K")
            self._drawn = False

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal went away
            self._on = self._drawn = False


def _is_terminal(stream: TextIO | None) -> bool:
    import os

    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # a closed stream
        return False


__all__ = ["Progress"]
