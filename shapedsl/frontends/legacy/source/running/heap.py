"""The state of an abstract run: names and mutable objects, with branches that are undone and joined.

A branch is run on the same state as its siblings: `State.push` begins a journal, `State.pop` undoes what it recorded
and returns it, and `State.join` makes one state of several. So a branch costs what it changes, not what there is.

Before::

    if wide:
        spec["y"] = {0: b}

After: the box that ``spec`` is has two contents, ``{…}`` without ``"y"`` and with it, and shows as a `Fork` of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from ..values import (
    Callable,
    Collection,
    Dict,
    Fork,
    Partial,
    Sequence,
    Unknown,
)
from .joining import joined_held

if TYPE_CHECKING:
    from collections.abc import Iterable

    import libcst as cst

    from ..values import Value

Content: TypeAlias = "Dict | Sequence | Collection"


@dataclass(eq=False, slots=True)
class Box:
    """A mutable object: a dict, a list, a `ShapesCollection`, the attributes of an object.

    Attributes:
        contents: What it may hold, one of them.
        lost: Why its content is not known; then ``contents`` does not matter.
        is_many: Whether it stands for several objects, those that a loop made in its turns.
        node: What made it.
    """

    contents: list[Content]
    node: cst.CSTNode
    lost: Unknown | None = None
    is_many: bool = False
    is_object: bool = False  # the attributes of one
    born: int = 0  # the number of boxes and scopes before it


@dataclass(eq=False, slots=True)
class Unbound:
    """A name that is not bound yet, or no longer."""

    node: cst.CSTNode | None = None


UNBOUND: Final = cast("Value", Unbound())  # internal: a name's value until it is bound


@dataclass(eq=False, slots=True)
class Scope:
    """A module's, a class's, a function's or a comprehension's names.

    Attributes:
        node: What opens it; None for the module.
        parent: The scope around it; for a function in a class, the one around the class.
        names: Bound here → its value.
        bound: The names that are bound somewhere in it.
        outer: The names that ``global`` and ``nonlocal`` take to another scope.
        log: What was bound since, in order, with the time.
        history: The same, by name.
        rebound: The names in it that were bound more than once.
    """

    kind: str
    name: str
    node: cst.CSTNode | None
    parent: Scope | None
    bound: set[str] = field(default_factory=set[str])
    outer: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, Value] = field(default_factory=dict[str, "Value"])
    log: list[tuple[int, str, Value]] = field(default_factory=list["tuple[int, str, Value]"])
    history: dict[str, list[tuple[int, Value]]] = field(default_factory=dict[str, "list[tuple[int, Value]]"])
    rebound: dict[str, None] = field(default_factory=dict[str, None])
    born: int = 0


Key: TypeAlias = "Box | tuple[Scope, str]"
Held: TypeAlias = "Value | tuple[list[Content], Unknown | None, bool]"
Delta: TypeAlias = "dict[Key, Held]"


class State:
    """Names and boxes, with a journal for each branch that is being run."""

    def __init__(self) -> None:
        self.journals: list[Delta] = []
        self.time = 0  # of the last change
        self.changed: list[tuple[int, Box]] = []
        self.escaped: dict[Box, None] = {}  # what code elsewhere may hold
        self.intact: dict[Box, None] = {}  # those of them that it has not changed yet
        self.gone: dict[Box, Unknown] = {}  # what is lost for good, whichever branch is undone

    # ---------------------------------------------------------------------------------- changes

    def bind(self, scope: Scope, name: str, value: Value) -> None:
        """Binds a name."""
        if isinstance(value, Sequence) and value.class_name == "iterator":
            self.blur([value])
            value = settled(value)
        if self.journals:
            self.journals[-1].setdefault((scope, name), scope.names.get(name, UNBOUND))
        self.time += 1
        scope.names[name] = value
        scope.log.append((self.time, name, value))
        entries = scope.history.setdefault(name, [])
        entries.append((self.time, value))
        if len(entries) > 1:
            scope.rebound[name] = None

    def touch(self, box: Box) -> None:
        """Says that a box is about to change."""
        if self.record(box):
            box.contents = [copied(content) for content in box.contents]

    def record(self, box: Box) -> bool:
        """Says that a box is about to hold other contents. Returns whether a journal holds those that it has."""
        self.time += 1
        self.changed.append((self.time, box))
        if self.journals and box not in self.journals[-1]:
            self.journals[-1][box] = held(box)
            return True
        return False

    def mark(self) -> tuple[int, int]:
        """Returns what `forget_since` takes."""
        return len(self.escaped), len(self.changed)

    def forget_since(self, mark: tuple[int, int], born: int) -> None:
        """Forgets what a branch did that is undone for good.

        Args:
            mark: What `mark` returned before it.
            born: Boxes with a later number were made in it; others stay known to code elsewhere.
        """
        for box in list(self.escaped)[mark[0] :]:
            if box.born > born:
                del self.escaped[box]
                self.intact.pop(box, None)
        del self.changed[mark[1] :]

    def lose(self, box: Box, reason: Unknown) -> None:
        """Says that a box may hold anything."""
        if box.lost is None:
            self.record(box)
            box.lost = reason
            self.intact.pop(box, None)
            self.blur([each for content in box.contents for each in within(content)])

    def lose_for_good(self, reason: Unknown) -> None:
        """Says that all that code elsewhere may hold may hold anything, in each branch."""
        for box in list(self.intact):
            self.gone[box] = reason
            self.lose(box, reason)

    def escape(self, box: Box) -> None:
        """Says that code elsewhere, or a value that is not known, may hold a box."""
        self.escaped.setdefault(box)
        if box.lost is None:
            self.intact[box] = None

    def blur(self, values: Iterable[Value]) -> None:
        """Says that a value that is not known may be one of these, or in one: what changes it changes them."""
        todo: list[object] = list(values)
        while todo:
            value = todo.pop()
            if isinstance(value, Box):
                if value in self.escaped and (value in self.intact or value.lost is not None):
                    continue
                self.escape(value)
                todo.extend(each for content in value.contents for each in within(content))
            elif isinstance(value, Callable):
                todo.extend(each for each in (value.inner, value.attributes) if each is not None)
            else:
                todo.extend(within(value))

    def current(self, key: Key) -> Held:
        """Returns what a key holds now."""
        return held(key) if isinstance(key, Box) else key[0].names.get(key[1], UNBOUND)

    def put(self, key: Key, value: Held) -> None:
        """Sets what a key holds, as a change of the branch that is being run."""
        if isinstance(key, Box):
            self.record(key)
            contents, key.lost, key.is_many = cast("tuple[list[Content], Unknown | None, bool]", value)
            key.contents = [copied(content) for content in contents]
            if key in self.gone:
                key.lost = self.gone[key]
            elif key.lost is not None:
                self.blur([each for content in key.contents for each in within(content)])
            elif key in self.escaped:
                self.intact[key] = None
        else:
            self.bind(*key, cast("Value", value))

    # --------------------------------------------------------------------------------- branches

    def push(self) -> int:
        """Begins a branch; returns its level."""
        self.journals.append({})
        return len(self.journals) - 1

    def capture(self, level: int, *, leave_out: Scope | None = None) -> Delta:
        """Returns what changed since a level began, as it is now."""
        keys: dict[Key, None] = {}
        for journal in self.journals[level:]:
            keys.update(dict.fromkeys(journal))
        return {
            key: frozen(self.current(key))
            for key in keys
            if leave_out is None or isinstance(key, Box) or key[0] is not leave_out
        }

    def pop(self) -> Delta:
        """Ends the innermost branch: undoes what it changed, and returns it."""
        journal = self.journals.pop()
        delta: Delta = {}
        for key, before in journal.items():
            delta[key] = self.current(key)
            if isinstance(key, Box):
                key.contents, key.lost, key.is_many = cast("tuple[list[Content], Unknown | None, bool]", before)
                if key in self.gone:
                    key.lost = self.gone[key]
                elif key.lost is None and key in self.escaped:
                    self.intact[key] = None
            elif before is UNBOUND:
                key[0].names.pop(key[1], None)
            else:
                key[0].names[key[1]] = cast("Value", before)
        return delta

    def commit(self) -> None:
        """Ends the innermost branch, and keeps what it changed."""
        journal = self.journals.pop()
        if self.journals:
            for key, before in journal.items():
                self.journals[-1].setdefault(key, before)

    def join(self, deltas: list[Delta], node: cst.CSTNode) -> None:
        """Makes the state one of several that all began from this one."""
        keys: dict[Key, None] = {}
        for delta in deltas:
            keys.update(dict.fromkeys(delta))
        for key in keys:
            values = [delta[key] for delta in deltas if key in delta]
            if len(values) < len(deltas):
                values.insert(0, frozen(self.current(key)))
            result = joined_held(values, node)
            if isinstance(result, Unknown):
                self.blur(cast("list[Value]", values))
            self.put(key, result)


def because(value: Value | None, node: cst.CSTNode, otherwise: str) -> Unknown:
    """Returns something unknown, for the reason of what made it unknown, if that is one."""
    if isinstance(value, Unknown):
        return value
    return Unknown(otherwise, node)


def settled(value: Value) -> Value:
    """Returns a value that may be kept: an iterator gives what it has but once, and is not followed."""
    if isinstance(value, Sequence) and value.class_name == "iterator":
        return Unknown("it is an iterator", value.node)
    return value


def within(value: object) -> list[Value]:
    """Returns the values that one holds."""
    if isinstance(value, Dict):
        return [each for pair in value.entries.values() for each in pair]
    if isinstance(value, Sequence):
        return list(value.items)
    if isinstance(value, Collection):
        return [each for entry in value.entries for each in entry[:2]]
    if isinstance(value, Fork):
        return list(value.options)
    if isinstance(value, Partial):
        return [value.inner, *(each.value for each in value.args)]
    return []


def held(box: Box) -> tuple[list[Content], Unknown | None, bool]:
    """Returns what a box holds."""
    return box.contents, box.lost, box.is_many


def frozen(value: Held) -> Held:
    """Returns what a key holds, apart from later changes."""
    if isinstance(value, tuple):
        return [copied(content) for content in value[0]], value[1], value[2]
    return value


def copied(content: Content) -> Content:
    """Returns a content that can be changed without the other."""
    if isinstance(content, Dict):
        return replace(content, entries=dict(content.entries), steps=list(content.steps))
    if isinstance(content, Sequence):
        return replace(content, items=list(content.items), steps=list(content.steps))
    return replace(content, entries=list(content.entries))


__all__ = [
    "UNBOUND",
    "Box",
    "Callable",
    "Content",
    "Delta",
    "Scope",
    "State",
    "Unbound",
    "because",
    "copied",
    "frozen",
    "settled",
    "within",
]
