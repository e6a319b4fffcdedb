"""What a spec says of each place, one statement at a time: what a check of it refuses, over the places alone.

A variable is what a check takes for it: the first size that tells it. Everything else that the spec says of a size is
a statement about that.

Before::

    def f(x: Tensor[B, 3], y: Tensor[2 * B]): where B <= 8

After, with ``B`` read off ``x.shape[0]``::

    x.shape[1] == 3     y.shape[0] == 2 * x.shape[0]     x.shape[0] <= 8
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ...diagnostics import Span
from ...ir import (
    COMPARISONS,
    OPERATORS,
    Apply,
    Compare,
    Const,
    Origin,
    Predicate,
    Size,
    Static,
    Var,
    Variable,
    VariableKind,
)
from ...ir.expanded import Expanded
from ...ir.orient import orient
from ...ir.walk import free_vars, substitute, substitute_size
from ...ir.write import write_dim, write_predicate
from ...runtime.plan import Bind, Combine, Define, Linear, Slot, plan
from ..program import Demand


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a spec says of places.

    Attributes:
        predicate: Over places.
        text: In the user's words: ``y.shape[0] == 2 * B``.
        kind: ``size`` (a place is a dim), ``constraint``, or ``static`` (a size that the artifact was made for).
        place: The place it is about, if it is one.
        span: Where the spec says it.
        origin: Of a constraint.
    """

    predicate: Predicate
    text: str
    kind: str
    place: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """What a spec says at one structure.

    Attributes:
        statements: Whatever satisfies all of them is accepted, and nothing else is.
        definitions: Each variable of the signature, over places.
        names: Each place that a variable is read off, with the variable.
        dims: What the spec says a place is; of a static one nothing.
        places: The variables that places are.
        unsaid: Constraints with variables that nothing tells.
    """

    statements: tuple[Statement, ...]
    definitions: Mapping[str, Size]
    names: Mapping[str, str]
    dims: Mapping[str, Size]
    places: tuple[Variable, ...]
    unsaid: tuple[str, ...] = ()


def stated(expanded: Expanded, statics: Mapping[str, int] | None = None) -> Stated:
    """Returns what a check of ``expanded`` refuses, over places.

    Args:
        expanded: With a solution, where one is needed.
        statics: The sizes of static places that an artifact was made for: each is a statement, too.
    """
    definitions, names = _definitions(expanded)
    dims: dict[str, Size] = {}
    found: list[Statement] = []
    unsaid: list[str] = []
    sizes: set[Size] = set()
    places: dict[str, Variable] = {}
    for number, leaf in enumerate(expanded.leaves):
        for axis, dim in enumerate(leaf.dims):
            place = leaf.place(axis)
            places[place] = Variable(place, VariableKind.INT if leaf.scalar else VariableKind.DIM)
            if isinstance(dim, Static) or not isinstance(dim, (Const, Var, Apply)):
                continue
            dims[place] = dim
            if not leaf.scalar:
                sizes.add(dim)
            size = _known(expanded, definitions, number, axis, dim)
            if size is None:
                unsaid.append(f"{place} == {write_dim(dim)}")
            elif size != Var(place):
                predicate = orient(Compare(COMPARISONS["=="], Var(place), size))
                text = f"{place} == {write_dim(dim)}"
                found.append(Statement(predicate, text, "size", place, dim.span or leaf.span))
    for place, value in (statics or {}).items():
        places.setdefault(place, Variable(place, VariableKind.DIM))
        predicate = Compare(COMPARISONS["=="], Var(place), Const(value))
        span = getattr(dims.get(place), "span", None)
        found.append(Statement(predicate, f"{place} == {value}", "static", place, span))
    for constraint in expanded.signature.constraints:
        text = constraint.text or write_predicate(constraint.predicate)
        if not definitions.keys() >= set(free_vars(constraint.predicate)):
            unsaid.append(text)
            continue
        if constraint.origin is Origin.DIM and _is_of_dim(constraint.predicate, sizes):
            continue
        predicate = substitute(constraint.predicate, definitions)
        if not _is_of_kind(predicate, places):
            found.append(Statement(predicate, text, "constraint", "", constraint.span, constraint.origin))
    return Stated(tuple(found), definitions, names, dims, tuple(places.values()), tuple(unsaid))


def statements(expanded: Expanded, statics: Iterable[tuple[str, int]] = ()) -> tuple[Demand, ...]:
    """Returns the same as demands: what shapedsl's own check in front of an artifact refuses."""
    return tuple(Demand("extra-assumption", each.predicate) for each in stated(expanded, dict(statics)).statements)


def _known(expanded: Expanded, definitions: Mapping[str, Size], leaf: int, axis: int, dim: Size) -> Size | None:
    """Returns a dim over places; None where a variable in it is told by nothing."""
    if not definitions.keys() >= set(free_vars(dim)) and expanded.solution is not None:
        canonical = expanded.solution.dims[leaf][axis]  # `A - A` needs no A
        if isinstance(canonical, (Const, Var, Apply)):
            dim = canonical
    return substitute_size(dim, definitions) if definitions.keys() >= set(free_vars(dim)) else None


def _definitions(expanded: Expanded) -> tuple[dict[str, Size], dict[str, str]]:
    """Returns the variables over places, and the places that are variables."""
    found: dict[str, Size] = {name: Const(length) for name, length in expanded.lengths}
    names: dict[str, str] = {}

    def place(slot: Slot) -> Var:
        return Var(expanded.leaves[slot.leaf].place(slot.axis))

    for step in plan(expanded).steps:
        match step:
            case Bind(variable=name, slot=slot):
                found[name] = place(slot)
                names[place(slot).name] = name
            case Linear(variable=name, slot=slot, coefficient=coefficient, rest=rest):
                found[name] = _quotient(_minus(place(slot), substitute_size(rest, found)), coefficient)
            case Combine(variable=name, terms=terms, divisor=divisor):
                total: Size = Const(0)
                for factor, slot, rest, _ in terms:
                    term = _minus(place(slot), substitute_size(rest, found))
                    total = _plus(total, term if factor == 1 else Apply(OPERATORS["*"], (Const(factor), term)))
                found[name] = _quotient(total, divisor)
            case Define(variable=name, size=size, slots=slots):
                readings: dict[str, Size] = {each: place(slot) for each, slot in slots}
                found[name] = substitute_size(size, readings)
            case _:
                pass
    return found, names


def _quotient(size: Size, divisor: int) -> Size:
    if divisor == 1:
        return size
    if divisor == -1:
        return Apply(OPERATORS["neg"], (size,))
    return Apply(OPERATORS["//"], (size, Const(divisor)))


def _minus(left: Size, right: Size) -> Size:
    return left if right == Const(0) else Apply(OPERATORS["-"], (left, right))


def _plus(left: Size, right: Size) -> Size:
    return right if left == Const(0) else Apply(OPERATORS["+"], (left, right))


def _is_of_dim(predicate: Predicate, sizes: Collection[Size]) -> bool:
    """Whether it says no more than that the dim of a tensor is a size, which the place says, too."""
    match predicate:
        case Compare(op=op, left=left, right=Const(value=0)) if op.name == ">=":
            return left in sizes
        case _:
            return False


def _is_of_kind(predicate: Predicate, places: Mapping[str, Variable]) -> bool:
    """Whether no tensor can violate it: a size is never negative."""
    match predicate:
        case Compare(op=op, left=Var(name=name), right=Const(value=value)) if op.name == ">=":
            return value <= 0 and places[name].kind is VariableKind.DIM
        case Compare(op=op, left=Const(value=left), right=Const(value=right)):
            return op.python(left, right)
        case _:
            return False


def front_of(graph: object) -> Expanded | None:
    """Returns the spec that a graph of ours checks in front of itself; None for another graph."""
    codegen = getattr(getattr(graph, "graph", None), "_codegen", None)
    lowered = getattr(getattr(codegen, "check", None), "lowered", None)
    return None if lowered is None else lowered.expanded


__all__ = ["Stated", "Statement", "front_of", "stated", "statements"]
