"""Structures of calls → one structure of parameters, each size of which is a column over all calls.

Before, of two structures::

    ids tensor int64 rank 2, mask none, past list of 1
    ids tensor int64 rank 2, mask tensor bool rank 2, past list of 3

After::

    ids int64[c0, c1], mask bool[c2, c3] | None, past [Tensor[c4, c5], ...]

A column of a repeated element stands at several places of one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ....ir import Path
from ...profiles.calls import Node, below, count


@dataclass(slots=True, eq=False)
class Column:
    """One size of the parameters, over all structures.

    Attributes:
        path: Of the tensor or int it belongs to.
        axis: The tensor's axis; None for an int.
        rank: The tensor's rank.
        at: Structure → where in a row of it the size stands; more than one place in repeated elements.
        repeated: Whether it belongs to the elements of a sequence of any length.
    """

    path: Path
    axis: int | None
    rank: int
    at: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    repeated: bool = False

    def __str__(self) -> str:
        return str(self.path) if self.axis is None else f"{self.path}.shape[{self.axis}]"


@dataclass(slots=True, eq=False)
class TensorShape:
    """Tensors at one path. ``columns`` is None where their ranks differ: ``ranks`` lists them."""

    dtypes: tuple[str, ...]
    columns: list[Column] | None
    ranks: tuple[int, ...]


@dataclass(slots=True, eq=False)
class IntShape:
    """Ints at one path."""

    column: Column


@dataclass(slots=True, eq=False)
class SequenceShape:
    """Lists or tuples of one length; of several, ``items`` holds the one element and ``repeat`` is set."""

    kind: str
    items: list[Shape]
    repeat: bool = False


@dataclass(slots=True, eq=False)
class EntriesShape:
    """Dicts or objects: the entries that all of them have. ``name`` is an object's class, None for a dict."""

    name: str | None
    entries: list[tuple[str | int, Shape]]


@dataclass(slots=True, eq=False)
class OptionalShape:
    """Sometimes None."""

    inner: Shape


@dataclass(slots=True, eq=False)
class NoneShape:
    """Always None."""


@dataclass(slots=True, eq=False)
class StaticShape:
    """Something that shapes say nothing about; ``why`` is set where values of several kinds were seen."""

    why: str = ""


Shape: TypeAlias = "TensorShape | IntShape | SequenceShape | EntriesShape | OptionalShape | NoneShape | StaticShape"


@dataclass(frozen=True, slots=True)
class Instance:
    """A node of one structure, and where its sizes begin in that structure's rows."""

    structure: int
    node: Node
    start: int


class Merger:
    """Merges nodes, and collects the columns in the order of the parameters."""

    def __init__(self) -> None:
        self.columns: list[Column] = []

    def merge(self, found: Sequence[Instance], path: Path, *, repeated: bool = False) -> Shape:
        """Returns what all of ``found`` are."""
        there = [each for each in found if each.node[0] != "none"]
        if not there:
            return NoneShape()
        shape = self._present(there, path, repeated)
        if len(there) == len(found) or isinstance(shape, StaticShape):
            return shape
        return OptionalShape(shape)

    def _present(self, found: Sequence[Instance], path: Path, repeated: bool) -> Shape:
        kinds = {each.node[0] for each in found}
        if len(kinds) > 1:
            return StaticShape(f"was {' and '.join(sorted(kinds))}")
        kind = kinds.pop()
        if kind == "tensor":
            return self._tensor(found, path, repeated)
        if kind == "int":
            return IntShape(self._column(found, path, None, 0, repeated))
        if kind in ("list", "tuple"):
            return self._sequence(kind, found, path, repeated)
        if kind in ("dict", "object"):
            return self._entries(kind, found, path, repeated)
        return StaticShape()

    def _column(self, found: Sequence[Instance], path: Path, axis: int | None, rank: int, repeated: bool) -> Column:
        column = Column(path, axis, rank, repeated=repeated)
        for each in found:
            column.at.setdefault(each.structure, []).append(each.start + (axis or 0))
        self.columns.append(column)
        return column

    def _tensor(self, found: Sequence[Instance], path: Path, repeated: bool) -> Shape:
        dtypes = tuple(sorted({str(each.node[1]) for each in found}))
        ranks = tuple(sorted({int(each.node[2]) for each in found}))
        rank = ranks[0]
        if len(ranks) > 1:
            return TensorShape(dtypes, None, ranks)
        columns = [self._column(found, path, axis, rank, repeated) for axis in range(rank)]
        return TensorShape(dtypes, columns, ranks)

    def _sequence(self, kind: str, found: Sequence[Instance], path: Path, repeated: bool) -> Shape:
        lengths = {len(each.node) - 1 for each in found}
        elements = [list(_items(each)) for each in found]
        if len(lengths) == 1:
            items = [
                self.merge([own[index] for own in elements], below(path, index), repeated=repeated)
                for index in range(lengths.pop())
            ]
            return SequenceShape(kind, items)
        inside = [item for own in elements for item in own]
        mark = len(self.columns)
        element = self.merge(inside, below(path, 0), repeated=True)
        if isinstance(element, (TensorShape, IntShape)) or (
            isinstance(element, SequenceShape) and not element.repeat and _is_flat(element)
        ):
            return SequenceShape(kind, [element], repeat=True)
        del self.columns[mark:]
        return StaticShape(f"had {' or '.join(map(str, sorted(lengths)[:4]))} items of several kinds")

    def _entries(self, kind: str, found: Sequence[Instance], path: Path, repeated: bool) -> Shape:
        names = {each.node[1] for each in found} if kind == "object" else {None}
        tables = [dict(_named(each)) for each in found]
        common = [key for key in tables[0] if all(key in table for table in tables)]
        entries = [
            (key, self.merge([t[key] for t in tables], below(path, key, attribute=kind == "object"), repeated=repeated))
            for key in common
        ]
        name = None if kind == "dict" else str(names.pop()) if len(names) == 1 else "object"
        return EntriesShape(name, entries) if entries else StaticShape()


def _is_flat(shape: SequenceShape) -> bool:
    return all(isinstance(item, (TensorShape, IntShape)) for item in shape.items)


def _items(each: Instance) -> list[Instance]:
    return _laid(each, [(None, node) for node in each.node[1:]])


def _named(each: Instance) -> list[tuple[Any, Instance]]:
    entries = each.node[1:] if each.node[0] == "dict" else each.node[2:]
    return list(zip([key for key, _ in entries], _laid(each, entries), strict=True))


def _laid(each: Instance, entries: Sequence[tuple[Any, Node]]) -> list[Instance]:
    """Returns the parts of a node with the place of each."""
    made: list[Instance] = []
    start = each.start
    for _, node in entries:
        made.append(Instance(each.structure, node, start))
        start += count(node)
    return made


__all__ = [
    "Column",
    "EntriesShape",
    "Instance",
    "IntShape",
    "Merger",
    "NoneShape",
    "OptionalShape",
    "SequenceShape",
    "Shape",
    "StaticShape",
    "TensorShape",
]
