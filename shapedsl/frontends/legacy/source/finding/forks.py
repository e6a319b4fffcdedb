"""Values that branches give → one value for each choice of branches.

Before::

    w = Dim("w") if wide else 5                          # a Fork
    shapes = {"x": {0: b, 1: w}} if dynamic else None    # a Fork, with the first in one of its options

After::

    {"x": {0: b, 1: Dim("w")}},   {"x": {0: b, 1: 5}},   None
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeAlias

from ..values import Collection, Dict, Fork, Made, Relation, Sequence, Value

_MOST: Final = 64  # what a spec behind six independent flags has

_Key: TypeAlias = tuple[int, int]


class _OpenError(Exception):
    """A fork that nothing was chosen for yet."""

    def __init__(self, fork: Fork) -> None:
        super().__init__()
        self.fork = fork


def worlds(value: Value) -> list[Value] | None:
    """Returns copies of ``value`` without forks, one for each choice; None if there are too many.

    The same fork is one choice wherever it is reached, and so are forks of one statement: ``if wide:`` that sets two
    names. Copies are snapshots: what changes the value later does not change them. What is one object stays one.
    """
    open_: list[dict[_Key, int]] = [{}]
    found: list[Value] = []
    while open_:
        chosen = open_.pop()
        try:
            found.append(_Copy(chosen).of(value))
        except _OpenError as error:
            key = _key(error.fork)
            open_ += [{**chosen, key: at} for at in reversed(range(len(error.fork.options)))]
        except RecursionError:
            return None
        if len(found) + len(open_) > _MOST:
            return None
    return found


def _key(fork: Fork) -> _Key:
    return id(fork.node), len(fork.options)


class _Copy:
    """One world: what was chosen, and what was copied."""

    def __init__(self, chosen: dict[_Key, int]) -> None:
        self._chosen = chosen
        self._copies: dict[int, Value] = {}

    def of(self, value: Value) -> Value:
        """Returns the copy of a value.

        Raises:
            _OpenError: A fork in it was not chosen for.
        """
        if isinstance(value, Fork):
            at = self._chosen.get(_key(value))
            if at is None:
                raise _OpenError(value)
            return self.of(value.options[at])
        if id(value) in self._copies:
            return self._copies[id(value)]
        if isinstance(value, Dict):
            copy = replace(value, entries={}, steps=list(value.steps))
            self._copies[id(value)] = copy  # before its entries: a dict may hold itself
            copy.entries.update({key: (name, self.of(item)) for key, (name, item) in value.entries.items()})
            return copy
        if isinstance(value, Sequence):
            made = replace(value, items=[], steps=list(value.steps))
            self._copies[id(value)] = made
            made.items += [self.of(item) for item in value.items]
            return made
        if isinstance(value, Collection):
            return replace(value, entries=[(self.of(key), self.of(item), node) for key, item, node in value.entries])
        if isinstance(value, Made) and value.args is not None:
            return replace(value, args=[(name, self.of(item)) for name, item in value.args])
        if isinstance(value, Relation):
            return replace(value, left=self.of(value.left), right=self.of(value.right))
        return value


__all__ = ["worlds"]
