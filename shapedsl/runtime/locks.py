"""A lock that the child of a fork finds open: the thread that held it does not exist there."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from types import TracebackType


class Lock:
    """A reentrant lock, for ``with``."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _every.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(RuntimeError):  # forked inside of it: the child's lock is new
            self._lock.release()

    def renew(self) -> None:
        """Opens the lock, whoever holds it."""
        self._lock = threading.RLock()


_every: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew() -> None:
    for lock in _every:
        lock.renew()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_renew)
