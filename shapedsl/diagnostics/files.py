"""Reading a file that may be anything: a text, a device that never ends, a terabyte of noise. Writing it at once."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

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


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """Opens a file beside ``path``, for reading and writing, and puts it in its place when the block ends well.

    Whoever looks sees the old file or the new one, never a part. It has the permissions of the old one. A symbolic
    link stays a link: the file it points to is replaced.

    Args:
        path: The file; it need not be there, but its folder must.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    import stat
    import tempfile

    target = Path(os.path.realpath(path))
    if target.exists():
        if not os.access(target, os.W_OK):  # replacing would ask only the folder
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        mode = stat.S_IMODE(target.stat().st_mode)
    else:
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
