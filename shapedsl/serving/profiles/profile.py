"""A profile: the sizes with which one callable was called, by structure, in bounded memory.

Structures differ in ranks, dtypes, lengths, None-ness; each has a histogram of its sizes::

    ids: int64[_, _], mask: None        310 of (1, 17), 95 of (1, 64), 12 of (8, 200)
    ids: int64[_, _], mask: bool[_, _]  40 of (4, 128, 4, 128)

Outputs are remembered beside the first rows of sizes that gave them, for the return type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ...ir import Path
from .calls import Node, Place, count, places
from .histogram import LIMIT, Histogram, Sizes

# Parameter → the structure of its argument, in the order of the parameters; an omitted default is missing.
Structure: TypeAlias = "tuple[tuple[str, Node], ...]"
Output: TypeAlias = "tuple[Node, Sizes]"
MOST_STRUCTURES: Final = 64
MOST_OUTPUTS: Final = 256  # of one structure


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the callable.

    Attributes:
        name: Its name.
        kind: The name of a `ParamKind` member.
        default: Whether it has a default.
    """

    name: str
    kind: str = "POSITIONAL_OR_KEYWORD"
    default: bool = False


class Table:
    """The calls of one structure.

    Attributes:
        sizes: Their histogram.
        outputs: Sizes → what a call of them returned; None where two calls of the same sizes returned different ones.
    """

    __slots__ = ("outputs", "sizes")

    def __init__(self, limit: int = LIMIT) -> None:
        self.sizes = Histogram(limit)
        self.outputs: dict[Sizes, Output | None] = {}

    def output(self, sizes: Sizes, output: Output | None) -> None:
        """Remembers what a call returned, if there is room."""
        if sizes in self.outputs:
            if self.outputs[sizes] != output:
                self.outputs[sizes] = None
        elif len(self.outputs) < MOST_OUTPUTS:
            self.outputs[sizes] = output

    def merge(self, other: Table) -> None:
        """Adds the calls of ``other``."""
        self.sizes.merge(other.sizes)
        for sizes, output in other.outputs.items():
            self.output(sizes, output)


@dataclass(slots=True, repr=False)
class Profile:
    """The calls of one callable.

    Attributes:
        name: Its dotted name.
        parameters: Its parameters, in order.
        limit: How many different rows of sizes are kept of one structure.
        tables: Structure → its calls.
        spec: The canonical text of the spec that the callable has, if it has one.
        dropped: Calls of structures beyond the first `MOST_STRUCTURES`: only counted.
        raised: Calls that raised an exception: only counted.
        unread: Calls whose arguments could not be read: only counted.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    limit: int = LIMIT
    tables: dict[Structure, Table] = field(default_factory=dict[Structure, Table])
    spec: str | None = None
    dropped: int = 0
    raised: int = 0
    unread: int = 0

    @property
    def calls(self) -> int:
        """How many calls have their sizes in the profile."""
        return sum(table.sizes.calls for table in self.tables.values())

    @property
    def joined(self) -> int:
        """How many calls are counted at other sizes than their own, at most."""
        return sum(table.sizes.joined for table in self.tables.values())

    @property
    def distinct(self) -> int:
        """How many different calls are kept."""
        return sum(len(table.sizes.counts) for table in self.tables.values())

    def table(self, structure: Structure) -> Table | None:
        """Returns the calls of a structure, which may be new; None if there are too many structures."""
        found = self.tables.get(structure)
        if found is None and len(self.tables) < MOST_STRUCTURES:
            found = self.tables[structure] = Table(self.limit)
        return found

    def add(self, structure: Structure, sizes: Sizes, times: int = 1) -> None:
        """Counts calls."""
        table = self.table(structure)
        if table is None:
            self.dropped += times
        else:
            table.sizes.add(sizes, times)

    def merge(self, other: Profile) -> None:
        """Adds the calls of ``other``, a profile of the same callable.

        Raises:
            ValueError: It is one of another callable.
        """
        if other.name != self.name:
            raise ValueError(f"a profile of {other.name} does not belong to {self.name}")
        self.parameters = self.parameters or other.parameters
        if not self.calls and self.spec is None:
            self.spec = other.spec
        elif other.calls and other.spec != self.spec:
            self.spec = None  # two versions: neither speaks for all calls
        for structure, table in other.tables.items():
            own = self.table(structure)
            if own is None:
                self.dropped += table.sizes.calls
            else:
                own.merge(table)
        self.dropped += other.dropped
        self.raised += other.raised
        self.unread += other.unread

    def copy(self) -> Profile:
        """Returns a profile that goes its own way."""
        made = replace(self, tables={}, dropped=0, raised=0, unread=0)
        made.merge(self)
        return made

    def empty(self) -> Profile:
        """Returns a profile of the same callable without calls."""
        return replace(self, tables={}, dropped=0, raised=0, unread=0)

    def __repr__(self) -> str:
        calls = self.calls
        return f"<Profile of {self.name}: {calls:,} call{'' if calls == 1 else 's'}, {self.distinct:,} different>"


def structure_places(structure: Structure) -> list[Place]:
    """Returns where the sizes of a structure's rows stand."""
    return [place for name, node in structure for place in places(node, Path(name))]


def width(structure: Structure) -> int:
    """Returns how many sizes a row of this structure has."""
    return sum(count(node) for _, node in structure)


def rows(profile: Profile) -> Iterator[tuple[Structure, Sizes, int]]:
    """Yields every kept call with its count."""
    for structure, table in profile.tables.items():
        for sizes, times in table.sizes.counts.items():
            yield structure, sizes, times


__all__ = [
    "MOST_STRUCTURES",
    "Output",
    "Parameter",
    "Profile",
    "Structure",
    "Table",
    "rows",
    "structure_places",
    "width",
]
