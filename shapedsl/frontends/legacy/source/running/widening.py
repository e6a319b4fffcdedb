"""What may be at the start of any turn of a loop: what was there before, and what turns lead to.

Before::

    while more():
        spec = {0: n, 1: spec}

After: ``spec`` is what it was or a dict of any turn; what keeps changing from turn to turn is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..values import Dict, Fork, Sequence, Unknown
from .heap import UNBOUND, Box, frozen, within
from .joining import joined_held, same
from .names import Index, Names, binds, children, targets

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value
    from .heap import Delta, Held, Key
    from .machine import Machine


def widen(machine: Machine, node: cst.CSTNode, start: Delta, ends: list[Delta], *, harder: bool) -> bool:
    """Adds to a start what turns lead to. Returns whether there was nothing to add."""
    is_stable = True
    for end in ends:
        for key, value in end.items():
            before = start.get(key)
            if before is None:
                before = frozen(machine.state.current(key))
            if _holds(before, value, start, end):
                if key not in start:
                    start[key] = before
                continue
            is_stable = False
            if not isinstance(key, Box):
                machine.state.blur([before, value])  # type: ignore[list-item]
            start[key] = lost(key, node) if harder else joined_held([before, value], node)
    return is_stable


def lost(key: Key, node: cst.CSTNode) -> Held:
    """Returns what a key holds that keeps changing from turn to turn."""
    reason = Unknown("it changes in a loop", node)
    return ([], reason, False) if isinstance(key, Box) else reason


def _holds(before: Held, after: Held, start: Delta, end: Delta) -> bool:
    """Whether what a key holds after a turn is among what it holds at the start of one."""
    if isinstance(before, tuple):
        contents, lost, many = before
        after_contents, after_lost, after_many = cast("tuple[list[object], Unknown | None, bool]", after)
        if lost is not None:
            return True
        if after_lost is not None or (after_many and not many):
            return False
        return all(any(_alike(one, two, start, end, 0) for two in contents) for one in after_contents)
    options = before.options if isinstance(before, Fork) else [before]
    found = after.options if isinstance(after, Fork) else [after]
    return all(any(_alike(one, two, start, end, 0) for two in options) for one in found)


def _alike(one: object, two: object, start: Delta, end: Delta, depth: int) -> bool:
    """Whether a value after a turn is one at its start, or the like: a display's object of another turn."""
    if one is two:
        return True
    if depth > 50 or type(one) is not type(two):
        return isinstance(two, Unknown)
    if isinstance(one, Box) and isinstance(two, Box):
        if one.node is not two.node:
            return False
        ones, lost, _ = cast("tuple[list[object], Unknown | None, bool]", end.get(one) or frozen_box(one))
        twos, other, _ = cast("tuple[list[object], Unknown | None, bool]", start.get(two) or frozen_box(two))
        if (lost is None) != (other is None):
            return False
        if not all(any(_alike(a, b, start, end, depth + 1) for b in twos) for a in ones):
            return False
        two.is_many = True
        if two in start:
            start[two] = (twos, other, True)  # type: ignore[assignment]
        return True
    if isinstance(one, (Dict, Sequence)):
        assert isinstance(two, (Dict, Sequence))
        if one.node is not two.node or len(one.steps) != len(two.steps):
            return False
        if isinstance(one, Dict) and isinstance(two, Dict) and list(one.entries) != list(two.entries):
            return False
        if any(a is not b for a, b in zip(one.steps, two.steps, strict=False)):
            return False
        mine, yours = within(one), within(two)
        return len(mine) == len(yours) and all(
            _alike(a, b, start, end, depth + 1) for a, b in zip(mine, yours, strict=False)
        )
    return same(one, two)  # type: ignore[arg-type]


def frozen_box(box: Box) -> Held:
    """Returns what a box holds, apart from later changes."""
    return frozen((box.contents, box.lost, box.is_many))


def anything(machine: Machine, node: cst.CSTNode) -> Delta:
    """Returns a state in which everything that a loop may change is unknown, without running it."""
    start: Delta = {}
    scope = machine.scope
    at = machine.scope
    names: dict[str, None] = {}
    todo: list[cst.CSTNode] = [node]
    while todo:
        each = todo.pop()
        if type(each).__name__ == "Name":
            names[each.value] = None  # type: ignore[attr-defined]
        todo.extend(children(each))
    seen: set[int] = set()
    for name in names:
        owner = machine.owner(name, at)
        if owner is None or name not in owner.names:
            continue
        values: list[Value] = [owner.names[name]]
        while values:
            value = values.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Box):
                start[value] = lost(value, node)
                for content in value.contents:
                    values.extend(within(content))
            else:
                values.extend(within(value))
    for name in sorted(_assigned(node)):
        owner = machine.owner(name, at) or scope
        machine.state.blur([owner.names.get(name, UNBOUND)])
        start[owner, name] = lost((owner, name), node)
    return start


def _assigned(node: cst.CSTNode) -> set[str]:
    """Returns the names that a statement may bind."""
    found = Names()
    todo = [node]
    while todo:
        at = todo.pop()
        kind = type(at).__name__
        if kind in ("FunctionDef", "ClassDef"):
            found.bound.add(at.name.value)  # type: ignore[attr-defined]
            continue
        if kind == "Lambda":
            continue
        binds(at, found, found, Index({}, {}, 0))
        if kind == "CompFor":
            targets(at.target, found, Index({}, {}, 0))  # type: ignore[attr-defined]
        todo.extend(children(at))
    return found.bound


__all__ = ["anything", "lost", "widen"]
