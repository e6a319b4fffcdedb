"""A legacy tree and the input that it is for → a type.

A dict with int keys is a tensor's axes at a tensor, and a container at a dict; a tuple likewise. Without the
input, what stands inside decides: a dim makes a tensor, a dict or a tuple makes a container.

Before::

    Items("tuple", (Entries(((0, rows),)), Unsaid()))  with  SequenceInput("list", (TensorInput(2), TensorInput(1)))

After::

    [Tensor[rows, _], _]

What torch refuses for its form alone (a tuple for a list, a key left out) has one meaning, is converted, and remarked on;
what has none is an error.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Final

from ...diagnostics import Report
from ...ir import (
    AnyType,
    Dim,
    Dtype,
    Ellipsis,
    MappingType,
    ObjectType,
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
from .notes import choice, loss
from .sizes import Sizes
from .verdict import Note

_DIMS: Final = (Named, Derived, Hinted, Pinned, Unsaid)
_UNKNOWN: Final = UnknownInput()
_NUMPY_INTS: Final = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_PLAIN: Final = frozenset({"NoneType", "bool", "bytes", "complex", "float", "object", "str"})


class Pairing:
    """Gives types to trees; errors go to the report, and give ``_``.

    Attributes:
        notes: What was taken although torch refuses it, and what was lost.
    """

    def __init__(self, sizes: Sizes, report: Report) -> None:
        self.notes: list[Note] = []
        self._sizes = sizes
        self._report = report

    def type(self, tree: Tree | None, given: Input, place: Place) -> Type:
        """Returns the type that ``tree`` says of the input ``given``."""
        if tree is None or isinstance(tree, Unsaid) or (isinstance(tree, (Entries, Items)) and not _says(tree)):
            return AnyType(None if tree is None else tree.span)
        match given:
            case TensorInput():
                return self._tensor(tree, given, place)
            case IntInput(value=value):
                if isinstance(tree, _DIMS):
                    return self._scalar(tree, place, value)
                return self._misfit(tree, place, "an int")
            case SequenceInput():
                return self._sequence(tree, given, place)
            case MappingInput(entries=entries):
                return self._mapping(tree, dict(entries), place)
            case ObjectInput():
                return self._object(tree, given, place)
            case OtherInput(name=name):
                help_ = f"register {name} with torch's pytree, as the legacy program must have"
                if name in _PLAIN:
                    help_ = ""
                elif name in _NUMPY_INTS:
                    help_ = "pass an int: torch takes none of numpy's"
                return self._misfit(tree, place, f"of type {name}, and never dynamic", help_)
            case UnknownInput():
                return self._guess(tree, place)

    def _misfit(self, tree: Tree, place: Place, what: str, help_: str = "", *, refused: bool = True) -> Type:
        self._report.error(
            "legacy-parameter",
            f"`{place.text}` is {what}",
            at=tree.span,
            label=_described(tree),
            note=["torch.export refuses this spec"] if refused else ["torch.export obeys one of them"],
            help=[help_] if help_ else [],
        )
        return AnyType(tree.span)

    def _tolerate(self, tree: Tree, place: Place, what: str, taken: str, other: str) -> None:
        message = f"torch.export refuses this spec: {what}"
        self.notes.append(choice(message, [place.text], taken, [other], span=tree.span))

    # -------------------------------------------------------------------------------------- leaves

    def _tensor(self, tree: Tree, given: TensorInput, place: Place) -> Type:
        rank = given.rank if given.sizes is None else len(given.sizes)
        match tree:
            case Entries(items=entries) if all(isinstance(key, int) for key, _ in entries):
                return self._axes(tree, rank, given.sizes, place)
            case Items(items=items) if tree.kind != "namedtuple":
                if rank is not None and len(items) != rank:
                    return self._misfit(tree, place, f"a tensor of {_count(rank, 'dim')}, not of {len(items)}")
                sizes = given.sizes or (None,) * len(items)
                dims = [self._dim(item, place.axis(axis), sizes[axis]) for axis, item in enumerate(items)]
                return _tensor_type(dims, tree)
            case Entries(items=entries):
                key = next(key for key, _ in entries if not isinstance(key, int))
                return self._misfit(tree, place, f"a tensor, which has no key {key!r}")
            case _:
                return self._misfit(tree, place, "a tensor, whose dims are a dict, a list or a tuple")

    def _axes(self, tree: Entries, rank: int | None, sizes: tuple[int | None, ...] | None, place: Place) -> Type:
        said = {axis: item for axis, item in tree.items if isinstance(axis, int)}
        if rank is None:
            return self._open(tree, said, place)
        dims: list[Dim] = [Static() for _ in range(rank)]
        seen: dict[int, int] = {}
        for axis, item in said.items():
            if not -rank <= axis < rank:
                if isinstance(item, Unsaid):
                    continue
                return self._misfit(tree, place, f"a tensor of {_count(rank, 'dim')}, without an axis {axis}")
            at = axis % rank
            if at in seen and not isinstance(item, Unsaid):
                if item == said[seen[at]]:
                    continue
                return self._misfit(
                    tree, place, f"a tensor of {_count(rank, 'dim')}: {seen[at]} and {axis} are one axis", refused=False
                )
            seen[at] = axis
            given = None if sizes is None else sizes[at]
            dims[at] = self._dim(item, place.axis(at), given, counted_back=axis < 0)
        return _tensor_type(dims, tree)

    def _open(self, tree: Entries, said: Mapping[int, Tree], place: Place) -> Type:
        """Returns the type of a tensor whose rank is not known: its first axes, ``...``, its last ones."""

        def dim(axis: int) -> Dim:
            return self._dim(said[axis], place.axis(axis), counted_back=axis < 0) if axis in said else Static()

        front = [dim(axis) for axis in range(max(said, default=-1) + 1)]
        back = [dim(axis) for axis in range(min(0, *said), 0)]
        return _tensor_type([*front, Ellipsis(), *back], tree)

    def _dim(self, item: Tree, place: Place, given: int | None = None, *, counted_back: bool = False) -> Dim:
        if isinstance(item, _DIMS):
            return self._sizes.dim(item, place, given=given, counted_back=counted_back)
        self._misfit(item, place, "one dim")
        return Static(item.span)

    def _scalar(self, dim: LegacyDim, place: Place, given: int | None = None) -> Type:
        if isinstance(dim, Pinned):
            what = "an int takes AUTO, DYNAMIC, STATIC or None"
            self._tolerate(dim, place, what, f"the value {dim.value}", "any value")
        size = self._sizes.scalar(dim, place, given)
        return AnyType(dim.span) if size is None else ScalarType(size, dim.span)

    # ---------------------------------------------------------------------------------- containers

    def _sequence(self, tree: Tree, given: SequenceInput, place: Place) -> Type:
        if not isinstance(tree, Items):
            return self._misfit(tree, place, f"a {given.kind}")
        if len(tree.items) != len(given.items):
            return self._misfit(tree, place, f"a {given.kind} of {len(given.items)}, not of {len(tree.items)}")
        if tree.kind != given.kind:
            what = f"a {tree.kind} describes a {given.kind}"
            self._tolerate(tree, place, what, f"a {given.kind}, as the input is", f"a {tree.kind}")
        items = zip(tree.items, given.items, strict=True)
        types = [self.type(item, inner, place.item(at)) for at, (item, inner) in enumerate(items)]
        return _sequence_type(given.kind, types, tree)

    def _mapping(self, tree: Tree, entries: Mapping[str | int, Input], place: Place) -> Type:
        if not isinstance(tree, Entries):
            return self._misfit(tree, place, "a dict")
        said = dict(tree.items)
        for key in said:
            if key not in entries:
                close = difflib.get_close_matches(str(key), [str(each) for each in entries], 1)
                help_ = f"did you mean `{close[0]}`?" if close else f"its keys are {', '.join(map(repr, entries))}"
                return self._misfit(tree, place, f"a dict without a key {key!r}", help_)
        left_out = [key for key in entries if key not in said]
        if left_out:
            what = f"the key {', '.join(map(repr, left_out))} is left out"
            self._tolerate(tree, place, what, "static", "dynamic")
        return self._mapped(tree, entries, place)

    def _mapped(self, tree: Entries, entries: Mapping[str | int, Input], place: Place) -> Type:
        types = {key: self.type(item, entries.get(key, _UNKNOWN), place.item(key)) for key, item in tree.items}
        if all(isinstance(type_, AnyType) for type_ in types.values()):
            return AnyType(tree.span)
        keys = entries or types  # a key that is left out is to be there all the same
        return MappingType(tuple((key, types.get(key, AnyType())) for key in keys), tree.span)

    def _object(self, tree: Tree, given: ObjectInput, place: Place) -> Type:
        if not given.is_namedtuple and (not given.children or any(name is None for name, _ in given.children)):
            return self._without_keys(tree, given, place)
        if not isinstance(tree, Items):
            return self._misfit(tree, place, f"a {given.name}, described by its children in a list")
        if len(tree.items) != len(given.children):
            children = _count(len(given.children), "child")
            return self._misfit(tree, place, f"a {given.name} of {children}, not of {len(tree.items)}")
        if given.is_namedtuple and tree.kind != "namedtuple":
            what = f"a {tree.kind} describes a {given.name}, and not a {given.name}"
            self._tolerate(tree, place, what, f"the fields of {given.name} in order", f"a {tree.kind}")
        return self._fields(tree, given, place)

    def _fields(self, tree: Items, given: ObjectInput, place: Place) -> Type:
        fields: list[tuple[str, Type]] = []
        for item, (name, inner) in zip(tree.items, given.children, strict=True):
            type_ = self.type(item, inner, place.attribute(name or ""))
            if not isinstance(type_, AnyType):
                fields.append((name or "", type_))
        return ObjectType(tuple(fields), given.name, tree.span) if fields else AnyType(tree.span)

    def _without_keys(self, tree: Tree, given: ObjectInput, place: Place) -> Type:
        """Reports an object whose children a new spec cannot address; it stays static."""
        self._report.warning(
            "legacy-object-keys",
            f"`{place.text}` is a {given.name}, whose registration names no attributes",
            at=tree.span,
            label="described by its flattened children",
            note="how many children there are, and in which order, only the live object tells",
            help=[
                "keep the legacy spec here",
                "register the class with a `flatten_with_keys_fn` whose keys are `GetAttrKey`",
                "wrap the model so that it takes the tensors as a list",
            ],
        )
        message = f"the sizes in a {given.name} cannot be addressed, and are static"
        self.notes.append(loss(message, [place.text], span=tree.span))
        return AnyType(tree.span)

    # ---------------------------------------------------------------------------- without an input

    def _guess(self, tree: Tree, place: Place) -> Type:
        """Returns what ``tree`` says of an input that nobody knows."""
        match tree:
            case Entries(items=entries):
                if all(isinstance(key, int) and isinstance(item, _DIMS) for key, item in entries):
                    self._tensor_or_not(tree, [item for _, item in entries], place)
                    return self._axes(tree, None, None, place)
                return self._mapped(tree, {}, place)
            case Items(kind="namedtuple", items=items, fields=names) if len(names) == len(items):
                children = tuple((name, _UNKNOWN) for name in names)
                return self._fields(tree, ObjectInput("object", children, True), place)
            case Items(kind=kind, items=items):
                if all(isinstance(item, _DIMS) for item in items):
                    self._tensor_or_not(tree, items, place)
                    return self._tensor(tree, TensorInput(), place)
                types = [self.type(item, _UNKNOWN, place.item(at)) for at, item in enumerate(items)]
                return _sequence_type(kind, types, tree)
            case _:
                return self._scalar(tree, place)

    def _tensor_or_not(self, tree: Tree, dims: Sequence[Tree], place: Place) -> None:
        """Says so where a tensor's dims could as well be ints in a container: a named dim is never an int's."""
        if any(isinstance(dim, (Named, Derived)) for dim in dims) or all(isinstance(dim, Unsaid) for dim in dims):
            return
        what = "dict" if isinstance(tree, Entries) else "sequence"
        message = f"the dims of a tensor and the ints of a {what} are described alike"
        others = [f"ints in a {what}"]
        self.notes.append(choice(message, [place.text], "the dims of a tensor", others, span=tree.span))


def _says(tree: Entries | Items) -> bool:
    """Returns whether a container says anything: an empty one does, if it gives a scalar's dtype."""
    return bool(tree.items) or (isinstance(tree, Items) and tree.dtype is not None)


def _tensor_type(dims: list[Dim], tree: Tree) -> Type:
    dtype = Dtype(tree.dtype) if isinstance(tree, Items) and tree.dtype is not None else None
    if dtype is None and all(isinstance(dim, (Static, Ellipsis)) for dim in dims):
        return AnyType(tree.span)
    return TensorType(tuple(dims), dtype, tree.span)


def _sequence_type(kind: str, types: list[Type], tree: Tree) -> Type:
    if all(isinstance(type_, AnyType) for type_ in types):
        return AnyType(tree.span)
    return SequenceType("list" if kind == "list" else "tuple", tuple(types), span=tree.span)


def _count(number: int, what: str) -> str:
    plural = "children" if what == "child" else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


def _described(tree: Tree) -> str:
    match tree:
        case Entries():
            return "a dict"
        case Items(kind=kind, items=items):
            return f"a {kind} of {len(items)}"
        case _:
            return "a dim"


__all__ = ["Pairing"]
