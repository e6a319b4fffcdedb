"""What calls returned → the return type, in names of the sizes that they were called with.

Before::

    (1, 17) → float32 (1, 17, 768), (8, 64) → float32 (8, 64, 768), …      B: 1, 8 …   S: 17, 64 …

After::

    Tensor[B, S, 768]

A size of an output that follows from nothing is ``_``; outputs that differ between calls of the same sizes have no type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from ....ir import AnyType, Const, Dim, Path, Size, Static, Type
from ...profiles.histogram import Sizes
from ...profiles.profile import Profile, Structure
from .merged import Column, Instance, Merger
from .relations import CONSTANT_CALLS, CONSTANT_ROWS, EQUAL, EQUAL_PAIR, Derived, Group, Values, affine, sum_offset
from .rows import Row, values_of
from .typed import Typer

# A call's sizes by name, or None if the call has none.
Lookup: TypeAlias = "Callable[[Structure, Sizes], Mapping[str, int] | None]"
_MOST: Final = 24  # sizes among which sums are looked for


def return_type(profile: Profile, names: Mapping[str, Size], lookup: Lookup, notes: list[str]) -> Type | None:
    """Returns the type of what calls returned; None if that does not follow from their sizes, or was not remembered.

    Args:
        profile: The calls.
        names: The sizes that may be spoken of, by the name that ``lookup`` knows, the preferred ones first.
        lookup: The sizes of a call.
        notes: Receives why there is none.
    """
    nodes: dict[object, int] = {}
    instances: list[Instance] = []
    rows: list[Row] = []
    known: list[Mapping[str, int]] = []
    calls = 0
    for structure, table in profile.tables.items():
        for sizes, output in table.outputs.items():
            own = lookup(structure, sizes)
            if own is None:
                continue
            if output is None:
                notes.append("calls of the same sizes returned different ones, so no return type is written")
                return None
            node, returned = output
            if node not in nodes:
                instances.append(Instance(len(nodes), node, 0))
                nodes[node] = len(nodes)
            rows.append(Row(nodes[node], returned, 1))
            known.append(own)
            calls += table.sizes.counts.get(sizes, 1)
    if not rows:
        return None
    merger = Merger()
    shape = merger.merge(instances, Path("return"))
    solid = len(rows) >= CONSTANT_ROWS and calls >= CONSTANT_CALLS
    columns = [(size, tuple(own.get(name) for own in known)) for name, size in names.items()]

    def follows(column: Column) -> Dim:
        values = values_of(column, rows)
        size = _follows(values, columns, calls, solid)
        if isinstance(size, Static) and len(set(values)) > 1:
            notes.append(f"{column} varies and follows from no size: it is written `_`, and padding may change it")
        return size

    typer = Typer(follows, notes, returned=True)
    made = typer.type(shape)
    return None if isinstance(made, AnyType) and len(nodes) > 1 else made


def _follows(values: Values, known: Sequence[tuple[Size, Values]], calls: int, solid: bool) -> Dim:
    """Returns an output's size in names of the inputs'; ``_`` where it follows from none."""
    seen = {value for value in values if value is not None}
    if None in values or not seen:
        return Static()
    if len(seen) == 1:
        return Const(seen.pop()) if solid else Static()
    least = 2 if calls >= EQUAL_PAIR else EQUAL
    for size, own in known:
        if own == values and len(seen) >= least:
            return size
    for size, own in known:
        line = affine(own, values)
        if line is not None:
            return Derived(Group([], own), line[0], None, line[1]).size(size, None)
    for (first, xs), (second, ys) in combinations(known[:_MOST], 2):
        offset = sum_offset(xs, ys, values)
        if offset is not None:
            return Derived(Group([], xs), 1, Group([], ys), offset).size(first, second)
    return Static()


__all__ = ["Lookup", "return_type"]
