"""Calls without sizes: every rank, length and None-ness at which two specs are to be compared.

Whether a spec takes a call depends on its structure first, on its sizes then. `ir.expand` says what a
spec is at a structure, given arguments; so this module makes arguments that have a structure and no
sizes, enough of them that nothing which differs stays unseen.

Before, old and new::

    def f(x: Tensor[*batch, D], mask: Tensor[D] | None)
    def f(x: Tensor[B, D], mask: Tensor[D])

After, ranks of ``x`` beside ``mask``::

    (1, None) (1, tensor) (2, None) (2, tensor) (3, None) (3, tensor) …

Why few suffice: what a spec assumes of a call it assumes of every part of it. A constraint that fails
in a large structure fails where only the parts are present that its variables are read from, and there
fewer assumptions protect it. So a variadic needs a dim more than the other dims beside it, a repeated
item needs two, and where the product of all choices is too large, the few most absent ones stand for
it, if they cover as many parts as one constraint speaks of (`points`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Final, TypeAlias

from ...ir import (
    AnyType,
    Attribute,
    Compare,
    Const,
    Ellipsis,
    Item,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Param,
    Path,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    TensorType,
    Type,
    Var,
    Variadic,
)
from ...ir.walk import free_vars, tensor_dims
from ..decide import range_of
from .points import Chosen, Named, Needs, Point, Points, of_side
from .reach import multiplies, parts_of_a_question

_REPEATS: Final = (0, 1, 2)
_FEW_TIMES: Final = 6
_DIMS: Final = 2  # of a variadic
_DIMS_MULTIPLIED: Final = 5  # where `prod` multiplies them, which speaks of all at once: more of them find more


@dataclass(frozen=True, slots=True)
class FakeTensor:
    """A tensor of which only the rank counts."""

    shape: tuple[int, ...]


class _Other:
    """A value of no kind that a spec could name."""


OTHER: Final = _Other()
OMITTED: Final = _Other()

Build: TypeAlias = "Callable[[Chosen], object]"


def is_fake_tensor(value: object) -> bool:
    """Whether `expand` is to take ``value`` for a tensor."""
    return isinstance(value, FakeTensor)


@dataclass
class Structures:
    """The structures of two signatures with the same parameters.

    Attributes:
        complete: Whether `calls` yields enough of them for a proof; known after the last one.
    """

    old: Signature
    new: Signature
    complete: bool = True

    def __post_init__(self) -> None:
        self._points = Points()
        self._builds: list[tuple[str, Build]] = []
        self._latest: Chosen = {}
        self._sides = self.old, self.new
        self._open: set[int] = set()
        self._most_dims = _DIMS_MULTIPLIED if multiplies(self.old) or multiplies(self.new) else _DIMS
        for old, new in zip(self.old.params, self.new.params, strict=True):
            self._builds.append((new.name, self._param(old, new)))

    @property
    def any_rank(self) -> bool:
        """Whether both take tensors of any rank, of which a few stand for all."""
        return len(self._open) == 2

    def calls(self) -> Iterator[dict[str, object]]:
        """Yields arguments by parameter name; an omitted default is missing."""
        seen: set[str] = set()
        for chosen in self._points.choices(parts_of_a_question(self._sides)):
            arguments = {name: value for name, build in self._builds if (value := build(chosen)) is not OMITTED}
            key = repr(arguments)  # a choice inside an absent part is none
            if key not in seen:
                seen.add(key)
                self._latest = chosen
                yield arguments
        self.complete &= self._points.complete

    def taken(self, side: int) -> None:
        """Says that the old spec (0) or the new one (1) accepts calls of the structure that `calls` yielded last."""
        self._points.taken(side, self._latest)

    # ------------------------------------------------------------------------------ types

    def _param(self, old: Param, new: Param) -> Build:
        if not (old.default or new.default):
            return self._visit(old.type, new.type, Path(new.name), ())
        if old.default and new.default and _takes_none(old.type) and _takes_none(new.type):
            return self._visit(old.type, new.type, Path(new.name), ())  # what is omitted is as absent as None
        key = ("omitted", new.name)
        both = old.default and new.default
        alone = ((True,) if old.default and not both else (), (True,) if new.default and not both else ())
        self._points[key] = Point((True, False) if both else (False,), alone)
        build = self._visit(old.type, new.type, Path(new.name), ((key, (False, False)),))
        return lambda chosen: OMITTED if chosen[key] else build(chosen)

    def _visit(self, old: Type | None, new: Type | None, path: Path, needs: Needs) -> Build:
        """Returns what makes the value at ``path``; None for a type where a side says nothing of it."""
        if isinstance(old, (OptionalType, NoneType)) or isinstance(new, (OptionalType, NoneType)):
            return self._optional(old, new, path, needs)
        if old is None or isinstance(old, AnyType):
            if new is None or isinstance(new, AnyType):
                return lambda _: OTHER
            return self._or_other(new, 0, path, needs)
        if new is None or isinstance(new, AnyType):
            return self._or_other(old, 1, path, needs)
        match old, new:
            case TensorType(), TensorType():
                return self._tensor(old, new, path, needs)
            case ScalarType(), ScalarType():
                return lambda _: 0
            case SequenceType(), SequenceType():
                return self._sequence(old, new, path, needs)
            case MappingType(), MappingType():
                return self._mapping(dict(old.entries), dict(new.entries), path, needs)
            case ObjectType(), ObjectType():
                return self._object(dict(old.fields), dict(new.fields), path, needs)
            case _:
                return self._either(old, new, path, needs)

    def _optional(self, old: Type | None, new: Type | None, path: Path, needs: Needs) -> Build:
        inner = [_present(type_) for type_ in (old, new)]
        there = [type_ for type_ in inner if type_ is not None]
        if not there:  # nothing but None, or whatever there is
            if isinstance(old, NoneType) and isinstance(new, NoneType):
                return lambda _: None
            key = ("kind", str(path))
            self._points[key] = Point((False,), of_side((True,), new=isinstance(old, NoneType)), needs)
            return lambda chosen: OTHER if chosen[key] else None
        key = ("none", str(path))
        nones = [_takes_none(type_) for type_ in (old, new)]
        values = [not isinstance(type_, NoneType) for type_ in (old, new)]
        levels = ((True, nones), (False, values))
        common = tuple(none for none, sides in levels if all(sides))
        alone = [tuple(none for none, sides in levels if sides[at] and not all(sides)) for at in (0, 1)]
        self._points[key] = Point(common, (alone[0], alone[1]), needs)
        sides = [None if isinstance(each, AnyType) or each is None else _present(each) for each in (old, new)]
        if isinstance(old, NoneType) or isinstance(new, NoneType):
            sides = [there[0], there[0]]  # the values of the one that takes some
        build = self._visit(sides[0], sides[1], path, (*needs, (key, (False, False))))
        return lambda chosen: None if chosen[key] else build(chosen)

    def _or_other(self, type_: Type, side: int, path: Path, needs: Needs) -> Build:
        """A value of ``type_``, or anything else, which one side takes."""
        key = ("kind", str(path))
        self._points[key] = Point((False,), of_side((True,), new=bool(side)), needs)
        build = self._visit(type_, type_, path, needs)
        return lambda chosen: OTHER if chosen[key] else build(chosen)

    def _either(self, old: Type, new: Type, path: Path, needs: Needs) -> Build:
        """A value of either kind, each of which one side takes."""
        key = ("kind", str(path))
        self._points[key] = Point((), ((0,), (1,)), needs)
        builds = [
            self._visit(each, each, path, (*needs, (key, (number, number)))) for number, each in enumerate((old, new))
        ]
        return lambda chosen: builds[1 if chosen[key] else 0](chosen)

    def _tensor(self, old: TensorType, new: TensorType, path: Path, needs: Needs) -> Build:
        sides = [self._run(side, path, dict(self._sides[number].ranks)) for number, side in enumerate((old, new))]
        most = max(side.before for side in sides) + max(side.after for side in sides) + self._most_dims
        ranks: list[set[int]] = []
        for number, side in enumerate(sides):
            fixed = side.before + side.after
            if side.name is not None and side.length is None:
                self._open.add(number)
                ranks.append(set(range(fixed, max(most, fixed) + 1)))
            else:
                ranks.append({fixed + (side.length or 0)})
        for mine, theirs, side in ((0, 1, sides[0]), (1, 0, sides[1])):  # any rank holds those of the other
            if side.name is not None and side.length is None:
                ranks[mine] |= {rank for rank in ranks[theirs] if rank >= side.before + side.after}
        # two tensors whose ranks both sides tie together vary together
        tied = tuple((side.name, side.before, side.after) for side in sides)
        key = ("rank", *tied) if all(side.tied for side in sides) else ("rank", str(path))
        named = [Named(side.name, side.before + side.after) if side.tied and side.name else None for side in sides]
        self._points.vary(key, ranks[0], ranks[1], needs, (named[0], named[1]))

        def build(chosen: Chosen) -> object:
            return FakeTensor((0,) * int(chosen[key]))

        return build

    def _run(self, tensor: TensorType, path: Path, ranks: Mapping[str, int]) -> _Run:
        if tensor.dims is None:
            return _Run(0, 0, str(path))
        for at, dim in enumerate(tensor.dims):
            if isinstance(dim, Variadic):
                return _Run(at, len(tensor.dims) - at - 1, f"*{dim.name}", ranks.get(dim.name), tied=True)
            if isinstance(dim, Ellipsis):
                return _Run(at, len(tensor.dims) - at - 1, str(path))
        return _Run(len(tensor.dims), 0, None, tied=True)

    def _sequence(self, old: SequenceType, new: SequenceType, path: Path, needs: Needs) -> Build:
        lengths = [self._lengths(side, number) for number, side in enumerate((old, new))]
        for mine, theirs, side in ((0, 1, old), (1, 0, new)):
            count = len(side.items)
            if side.rest is Rest.REPEAT and count:
                lengths[mine] |= {length for length in lengths[theirs] if length % count == 0}
            if side.rest is Rest.STATIC and side.times is None:
                lengths[mine] |= {length for length in lengths[theirs] if length >= count}
        names = tuple(side.times.name if isinstance(side.times, Var) else None for side in (old, new))
        counts = len(old.items), len(new.items)
        key = ("length", *names, *counts) if None not in names else ("length", str(path))
        named = [Named(name, 0, count) if name else None for name, count in zip(names, counts, strict=True)]
        self._points.vary(key, lengths[0], lengths[1], needs, (named[0], named[1]))
        items: list[Build] = []
        for at in range(max(lengths[0] | lengths[1], default=0)):
            inside = (*needs, (key, self._points[key].reaching(at)))
            items.append(self._visit(_item(old, at), _item(new, at), Path(path.root, (*path.steps, Item(at))), inside))

        def build(chosen: Chosen) -> object:
            return [item(chosen) for item in items[: int(chosen[key])]]

        return build

    def _lengths(self, type_: SequenceType, number: int) -> set[int]:
        """Returns lengths that one side takes, as many as matter."""
        count = len(type_.items)
        match type_.times, type_.rest:
            case Const(value=times), _:
                return {times * count}
            case Var(name=name), _:
                return {times * count for times in self._times(name, self._sides[number])}
            case _, Rest.REPEAT:
                return {times * count for times in _REPEATS}
            case _, Rest.STATIC:
                return {count, count + 1}
            case _:
                return {count}

    def _times(self, name: str, side: Signature) -> set[int]:
        """Returns how often the items of ``[T] * name`` are looked at."""
        known = range_of(side.variables, [c.predicate for c in side.constraints], Var(name))
        low, high = (0, 0) if known is None else (known.low or 0, known.high)
        if high is not None and high - low < _FEW_TIMES:
            return set(range(low, high + 1))
        nodes = [*(c.predicate for c in side.constraints), *(d for p in side.params for d in tensor_dims(p.type))]
        nodes = [node for node in nodes if name in free_vars(node)]
        self.complete &= all(isinstance(node, Compare) and isinstance(node.left, Var) for node in nodes)
        return {low + times for times in _REPEATS}

    def _mapping(self, old: Mapping[str | int, Type], new: Mapping[str | int, Type], path: Path, needs: Needs) -> Build:
        builds = {
            key: self._part(old.get(key), new.get(key), Path(path.root, (*path.steps, Item(key))), needs)
            for key in {**old, **new}
        }
        return lambda chosen: {key: part for key, make in builds.items() if (part := make(chosen)) is not OMITTED}

    def _object(self, old: Mapping[str, Type], new: Mapping[str, Type], path: Path, needs: Needs) -> Build:
        builds = {
            name: self._part(old.get(name), new.get(name), Path(path.root, (*path.steps, Attribute(name))), needs)
            for name in {**old, **new}
        }

        def build(chosen: Chosen) -> object:
            made = {name: part for name, make in builds.items() if (part := make(chosen)) is not OMITTED}
            return SimpleNamespace(**made)

        return build

    def _part(self, old: Type | None, new: Type | None, path: Path, needs: Needs) -> Build:
        """A key or an attribute; one that only one side lists may be missing, or be anything."""
        if old is not None and new is not None:
            return self._visit(old, new, path, needs)
        key = ("missing", str(path))
        self._points[key] = Point((False,), of_side((True,), new=old is not None), needs)
        build = self._visit(old, new, path, needs)
        return lambda chosen: OMITTED if chosen[key] else build(chosen)


@dataclass(frozen=True, slots=True)
class _Run:
    """How many dims stand before and after those of which there is any number, and what names these."""

    before: int
    after: int
    name: str | None
    length: int | None = None
    tied: bool = False


def _present(type_: Type | None) -> Type | None:
    """Returns the type of what is there; None if it is None, or anything."""
    if isinstance(type_, OptionalType):
        return type_.inner
    return None if isinstance(type_, (NoneType, AnyType)) else type_


def _item(type_: SequenceType, at: int) -> Type | None:
    count = len(type_.items)
    if type_.rest is Rest.REPEAT or type_.times is not None:
        return type_.items[at % count] if count else None
    return type_.items[at] if at < count else None


def _takes_none(type_: Type | None) -> bool:
    return type_ is None or isinstance(type_, (AnyType, NoneType, OptionalType))
