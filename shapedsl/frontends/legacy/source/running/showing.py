"""What observers see: values as they are at a call, whatever changes later, and where the run stands.

Before: a value that holds a `Box`, which the run goes on to change. After: a copy of it, with a `Dict` in the box's place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..observe import Frame
from ..values import (
    Callable,
    Collection,
    Constant,
    Dict,
    Fork,
    Imported,
    Made,
    Member,
    Partial,
    Relation,
    Sequence,
    Tensor,
    Unknown,
)
from .heap import UNBOUND, Box
from .joining import joined

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value
    from .memory import Memory


class Shower:
    """Shows values to an observer; what did not change since is shown as before."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._shown: dict[int, tuple[object, Value]] = {}
        self._shown_at = -1

    def show(self, value: Value) -> Value:
        """Returns a value as observers see it: as it is now, whatever changes later."""
        if self._shown_at != self._memory.state.time:
            self._shown.clear()
            self._shown_at = self._memory.state.time
        return self._show(value, ())

    def _show(self, value: Value, around: tuple[int, ...]) -> Value:
        if isinstance(value, (Constant, Tensor, Imported, Made, Unknown)):
            return value
        found = self._shown.get(id(value))
        if found is not None:
            return found[1]
        if id(value) in around:
            return Unknown("it contains itself", value.node)
        self._memory.steps += 1
        inner = (*around, id(value))
        shown: Value = value
        if isinstance(value, Box):
            if value.lost is not None:
                shown = value.lost
            else:
                every = [self._show(content, inner) for content in value.contents]
                shown = every[0] if len(every) == 1 else Fork(every, value.node)
        elif isinstance(value, Dict):
            entries = {k: (self._show(a, inner), self._show(b, inner)) for k, (a, b) in value.entries.items()}
            shown = replace(value, entries=entries, steps=list(value.steps))
        elif isinstance(value, Sequence):
            shown = replace(value, items=[self._show(item, inner) for item in value.items], steps=list(value.steps))
        elif isinstance(value, Collection):
            shown = replace(
                value, entries=[(self._show(a, inner), self._show(b, inner), step) for a, b, step in value.entries]
            )
        elif isinstance(value, Fork):
            shown = joined([self._show(option, inner) for option in value.options if option is not UNBOUND], value.node)
        elif isinstance(value, Callable):
            attributes = None if value.attributes is None else self._show(value.attributes, inner)
            shown = replace(
                value,
                inner=None if value.inner is None else self._show(value.inner, inner),
                attributes=attributes if isinstance(attributes, Dict) else None,
            )
        elif isinstance(value, Member):
            shown = replace(value, owner=self._show(value.owner, inner))
        elif isinstance(value, Relation):
            shown = replace(value, left=self._show(value.left, inner), right=self._show(value.right, inner))
        elif isinstance(value, Partial):
            args = [replace(each, value=self._show(each.value, inner)) for each in value.args]
            shown = replace(value, inner=self._show(value.inner, inner), args=args)
        self._shown[id(value)] = (value, shown)
        return shown

    def frame(self, node: cst.CSTNode) -> Frame:
        """Returns where the run stands, for an observer."""
        memory = self._memory
        here = memory.here
        scope = memory.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        inner = scope

        def lookup(name: str) -> Value:
            before, memory.scope = memory.scope, inner
            try:
                return self.show(memory.lookup(name, node))
            finally:
                memory.scope = before

        path = tuple(here.path)
        return Frame(
            here.name, scope.node, path[-1] if path else node, path, here.calls, here.unknown_loops > 0, lookup
        )


__all__ = ["Shower"]
