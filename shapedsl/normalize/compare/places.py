"""One spec at one structure, as a set of sizes at places: ``x.shape[0]``.

Variables are matched by what they bind, so what two specs share is their places. A spec gives each
place a size over its own variables; a static place, and one that only the other spec speaks of, can
have any size, for which it gets a variable of its own.

Before, with ``y`` listed by the other spec only::

    x: Tensor[N, 2*N, _]

After::

    x.shape[0] = N, x.shape[1] = 2*N, x.shape[2] = x.shape[2], y.shape[0] = y.shape[0]       given N >= 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...diagnostics import Span
from ...ir import COMPARISONS, Apply, Compare, Const, Dim, Predicate, Size, Static, Var, Variable, VariableKind
from ...ir.expanded import Expanded
from ...ir.walk import evaluate, free_vars
from ..decide import WORK, Unknown, find_sizes
from .changes import Example, Sizes


@dataclass(frozen=True, slots=True)
class Places:
    """One spec at one structure, as a set of sizes at places.

    Attributes:
        expanded: The spec.
        sizes: Place → the size there over ``variables``; a static one is a variable named as the place is.
        variables: Those of the spec, and those of static places.
        given: What is known of them.
        spans: Place → where it is written.
    """

    expanded: Expanded
    sizes: Mapping[str, Size]
    variables: tuple[Variable, ...]
    given: tuple[Predicate, ...]
    spans: Mapping[str, Span | None]

    @property
    def varying(self) -> dict[str, bool]:
        """Place → whether more than the example's size is accepted there; pinned ones are left out."""
        static = {v.name for v in self.expanded.signature.variables if v.kind is VariableKind.CONST}
        found: dict[str, bool] = {}
        for leaf in self.expanded.leaves:
            for axis, dim in enumerate(leaf.dims):
                names = set(free_vars(dim))
                if isinstance(dim, Static) or names:
                    found[leaf.place(axis)] = bool(names - static)
        return found

    @property
    def numbers(self) -> frozenset[str]:
        """The places of pinned sizes."""
        return frozenset(
            leaf.place(axis)
            for leaf in self.expanded.leaves
            for axis, dim in enumerate(leaf.dims)
            if not isinstance(dim, Static) and not set(free_vars(dim))
        )


def places_of(expanded: Expanded, others: Sequence[Expanded]) -> Places:
    """Returns ``expanded`` over its places, and over those that ``others`` have at the same structure."""
    sizes: dict[str, Size] = {}
    spans: dict[str, Span | None] = {}
    made: dict[str, Variable] = {}
    for each in (expanded, *others):
        for leaf in each.leaves:
            for axis, dim in enumerate(leaf.dims):
                place = leaf.place(axis)
                if place in sizes:
                    continue
                if each is not expanded or isinstance(dim, Static):
                    made[place] = Variable(place, VariableKind.INT if leaf.scalar else VariableKind.DIM)
                    sizes[place] = Var(place)
                else:
                    sizes[place] = size_of(dim)
                spans[place] = dim.span or leaf.span
    given = [constraint.predicate for constraint in expanded.signature.constraints]
    given += [Compare(COMPARISONS["=="], Var(name), Const(n)) for name, n in expanded.lengths]
    return Places(expanded, sizes, (*expanded.signature.variables, *made.values()), tuple(given), spans)


def size_of(dim: Dim) -> Size:
    """Returns the dim of a leaf, which is not static, as the size that it is."""
    assert isinstance(dim, (Const, Var, Apply)), dim
    return dim


def satisfiable(places: Places, work: int = WORK) -> Example | Unknown | None:
    """Returns sizes that a spec accepts, or None if there are none."""
    match find_sizes(places.variables, places.given, work=work):
        case None:
            return None
        case Unknown() as unknown:
            return unknown
        case found:
            return example_of(places, tuple(sorted(found.items())))


def example_of(places: Places, sizes: Sizes) -> Example:
    """Returns a model as an example: what the user's variables are, and what stands at the places."""
    known = dict(sizes)
    own = {variable.name for variable in places.expanded.signature.variables}
    named = tuple((name, size) for name, size in sizes if name in own and not name.startswith("?"))
    read = tuple((place, evaluate(size, known)) for place, size in places.sizes.items())
    return Example(named, read)


__all__ = ["Places", "example_of", "places_of", "satisfiable", "size_of"]
