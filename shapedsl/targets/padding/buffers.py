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
from contextlib import suppress
from typing import Any, Final

import torch

from ...runtime.locks import Lock

MOST_IDLE: Final = 8  # buffers of one kind that wait; more threads than that allocate
MOST_VIEWS: Final = 1024  # prepared layouts of one buffer


class Buffer:
    """Flat memory for one padded tensor at a time.

    Attributes:
        flat: One axis.
        memory: How torch numbers it.
        views: What was prepared for a layout, by any key.
    """

    __slots__ = ("_idle", "_storage", "flat", "memory", "views")

    def __init__(self, elements: int, dtype: torch.dtype, device: torch.device) -> None:
        with torch.inference_mode(False):  # else its changes are not counted
            self.flat = torch.empty(elements, dtype=dtype, device=device)
        self._storage = self.flat.untyped_storage()
        self.memory: int = self._storage._cdata
        self.views: dict[Hashable, Any] = {}
        self._idle = _users(self.memory)

    @property
    def is_free(self) -> bool:
        """Whether nobody but this object holds the memory, once the caller let go of what was lent."""
        return _users(self.memory) == self._idle

    def keep(self, key: Hashable, made: Any) -> None:
        """Keeps views of this memory for later calls, while none of it is lent."""
        if len(self.views) >= MOST_VIEWS:
            self.views.clear()
        self.views[key] = made
        self._idle = _users(self.memory)

    def free(self) -> int:
        """Lets go of its memory, which nobody holds; returns how many bytes that was."""
        self.views.clear()  # those refer to it
        return self.flat.nbytes


class Pool:
    """Buffers that no call uses."""

    def __init__(self) -> None:
        self._stacks: dict[Hashable, deque[Buffer]] = {}
        self._lock = Lock()

    def stack(self, key: Hashable) -> deque[Buffer]:
        """Returns where the buffers of a key wait; threads may pop from it and append to it."""
        found = self._stacks.get(key)
        if found is None:
            with self._lock:
                found = self._stacks.setdefault(key, deque(maxlen=MOST_IDLE))
        return found

    def clear(self) -> int:
        """Forgets every buffer that waits; returns how many bytes they have."""
        freed = 0
        for stack in list(self._stacks.values()):
            with suppress(IndexError):  # empty
                while True:
                    freed += stack.pop().free()
        return freed


def stream_of(device: torch.device) -> int:
    """Returns which queue of ``device`` work goes to: a buffer is used again in the same one only."""
    if device.type == "meta":
        return 0
    return torch.accelerator.current_stream(device).stream_id


def memory_of(tensor: torch.Tensor) -> int:
    """Returns how torch numbers the memory of a tensor; -1 for a tensor of a kind that has none."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return -1


_users = torch._C._storage_Use_Count
