"""Padded tensors that are used again: once they are warm, padding allocates nothing.

A buffer is flat, and as large as the largest tensor that was padded in it. It is lent to one call; after that call it
comes back only if nobody else holds its memory: neither a result, nor what autograd saved, nor an attribute
that the callee keeps. So calls in several threads have buffers of their own, and no later call changes what an
earlier one left behind.

Before and after, for ``x: Tensor[S, 4]`` with 3 rows, padded to 8::

    new slots            rows 3 to 7 are filled anew in each call
    real data            rows 0 to 2 are copied; if the callee changed them, they are copied back
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any, Final

import torch

from ...runtime.locks import Lock

MOST_IDLE: Final = 8  # buffers of one kind that wait; more threads than that allocate
MOST_VIEWS: Final = 1024  # prepared layouts of one buffer


class Buffer:
    """Flat memory for one padded tensor at a time.

    Attributes:
        flat: One axis.
        views: What was prepared for a layout, by any key.
    """

    __slots__ = ("_idle", "_storage", "flat", "views")

    def __init__(self, elements: int, dtype: torch.dtype, device: torch.device) -> None:
        with torch.inference_mode(False):  # else its changes are not counted
            self.flat = torch.empty(elements, dtype=dtype, device=device)
        self._storage = self.flat.untyped_storage()
        self.views: dict[Hashable, Any] = {}
        self._idle = 0

    def count(self) -> None:
        """Counts who holds the memory, before a tensor in it is lent; see `is_free`."""
        self._idle = _users(self._storage)

    @property
    def is_free(self) -> bool:
        """Whether nobody but this object holds the memory, once the caller let go of what was lent."""
        return _users(self._storage) == self._idle

    def keep(self, key: Hashable, made: Any) -> None:
        """Keeps views of this memory for later calls."""
        if len(self.views) >= MOST_VIEWS:
            self.views.clear()
        self.views[key] = made

    def shares(self, tensor: torch.Tensor) -> bool:
        """Returns whether ``tensor`` lies in this memory."""
        try:
            return bool(tensor.untyped_storage()._cdata == self._storage._cdata)
        except (NotImplementedError, RuntimeError):  # a tensor of a kind that has none
            return False


class Pool:
    """Buffers that no call uses."""

    def __init__(self) -> None:
        self._idle: dict[Hashable, deque[Buffer]] = {}
        self._lock = Lock()

    def take(self, key: Hashable) -> Buffer | None:
        """Returns a buffer that waits for tensors of this key, if there is one."""
        waiting = self._idle.get(key)
        try:
            return waiting.pop() if waiting else None
        except IndexError:  # another thread was faster
            return None

    def give(self, key: Hashable, buffer: Buffer) -> None:
        """Takes a buffer back."""
        waiting = self._idle.get(key)
        if waiting is None:
            with self._lock:
                waiting = self._idle.setdefault(key, deque(maxlen=MOST_IDLE))
        waiting.append(buffer)

    def clear(self) -> None:
        """Forgets every buffer."""
        self._idle.clear()


def stream_of(device: torch.device) -> int:
    """Returns which queue of ``device`` work goes to: a buffer is used again in the same one only."""
    if device.type == "meta":
        return 0
    return torch.accelerator.current_stream(device).stream_id


def _users(storage: torch.UntypedStorage) -> int:
    return int(torch._C._storage_Use_Count(storage._cdata))
