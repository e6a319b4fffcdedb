"""``from "common.shapes" import B, Cache``: other files' declarations, each file read once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ...diagnostics import Report, Source
from ...diagnostics.files import read_bytes
from . import limits
from .scope import Scope
from .syntax import Import

Load = Callable[[Path], Source]


def load_source(path: Path) -> Source:
    """Returns a file's text.

    Raises:
        OSError: It cannot be read.
        UnicodeDecodeError: It is not UTF-8.
        ValueError: There is a NUL in its name.
    """
    return Source(str(path), read_bytes(path).decode("utf-8-sig"))


def resolved(path: Path) -> Path:
    """Returns the file that a path names, however it is written; the path itself if it can name none."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path


class Importer:
    """Reads imported files; each has one scope, however often and under whatever name it is imported.

    Attributes:
        load: Reads a file.
        scope_of: Makes a file's scope: its text's declarations, its own imports included.
    """

    def __init__(self, report: Report, load: Load | None, scope_of: Callable[[Source, Path], Scope]) -> None:
        self._report = report
        self._load = load or load_source
        self._scope_of = scope_of
        self._scopes: dict[Path, Scope | None] = {}
        self._open: list[Path] = []

    def scope(self, statement: Import, base: Path | None) -> Scope | None:
        """Returns the scope of the file that ``statement`` names; None if it cannot be read (reported).

        Args:
            statement: The import.
            base: The folder of the importing file; None if it is none.
        """
        at = statement.path_span
        if base is None:
            self._report.error(
                "unreadable-file",
                "imports need a folder to start from, and this text has none",
                at=at,
                help="read the spec from a file",
            )
            return None
        path = base / statement.path
        key = resolved(path)
        if resolved(plain := Path(os.path.normpath(path))) == key:  # `..` behind a link leads elsewhere
            path = plain
        if key in self._open:
            circle = [*self._open[self._open.index(key) :], key]
            self._report.error(
                "import-cycle",
                f"`{statement.path}` imports itself" if len(circle) == 2 else "files import each other in a circle",
                at=at,
                label="closes the circle",
                note=" -> ".join(file.name for file in circle),
                help="move what both need into a third file",
            )
            return None
        if key not in self._scopes:
            self._scopes[key] = self._read(statement, path, key)
        return self._scopes[key]

    def _read(self, statement: Import, path: Path, key: Path) -> Scope | None:
        at = statement.path_span
        if len(self._open) >= limits.IMPORTS:
            self._report.error("input-too-large", f"imports more than {limits.IMPORTS} files deep", at=at)
            return None
        try:
            source = self._load(path)
        except UnicodeDecodeError as error:
            self._report.error(
                "invalid-utf8", f"`{statement.path}` is not UTF-8 text: byte {error.start} begins no character", at=at
            )
            return None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self._report.error(
                "unreadable-file", f"cannot read `{statement.path}`: {reason}", at=at, label="imported here"
            )
            return None
        self._open.append(key)
        try:
            return self._scope_of(source, path.parent)
        finally:
            self._open.pop()

    def open(self, path: Path) -> None:
        """Notes that ``path`` is being read: an import of it closes a circle."""
        self._open.append(path)


__all__ = ["Importer", "Load", "load_source", "resolved"]
