"""Run what recurses deeply on a stack of its own, large enough for the deepest text that is let through."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

_STACK: Final = 256 * 1024 * 1024  # bytes of address space; what is not touched takes no memory
_FRAMES: Final = 20_000
_LOCK: Final = threading.Lock()
T = TypeVar("T")


class _Here(threading.local):
    """Whether this thread has a large stack."""

    roomy = False


_HERE: Final = _Here()


def with_room(work: Callable[[], T]) -> T:
    """Returns what ``work`` does, run on a large stack; what it raises is raised here.

    Where the stack is large already, it is used.
    """
    if _HERE.roomy:
        return work()
    done: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        _HERE.roomy = True
        try:
            done.append(work())
        except BaseException as error:  # whatever it is belongs to the caller
            raised.append(error)

    with _LOCK:  # the stack's size is told the whole process
        limit = sys.getrecursionlimit()
        before = _stack_size(_STACK)
        sys.setrecursionlimit(max(limit, _FRAMES))
        try:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        finally:
            sys.setrecursionlimit(limit)
            _stack_size(before)
    if raised:
        raise raised[0]
    result: T = done[0]
    return result


def _stack_size(size: int) -> int:
    """Returns the size that new threads had so far, after setting it; 0 where that cannot be set."""
    try:
        return threading.stack_size(size)
    except (ValueError, RuntimeError):
        return 0


__all__ = ["with_room"]
