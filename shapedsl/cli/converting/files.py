"""Paths that a user names → the Python files that are meant, in an order that no machine changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Final

from ...diagnostics import Report

# Folders that hold other people's code, or what tools made: besides hidden ones and virtual environments.
_OTHERS: Final = frozenset(("__pycache__", "__pypackages__", "node_modules", "site-packages"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be converted.

    Attributes:
        name: Its path, as messages and diffs have it.
        named: Whether the user named the file itself, and not a folder around it.
    """

    name: str
    named: bool


def files_in(names: Sequence[str], excluded: Sequence[str], report: Report) -> list[Candidate]:
    """Returns the files that paths mean, each once, folders sorted by name.

    Args:
        names: Files and folders.
        excluded: Globs of what is left out: a name (``test_*.py``) or a path below a folder (``src/old/*``).
        report: Receives ``unreadable-file`` for what is not there, and ``skipped-file`` for links to folders.
    """
    found: dict[str, Candidate] = {}
    for name in names:
        if os.path.isdir(name):
            candidates: Iterable[Candidate] = _below(name, excluded, report)
        elif os.path.lexists(name):
            candidates = (Candidate(name, named=True),)
        else:
            report.error("unreadable-file", f"cannot read `{name}`: {os.strerror(2)}")
            continue
        for candidate in candidates:
            found.setdefault(_identity(candidate.name), candidate)
    return list(found.values())


def _identity(name: str) -> str:
    """Returns what tells two files apart: a link is a file of its own, whatever folder it is reached through."""
    folder, file = os.path.split(name)
    return os.path.join(os.path.realpath(folder or "."), file)


def _below(folder: str, excluded: Sequence[str], report: Report) -> Iterator[Candidate]:
    def unreadable(error: OSError) -> None:
        report.error("unreadable-file", f"cannot read `{error.filename}`: {error.strerror or error}")

    for root, folders, files in os.walk(folder, onerror=unreadable):
        kept: list[str] = []
        for name in sorted(folders):
            path = os.path.normpath(os.path.join(root, name))
            if name.startswith(".") or name in _OTHERS or _is_excluded(path, name, excluded):
                continue
            if os.path.islink(path):
                report.warning("skipped-file", f"`{path}` is a symbolic link to a folder, which is not followed")
            elif not os.path.exists(os.path.join(path, "pyvenv.cfg")):
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            path = os.path.normpath(os.path.join(root, name))
            if name.endswith(".py") and not name.startswith(".") and not _is_excluded(path, name, excluded):
                yield Candidate(path, named=False)


def _is_excluded(path: str, name: str, excluded: Sequence[str]) -> bool:
    plain = path.replace(os.sep, "/")
    return any(fnmatch(name, glob) or fnmatch(plain, glob) or fnmatch(plain, f"*/{glob}") for glob in excluded)


__all__ = ["Candidate", "files_in"]
