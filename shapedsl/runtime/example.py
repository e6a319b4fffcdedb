"""Choose the structure of example inputs: ranks, lengths, what is None, which defaults are omitted. Pure.

The choice becomes arguments with a `Hole` for each tensor, so that `expand` reads them as it reads a call: what is
drawn for the structure is what a check of the call will ask for.

Before::

    def f(x: Tensor[*batch, D], mask: bool[D] | None = _, kvs: [Tensor[D], ...] = _)

After, for the first structure::

    {"x": Hole((0, 0)), "mask": Hole((0,)), "kvs": [Hole((0,))]}

What no choice can make (``_``, bare ``Tensor``, a ``const X = _`` without a value) is `Missing`; where leaving it
out is allowed (``T | None``, a default), it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from ..diagnostics import Span
from ..ir import (
    AnyType,
    Attribute,
    Const,
    Dim,
    Ellipsis,
    Item,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Param,
    ParamKind,
    Path,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Static,
    TensorType,
    Type,
    Var,
    Variadic,
)
from ..ir.walk import free_vars, subtypes


@dataclass(frozen=True, slots=True)
class Hole:
    """A tensor to be made; only the number of its dims is known."""

    shape: tuple[int, ...]


class _Fields:
    """Stands for an object with attributes."""


class Choice(Protocol):
    """What is chosen of a structure."""

    def passed(self, param: str) -> bool:
        """Returns whether a parameter with a default is passed."""
        ...

    def present(self, path: str) -> bool:
        """Returns whether ``T | None`` is there."""
        ...

    def length(self, path: str) -> int:
        """Returns how often the items of ``[T, ...]`` stand."""
        ...

    def rank(self, variadic: str) -> int:
        """Returns how many dims ``*variadic`` stands for."""
        ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """The same choice everywhere.

    Attributes:
        all_passed: Whether defaults are passed.
        all_present: Whether optionals are there.
        count: Of items, and of dims.
    """

    all_passed: bool = True
    all_present: bool = True
    count: int = 1

    def passed(self, param: str) -> bool:
        """Returns `all_passed`."""
        del param
        return self.all_passed

    def present(self, path: str) -> bool:
        """Returns `all_present`."""
        del path
        return self.all_present

    def length(self, path: str) -> int:
        """Returns `count`."""
        del path
        return self.count

    def rank(self, variadic: str) -> int:
        """Returns `count`."""
        del variadic
        return self.count


@dataclass(frozen=True, slots=True)
class Missing:
    """What only the user can give.

    Attributes:
        keyword: The parameter or the size that `example` takes.
        place: Where it stands: a path, or a name.
        what: What stands there.
        size: Whether it is a size.
        span: Of it.
    """

    keyword: str
    place: str
    what: str
    size: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Known:
    """What is given.

    Attributes:
        values: Parameter → a value whose structure and static parts are taken.
        consts: Every ``const X = _`` of the signature, with its value or None.
        ranks: Variadic → how many dims, where that is known.
    """

    values: Mapping[str, object] = field(default_factory=dict[str, object])
    consts: Mapping[str, int | None] = field(default_factory=dict[str, "int | None"])
    ranks: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class Skeleton:
    """One structure.

    Attributes:
        arguments: Parameter → value, with a `Hole` for each tensor to be made.
        missing: What they lack.
        left_out: What was left out of them because it would have to be given.
    """

    arguments: dict[str, object] = field(default_factory=dict[str, object])
    missing: list[Missing] = field(default_factory=list[Missing])
    left_out: list[Missing] = field(default_factory=list[Missing])


def skeleton(signature: Signature, choice: Choice, known: Known) -> Skeleton:
    """Returns arguments with a `Hole` for each tensor.

    Args:
        signature: Not expanded.
        choice: What to choose where the spec leaves it open.
        known: What is given.
    """
    found = Skeleton()
    kinds = list(ParamKind)
    params = sorted(signature.params, key=lambda param: kinds.index(param.kind))
    must_pass = any(_has_more(param, known) for param in params)  # no `*args` without what stands in front of them
    closed = False  # what stands behind an omitted positional-only parameter cannot be passed
    for param in params:
        if param.name in known.values:
            found.arguments[param.name] = known.values[param.name]
            continue
        builder = _Builder(choice, known, param.name, found.left_out)
        positional_ = param.kind in (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)
        if param.kind in (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD):
            if isinstance(param.type, AnyType):
                continue
            empty = _may_be_empty(param.type)
            if empty and closed and param.kind is ParamKind.VAR_POSITIONAL:
                continue
            value = builder.build(param.type, Path(param.name))
            if builder.missing and empty:
                found.left_out += builder.missing
                continue
        elif param.default and not (must_pass and positional_):
            wanted = not (closed and param.kind is ParamKind.POSITIONAL_ONLY) and choice.passed(param.name)
            value = builder.build(param.type, Path(param.name)) if wanted else None
            if not wanted or builder.missing:
                found.left_out += builder.missing
                closed = closed or positional_
                continue
        else:
            value = builder.build(param.type, Path(param.name))
        found.arguments[param.name] = value
        found.missing += builder.missing
    found.missing = list(dict.fromkeys(found.missing))
    found.left_out = list(dict.fromkeys(found.left_out))
    return found


def _has_more(param: Param, known: Known) -> bool:
    if param.kind is not ParamKind.VAR_POSITIONAL or isinstance(param.type, AnyType):
        return False
    if param.name in known.values:
        return bool(known.values[param.name])
    return not _may_be_empty(param.type)


def _may_be_empty(type_: Type) -> bool:
    match type_:
        case SequenceType(items=items, rest=rest, times=times):
            return times is None and (rest is Rest.REPEAT or not items)
        case MappingType(entries=entries):
            return not entries
        case _:
            return True


@dataclass
class _Builder:
    choice: Choice
    known: Known
    root: str
    left_out: list[Missing]
    missing: list[Missing] = field(default_factory=list[Missing])

    def build(self, type_: Type, path: Path) -> object:
        match type_:
            case TensorType():
                return self.tensor(type_, path)
            case ScalarType(size=size):
                if size is None:
                    self.lack(path, "a bare `Scalar`", type_.span)
                else:
                    self.consts([size])
                return 0
            case SequenceType():
                return self.sequence(type_, path)
            case MappingType(entries=entries):
                return {key: self.build(inner, _below(path, Item(key))) for key, inner in entries}
            case ObjectType(fields=fields):
                made = _Fields()
                for name, inner in fields:
                    setattr(made, name, self.build(inner, _below(path, Attribute(name))))
                return made
            case OptionalType(inner=inner):
                if not self.choice.present(str(path)):
                    return None
                trial = replace(self, missing=[])
                value = trial.build(inner, path)
                self.left_out += trial.missing
                return None if trial.missing else value
            case NoneType():
                return None
            case AnyType():
                self.lack(path, "`_`", type_.span)
                return None

    def tensor(self, type_: TensorType, path: Path) -> object:
        if type_.dims is None:
            self.lack(path, "a tensor of unknown rank", type_.span)
            return Hole(())
        rank = 0
        for dim in type_.dims:
            if isinstance(dim, Variadic):
                rank += self.known.ranks[dim.name] if dim.name in self.known.ranks else self.choice.rank(dim.name)
            elif not isinstance(dim, Ellipsis):
                rank += 1
        static = next((dim for dim in type_.dims if isinstance(dim, Static)), None)
        if static is not None:
            self.lack(path, "a dim `_`", static.span or type_.span)
        self.consts(type_.dims)
        return Hole((0,) * max(rank, 0))

    def sequence(self, type_: SequenceType, path: Path) -> object:
        count = len(type_.items)
        length = count
        match type_.times:
            case Const(value=times):
                length = times * count
            case Var(name=name):
                self.consts([type_.times])
                length = (self.known.consts.get(name) or 0) * count
            case _ if type_.rest is Rest.REPEAT:
                length = self.choice.length(str(path)) * count
            case _:
                pass
        items = [self.build(type_.items[at % count], _below(path, Item(at))) for at in range(length)]
        return items if type_.kind == "list" else tuple(items)

    def consts(self, dims: Sequence[Dim]) -> None:
        for dim in dims:
            for name in free_vars(dim):
                if name in self.known.consts and self.known.consts[name] is None:
                    self.missing.append(Missing(name, name, "a `const` that is `_`", True, dim.span))

    def lack(self, path: Path, what: str, span: Span | None) -> None:
        self.missing.append(Missing(self.root, str(path), what, False, span))


def choices(signature: Signature) -> list[Uniform]:
    """Returns structures worth an example: the fullest first, then what is left out, doubled, empty."""
    found = [Uniform()]
    types = [inner for param in signature.params for inner in _all_types(param.type)]
    if any(param.default for param in signature.params):
        found.append(Uniform(all_passed=False))
    if any(isinstance(type_, OptionalType) for type_ in types):
        found.append(Uniform(all_present=False))
    ranks = dict(signature.ranks)
    if any(variable.variadic and variable.name not in ranks for variable in signature.variables) or any(
        isinstance(type_, SequenceType) and type_.rest is Rest.REPEAT for type_ in types
    ):
        found += [Uniform(count=2), Uniform(count=0), Uniform(count=3)]
    return found


def is_closed(signature: Signature) -> bool:
    """Returns whether `choices` are all structures that there are, but for mixtures of what is left out."""
    return all(choice.count == 1 for choice in choices(signature))


def _all_types(type_: Type) -> Iterator[Type]:
    yield type_
    for inner in subtypes(type_):
        yield from _all_types(inner)


def is_hole(value: object) -> bool:
    """Returns whether ``value`` is a tensor to be made."""
    return isinstance(value, Hole)


def _below(path: Path, step: Attribute | Item) -> Path:
    return Path(path.root, (*path.steps, step))


def positional(
    params: Sequence[Param], arguments: Mapping[str, object], *, gap: bool = False
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Returns ``arguments`` as a call passes them: ``(args, kwargs)``, what was omitted left out.

    Args:
        params: Of the spec, in any order of kinds.
        arguments: Parameter → value; ``*args`` a sequence, ``**kwargs`` a mapping.
        gap: Whether a parameter that ``params`` leaves out was omitted in front.
    """
    kinds = list(ParamKind)
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for param in sorted(params, key=lambda param: kinds.index(param.kind)):
        if param.name not in arguments:
            gap = gap or param.kind in (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD)
            continue
        value = arguments[param.name]
        match param.kind:
            case ParamKind.VAR_POSITIONAL:
                args += cast("Sequence[object]", value)
            case ParamKind.VAR_KEYWORD:
                kwargs.update(cast("Mapping[str, object]", value))
            case ParamKind.POSITIONAL_ONLY:
                args.append(value)
            case ParamKind.POSITIONAL_OR_KEYWORD if not gap:
                args.append(value)
            case _:
                kwargs[param.name] = value
    return tuple(args), kwargs


__all__ = [
    "Choice",
    "Hole",
    "Known",
    "Missing",
    "Skeleton",
    "Uniform",
    "choices",
    "is_closed",
    "is_hole",
    "positional",
    "skeleton",
]
