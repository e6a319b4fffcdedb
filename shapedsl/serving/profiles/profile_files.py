"""Profile files: read, and written so that nobody's calls are lost.

A file is never written in place: the new text goes to a temporary file beside it, which then takes its place. Who saves
holds a lock (``FILE.lock``) while it adds its own calls to those that the file holds, so that any number of
threads, processes and ranks may save to one file. A file that cannot be read is put aside, never overwritten.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Final

from ...diagnostics import Report
from ...diagnostics.files import read_bytes, replacing
from .profile import Profile
from .profile_json import MalformedProfileError, read_profiles, write_profiles

_PATIENCE: Final = 60.0  # seconds to wait for a lock, where the system does not wait by itself


def load_profiles(path: Path, report: Report) -> list[Profile]:
    """Returns the profiles of a file; none, with a finding, if it cannot be read.

    Args:
        path: The file.
        report: Receives ``unreadable-file`` or ``damaged-profile``.
    """
    try:
        raw = read_bytes(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        report.error("unreadable-file", f"cannot read `{path}`: {reason}")
        return []
    return parse_profiles(str(path), raw, report)


def parse_profiles(name: str, raw: bytes, report: Report) -> list[Profile]:
    """Returns the profiles of a file's contents; none, with ``damaged-profile`` in ``report``, if they are no such."""
    try:
        return read_profiles(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        why = "it is not UTF-8 text"
    except MalformedProfileError as error:
        why = str(error)
    report.error(
        "damaged-profile",
        f"`{name}` is not a whole profile: {why}",
        help="profiles are written by `observe` and its `save`; take the file from a backup, or do without it",
    )
    return []


def save_profile(path: Path, profile: Profile, report: Report) -> None:
    """Adds the calls of ``profile`` to what a file holds, at once: whoever looks sees the old file or the new one.

    Args:
        path: The file; it and its folder are made if they are not there.
        profile: Calls that the file does not have yet.
        report: Receives the warning ``damaged-profile`` where the file was no profile; it is put aside then.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    lock = target.with_name(f"{target.name}.lock")
    with _locked(lock):
        held: list[Profile] = []
        if target.exists() and target.stat().st_size:
            found = Report()
            held = load_profiles(target, found)
            for each in found.errors:
                if each.code != "damaged-profile":
                    raise OSError(each.message)
                aside = _aside(target)
                report.warning("damaged-profile", each.message, note=f"it is kept as `{aside}`; a new one was begun")
        merged = merge_profiles([*held, profile])
        with replacing(target) as file:
            file.write(write_profiles(merged).encode())


def merge_profiles(profiles: Iterable[Profile]) -> list[Profile]:
    """Returns one profile for each callable, in the order in which they come."""
    merged: dict[str, Profile] = {}
    for profile in profiles:
        if profile.name in merged:
            merged[profile.name].merge(profile)
        else:
            merged[profile.name] = profile.copy()
    return list(merged.values())


def _aside(target: Path) -> Path:
    """Puts a file aside under a name that is free, and returns that."""
    number = 1
    while True:
        name = target.with_name(f"{target.name}.damaged-{number}")
        if not name.exists():
            os.replace(target, name)
            return name
        number += 1


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Holds a lock, which the system takes back when this process ends, however it ends.

    Raises:
        OSError: The lock cannot be had.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        release = _lock(descriptor)
        try:
            yield
        finally:
            release()
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> Callable[[], None]:
    try:
        import fcntl
    except ImportError:  # Windows
        return _lock_on_windows(descriptor)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return lambda: fcntl.flock(descriptor, fcntl.LOCK_UN)


def _lock_on_windows(descriptor: int) -> Callable[[], None]:
    import msvcrt

    lock: Callable[[int, int, int], None] = getattr(msvcrt, "locking")  # noqa: B009 - a checker elsewhere knows none
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            lock(descriptor, 2, 1)  # LK_NBLCK
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return lambda: lock(descriptor, 0, 1)  # LK_UNLCK


__all__ = ["load_profiles", "merge_profiles", "parse_profiles", "save_profile"]
