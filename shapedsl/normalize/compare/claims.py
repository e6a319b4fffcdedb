"""What two specs claim of the result: callers rely on it, so a weaker claim breaks them.

Sizes are compared as what the call's sizes make them, under the old spec's assumptions. A name that
stands in a return type alone claims no more than that there is a size.

Before::

    -> Tensor[B, 2*D]       -> Tensor[N, ?], Tensor[N] for one more

After: the second dim was claimed to be ``2*D``, and is claimed to be nothing now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...ir import (
    COMPARISONS,
    AnyType,
    Compare,
    Dim,
    Ellipsis,
    Fresh,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    Signature,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    Variadic,
)
from ...ir.walk import free_vars, substitute_size, subtypes
from ...ir.write import write_dim, write_type
from ..decide import Proved, Refuted
from .asking import Asker
from .changes import Change, Effect, Example, Spans, Texts, changed
from .dtypes import members, written
from .places import Places, example_of


@dataclass(frozen=True, slots=True)
class _Weaker:
    """A part of the old claim that the new one does not make."""

    place: str
    message: str
    example: Example | None = None


@dataclass
class _Claims:
    first: Places
    second: Places
    meaning: Mapping[str, Size]
    lengths: frozenset[tuple[str, str]]  # names of one length, old and new
    asker: Asker
    reasons: dict[str, None]
    differs: bool = False  # in what is claimed more

    def weaker(self, old: Type, new: Type, place: str) -> Iterator[_Weaker]:
        """Yields what ``old`` claims and ``new`` does not."""
        if isinstance(old, AnyType):
            self.differs |= not isinstance(new, AnyType)
            return
        match old, new:
            case OptionalType(inner=first), OptionalType(inner=second):
                yield from self.weaker(first, second, place)
            case OptionalType(inner=first), NoneType():
                self.differs = True
            case OptionalType(inner=first), _:
                self.differs = True
                yield from self.weaker(first, new, place)
            case _, OptionalType():
                yield _Weaker(place, "may be None now")
            case TensorType(), TensorType():
                yield from self._tensors(old, new, place)
            case ScalarType(size=first), ScalarType(size=second):
                yield from self._dim(first or Static(), second or Static(), place)
            case SequenceType(), SequenceType():
                yield from self._sequences(old, new, place)
            case MappingType(entries=was), MappingType(entries=now):
                parts = {f"{place}[{key!r}]": type_ for key, type_ in now}
                yield from self._parts({f"{place}[{key!r}]": type_ for key, type_ in was}, parts)
            case ObjectType(fields=was), ObjectType(fields=now):
                parts = {f"{place}.{name}": type_ for name, type_ in now}
                yield from self._parts({f"{place}.{name}": type_ for name, type_ in was}, parts)
            case NoneType(), NoneType():
                pass
            case _:
                yield _Weaker(place, f"was `{write_type(old)}` and is `{write_type(new)}`")

    def _parts(self, old: Mapping[str, Type], new: Mapping[str, Type]) -> Iterator[_Weaker]:
        self.differs |= bool(new.keys() - old.keys())
        for place, type_ in old.items():
            if place in new:
                yield from self.weaker(type_, new[place], place)
            else:
                yield _Weaker(place, "is no longer promised")

    def _sequences(self, old: SequenceType, new: SequenceType, place: str) -> Iterator[_Weaker]:
        shapes = [(side.kind, len(side.items), side.rest) for side in (old, new)]
        if shapes[0] != shapes[1] or not self._same_length(old.times, new.times):
            if shapes[0][:2] == shapes[1][:2] and (old.rest, new.rest) == (Rest.STATIC, Rest.NONE):
                self.differs = True
            else:
                yield _Weaker(place, f"was `{write_type(old)}` and is `{write_type(new)}`")
                return
        for index, (first, second) in enumerate(zip(old.items, new.items, strict=True)):
            yield from self.weaker(first, second, f"{place}[{index}]")

    def _same_length(self, old: Size | None, new: Size | None) -> bool:
        if isinstance(old, Var) and isinstance(new, Var):
            return old == new if not self.lengths else (old.name, new.name) in self.lengths
        return old == new

    def _tensors(self, old: TensorType, new: TensorType, place: str) -> Iterator[_Weaker]:
        was, now = (members(None if side.dtype is None else side.dtype.name) for side in (old, new))
        if not now <= was:
            yield _Weaker(place, f"has {written(new.dtype)}, it had {written(old.dtype)}")
        self.differs |= was != now or (old.dims is None) != (new.dims is None)
        if old.dims is None:
            return
        if new.dims is None or len(old.dims) != len(new.dims):
            yield _Weaker(place, f"was `{write_type(old)}` and is `{write_type(new)}`")
            return
        for axis, (first, second) in enumerate(zip(old.dims, new.dims, strict=True)):
            yield from self._dim(first, second, f"{place}.shape[{axis}]")

    def _dim(self, old: Dim, new: Dim, place: str) -> Iterator[_Weaker]:
        runs = [isinstance(dim, (Ellipsis, Variadic)) for dim in (old, new)]
        if any(runs):
            if type(old) is not type(new):
                yield _Weaker(place, f"was `{write_dim(old)}` and is `{write_dim(new)}`")
            return
        bound = [self._bound(old, self.first), self._bound(new, self.second)]
        if not bound[0]:  # some size
            self.differs |= bound[1]
            return
        if not bound[1]:
            yield _Weaker(place, f"was `{write_dim(old)}`, now nothing is promised of it")
            return
        if isinstance(old, (Static, Fresh, Ellipsis)) or isinstance(new, (Static, Fresh, Ellipsis)):
            return
        if not set(free_vars(new)) <= self.meaning.keys():
            self.reasons[f"whether `{place}`, now `{write_dim(new)}`, is still `{write_dim(old)}`"] = None
            return
        equal = Compare(COMPARISONS["=="], old, substitute_size(new, self.meaning))
        if equal.left == equal.right:
            return
        match self.asker.decide(self.first.known, equal):
            case Proved():
                pass
            case Refuted(witness=witness):
                example = example_of(self.first, witness)
                yield _Weaker(place, f"was `{write_dim(old)}` and is `{write_dim(new)}`", example)
            case unknown:
                self.reasons[f"whether `{place}` is still `{write_dim(old)}`: {unknown.reason}"] = None

    def _bound(self, dim: Dim, places: Places) -> bool:
        """Whether a dim claims anything: not if it has a name that no parameter binds."""
        if isinstance(dim, (Static, Fresh, Ellipsis)):
            return False
        names = {variable.name for variable in places.expanded.signature.variables}
        return set(free_vars(dim)) <= names


def claims(
    old: Signature,
    new: Signature,
    first: Places,
    second: Places,
    meaning: Mapping[str, Size],
    *,
    asker: Asker,
    reasons: dict[str, None],
) -> Iterator[Change]:
    """Yields what changed in the return types.

    Args:
        old, new: As they were read.
        first, second: The same at one structure.
        meaning: The new spec's variables over the old one's.
        asker: Answers questions.
        reasons: Receives what could not be decided.
    """
    before, after = first.expanded.signature.returns, second.expanded.signature.returns
    if before is None and after is None:
        return
    spans: Spans = (
        (old.returns.span if old.returns else None) or old.span,
        (new.returns.span if new.returns else None) or new.span,
    )
    texts: Texts = _text(old), _text(new)
    if before is None or after is None:
        effect, message = (Effect.NONE, "now") if before is None else (Effect.CLAIM, "no longer")
        text = texts[1] if before is None else texts[0]
        yield changed(
            "returns", "return", effect, f"the result is {message} promised to be `{text}`", texts=texts, spans=spans
        )
        return
    named = {param.name: param for param in new.params}
    paired = [(was.type, named.get(was.name, now).type) for was, now in zip(old.params, new.params, strict=False)]
    lengths = frozenset(pair for was, now in paired for pair in _lengths(was, now))
    compared = _Claims(first, second, meaning, lengths, asker, reasons)
    found = list(compared.weaker(before, after, "return"))
    for each in found:
        message = f"`{each.place}` {each.message}"
        yield changed("returns", each.place, Effect.CLAIM, message, texts=texts, spans=spans, example=each.example)
    if compared.differs and not found:
        yield changed("returns", "return", Effect.NONE, "more is promised of the result", texts=texts, spans=spans)


def _lengths(old: Type, new: Type) -> Iterator[tuple[str, str]]:
    """Yields the names, old and new, of lengths that stand at one place."""
    times = [side.times if isinstance(side, SequenceType) else None for side in (old, new)]
    match times:
        case Var(name=was), Var(name=now):
            yield was, now
        case _:
            pass
    if type(old) is type(new):
        for first, second in zip(subtypes(old), subtypes(new), strict=False):
            yield from _lengths(first, second)


def _text(signature: Signature) -> str:
    return "" if signature.returns is None else write_type(signature.returns)
