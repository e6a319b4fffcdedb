"""A legacy tree and the input that it is for → a type.

A dict with int keys is a tensor's axes at a tensor, and a container at a dict; a tuple likewise. Without the
input, what stands inside decides: a dim makes a tensor, a dict or a tuple makes a container.

Before::

    Items("tuple", (Entries(((0, rows),)), Unsaid()))  with  SequenceInput("list", (TensorInput(2), TensorInput(1)))

After::

    [Tensor[rows, _], _]
"""

from __future__ import annotations

from ...diagnostics import Report
from ...ir import (
    AnyType,
    Dim,
    Ellipsis,
    MappingType,
    ObjectType,
    Rest,
    ScalarType,
    SequenceType,
    Static,
    TensorType,
    Type,
)
from .model import (
    Derived,
    Entries,
    Hinted,
    Input,
    IntInput,
    Items,
    LegacyDim,
    MappingInput,
    Named,
    ObjectInput,
    OtherInput,
    Pinned,
    SequenceInput,
    TensorInput,
    Tree,
    UnknownInput,
    Unsaid,
)
from .naming import Place
from .sizes import Sizes

_DIMS = (Named, Derived, Hinted, Pinned, Unsaid)


def pair(tree: Tree, given: Input, place: Place, sizes: Sizes, report: Report) -> Type:
    """Returns the type that ``tree`` says of ``given``; errors go to the report, and give ``_``."""
    return _Pairing(sizes, report).visit(tree, given, place)


class _Pairing:
    def __init__(self, sizes: Sizes, report: Report) -> None:
        self._sizes = sizes
        self._report = report

    def visit(self, tree: Tree, given: Input, place: Place) -> Type:
        if isinstance(tree, Unsaid) or (isinstance(tree, (Entries, Items)) and not tree.items):
            return AnyType(tree.span)
        match given:
            case TensorInput(rank=rank):
                return self._tensor(tree, rank, place)
            case IntInput():
                return self._int(tree, place)
            case SequenceInput(kind=kind, items=items):
                return self._sequence(tree, kind, items, place)
            case MappingInput(entries=entries):
                return self._mapping(tree, dict(entries), place)
            case ObjectInput():
                return self._object(tree, given, place)
            case OtherInput(name=name):
                return self._misfit(tree, place, f"a {name}, which is never dynamic")
            case UnknownInput():
                return self._guess(tree, place)

    def _misfit(self, tree: Tree, place: Place, what: str) -> Type:
        self._report.error(
            "legacy-parameter",
            f"`{place.text}` is {what}",
            at=tree.span,
            label=_described(tree),
            note="torch.export refuses this spec",
        )
        return AnyType(tree.span)

    # -------------------------------------------------------------------------------------- leaves

    def _tensor(self, tree: Tree, rank: int | None, place: Place) -> Type:
        match tree:
            case Entries(items=entries) if all(isinstance(key, int) for key, _ in entries):
                return self._axes(tree, rank, place)
            case Items(items=items) if tree.kind != "namedtuple":
                if rank is not None and len(items) != rank:
                    return self._misfit(tree, place, f"a tensor of {_count(rank, 'dim')}, not of {len(items)}")
                dims = [self._dim(item, place.axis(axis)) for axis, item in enumerate(items)]
                return _tensor_type(dims, tree)
            case _:
                return self._misfit(tree, place, "a tensor")

    def _axes(self, tree: Entries, rank: int | None, place: Place) -> Type:
        given = {axis: item for axis, item in tree.items if isinstance(axis, int)}
        if rank is not None:
            dims: list[Dim] = [Static() for _ in range(rank)]
            seen: dict[int, int] = {}
            for axis, item in given.items():
                if not -rank <= axis < rank:
                    return self._misfit(tree, place, f"a tensor of {_count(rank, 'dim')}, without an axis {axis}")
                at = axis % rank if rank else 0
                if at in seen:
                    return self._misfit(tree, place, f"given axis {at} twice, as {seen[at]} and {axis}")
                seen[at] = axis
                dims[at] = self._dim(item, place.axis(at))
            return _tensor_type(dims, tree)
        front = [axis for axis in given if axis >= 0]
        back = [axis for axis in given if axis < 0]
        made: list[Dim] = []
        for axis in range(max(front, default=-1) + 1):
            made.append(self._dim(given[axis], place.axis(axis)) if axis in given else Static())
        made.append(Ellipsis())
        for axis in range(min(back, default=0), 0):
            made.append(self._dim(given[axis], place.axis(axis)) if axis in given else Static())
        return _tensor_type(made, tree)

    def _dim(self, item: Tree, place: Place) -> Dim:
        if isinstance(item, _DIMS):
            return self._sizes.dim(item, place)
        self._misfit(item, place, "one dim")
        return Static(item.span)

    def _int(self, tree: Tree, place: Place) -> Type:
        if not isinstance(tree, _DIMS):
            return self._misfit(tree, place, "an int")
        return self._scalar(tree, place)

    def _scalar(self, dim: LegacyDim, place: Place) -> Type:
        size = self._sizes.scalar(dim, place)
        return AnyType(dim.span) if size is None else ScalarType(size, dim.span)

    # ---------------------------------------------------------------------------------- containers

    def _sequence(self, tree: Tree, kind: str, items: tuple[Input, ...], place: Place) -> Type:
        if not isinstance(tree, Items):
            return self._misfit(tree, place, f"a {kind}")
        if len(tree.items) != len(items):
            return self._misfit(tree, place, f"a {kind} of {len(items)}, not of {len(tree.items)}")
        types = [
            self.visit(item, inner, place.item(at))
            for at, (item, inner) in enumerate(zip(tree.items, items, strict=True))
        ]
        return _sequence_type(kind, types, tree)

    def _mapping(self, tree: Tree, entries: dict[str | int, Input], place: Place) -> Type:
        if not isinstance(tree, Entries):
            return self._misfit(tree, place, "a dict")
        unknown = [key for key, _ in tree.items if key not in entries]
        if unknown:
            return self._misfit(tree, place, f"a dict without a key {unknown[0]!r}")
        return self._mapped(tree, entries, place)

    def _mapped(self, tree: Entries, entries: dict[str | int, Input], place: Place) -> Type:
        types = [(key, self.visit(item, entries.get(key, UnknownInput()), place.item(key))) for key, item in tree.items]
        said = tuple((key, type_) for key, type_ in types if not isinstance(type_, AnyType))
        return MappingType(said, tree.span) if said else AnyType(tree.span)

    def _object(self, tree: Tree, given: ObjectInput, place: Place) -> Type:
        if not isinstance(tree, Items):
            return self._misfit(tree, place, f"a {given.name}")
        if len(tree.items) != len(given.children):
            return self._misfit(
                tree, place, f"a {given.name} of {len(given.children)} children, not of {len(tree.items)}"
            )
        fields: list[tuple[str, Type]] = []
        for item, (name, inner) in zip(tree.items, given.children, strict=True):
            if name is None:
                self._report.error(
                    "legacy-object-keys",
                    f"`{place.text}` is a {given.name}, which is registered without the names of its attributes",
                    at=tree.span,
                    label="described by its flattened children",
                    help=[
                        "keep the legacy spec here",
                        "register the class with `flatten_with_keys_fn`, whose keys are `GetAttrKey`",
                        "wrap the model so that it takes the tensors in a list",
                    ],
                )
                return AnyType(tree.span)
            type_ = self.visit(item, inner, place.attribute(name))
            if not isinstance(type_, AnyType):
                fields.append((name, type_))
        return ObjectType(tuple(fields), given.name, tree.span) if fields else AnyType(tree.span)

    # ---------------------------------------------------------------------------- without an input

    def _guess(self, tree: Tree, place: Place) -> Type:
        match tree:
            case Entries(items=entries):
                keys = {type(key) for key, _ in entries}
                if keys == {int} and all(isinstance(item, _DIMS) for _, item in entries):
                    return self._axes(tree, None, place)
                return self._mapped(tree, {}, place)
            case Items(kind="namedtuple", items=items, fields=names):
                types = [
                    (name, self.visit(item, UnknownInput(), place.attribute(name)))
                    for name, item in zip(names, items, strict=True)
                ]
                said = tuple((name, type_) for name, type_ in types if not isinstance(type_, AnyType))
                return ObjectType(said, "object", tree.span) if said else AnyType(tree.span)
            case Items(kind=kind, items=items):
                if all(isinstance(item, _DIMS) for item in items):
                    return self._tensor(tree, None, place)
                return _sequence_type(
                    kind, [self.visit(item, UnknownInput(), place.item(at)) for at, item in enumerate(items)], tree
                )
            case _:
                return self._scalar(tree, place)


def _tensor_type(dims: list[Dim], tree: Tree) -> Type:
    if all(isinstance(dim, (Static, Ellipsis)) for dim in dims):
        return AnyType(tree.span)
    return TensorType(tuple(dims), None, tree.span)


def _sequence_type(kind: str, types: list[Type], tree: Tree) -> Type:
    if all(isinstance(type_, AnyType) for type_ in types):
        return AnyType(tree.span)
    return SequenceType(kind, tuple(types), Rest.NONE, None, tree.span)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _described(tree: Tree) -> str:
    match tree:
        case Entries():
            return "a dict"
        case Items(kind=kind, items=items):
            return f"a {kind} of {len(items)}"
        case _:
            return "a dim"


__all__ = ["pair"]
