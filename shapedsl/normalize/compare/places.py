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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...diagnostics import Span
from ...ir import COMPARISONS, Apply, Compare, Const, Dim, Predicate, Size, Static, Var, Variable, VariableKind
from ...ir.expanded import Expanded, Leaf
from ...ir.walk import evaluate, free_vars
from ..components import components
from ..decide import Unknown
from .asking import Asker, Known
from .changes import Example, Sizes


@dataclass(frozen=True, slots=True)
class Places:
    """One spec at one structure, as a set of sizes at places.

    Attributes:
        expanded: The spec.
        sizes: Place → the size there over ``variables``; a static one is a variable named as the place is.
        known: What is known of the variables: those of the spec, and those of static places.
        spans: Place → where it is written.
    """

    expanded: Expanded
    sizes: Mapping[str, Size]
    known: Known
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
    return Places(expanded, sizes, Known((*expanded.signature.variables, *made.values()), given), spans)


def size_of(dim: Dim) -> Size:
    """Returns the dim of a leaf, which is not static, as the size that it is."""
    assert isinstance(dim, (Const, Var, Apply)), dim
    return dim


def parts(places: Places) -> Iterator[Places]:
    """Yields a spec part by part, none of which has a variable in common with another.

    What a part lacks is static in it; the numbers of all parts are one.
    """
    expanded = places.expanded
    constraints = expanded.signature.constraints
    dims = [dim for leaf in expanded.leaves for dim in leaf.dims]
    nodes: list[Dim | Predicate] = [*dims, *(constraint.predicate for constraint in constraints)]
    numbers: list[int] = []
    for members in components(nodes):
        if any(True for _ in free_vars(nodes[members[0]])):
            yield _part(places, set(members))
        elif not isinstance(nodes[members[0]], Static):
            numbers += members
    if numbers:
        yield _part(places, set(numbers))


def _part(places: Places, members: set[int]) -> Places:
    expanded = places.expanded
    leaves: list[Leaf] = []
    at = 0
    for leaf in expanded.leaves:
        dims = tuple(dim if at + axis in members else Static(dim.span) for axis, dim in enumerate(leaf.dims))
        at += len(leaf.dims)
        leaves.append(replace(leaf, dims=dims))
    constraints = tuple(c for number, c in enumerate(expanded.signature.constraints, at) if number in members)
    names = {name for leaf in leaves for dim in leaf.dims for name in free_vars(dim)}
    names |= {name for constraint in constraints for name in free_vars(constraint.predicate)}
    variables = tuple(variable for variable in expanded.signature.variables if variable.name in names)
    lengths = tuple((name, n) for name, n in expanded.lengths if name in names)
    signature = replace(expanded.signature, constraints=constraints, variables=variables)
    return replace(places, expanded=replace(expanded, signature=signature, leaves=tuple(leaves), lengths=lengths))


def satisfiable(places: Places, asker: Asker) -> Example | Unknown | None:
    """Returns sizes that a spec accepts, or None if there are none."""
    match asker.sizes(places.known):
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
    return Example(named, tuple(_values(places, known)))


def _values(places: Places, known: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for place, size in places.sizes.items():
        try:
            yield place, evaluate(size, known)
        except ZeroDivisionError:  # `check` finds the divisor that can be 0
            continue


__all__ = ["Places", "example_of", "parts", "places_of", "satisfiable", "size_of"]
