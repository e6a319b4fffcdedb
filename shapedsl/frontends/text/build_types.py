"""The parser's callbacks for types, parameters and paths."""
# ruff: noqa: ARG002, D102 - each method is a rule of the grammar, called with the same arguments

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, NamedTuple

from ...diagnostics import Span
from ...ir import (
    AnyType,
    Attribute,
    Const,
    Dim,
    Dtype,
    Ellipsis,
    Fresh,
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
    Size,
    Static,
    TensorType,
    Type,
    Variadic,
)
from ...ir.dtypes import dtype_name
from ...ir.walk import subtypes
from . import limits
from .build_sizes import SizeBuilder
from .sizes import literal
from .syntax import Name, TypeUse

_PYTHON_SCALARS: Final = ("int", "float", "bool")
_REST: Final = object()  # `*_` in a sequence


class Items(NamedTuple):
    """What stands between the brackets of a sequence, and whether a comma ends it."""

    items: list[Any]
    comma: bool


class TypeBuilder(SizeBuilder):
    """Makes types, parameters and paths."""

    def any_type(self, start: int, end: int, _: str) -> Type:
        return AnyType(Span(self.source, start, end))

    def none_type(self, start: int, end: int, _: str) -> Type:
        return NoneType(Span(self.source, start, end))

    def named_type(self, start: int, end: int, name: Name) -> Type:
        span = name.span
        if name.text == "Tensor":
            return TensorType(None, None, span)
        if name.text == "Scalar":
            return ScalarType(None, span)
        dtype = dtype_name(name.text)
        if dtype is not None:
            return TensorType(None, Dtype(dtype), span)
        self.pending = True
        return TypeUse(name, None, span)  # type: ignore[return-value]

    def rank_zero(self, start: int, end: int, name: Name) -> Type:
        return self.shaped_type(start, end, name, [])

    def shaped_type(self, start: int, end: int, name: Name, dims: list[Dim]) -> Type:
        span = Span(self.source, start, end)
        if name.text == "Tensor":
            return TensorType(tuple(dims), None, span)
        if name.text == "Scalar":
            return self._scalar(dims, span)
        dtype = dtype_name(name.text)
        if dtype is not None:
            return TensorType(tuple(dims), Dtype(dtype), span)
        self.pending = True
        return TypeUse(name, tuple(dims), span)  # type: ignore[return-value]

    def _scalar(self, dims: list[Dim], span: Span) -> Type:
        if len(dims) != 1 or isinstance(dims[0], (Ellipsis, Fresh, Variadic)):
            self.report.error("type-arity", "`Scalar` takes one size", at=span, help="write `Scalar[N]`, or `Scalar`")
            return ScalarType(None, span)
        return ScalarType(None if isinstance(dims[0], Static) else dims[0], span)

    def union(self, start: int, end: int, members: list[Type]) -> Type:
        return self.optional(members, self.span(start, end))

    def optional(self, members: list[Type], span: Span) -> Type:
        """Returns the union of ``members``, which is ``T | None``."""
        kept = [member for member in members if not isinstance(member, NoneType)]
        if len(kept) > 1:
            self.report.error(
                "unsupported-union",
                "only `T | None` is a union",
                at=span,
                help="write one def for each type, the second as `name@2`",
            )
        if not kept:
            return NoneType(span)
        if len(kept) == len(members):
            return kept[0]
        inner = kept[0]
        return OptionalType(inner.inner if isinstance(inner, OptionalType) else inner, span)

    # ------------------------------------------------------------------------------- containers

    def items(self, start: int, end: int, items: list[Any]) -> Items:
        return Items(items, False)

    def items_comma(self, start: int, end: int, items: list[Any]) -> Items:
        return Items(items, True)

    def any_number(self, start: int, end: int, _: str) -> Any:
        return ...

    def static_rest(self, start: int, end: int, _: str) -> Any:
        return _REST

    def tuple_type(self, start: int, end: int, items: Items | None) -> Type:
        if items is not None and len(items.items) == 1 and not items.comma and items.items[0] not in (..., _REST):
            return items.items[0]  # type: ignore[no-any-return]  # (T) is T
        return self._sequence("tuple", items, self.span(start, end))

    def list_type(self, start: int, end: int, items: Items | None) -> Type:
        return self._sequence("list", items, self.span(start, end))

    def _sequence(self, kind: str, items: Items | None, span: Span) -> Type:
        listed = [] if items is None else items.items
        rest = Rest.NONE
        if listed and listed[-1] in (..., _REST):
            rest = Rest.REPEAT if listed[-1] is ... else Rest.STATIC
            listed = listed[:-1]
        if ... in listed or _REST in listed:
            self.report.error("syntax-error", "`...` and `*_` stand at a sequence's end", at=span)
            listed = [item for item in listed if item not in (..., _REST)]
        if rest is Rest.REPEAT and not listed:
            self.report.error("syntax-error", "`...` repeats the types before it", at=span, help="write `[T, ...]`")
            rest = Rest.STATIC
        return SequenceType(kind, tuple(listed), rest, None, span)

    def repeated(self, start: int, end: int, sequence: Type, times: Size) -> Type:
        span = self.span(start, end)
        self.pending = self.pending or not isinstance(times, Const)  # a const's name, or an error
        if not isinstance(sequence, SequenceType):
            self.report.error(
                "syntax-error", "only a list or a tuple is repeated", at=span, help="write `[T] * n` or `(T,) * n`"
            )
            return sequence
        repeated = SequenceType(sequence.kind, sequence.items, sequence.rest, times, span)
        if sequence.rest is not Rest.NONE:
            self.report.error("syntax-error", "a sequence of any length cannot be repeated", at=span)
            return sequence
        return sequence if self.is_too_long(repeated) else repeated

    def is_too_long(self, type_: SequenceType) -> bool:
        """Returns whether ``[T] * n`` stands for too many types, and says so; a negative ``n`` likewise."""
        if isinstance(type_.times, Const) and type_.times.value < 0:
            self.report.error("not-constant", "a sequence is repeated 0 or more times", at=type_.span)
            return True
        if length(type_) <= limits.REPEATS:
            return False
        self.report.error("input-too-large", f"a sequence of more than {limits.REPEATS} types", at=type_.span)
        return True

    def entry(self, start: int, end: int, key: str | int, type_: Type) -> tuple[str | int, Type, Span]:
        return key, type_, self.span(start, end)

    def mapping_type(self, start: int, end: int, entries: list[tuple[str | int, Type, Span]] | None) -> Type:
        self._no_duplicates(entries or [], "key")
        return MappingType(tuple((key, type_) for key, type_, _ in entries or ()), self.span(start, end))

    def field(self, start: int, end: int, name: Name, type_: Type) -> tuple[str | int, Type, Span]:
        return name.text, type_, name.span

    def object_type(self, start: int, end: int, name: Name, fields: list[tuple[str, Type, Span]] | None) -> Type:
        if name.text in ("Tensor", "Scalar") or dtype_name(name.text) is not None:
            self.report.error(
                "syntax-error",
                f"`{name.text}` takes its sizes in brackets",
                at=name.span,
                help=f"write `{name.text}[…]`",
            )
        self._no_duplicates(fields or [], "field")
        return ObjectType(tuple((field, type_) for field, type_, _ in fields or ()), name.text, self.span(start, end))

    def _no_duplicates(self, rows: list[Any], what: str) -> None:
        first: dict[object, Span] = {}
        for key, _, span in rows:
            if key in first:
                self.report.error(
                    "duplicate-name", f"the {what} {key!r} is listed twice", at=span, also=[(first[key], "first here")]
                )
            first.setdefault(key, span)

    # ----------------------------------------------------------------------- parameters, paths

    def param(self, start: int, end: int, name: Name, type_: Type | None, default: str | None) -> Param:
        self._warn_of_scalar(name, type_)
        kind = ParamKind.POSITIONAL_OR_KEYWORD
        return Param(name.text, AnyType() if type_ is None else type_, kind, default is not None, name.span)

    def _warn_of_scalar(self, name: Name, type_: Type | None) -> None:
        """Warns of ``n: int``: a Python reader means a number, and the language a tensor."""
        inner = type_.inner if isinstance(type_, OptionalType) else type_
        if not isinstance(inner, TensorType) or inner.dims is not None or inner.span is None:
            return
        word = inner.span.text
        if word in _PYTHON_SCALARS and inner.dtype is not None:
            number = f"`Scalar[{name.text}]`" if word == "int" else "`_`"
            self.report.warning(
                "scalar-type",
                f"`{word}` is a tensor of {inner.dtype.name} here, not a Python {word}",
                at=inner.span,
                help=f"a Python {word} is {number}; a tensor of any rank is `{inner.dtype.name}[...]`",
            )

    def slash(self, start: int, end: int) -> str:
        return "/"

    def bare_star(self, start: int, end: int) -> str:
        return "*"

    def var_positional(self, start: int, end: int, name: Name, type_: Type | None) -> Param:
        return Param(name.text, AnyType() if type_ is None else type_, ParamKind.VAR_POSITIONAL, False, name.span)

    def var_keyword(self, start: int, end: int, name: Name, type_: Type | None) -> Param:
        return Param(name.text, AnyType() if type_ is None else type_, ParamKind.VAR_KEYWORD, False, name.span)

    def number(self, start: int, end: int, text: str) -> int:
        return literal(text, self.span(start, end)).value

    def negative_number(self, start: int, end: int, text: str) -> int:
        return -self.number(start, end, text)

    def root(self, start: int, end: int, name: Name) -> Path:
        return Path(name.text, (), name.span)

    def attribute(self, start: int, end: int, path: Path, name: Name) -> Path:
        return self._longer(path, Attribute(name.text), start, end)

    def subscript(self, start: int, end: int, path: Path, key: str | int) -> Path:
        return self._longer(path, Item(key), start, end)

    def _longer(self, path: Path, step: Attribute | Item, start: int, end: int) -> Path:
        if len(path.steps) >= limits.DEPTH:
            limits.fail("input-too-large", f"a path of more than {limits.DEPTH} steps", self.span(start, end))
        return Path(path.root, (*path.steps, step), self.span(start, end))


def length(type_: Type) -> int:
    """Returns how many types ``type_`` is made of, repeated ones multiplied out."""
    inside = 1 + sum(length(inner) for inner in subtypes(type_))
    if isinstance(type_, SequenceType) and isinstance(type_.times, Const):
        return inside * max(type_.times.value, 1)
    return inside


def param_list(items: list[Param | str], builder: SizeBuilder) -> tuple[Param, ...]:
    """Returns parameters with their kinds, from the parameters, ``/`` and ``*`` of a def; reports a wrong order."""
    params: list[Param] = []
    seen: dict[str, Span | None] = {}
    keyword_only = defaulted = False
    for item in items:
        if item == "/":
            if keyword_only or not params or any(p.kind is ParamKind.POSITIONAL_ONLY for p in params):
                builder.report.error("syntax-error", "`/` stands once, behind the positional-only parameters")
                continue
            params = [Param(p.name, p.type, ParamKind.POSITIONAL_ONLY, p.default, p.span) for p in params]
        elif item == "*":
            keyword_only = True
        elif isinstance(item, Param):
            if item.name in seen:
                builder.report.error(
                    "duplicate-name",
                    f"two parameters are called `{item.name}`",
                    at=item.span,
                    also=[(seen[item.name], "first here")],
                )
                continue
            seen[item.name] = item.span
            if params and params[-1].kind is ParamKind.VAR_KEYWORD:
                builder.report.error("syntax-error", "a `**` parameter is the last", at=params[-1].span)
            if item.kind is ParamKind.VAR_POSITIONAL:
                if keyword_only:
                    builder.report.error("syntax-error", "`*` stands once", at=item.span)
                keyword_only = True
            elif item.kind is ParamKind.POSITIONAL_OR_KEYWORD:
                if keyword_only:
                    item = Param(item.name, item.type, ParamKind.KEYWORD_ONLY, item.default, item.span)
                elif defaulted and not item.default:
                    builder.report.error(
                        "syntax-error",
                        f"`{item.name}` has no default and follows a parameter that has one",
                        at=item.span,
                    )
                defaulted = defaulted or item.default
            params.append(item)
    if (items and items[-1] == "*") or any(a == "*" == b for a, b in pairwise(items)):
        builder.report.error(
            "syntax-error",
            "a parameter is named behind `*`",
            at=params[-1].span if params else None,
            help="those behind it are keyword-only; without any, delete the `*`",
        )
    return tuple(params)
