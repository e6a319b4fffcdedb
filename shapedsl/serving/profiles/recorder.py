"""Counts the calls of one callable while it is used: any number of threads, a few microseconds a call.

A call is read before it runs, since it may change its containers, and counted when it has returned: one that raises
says nothing about what the callable takes. How arguments are passed does not matter: ``f(x, n=3)`` and ``f(x, 3)``
are one structure, found once for each way of calling.
"""

from __future__ import annotations

import inspect
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from ...diagnostics import Report
from .calls import Node, Reader, TracedCallError, count
from .histogram import Sizes
from .profile import Output, Parameter, Profile, Structure, Table
from .profile_files import save_profile

_LOOKS: Final = 3  # at what calls of one row return: whether that follows from the sizes
_MOST_WAYS: Final = 1024  # of calling; beyond these each call is bound anew

Raw: TypeAlias = "tuple[tuple[Node, ...], tuple[tuple[str, Node], ...]]"


@dataclass(slots=True, eq=False)
class Way:
    """What one way of calling comes to.

    Attributes:
        structure: The arguments by parameter.
        order: Where each size of a row stands among those that were read; None: in this order.
        profile, table: Where its calls were counted last.
    """

    structure: Structure
    order: tuple[int, ...] | None
    profile: Profile | None = None
    table: Table | None = None

    def row(self, sizes: list[int]) -> Sizes:
        """Returns the sizes in the order of the parameters."""
        return tuple(sizes) if self.order is None else tuple([sizes[index] for index in self.order])


class Recorder:
    """The calls of one callable so far.

    Args:
        empty: A profile without calls: of whom it is, and how much is kept.
        parameters: The callable's; None where Python does not know them.
        is_tensor: Whether a value is a tensor.
        outputs: Whether what calls return is remembered too.
        receiver: The parameter that is no argument: ``self``.
    """

    def __init__(
        self,
        empty: Profile,
        parameters: inspect.Signature | None,
        is_tensor: Callable[[object], bool | None],
        outputs: bool = True,
        receiver: str | None = None,
    ) -> None:
        self._made = empty.empty(), parameters, is_tensor, outputs, receiver
        self._parameters = parameters
        self._reader = Reader(is_tensor)
        self._outputs = outputs
        self._receiver = receiver
        self._lock = threading.RLock()
        self._ways: dict[Raw, Way] = {}
        self._pending = empty.empty()
        self._all = empty.empty()
        self._unsaved: dict[str, Profile] = {}
        _RECORDERS.add(self)

    def read(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Way, Sizes] | None:
        """Returns what a call that begins now is counted as; None if it cannot be read, which is counted too."""
        try:
            sizes: list[int] = []
            read = self._reader.read
            raw = (
                tuple([read(value, sizes) for value in args]),
                tuple([(name, read(value, sizes)) for name, value in kwargs.items()]) if kwargs else (),
            )
            way = self._ways.get(raw) or self._way(raw)
            return way, way.row(sizes)
        except TracedCallError:
            return None
        except Exception:  # an argument of a hostile class, a call that does not fit: the callable itself shall tell
            with self._lock:
                self._pending.unread += 1
            return None

    def returned(self, call: tuple[Way, Sizes], result: Any) -> None:
        """Counts a call that has returned."""
        way, row = call
        with self._lock:
            pending = self._pending
            if way.profile is not pending:
                way.profile, way.table = pending, pending.table(way.structure)
            table = way.table
            if table is None:
                pending.dropped += 1
                return
            look = table.sizes.add(row) < _LOOKS and self._outputs
        if look:
            output = self._output(result)
            with self._lock:
                table.output(row, output)

    def raised(self) -> None:
        """Counts a call that has raised."""
        with self._lock:
            self._pending.raised += 1

    def _output(self, result: Any) -> Output | None:
        sizes: list[int] = []
        try:
            return self._reader.read(result, sizes), tuple(sizes)
        except Exception:  # whatever it returns is its own affair
            return None

    def _way(self, raw: Raw) -> Way:
        """Finds the parameters of one way of calling; raises TypeError where the call fits none."""
        positional, named = raw
        marked: list[Any] = [*positional, *(node for _, node in named)]
        starts: list[int] = []
        total = 0
        for node in marked:
            starts.append(total)
            total += count(node)
        tokens = [_Token(node, start) for node, start in zip(marked, starts, strict=True)]
        keywords = {name: token for (name, _), token in zip(named, tokens[len(positional) :], strict=True)}
        bound = _bound(self._parameters, tokens[: len(positional)], keywords)
        order: list[int] = []
        structure = tuple((name, _placed(value, order)) for name, value in bound.items() if name != self._receiver)
        way = Way(structure, None if order == list(range(total)) else tuple(order))
        if len(self._ways) < _MOST_WAYS:
            self._ways[raw] = way
        return way

    def __reduce__(self) -> tuple[type[Recorder], tuple[Any, ...]]:
        """A copy in another process counts its own calls."""
        return Recorder, self._made

    @property
    def profile(self) -> Profile:
        """A copy of what was counted so far, in this process."""
        with self._lock:
            self._settle()
            return self._all.copy()

    def save(self, path: Path, report: Report) -> None:
        """Adds to a file the calls since this process last saved to it.

        Raises:
            OSError: The file cannot be written; nothing is lost, and the next save tries again.
        """
        key = os.path.realpath(path)
        with self._lock:
            self._settle()
            delta = self._unsaved.get(key, self._all).copy()
            before, self._unsaved[key] = self._unsaved.get(key), self._all.empty()
        try:
            save_profile(path, delta, report)
        except BaseException:
            with self._lock:
                self._settle()
                later = self._unsaved.pop(key)
                delta.merge(later)
                if before is not None:
                    self._unsaved[key] = delta
            raise

    def _settle(self) -> None:
        """Moves what is pending to where it belongs."""
        pending, self._pending = self._pending, self._pending.empty()
        self._all.merge(pending)
        for unsaved in self._unsaved.values():
            unsaved.merge(pending)

    def forget(self) -> None:
        """Begins anew in a forked child: what was counted before is its parent's."""
        self._lock = threading.RLock()
        self._pending = self._pending.empty()
        self._all = self._pending.empty()
        self._unsaved = {}


@dataclass(frozen=True, slots=True)
class _Token:
    """Stands for an argument while a call is bound."""

    node: Node
    start: int


def _bound(
    parameters: inspect.Signature | None, positional: list[_Token], keywords: dict[str, _Token]
) -> Mapping[str, Any]:
    """Returns the arguments by parameter; without parameters positional ones are called ``arg0``, ``arg1``."""
    if parameters is None:
        return {**{f"arg{index}": token for index, token in enumerate(positional)}, **keywords}
    return parameters.bind(*positional, **keywords).arguments


def _placed(value: Any, order: list[int]) -> Node:
    """Returns the structure of what was bound to one parameter, and appends where its sizes were read."""
    if isinstance(value, _Token):
        order.extend(range(value.start, value.start + count(value.node)))
        return value.node
    if isinstance(value, tuple):  # *args
        return ("tuple", *[_placed(each, order) for each in cast("tuple[_Token, ...]", value)])
    return ("dict", *((key, _placed(each, order)) for key, each in value.items()))  # **kwargs


def parameters_of(signature: inspect.Signature | None) -> tuple[Parameter, ...]:
    """Returns a callable's parameters as a profile has them."""
    if signature is None:
        return ()
    return tuple(
        Parameter(each.name, each.kind.name, each.default is not inspect.Parameter.empty)
        for each in signature.parameters.values()
    )


_RECORDERS: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _after_fork() -> None:
    for recorder in list(_RECORDERS):
        recorder.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


__all__ = ["Recorder", "parameters_of"]
