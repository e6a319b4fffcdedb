"""Changes → files, each at once or not at all; and back."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ...diagnostics import Report
from ...diagnostics.files import read_bytes
from ..common import write_file
from .journal import Entry, Journal, digest, entries, keep
from .outcome import Change


def write(change: Change, journal: Journal, report: Report) -> bool:
    """Returns whether a change was made. Nothing that interrupts leaves a file in between.

    Args:
        change: What to do.
        journal: Notes it first.
        report: Receives ``skipped-file`` if the file was changed meanwhile, ``unreadable-file`` if it cannot be written.
    """
    path = Path(change.name)
    try:
        with unbroken():
            if _contents(path) != change.before:
                report.warning("skipped-file", f"`{path}` was changed while it was converted; it is left alone")
                return False
            if change.before is not None and not _is_writable(path):
                help_ = "allow writing, and run again"
                report.warning("skipped-file", f"`{path}` is read-only; it is left alone", help=help_)
                return False
            journal.note(path, change.before, change.after)
            write_file(path, change.after)
    except OSError as error:
        where = "" if error.filename in (None, str(path)) else f" (`{error.filename}`)"
        report.error("unreadable-file", f"cannot write `{path}`: {error.strerror or error}{where}")
        return False
    return True


@dataclass(frozen=True, slots=True)
class Undone:
    """What undoing a run did.

    Attributes:
        restored: The files that hold what they held.
        removed: The files that the run had made; they are gone again.
        refused: The files that somebody changed since, or that cannot be written.
    """

    restored: tuple[str, ...]
    removed: tuple[str, ...]
    refused: tuple[str, ...]


def undo(journal: Path, below: Sequence[str], report: Report) -> Undone:
    """Takes back what a run wrote; what it cannot take back stays in the journal.

    Args:
        journal: Of the run.
        below: Files and folders that it is asked for; all, if empty.
        report: Receives ``changed-since`` and ``unreadable-file``.

    Raises:
        OSError: The journal cannot be read or written.
        ValueError: It is damaged.
    """
    wanted = [os.path.realpath(path) for path in below]
    restored: list[str] = []
    removed: list[str] = []
    refused: list[str] = []
    left: list[Entry] = []
    for entry in entries(journal):
        name = _shown(entry.path)
        if wanted and not any(_is_below(entry.path, path) for path in wanted):
            left.append(entry)
            continue
        try:
            with unbroken():
                raw = _contents(entry.path)
                if raw == entry.before:
                    continue  # never written, or put back by other means
                if raw is None or digest(raw) != entry.after:
                    left.append(entry)
                    refused.append(name)
                    what = "is gone" if raw is None else "was changed since it was converted"
                    report.error("changed-since", f"`{name}` {what}; it is left alone")
                    continue
                if entry.before is None:
                    entry.path.unlink()
                    removed.append(name)
                else:
                    write_file(entry.path, entry.before)
                    restored.append(name)
        except OSError as error:
            left.append(entry)
            refused.append(name)
            report.error("unreadable-file", f"cannot write `{name}`: {error.strerror or error}")
    keep(journal, left)
    return Undone(tuple(reversed(restored)), tuple(reversed(removed)), tuple(reversed(refused)))


def _is_writable(path: Path) -> bool:
    """Returns whether a file may be replaced; a superuser is held to its permissions too."""
    return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)


def _contents(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None


def _shown(path: Path) -> str:
    """Returns a path as a user in the current folder writes it."""
    try:
        relative = os.path.relpath(path, os.path.realpath("."))
    except ValueError:  # another drive
        return str(path)
    return str(path) if relative.startswith(os.pardir) else relative


def _is_below(path: Path, folder: str) -> bool:
    full = os.path.realpath(path)
    return full == folder or full.startswith(folder.rstrip(os.sep) + os.sep)


@contextmanager
def unbroken() -> Generator[None, None, None]:
    """Holds back Ctrl-C and other requests to end until its block is done."""
    pending: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        pending.append(number)

    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # SIG_IGN stays: whoever started us with nohup does not want a hang-up to be heard afterwards.
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if pending:
            signal.raise_signal(pending[0])


__all__ = ["Undone", "unbroken", "undo", "write"]
