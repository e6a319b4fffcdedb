"""What the lets and consts that a def sees stand for, worked out when someone asks in these names.

A spec needs them no more once it is read; a question about it may use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...ir import Const, Size
from .expand import const_value, let_size
from .scope import ConstEntry, Entry, LetEntry, Scope


class Names(Mapping[str, Size]):
    """The lets and consts of a scope by name, everything in them expanded.

    A let is left out if a name in it means something else to the def.
    """

    __slots__ = ("_made", "_reaches", "_scope")

    def __init__(self, scope: Scope, reaches: Mapping[str, Entry | None]) -> None:
        """Args:
        scope: Where the def's names are looked up.
        reaches: What the names of its variables mean to it.
        """
        self._scope: Scope | None = scope
        self._reaches = reaches
        self._made: dict[str, Size] = {}

    def _all(self) -> dict[str, Size]:
        scope, self._scope = self._scope, None
        seen: set[str] = set()
        while scope is not None:
            for name, entry in scope.entries.items():
                if name not in seen and (size := self._size(entry)) is not None:
                    self._made[name] = size
            seen.update(scope.entries)
            scope = scope.outer
        return self._made

    def _size(self, entry: Entry) -> Size | None:
        if isinstance(entry, ConstEntry):
            value = const_value(entry)
            return None if entry.broken or value is None else Const(value, entry.name.span)
        if isinstance(entry, LetEntry):
            size = let_size(entry)
            same = all(self._reaches.get(name, meant) is meant for name, meant in entry.reaches.items())
            return size if same and not entry.broken else None
        return None

    def __getitem__(self, name: str) -> Size:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __reduce__(self) -> tuple[type[dict[str, Size]], tuple[dict[str, Size]]]:
        return dict, (dict(self._all()),)


__all__ = ["Names"]
