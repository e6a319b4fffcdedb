"""Expands declared types and dtypes, and what stands inside types.

Before::

    type F = floating
    type KV[N] = (F[B, N], F[B, N])
    … x: KV[P + 1]

After: ``(F[B, P + 1], F[B, P + 1])`` with `F` a dtype variable of the family ``floating``.
"""

from __future__ import annotations

from typing import Any

from ...diagnostics import Span
from ...ir import (
    AnyType,
    Apply,
    Const,
    Dim,
    Dtype,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    ScalarType,
    SequenceType,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    VariableKind,
)
from ...ir.dtypes import ALIASES, DTYPES, FAMILIES
from . import limits
from .build_types import length
from .expand import Expander
from .limits import LeansOnBrokenError, fail
from .scope import Entry, Scope, SizeEntry, TypeEntry
from .syntax import TypeUse


class TypeExpander(Expander):
    """Expands types too."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._depth = 0

    def type(self, type_: Type) -> Type:
        """Returns ``type_`` expanded, declared types and dtypes replaced."""
        self._depth += 1
        if self._depth > limits.DEPTH:
            at = type_.span
            assert at is not None  # the parser makes no type without one
            fail("input-too-large", f"types nested more than {limits.DEPTH} deep", at)
        try:
            return self._type(type_)
        finally:
            self._depth -= 1

    def _type(self, type_: Type) -> Type:
        node: Any = type_
        if type(node) is TensorType:
            return TensorType(self._dims(node.dims), node.dtype, node.span)
        if type(node) is TypeUse:
            return self._use(node)
        if type(node) is OptionalType:
            inner = self.type(node.inner)
            return inner if isinstance(inner, (OptionalType, NoneType)) else OptionalType(inner, node.span)
        if type(node) is SequenceType:
            times = None if node.times is None else self._times(node.times)
            return SequenceType(node.kind, tuple([self.type(item) for item in node.items]), node.rest, times, node.span)
        if type(node) is MappingType:
            return MappingType(tuple([(key, self.type(entry)) for key, entry in node.entries]), node.span)
        if type(node) is ObjectType:
            return ObjectType(tuple([(key, self.type(field)) for key, field in node.fields]), node.name, node.span)
        if type(node) is ScalarType and node.size is not None:
            return self._scalar(self.dim(node.size), node.span)
        return type_

    def _scalar(self, dim: Dim, span: Span | None) -> Type:
        if isinstance(dim, Static):
            return ScalarType(None, span)
        if not isinstance(dim, (Const, Var, Apply)):
            self.report.error("type-arity", "`Scalar` takes one size", at=span)
            return ScalarType(None, span)
        return ScalarType(dim, span)

    def _dims(self, dims: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
        if dims is None:
            return None
        return tuple([self.dim(dim) for dim in dims])

    def _times(self, times: Size) -> Size:
        expanded = self.size(times)
        is_const = isinstance(expanded, Var) and (
            isinstance(entry := self.scope.find(expanded.name), SizeEntry)
            and entry.statement.kind is VariableKind.CONST
        )
        if isinstance(expanded, Const) or is_const:
            return expanded
        self.report.error(
            "not-constant",
            "a sequence's length is a constant",
            at=times.span,
            help="name it with `const n = _` to take it from the example",
        )
        return Const(1, times.span)

    def _use(self, use: TypeUse) -> Type:
        """Returns what a declared type or dtype stands for, its size parameters bound."""
        entry = self.scope.find(use.name.text)
        if entry is None and use.name.text in self.scope.session.broken:
            raise LeansOnBrokenError(use.name.text)
        if not isinstance(entry, TypeEntry):
            self._unknown_type(use, entry)
            return AnyType(use.span)
        named = named_dtype(entry)
        if named is not None:
            dtype, root = named
            if dtype.variable is not None:
                self.reach(f"type {dtype.variable}", root, use.span)
            return TensorType(self._dims(use.dims), dtype, use.span)
        parameters = entry.statement.parameters
        if len(use.dims or ()) != len(parameters or ()) or (use.dims is None) != (parameters is None):
            takes = "no sizes" if not parameters else f"{len(parameters)} size{'s' * (len(parameters) > 1)}"
            self.report.error(
                "type-arity",
                f"`{use.name.text}` takes {takes}",
                at=use.span,
                also=[(entry.name.span, "declared here")],
            )
            return AnyType(use.span)
        if entry.busy:
            self.report.error("definition-cycle", f"`{use.name.text}` is defined by itself", at=entry.name.span)
            return AnyType(use.span)
        bound = {name.text: dim for name, dim in zip(parameters or (), self._dims(use.dims) or (), strict=True)}
        return self._inside(entry, bound, use.span)

    def _inside(self, entry: TypeEntry, bound: dict[str, Dim], at: Span) -> Type:
        self.scope.session.spend(1 + length(entry.statement.value), at)
        outer_scope, outer_bound = self.scope, self.bound
        self.scope, self.bound, entry.busy = entry.scope, bound, True
        try:
            made = self.type(entry.statement.value)
        finally:
            self.scope, self.bound, entry.busy = outer_scope, outer_bound, False
        return made

    def _unknown_type(self, use: TypeUse, entry: Entry | None) -> None:
        name = use.name.text
        if entry is not None:
            self.report.error(
                "unknown-dtype",
                f"`{name}` is a size, not a type",
                at=use.name.span,
                also=[(entry.name.span, "declared here")],
            )
            return
        from difflib import get_close_matches  # only a wrong name needs it

        known: set[str] = {"Tensor", "Scalar", *DTYPES, *FAMILIES, *ALIASES}
        scope: Scope | None = self.scope
        while scope is not None:
            known |= {key for key, e in scope.entries.items() if isinstance(e, TypeEntry)}
            scope = scope.outer
        close = get_close_matches(name, sorted(known), 1)
        self.report.error(
            "unknown-dtype",
            f"`{name}` is not a dtype, a family of dtypes or a declared type",
            at=use.name.span,
            help=f"did you mean `{close[0]}`?" if close else (),
        )


def named_dtype(entry: TypeEntry) -> tuple[Dtype, TypeEntry] | None:
    """Returns the dtype that ``type F = floating`` names, and the entry that names it first; None for another type.

    A family is a variable: every use of it in a call is one dtype.
    """
    if entry.statement.parameters is not None or entry.busy:
        return None
    node: Any = entry.statement.value
    if type(node) is TensorType and node.dims is None and node.dtype is not None:
        return Dtype(node.dtype.name, entry.name.text if node.dtype.name in FAMILIES else None), entry
    if type(node) is TypeUse and node.dims is None:
        other = entry.scope.find(node.name.text)
        if isinstance(other, TypeEntry):
            entry.busy = True
            try:
                return named_dtype(other)
            finally:
                entry.busy = False
    return None
