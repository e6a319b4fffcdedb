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
it, if they cover as many parts as one constraint speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod
from types import SimpleNamespace
from typing import Final, TypeAlias

from ...ir import (
    And,
    AnyType,
    Apply,
    Attribute,
    Compare,
    Const,
    Dim,
    Ellipsis,
    Item,
    MappingType,
    NoneType,
    Not,
    ObjectType,
    OptionalType,
    Or,
    Param,
    Path,
    Predicate,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    TensorType,
    Type,
    Var,
    Variadic,
)
from ...ir.operators import PROD
from ...ir.walk import free_vars, scalar_sizes, tensor_dims

MOST: Final = 160  # structures
_REPEATS: Final = (0, 1, 2)
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

Chosen: TypeAlias = "Mapping[object, object]"
Build: TypeAlias = "Callable[[Chosen], object]"


def is_fake_tensor(value: object) -> bool:
    """Whether `expand` is to take ``value`` for a tensor."""
    return isinstance(value, FakeTensor)


@dataclass
class Structures:
    """The structures of two signatures with the same parameters.

    Attributes:
        points: What varies → its levels, the most absent first.
        depth: How many points have to be chosen at most before a part is there at all.
        complete: Whether `calls` yields enough of them for a proof.
    """

    old: Signature
    new: Signature
    points: dict[object, tuple[object, ...]] = field(default_factory=dict[object, "tuple[object, ...]"])
    depth: int = 1
    complete: bool = True

    def __post_init__(self) -> None:
        self._builds: list[tuple[str, Build]] = []
        self._ranks = dict(self.old.ranks), dict(self.new.ranks)
        self._open: set[int] = set()
        self._most_dims = _DIMS_MULTIPLIED if _multiplies(self.old) or _multiplies(self.new) else _DIMS
        for old, new in zip(self.old.params, self.new.params, strict=True):
            build = self._visit(old.type, new.type, Path(new.name), 1)
            if old.default or new.default:
                build = self._omittable(build, new)
            self._builds.append((new.name, build))

    @property
    def any_rank(self) -> bool:
        """Whether both take tensors of any rank, of which a few stand for all."""
        return len(self._open) == 2

    def calls(self, needed: int) -> Iterator[dict[str, object]]:
        """Yields arguments by parameter name; an omitted default is missing.

        Args:
            needed: How many parts one constraint can speak of.
        """
        seen: set[str] = set()
        for chosen in self._choices(needed * self.depth):
            arguments = {name: value for name, build in self._builds if (value := build(chosen)) is not OMITTED}
            key = repr(arguments)  # a choice inside an absent part is none
            if key not in seen:
                seen.add(key)
                yield arguments

    def _choices(self, needed: int) -> Iterator[Chosen]:
        keys = list(self.points)
        levels = [self.points[key] for key in keys]
        if prod(map(len, levels)) <= MOST:
            for values in product(*reversed(levels)):
                yield dict(zip(reversed(keys), values, strict=True))
            return
        lowest = dict(zip(keys, (each[0] for each in levels), strict=True))
        yield lowest
        yield dict(zip(keys, (each[-1] for each in levels), strict=True))
        yielded = 2
        for several in range(1, len(keys) + 1):
            size = sum(
                prod(len(self.points[key]) - 1 for key in varied) for varied in combinations(keys, min(several, 3))
            )
            if several > needed or (several > 2 and yielded + size > MOST):
                self.complete = several > needed
                return
            for varied in combinations(keys, several):
                for values in product(*(self.points[key][1:] for key in varied)):
                    yield {**lowest, **dict(zip(varied, values, strict=True))}
            yielded += size

    def _omittable(self, build: Build, param: Param) -> Build:
        key = ("omitted", param.name)
        self.points[key] = (True, False)
        return lambda chosen: OMITTED if chosen[key] else build(chosen)

    # ------------------------------------------------------------------------------ types

    def _visit(self, old: Type | None, new: Type | None, path: Path, depth: int) -> Build:
        """Returns what makes the value at ``path``; None for a type where a side says nothing of it."""
        self.depth = max(self.depth, depth)
        if isinstance(old, (OptionalType, NoneType)) or isinstance(new, (OptionalType, NoneType)):
            return self._optional(old, new, path, depth)
        if old is None or isinstance(old, AnyType):
            if new is None or isinstance(new, AnyType):
                return lambda _: OTHER
            return self._or_other(self._same(new, path, depth + 1), path)
        if new is None or isinstance(new, AnyType):
            return self._or_other(self._same(old, path, depth + 1), path)
        match old, new:
            case TensorType(), TensorType():
                return self._tensor(old, new, path)
            case ScalarType(), ScalarType():
                return lambda _: 0
            case SequenceType(), SequenceType():
                return self._sequence(old, new, path, depth)
            case MappingType(), MappingType():
                return self._mapping(dict(old.entries), dict(new.entries), path, depth)
            case ObjectType(), ObjectType():
                return self._object(dict(old.fields), dict(new.fields), path, depth)
            case _:
                return self._either(old, new, path, depth)

    def _same(self, type_: Type, path: Path, depth: int) -> Build:
        return self._visit(type_, type_, path, depth)

    def _optional(self, old: Type | None, new: Type | None, path: Path, depth: int) -> Build:
        inner = [_present(type_) for type_ in (old, new)]
        there = [type_ for type_ in inner if type_ is not None]
        if not there:  # nothing but None, or whatever there is
            both = all(isinstance(type_, NoneType) for type_ in (old, new))
            return (lambda _: None) if both else self._or_other(lambda _: None, path)
        sides = inner if len(there) == 2 else [there[0], there[0]]  # of `None` alone, the other side's values
        build = self._visit(sides[0], sides[1], path, depth + 1)
        key = ("none", str(path))
        self.points[key] = (True, False)
        return lambda chosen: None if chosen[key] else build(chosen)

    def _or_other(self, build: Build, path: Path) -> Build:
        key = ("kind", str(path))
        self.points[key] = (True, False)
        return lambda chosen: OTHER if chosen[key] else build(chosen)

    def _either(self, old: Type, new: Type, path: Path, depth: int) -> Build:
        builds = self._same(old, path, depth + 1), self._same(new, path, depth + 1)
        key = ("kind", str(path))
        self.points[key] = (0, 1)
        return lambda chosen: builds[1 if chosen[key] else 0](chosen)

    def _tensor(self, old: TensorType, new: TensorType, path: Path) -> Build:
        sides = [self._run(side, path, self._ranks[number]) for number, side in enumerate((old, new))]
        ranks: set[int] = set()
        before = max(side.before for side in sides)
        after = max(side.after for side in sides)
        for number, side in enumerate(sides):
            fixed = side.before + side.after
            if side.name is None:
                ranks.add(fixed)
            elif side.length is not None:
                ranks.add(fixed + side.length)
            else:
                self._open.add(number)
                ranks |= set(range(fixed, before + after + self._most_dims + 1))
        tied = tuple((side.name, side.before, side.after) for side in sides)
        # two tensors whose ranks both sides tie together vary together
        key = ("rank", *tied) if all(side.tied for side in sides) else ("rank", str(path))
        self.points[key] = self._merged(key, ranks)

        def build(chosen: Chosen) -> object:
            rank = chosen[key]
            assert isinstance(rank, int)
            return FakeTensor((0,) * rank)

        return build

    def _merged(self, key: object, levels: set[int]) -> tuple[int, ...]:
        """Returns ``levels`` and those that the point has already, ascending."""
        return tuple(sorted(levels | {level for level in self.points.get(key, ()) if isinstance(level, int)}))

    def _run(self, tensor: TensorType, path: Path, ranks: Mapping[str, int]) -> _Run:
        if tensor.dims is None:
            return _Run(0, 0, str(path))
        for at, dim in enumerate(tensor.dims):
            if isinstance(dim, Variadic):
                return _Run(at, len(tensor.dims) - at - 1, f"*{dim.name}", ranks.get(dim.name), tied=True)
            if isinstance(dim, Ellipsis):
                return _Run(at, len(tensor.dims) - at - 1, str(path))
        return _Run(len(tensor.dims), 0, None, tied=True)

    def _sequence(self, old: SequenceType, new: SequenceType, path: Path, depth: int) -> Build:
        lengths: set[int] = set()
        counts = [len(side.items) for side in (old, new)]
        for side, count in zip((old, new), counts, strict=True):
            match side.times, side.rest:
                case Const(value=times), _:
                    lengths.add(times * count)
                case Var(), _:
                    lengths |= {times * count for times in _REPEATS}
                case _, Rest.REPEAT:
                    lengths |= {times * count for times in _REPEATS}
                case _, Rest.STATIC:
                    lengths |= {count, count + 1}
                case _:
                    lengths.add(count)
        names = tuple(side.times.name if isinstance(side.times, Var) else None for side in (old, new))
        key = ("length", *names, *counts) if None not in names else ("length", str(path))
        self.points[key] = self._merged(key, lengths)
        items = [
            self._visit(_item(old, at), _item(new, at), Path(path.root, (*path.steps, Item(at))), depth + 1)
            for at in range(max(lengths, default=0))
        ]

        def build(chosen: Chosen) -> object:
            length = chosen[key]
            assert isinstance(length, int)
            return [item(chosen) for item in items[:length]]

        return build

    def _mapping(self, old: Mapping[str | int, Type], new: Mapping[str | int, Type], path: Path, depth: int) -> Build:
        builds = {
            key: self._part(old.get(key), new.get(key), Path(path.root, (*path.steps, Item(key))), depth)
            for key in {**old, **new}
        }
        return lambda chosen: {key: part for key, make in builds.items() if (part := make(chosen)) is not OMITTED}

    def _object(self, old: Mapping[str, Type], new: Mapping[str, Type], path: Path, depth: int) -> Build:
        builds = {
            name: self._part(old.get(name), new.get(name), Path(path.root, (*path.steps, Attribute(name))), depth)
            for name in {**old, **new}
        }

        def build(chosen: Chosen) -> object:
            made = {name: part for name, make in builds.items() if (part := make(chosen)) is not OMITTED}
            return SimpleNamespace(**made)

        return build

    def _part(self, old: Type | None, new: Type | None, path: Path, depth: int) -> Build:
        """A key or an attribute; one that only one side lists may be missing, or be anything."""
        build = self._visit(old, new, path, depth + 1)
        if old is not None and new is not None:
            return build
        key = ("missing", str(path))
        self.points[key] = (True, False)
        return lambda chosen: OMITTED if chosen[key] else build(chosen)


@dataclass(frozen=True, slots=True)
class _Run:
    """How many dims stand before and after those of which there is any number, and what names these."""

    before: int
    after: int
    name: str | None
    length: int | None = None
    tied: bool = False


def _multiplies(signature: Signature) -> bool:
    """Whether `prod` stands over a variadic."""
    starred = {variable.name for variable in signature.variables if variable.variadic}
    nodes = [*(c.predicate for c in signature.constraints), *(d for p in signature.params for d in _sizes(p.type))]
    return any(name in starred for node in nodes for name in _products(node))


def _sizes(type_: Type) -> Iterator[Dim]:
    yield from tensor_dims(type_)
    yield from scalar_sizes(type_)


def _products(node: Dim | Predicate) -> Iterator[str]:
    """Yields the names that `prod` multiplies."""
    match node:
        case Apply(op=op, args=args):
            for arg in args:
                yield from free_vars(arg) if op is PROD else _products(arg)
        case Compare(left=left, right=right):
            yield from _products(left)
            yield from _products(right)
        case And(args=parts) | Or(args=parts):
            for part in parts:
                yield from _products(part)
        case Not(arg=part):
            yield from _products(part)
        case _:
            pass


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


def parts_of_a_question(signatures: Sequence[Signature]) -> int:
    """Returns how many parts of a call one constraint or one dim can speak of, the part it is asked of included."""
    counts = [len(set(free_vars(c.predicate))) for s in signatures for c in s.constraints]
    counts += [len(set(free_vars(dim))) for s in signatures for p in s.params for dim in tensor_dims(p.type)]
    return 1 + max(counts, default=0)
