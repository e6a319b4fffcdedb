"""The distinct sizes that an expanded signature reads, and what is static or pinned among them.

Before (``HD = _`` is 64 at the example, ``N == 3``)::

    x: [B, HD, 2 * B, N]       w: [HD * B, HD - 1]

After::

    x: [B, _, 2 * B, 3]        w: [64 * B, _]
    sizes: B, 2 * B, 64 * B
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...ir import Apply, Const, Dim, Size, Static, Var, VariableKind
from ...ir.expanded import Expanded, Leaf
from ...ir.walk import free_vars, substitute_size
from ...ir.write import write_dim
from ..algebra import canonical
from ..intervals import Box


@dataclass(frozen=True, slots=True)
class Slot:
    """A size that the callable is given, on one axis or several.

    Attributes:
        size: Canonical; a `Var` or an `Apply`.
        name: What torch is told: the expression without spaces.
        kind: `INT` if only scalars hold it, else `DIM`.
        place: The first axis that holds it, as messages name it.
        leaf, axis: The same, as data.
    """

    size: Size
    name: str
    kind: VariableKind
    place: str
    leaf: Leaf
    axis: int

    @property
    def bare(self) -> bool:
        """Whether a variable stands alone in it."""
        return isinstance(self.size, Var)


def known_leaves(expanded: Expanded, values: Mapping[str, Size], static: frozenset[str], box: Box) -> list[Leaf]:
    """Returns the leaves with ``values`` substituted, in canonical form.

    Args:
        expanded: At one structure.
        values: Constants, and representatives, by the names they replace.
        static: Names of static sizes: a dim made of nothing else is static too.
        box: Ranges that the algebra may use.
    """

    def known(dim: Dim) -> Dim:
        if not isinstance(dim, (Var, Apply)):
            return dim
        if isinstance(dim, Var) and dim.name not in values and dim.name not in static:
            return dim
        names = set(free_vars(dim))
        if names and names <= static:
            return Static(dim.span)
        return canonical(substitute_size(dim, values), box)

    return [replace(leaf, dims=tuple(map(known, leaf.dims))) for leaf in expanded.leaves]


def slots_of(leaves: list[Leaf]) -> dict[Size, Slot]:
    """Returns the distinct sizes of ``leaves`` that are neither numbers nor static, in the order of first use."""
    found: dict[Size, Slot] = {}
    for leaf in leaves:
        for axis, dim in enumerate(leaf.dims):
            if not isinstance(dim, (Var, Apply)):
                continue
            kind = VariableKind.INT if leaf.scalar else VariableKind.DIM
            if dim not in found:
                name = write_dim(dim).replace(" ", "")
                found[dim] = Slot(dim, name, kind, leaf.place(axis), leaf, axis)
            elif kind is VariableKind.DIM:
                found[dim] = replace(found[dim], kind=kind)
    return found


def slot_dims(leaf: Leaf, slots: Mapping[Size, Slot], numbers: Mapping[str, int]) -> Leaf:
    """Returns ``leaf`` with each size as the variable of its slot, or its number."""

    def slot(dim: Dim) -> Dim:
        if isinstance(dim, (Var, Apply)):
            name = slots[dim].name
            return Const(numbers[name], dim.span) if name in numbers else Var(name, dim.span)
        return dim

    return replace(leaf, dims=tuple(map(slot, leaf.dims)))


__all__ = ["Slot", "known_leaves", "slot_dims", "slots_of"]
