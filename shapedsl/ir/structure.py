"""Walk a signature's types beside an example, and write down what the example decides.

The walk looks at structure only (ranks, lengths, None-ness, kinds of values); `expand` makes a
signature of what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from ..diagnostics import Report, Span
from .dims import Const, Dim, Ellipsis, Fresh, Static, Var, Variadic
from .expanded import Leaf
from .paths import Attribute, Item, Path, quote
from .specs import Signature
from .types import (
    AnyType,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    TensorType,
    Type,
)
from .variadic import splice
from .walk import free_vars

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1


class _Unknown:
    """Stands for a value where there is no example."""


UNKNOWN: Final = _Unknown()


@dataclass
class Structure:
    """What one walk over the parameters' types and values finds out.

    Attributes:
        key: What the walk decided, in order; see `Expanded.structure`.
        ranks: Variadic → how many dims, and where that was read.
        lengths: ``const n = _`` → the length it names, and where that was read.
        fresh: Names made for ``?`` and ``?K``.
    """

    signature: Signature
    is_tensor: Callable[[object], bool]
    report: Report
    example: bool
    key: list[object] = field(default_factory=list[object])
    leaves: list[Leaf] = field(default_factory=list[Leaf])
    ranks: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    lengths: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    fresh: dict[str, Span | None] = field(default_factory=dict[str, Span | None])
    anonymous: int = 0

    def __post_init__(self) -> None:
        self.ranks.update((name, (n, f"`rank {name} = {n}`")) for name, n in self.signature.ranks)
        self._starred = {variable.name for variable in self.signature.variables if variable.variadic}

    def visit(self, type_: Type, value: object, path: Path, element: str) -> Type:
        """Returns ``type_`` without optionals, repeats, variadics and ellipses.

        Args:
            type_: The declared type.
            value: The argument's part at ``path``, or `UNKNOWN`.
            path: From the parameter on.
            element: The path of the innermost repeated element, which scopes ``?K``; or empty.
        """
        match type_:
            case TensorType():
                return self._tensor(type_, value, path, element)
            case ScalarType():
                return self._scalar(type_, value, path)
            case OptionalType(inner=inner):
                if value is not UNKNOWN:
                    self.key.append(value is not None)
                    if value is None:
                        return NoneType(type_.span)
                return self.visit(inner, value, path, element)
            case SequenceType():
                return self._sequence(type_, value, path, element)
            case MappingType():
                return self._mapping(type_, value, path, element)
            case ObjectType():
                return self._object(type_, value, path, element)
            case NoneType():
                if value is not UNKNOWN and value is not None:
                    self._mismatch(type_, value, path, "None")
                return type_
            case AnyType():
                return type_

    def _mismatch(self, type_: Type, value: object, path: Path, expected: str) -> None:
        self.report.error(
            "type-mismatch",
            f"`{path}` is {describe(value)}, expected {expected}",
            at=type_.span,
            label=f"expects {expected}",
        )

    def _tensor(self, type_: TensorType, value: object, path: Path, element: str) -> Type:
        rank: int | None = None
        if value is not UNKNOWN:
            if not self.is_tensor(value):
                self._mismatch(type_, value, path, "a tensor")
                return AnyType(type_.span)
            rank = len(getattr(value, "shape"))  # noqa: B009 - `object` has no shape for a type checker
        if type_.dims is None:
            return type_
        dims: list[Dim] = []
        for dim in type_.dims:
            match dim:
                case Variadic(name=name):
                    n = self._variadic(name, dim, None if rank is None else rank - len(type_.dims) + 1, path)
                    if n is None:
                        return AnyType(type_.span)
                    dims += [Var(f"{name}[{axis}]", dim.span) for axis in range(n)]
                case Ellipsis():
                    if rank is None:
                        self.report.error(
                            "unknown-rank",
                            f"the rank of `{path}` must be known here",
                            at=dim.span or type_.span,
                            label="any number of dims",
                            help="pass example arguments, or write `_` for each dim",
                        )
                        return AnyType(type_.span)
                    dims += [Static(dim.span)] * (rank - len(type_.dims) + 1)
                    self.key.append(rank)
                case Fresh(name=name):
                    dims.append(self._fresh(name, dim.span, element))
                case _:
                    dims.append(dim)
        if rank is not None and rank != len(dims):
            self._wrong_rank(type_, path, rank, len(dims))
            return AnyType(type_.span)
        self.leaves.append(Leaf(path, False, tuple(dims), type_.dtype, type_.span))
        return replace(type_, dims=tuple(dims))

    def _wrong_rank(self, type_: TensorType, path: Path, rank: int, expected: int) -> None:
        dims = type_.dims or ()
        places = [
            f"`*{dim.name}` has {_count(self.ranks[dim.name][0], 'dim')}, from {self.ranks[dim.name][1]}"
            for dim in dims
            if isinstance(dim, Variadic) and dim.name in self.ranks
        ]
        open_ended = any(isinstance(dim, Ellipsis) for dim in dims)
        wanted = f"at least {_count(len(dims) - 1, 'dim')}" if open_ended else str(expected)
        self.report.error(
            "rank-mismatch",
            f"`{path}` has {_count(rank, 'dim')}, expected {wanted}",
            at=type_.span,
            label=f"{wanted} expected",
            note=places,
        )

    def _variadic(self, name: str, dim: Variadic, here: int | None, path: Path) -> int | None:
        """Returns how many dims ``*name`` stands for; a first use with an example decides."""
        if name not in self.ranks:
            if here is None:
                self.report.error(
                    "unknown-rank",
                    f"the number of dims in `*{name}` must be known here",
                    at=dim.span,
                    label="any number of dims",
                    help=f"pass example arguments, or write `rank {name} = 2`",
                )
                return None
            self.ranks[name] = (max(here, 0), f"`{path}`")
            self.key.append((name, max(here, 0)))
        return self.ranks[name][0]

    def _fresh(self, name: str | None, span: Span | None, element: str) -> Var:
        if name is None:
            made = f"?{self.anonymous}"
            self.anonymous += 1
        else:
            made = f"?{name}@{element}" if element else f"?{name}"
        self.fresh.setdefault(made, span)
        return Var(made, span)

    def _scalar(self, type_: ScalarType, value: object, path: Path) -> Type:
        if value is not UNKNOWN and (type(value) is not int or not INT64_MIN <= value <= INT64_MAX):
            expected = "an int that fits in 64 bits" if type(value) is int else "a Python int"
            self._mismatch(type_, value, path, expected)
            return AnyType(type_.span)
        if type_.size is not None:
            self.leaves.append(Leaf(path, True, (type_.size,), None, type_.span))
        return type_

    def _sequence(self, type_: SequenceType, value: object, path: Path, element: str) -> Type:
        if value is not UNKNOWN and not isinstance(value, (list, tuple)):
            self._mismatch(type_, value, path, f"a {type_.kind}")
            return AnyType(type_.span)
        values = cast("list[object] | tuple[object, ...] | None", None if value is UNKNOWN else value)
        count = len(type_.items)
        repeated = type_.rest is Rest.REPEAT or type_.times is not None
        length = self._length(type_, None if values is None else len(values), path)
        if length is None:
            return AnyType(type_.span)
        items: list[Type] = []
        for index in range(length):
            at = replace(path, steps=(*path.steps, Item(index)))
            inner = type_.items[index % count] if repeated or index < count else AnyType(type_.span)
            # the items of one group share ?K: [T[?K], U[?K], ...] is a sequence of pairs
            group = str(replace(path, steps=(*path.steps, Item(index - index % count)))) if repeated else element
            items.append(self.visit(inner, UNKNOWN if values is None else values[index], at, group))
        rest = Rest.STATIC if values is None and type_.rest is Rest.STATIC else Rest.NONE
        return replace(type_, items=tuple(items), rest=rest, times=None)

    def _length(self, type_: SequenceType, actual: int | None, path: Path) -> int | None:
        """Returns the length of the sequence at ``path``, or None after reporting why there is none."""
        count = len(type_.items)
        match type_.times:
            case Const(value=n):
                return self._same_length(type_, actual, n * count, path)
            case Var(name=name):
                if actual is None:
                    self._no_length(type_, path, f"give `{name}` a value")
                    return None
                n, place = self.lengths.setdefault(name, (actual // max(count, 1), f"`{path}`"))
                self.key.append((name, n))
                note = () if place == f"`{path}`" else f"`{name}` is {n}, from the length of {place}"
                return self._same_length(type_, actual, n * count, path, note)
            case None:
                pass
            case _:
                self._no_length(type_, path, "write a constant")
                return None
        if type_.rest is Rest.NONE:
            return self._same_length(type_, actual, count, path)
        if actual is None and type_.rest is Rest.STATIC:
            return count
        if actual is None:
            self._no_length(type_, path, "write `[T] * n`")
            return None
        if actual < count and type_.rest is Rest.STATIC:
            self.report.error(
                "shape-violation",
                f"`{path}` has length {actual}, expected at least {count}",
                at=type_.span,
                label=f"at least {count}",
            )
            return None
        self.key.append(actual)
        multiple = -(-actual // max(count, 1)) * count
        return actual if type_.rest is Rest.STATIC else self._same_length(type_, actual, multiple, path)

    def _same_length(
        self, type_: SequenceType, actual: int | None, expected: int, path: Path, note: str | tuple[()] = ()
    ) -> int | None:
        if actual is None or actual == expected:
            return expected
        self.report.error(
            "shape-violation",
            f"`{path}` has length {actual}, expected {expected}",
            at=type_.span,
            label=f"length {expected}",
            note=note,
        )
        return None

    def _no_length(self, type_: SequenceType, path: Path, cure: str) -> None:
        self.report.error(
            "unknown-length",
            f"the length of `{path}` must be known here",
            at=type_.span,
            label="any number of items",
            help=f"pass example arguments, or {cure}",
        )

    def _mapping(self, type_: MappingType, value: object, path: Path, element: str) -> Type:
        if value is not UNKNOWN and not isinstance(value, Mapping):
            self._mismatch(type_, value, path, "a dict")
            return AnyType(type_.span)
        entries: list[tuple[str | int, Type]] = []
        for key, inner in type_.entries:
            at = replace(path, steps=(*path.steps, Item(key)))
            part: object = UNKNOWN
            if value is not UNKNOWN:
                values = cast("Mapping[object, object]", value)
                part = values.get(key)  # `values[key]` would add the key to a defaultdict
                if key not in values and not isinstance(inner, OptionalType):
                    self.report.error(
                        "type-mismatch",
                        f"`{path}` has no key `{quote(key)}`",
                        at=inner.span or type_.span,
                        label="expected here",
                    )
                    continue
            entries.append((key, self.visit(inner, part, at, element)))
        return replace(type_, entries=tuple(entries))

    def _object(self, type_: ObjectType, value: object, path: Path, element: str) -> Type:
        fields: list[tuple[str, Type]] = []
        for name, inner in type_.fields:
            at = replace(path, steps=(*path.steps, Attribute(name)))
            part: object = UNKNOWN
            if value is not UNKNOWN:
                if not hasattr(value, name):
                    self.report.error(
                        "type-mismatch",
                        f"`{path}` is {describe(value)}, which has no attribute `{name}`",
                        at=inner.span or type_.span,
                        label="expected here",
                    )
                    continue
                part = getattr(value, name)
            fields.append((name, self.visit(inner, part, at, element)))
        return replace(type_, fields=tuple(fields))

    def spliced(self, dim: Dim, lengths: Mapping[str, int]) -> Dim:
        """Returns ``dim`` with ``prod(*batch)`` written out; of unknown length it is a size tied to nothing."""
        for name in self._open(dim, lengths):
            if self.example:
                return self._fresh(None, dim.span, "")
            self.report.error(
                "unknown-rank",
                f"the number of dims in `*{name}` must be known here",
                at=dim.span,
                help=f"pass example arguments, or write `rank {name} = 2`",
            )
            return dim
        return splice(dim, lengths)

    def _open(self, dim: Dim, lengths: Mapping[str, int]) -> Iterator[str]:
        yield from (name for name in free_vars(dim) if name in self._starred and name not in lengths)


def describe(value: object) -> str:
    """Returns what messages call a value of the wrong kind: ``None``, ``a numpy.int64``, ``an int``."""
    if value is None or isinstance(value, bool):
        return repr(value)
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
