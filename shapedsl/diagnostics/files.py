"""Reading a file that may be anything: a text, a device that never ends, a terabyte of noise."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

MOST: Final = 128 * 1024 * 1024  # bytes: four for each code point that a text may have


def read_bytes(path: Path) -> bytes:
    """Returns what a file holds.

    Raises:
        OSError: It cannot be read, or holds more than `MOST`.
        ValueError: No file can have this name.
    """
    with path.open("rb") as file:
        raw = file.read(MOST + 1)
    if len(raw) > MOST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return raw
