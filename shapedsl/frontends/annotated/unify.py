"""Two sources that speak of one value → what both say together.

A source that is silent yields: `_` to anything, a bare ``Tensor`` to any dims, a family to its
dtypes, ``...`` to the dims that stand in its place. Where both speak, two expressions become an
equality; two numbers, two ranks, or a tensor and a dict are a conflict.

Before::

    Annotated[torch.Tensor, "B, _, 3"]     @shapes(x="B, 2 * D, 3")

After::

    Tensor[B, 2 * D, 3]
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...diagnostics import Report, Span
from ...ir import (
    AnyType,
    Const,
    Dim,
    Dtype,
    Ellipsis,
    Fresh,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    Static,
    TensorType,
    Type,
    Variadic,
)
from ...ir.write import write_dim
from .equalities import Equality

_FLOATING = ("float", "bfloat")
_INTEGRAL = ("int", "uint")


def unify(first: Type, second: Type, report: Report, equalities: list[Equality], what: str) -> Type:
    """Returns what ``first`` and ``second`` say together; ``first`` where they conflict.

    Args:
        first: The source that comes first; its expressions are kept.
        second: The other one.
        report: Receives ``conflicting-sources`` with both places.
        equalities: Receives each pair of expressions that differ.
        what: What the sources speak of, for messages: "parameter `x`".
    """
    return _Unifier(report, equalities, what).types(first, second)


class _Unifier:
    def __init__(self, report: Report, equalities: list[Equality], what: str) -> None:
        self._report = report
        self._equalities = equalities
        self._what = what

    def types(self, first: Type, second: Type) -> Type:
        match first, second:
            case AnyType(), _:
                return second
            case _, AnyType():
                return first
            case OptionalType(inner=a), OptionalType(inner=b):
                return replace(first, inner=self.types(a, b))
            case OptionalType(inner=a), _ if not isinstance(second, NoneType):
                return replace(first, inner=self.types(a, second))
            case _, OptionalType(inner=b) if not isinstance(first, NoneType):
                return replace(second, inner=self.types(first, b))
            case TensorType(), TensorType():
                return self._tensors(first, second)
            case ScalarType(size=None), ScalarType():
                return second
            case ScalarType(size=a), ScalarType(size=b):
                return first if a is None or b is None else replace(first, size=self._dim(a, b))
            case SequenceType(), SequenceType():
                return self._sequences(first, second)
            case MappingType(entries=a), MappingType(entries=b):
                return replace(first, entries=self._named(a, b))
            case ObjectType(fields=a), ObjectType(fields=b):
                return replace(first, fields=self._named(a, b))
            case NoneType(), NoneType():
                return first
            case _:
                self._conflict(first, _kind(first), second, _kind(second))
                return first

    def _tensors(self, first: TensorType, second: TensorType) -> TensorType:
        dtype = self._dtypes(first, second)
        if first.dims is None or second.dims is None:
            known = second if first.dims is None else first
            return replace(known, dtype=dtype)
        dims = self._dims(first, second)
        return replace(first, dims=dims, dtype=dtype)

    def _dtypes(self, first: TensorType, second: TensorType) -> Dtype | None:
        a, b = first.dtype, second.dtype
        if a is None or b is None or a == b:
            return a or b
        if _holds(a.name, b.name):
            return replace(b, variable=b.variable or a.variable)
        if _holds(b.name, a.name):
            return replace(a, variable=a.variable or b.variable)
        self._conflict(first, f"is {a.name}", second, f"is {b.name}")
        return a

    def _dims(self, first: TensorType, second: TensorType) -> tuple[Dim, ...]:
        a, b = first.dims or (), second.dims or ()
        a, b = _stretch(a, b), _stretch(b, a)
        a, b = _widen(a, b), _widen(b, a)
        same_rank = len(a) == len(b) and all(_aligned(x, y) for x, y in zip(a, b, strict=True))
        if not same_rank:
            self._conflict(first, f"has {_rank(first)}", second, f"has {_rank(second)}")
            return first.dims or ()
        return tuple(self._dim(x, y) for x, y in zip(a, b, strict=True))

    def _dim(self, first: Any, second: Any) -> Any:
        match first, second:
            case (Static() | Ellipsis(), _):
                return second
            case (_, Static() | Ellipsis()):
                return first
            case (Fresh(), _):  # dynamic and tied to nothing: anything dynamic is more
                return second
            case (_, Fresh()):
                return first
            case _ if first == second:
                return first
            case (Const(), Const()):
                self._conflict(first, f"is {write_dim(first)}", second, f"is {write_dim(second)}")
                return first
            case _:
                return self._equal(first, second)

    def _equal(self, first: Any, second: Any) -> Any:
        self._equalities.append(Equality(first, second))
        return first

    def _sequences(self, first: SequenceType, second: SequenceType) -> SequenceType:
        listed = first.rest is Rest.NONE and second.rest is Rest.NONE
        alike = first.rest is second.rest and first.times == second.times
        if alike and (len(first.items) == len(second.items) or not listed):
            longer, shorter = (first, second) if len(first.items) >= len(second.items) else (second, first)
            both = [self.types(a, b) for a, b in zip(first.items, second.items, strict=False)]
            return replace(longer, items=(*both, *longer.items[len(shorter.items) :]))
        # [T, ...] says of each item what T says; the length comes from the other source
        for many, few, flip in ((first, second, False), (second, first, True)):
            if many.rest is Rest.REPEAT and len(many.items) == 1 and few.rest is not Rest.REPEAT:
                each = many.items[0]
                items = [self.types(item, each) if flip else self.types(each, item) for item in few.items]
                return replace(few, items=tuple(items))
        self._conflict(first, f"has {len(first.items)} items", second, f"has {len(second.items)} items")
        return first

    def _named(self, first: tuple[tuple[Any, Type], ...], second: tuple[tuple[Any, Type], ...]) -> Any:
        merged = dict(first)
        for key, type_ in second:
            merged[key] = self.types(merged[key], type_) if key in merged else type_
        return tuple(merged.items())

    def _conflict(self, first: Any, label: str, second: Any, other: str) -> None:
        self._report.error(
            "conflicting-sources",
            f"two sources disagree about {self._what}",
            at=_span(first) or _span(second),
            label=f"here it {label}" if _span(first) else f"here it {other}",
            also=[(_span(second) if _span(first) else None, f"here it {other}")],
            note=() if _span(first) and _span(second) else f"one says it {label}, the other that it {other}",
        )


def _stretch(dims: tuple[Dim, ...], to: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Returns ``dims`` with its ``...`` in as many pieces as give it the rank of ``to``."""
    if len(to) + 1 < len(dims) or sum(isinstance(dim, Ellipsis) for dim in dims) != 1:
        return dims
    if any(isinstance(dim, (Ellipsis, Variadic)) for dim in to) and len(to) <= len(dims):
        return dims
    at = next(i for i, dim in enumerate(dims) if isinstance(dim, Ellipsis))
    return (*dims[:at], *[Static()] * (len(to) - len(dims) + 1), *dims[at + 1 :])


def _widen(dims: tuple[Dim, ...], to: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Returns ``dims`` with its ``...`` moved to where that of ``to`` is, `_` in front and behind."""
    here, there = ([i for i, dim in enumerate(side) if isinstance(dim, Ellipsis)] for side in (dims, to))
    if len(here) != 1 or len(there) != 1:
        return dims
    front = max(0, there[0] - here[0])
    behind = max(0, (len(to) - there[0]) - (len(dims) - here[0]))
    at = here[0]
    return (*dims[:at], *[Static()] * front, dims[at], *[Static()] * behind, *dims[at + 1 :])


def _aligned(first: Dim, second: Dim) -> bool:
    """Whether the two can be the same axis, or the same run of axes."""
    runs = [isinstance(dim, (Ellipsis, Variadic)) for dim in (first, second)]
    if runs == [True, True]:
        return isinstance(first, Ellipsis) or isinstance(second, Ellipsis) or first == second
    # a `...` that was stretched over a variadic stands as `_`
    return not any(runs) or isinstance(first, Static) or isinstance(second, Static)


def _holds(family: str, dtype: str) -> bool:
    """Whether ``dtype`` (or a narrower family) belongs to ``family``."""
    match family:
        case "number":
            return dtype != "bool"
        case "floating":
            return dtype.startswith(_FLOATING)
        case "complexfloating":
            return dtype.startswith(("complex", "bcomplex"))
        case "integral":
            return dtype.startswith(_INTEGRAL) and dtype != "integral"
        case _:
            return False


def _rank(tensor: TensorType) -> str:
    dims = tensor.dims or ()
    least = sum(not isinstance(dim, (Ellipsis, Variadic)) for dim in dims)
    return f"rank {least}" if least == len(dims) else f"rank {least} or more"


def _kind(type_: Type) -> str:
    kinds: dict[type, str] = {
        TensorType: "a tensor",
        ScalarType: "an int",
        SequenceType: "a sequence",
        MappingType: "a dict",
        ObjectType: "an object",
        NoneType: "None",
    }
    return f"is {kinds.get(type(type_), 'something else')}"


def _span(node: Any) -> Span | None:
    span = node.span
    return span if isinstance(span, Span) else None


__all__ = ["unify"]
