"""Keep torch from printing its graph when an export fails; the error says in the spec's words what was asked.

torch.export prints the partial graph of a trace that ended with a data-dependent error to standard error, past all logging.
Nothing is redirected here, since that would be for all threads and for what the user's code prints: while an export
of ours runs, `print` in torch's module is a function that drops just this, and just in our thread.

The graph stays where it is, ``error.__cause__.partial_fx_graph``, and is printed where a user asked torch to tell more:
``TORCH_LOGS=export``, ``dynamic`` or ``dynamo``.
"""

from __future__ import annotations

import builtins
import logging
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

_LOGS: Final = ("torch.export", "torch.fx.experimental.symbolic_shapes")  # one of them is among each of those three
_lock: Final = threading.Lock()
_quiet: set[int] = set()  # threads in which an export of ours runs


@contextmanager
def without_partial_graphs() -> Generator[None, None, None]:
    """Returns a context in which this thread's exports print no graph when they fail, unless the user asked for more."""
    from torch.export import _trace

    thread = threading.get_ident()
    if thread in _quiet or any(logging.getLogger(name).isEnabledFor(logging.INFO) for name in _LOGS):
        yield
        return
    names: Any = _trace.__dict__  # a name of the module goes before the one of Python
    with _lock:
        _quiet.add(thread)
        names["print"] = _print
    try:
        yield
    finally:
        with _lock:
            _quiet.discard(thread)
            if not _quiet:
                names.pop("print", None)


def _print(*values: object, **options: Any) -> None:
    """Prints as Python does, but for what goes to standard error in a thread that exports."""
    if options.get("file") is not sys.stderr or threading.get_ident() not in _quiet:
        builtins.print(*values, **options)  # noqa: T201 - it is what torch called


__all__ = ["without_partial_graphs"]
