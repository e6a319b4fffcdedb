"""What a run wrote, so that it can be taken back.

A journal is a file of JSON lines: a head, then a line for each file, with what it held and digests of that and
of what it holds now. The line is on disk before the file is replaced. So whatever ends a run, and whenever, each
file is as one of its two digests says, and undoing knows which.

A file that has neither was changed by somebody since, and is left to them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

FOLDER: Final = os.path.join(".shapedsl", "undo")
_VERSION: Final = 1
_KEPT: Final = 20  # runs that can be taken back


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that a run wrote.

    Attributes:
        path: Where it is.
        before: What it held; None where the run made it.
        after: The digest of what the run wrote.
        line: The entry, as the journal has it.
    """

    path: Path
    before: bytes | None
    after: str
    line: str


class Journal:
    """The journal of a run; made when the first file is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[str] | None = None
        self.count = 0

    def note(self, path: Path, before: bytes | None, after: bytes) -> None:
        """Makes sure that a change which is about to be made can be taken back.

        Args:
            path: The file.
            before: What it holds; None where it is not there.
            after: What it is going to hold.

        Raises:
            OSError: The journal cannot be written; then the file must not be.
        """
        if self._file is None:
            self._file = self._open()
        entry = {
            "path": _relative(path, self._folder),
            "before": None if before is None else digest(before),
            "after": digest(after),
            "content": None if before is None else base64.b85encode(zlib.compress(before)).decode(),
        }
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.count += 1

    def close(self) -> None:
        """Ends the journal."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> IO[str]:
        self._folder.mkdir(parents=True, exist_ok=True)
        ignore = self._folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        runs = _runs(self._folder)
        number = int(runs[-1].stem) + 1 if runs else 1
        for old in runs[: max(0, len(runs) + 1 - _KEPT)]:
            old.unlink(missing_ok=True)
        while True:
            try:
                file = (self._folder / f"{number:06}.jsonl").open("x", encoding="utf-8")
                break
            except FileExistsError:  # another run, at the same time
                number += 1
        file.write(json.dumps({"version": _VERSION, "started": time.strftime("%Y-%m-%dT%H:%M:%S%z")}) + "\n")
        return file


def latest(folder: Path) -> Path | None:
    """Returns the journal of the last run that was not taken back; None if there is none."""
    runs = _runs(folder)
    return runs[-1] if runs else None


def entries(journal: Path) -> list[Entry]:
    """Returns what a run wrote, the last file first.

    Raises:
        OSError: The journal cannot be read.
        ValueError: It is none, or one of another version.
    """
    head, *lines = journal.read_text(encoding="utf-8").split("\n")
    facts: Any = json.loads(head)
    if not isinstance(facts, dict) or "version" not in facts or facts["version"] != _VERSION:
        raise ValueError(f"`{journal}` is no journal of this version")
    return list(_parsed(journal.parent, lines))[::-1]


def _parsed(folder: Path, lines: list[str]) -> Iterator[Entry]:
    for at, line in enumerate(lines):
        if not line:
            continue
        try:
            entry = json.loads(line)
        except ValueError:
            if at == len(lines) - 1:  # the run was ended while it wrote this line, so it did not write the file
                return
            raise
        content = entry["content"]
        before = None if content is None else zlib.decompress(base64.b85decode(content))
        if before is not None and digest(before) != entry["before"]:
            raise ValueError(f"what the journal has of `{entry['path']}` is damaged")
        yield Entry(Path(os.path.normpath(folder.absolute() / entry["path"])), before, entry["after"], line)


def keep(journal: Path, left: list[Entry]) -> None:
    """Makes a journal hold only what was not taken back; of nothing, none is left.

    Args:
        journal: The file.
        left: Some of its entries, the last file first.
    """
    from ..common import write_file

    if not left:
        journal.unlink(missing_ok=True)
        return
    head = journal.read_text(encoding="utf-8").partition("\n")[0]
    write_file(journal, "".join(f"{line}\n" for line in [head, *(entry.line for entry in reversed(left))]))


def digest(raw: bytes) -> str:
    """Returns what tells contents apart."""
    return hashlib.sha256(raw).hexdigest()


def _runs(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.glob("*.jsonl") if path.stem.isdecimal())
    except OSError:
        return []


def _relative(path: Path, folder: Path) -> str:
    """Returns a path as seen from the journal, so that both can be moved together."""
    full = os.path.realpath(path)
    try:
        return os.path.relpath(full, os.path.realpath(folder))
    except ValueError:  # another drive
        return full


__all__ = ["FOLDER", "Entry", "Journal", "digest", "entries", "keep", "latest"]
