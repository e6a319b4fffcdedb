"""Expands lets, consts and type names in sizes, predicates and types.

Before::

    const LIMIT = 8
    let S = 2 * B
    type KV[N] = (F[B, N], F[B, N])
    … x: KV[S + LIMIT]

After: ``(F[B, 2 * B + 8], F[B, 2 * B + 8])``; the names it reached are remembered with their declarations.

An `Expander` works for one def, or for one declaration, in its scope.
"""

from __future__ import annotations

from typing import Any

from ...diagnostics import Span
from ...ir import (
    And,
    AnyType,
    Apply,
    Compare,
    Const,
    Dim,
    Dtype,
    MappingType,
    NoneType,
    Not,
    ObjectType,
    OptionalType,
    Or,
    Predicate,
    ScalarType,
    SequenceType,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    VariableKind,
    Variadic,
)
from ...ir.dtypes import ALIASES, DTYPES, FAMILIES
from ..assemble import Declaration
from . import limits, sizes
from .build_types import length
from .limits import fail
from .scope import ConstEntry, Entry, LetEntry, Scope, SizeEntry, TypeEntry
from .syntax import Bound, InSet, Multiple, MultipleOf, Name, Pair, TypeUse


class Expander:
    """Expands what stands in one scope.

    Attributes:
        scope: Where names are looked up.
        reaches: The names of variables that were met, and the entries they mean.
        lets: The lets that were met since someone last emptied it.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.report = scope.session.report
        self.reaches: dict[str, Entry | None] = {}
        self.lets: list[LetEntry] = []
        self._bound: dict[str, Dim] = {}  # size parameters of the type that is being expanded
        self._depth = 0

    # ----------------------------------------------------------------------------------- sizes

    def size(self, size: Size) -> Size:
        """Returns ``size`` expanded."""
        if type(size) is Var:
            return self._variable(size)
        if type(size) is Apply:
            args = tuple([self.size(arg) for arg in size.args])
            span = size.span
            if size.op is sizes.POW and type(args[1]) is not Const:
                self.report.error("not-constant", "an exponent is a constant >= 0", at=size.args[1].span or span)
                return Const(1, span)
            if all(new is old for new, old in zip(args, size.args, strict=True)):
                return size
            return sizes.apply(size.op, args, span, self.report)
        if type(size) is Variadic:
            entry = self.scope.find(size.name)
            if entry is not None and not isinstance(entry, SizeEntry):
                self.report.error(
                    "unknown-name",
                    f"`{size.name}` is no variadic",
                    at=size.span,
                    also=[(entry.name.span, "declared here")],
                )
                return size
            self._reach(size.name, entry, size.span)
        return size

    def _variable(self, use: Var) -> Size:
        name = use.name
        if name in self._bound:
            dim = self._bound[name]
            if isinstance(dim, (Const, Var, Apply)):
                return dim
            self.report.error("type-arity", f"`{name}` stands in an expression, so it is a size", at=dim.span)
            return Const(1, use.span)
        entry = self.scope.find(name)
        if entry is None or type(entry) is SizeEntry:
            self._reach(name, entry, use.span)
            return use
        if isinstance(entry, ConstEntry):
            value = const_value(entry)
            return Const(1 if value is None else value, use.span)
        if isinstance(entry, LetEntry):
            size = let_size(entry)
            self.lets += entry.lets
            self.scope.session.spend(entry.nodes, use.span or entry.name.span)
            for reached, meant in entry.reaches.items():
                self._reach(reached, meant, use.span)
            return _at(size, use.span)
        self.report.error(
            "unknown-name", f"`{name}` is a type, not a size", at=use.span, also=[(entry.name.span, "declared here")]
        )
        return Const(1, use.span)

    def _reach(self, name: str, entry: Entry | None, at: Span | None) -> None:
        known = self.reaches.setdefault(name, entry)
        if known is entry:
            return
        if known is None or entry is None:  # a let of another file speaks of an undeclared name
            self.reaches[name] = known or entry
            return
        self.report.error(
            "ambiguous-name",
            f"two declarations of `{name}` are reached",
            at=at,
            label="reaches both",
            also=[(known.name.span, "one"), (entry.name.span, "the other")],
            help="rename one of them",
        )

    def dim(self, dim: Dim) -> Dim:
        """Returns ``dim`` expanded."""
        if isinstance(dim, Var) and dim.name in self._bound:
            return self._bound[dim.name]
        if isinstance(dim, (Var, Apply, Variadic)):
            expanded = self.size(dim)
            if type(expanded) is Apply and self.lets and sizes.is_too_large(expanded, dim.span, self.report):
                return Const(1, dim.span)
            return expanded
        return dim

    def integer(self, size: Size, what: str) -> int | None:
        """Returns the value of a constant; None if it is none (reported)."""
        value = self.size(size)
        if type(value) is Const:
            return value.value
        self.report.error("not-constant", f"{what} is a constant", at=size.span, label="not a constant")
        return None

    def pairs(self, pairs: list[Pair], what: str) -> dict[str, int]:
        """Returns ``B = 8, D = 64`` as a dictionary; reports names that are no variables."""
        values: dict[str, int] = {}
        for name, value in pairs:
            number = self.integer(value, what)
            if name.text in values:
                self.report.error("duplicate-name", f"`{name.text}` is given twice", at=name.span)
            elif number is not None and self.is_variable(name):
                values[name.text] = number
        return values

    def is_variable(self, name: Name) -> bool:
        """Returns whether ``name`` may be a variable; reports if it is something else."""
        entry = self.scope.find(name.text)
        if entry is None or isinstance(entry, SizeEntry):
            self._reach(name.text, entry, name.span)
            return True
        self.report.error(
            "unknown-name",
            f"`{name.text}` is no variable",
            at=name.span,
            also=[(entry.name.span, "declared here")],
        )
        return False

    # ------------------------------------------------------------------------------ predicates

    def predicate(self, predicate: Predicate) -> Predicate:
        """Returns ``predicate`` expanded, pseudo nodes replaced."""
        node: Any = predicate
        if type(node) is Compare:
            left, right = self.size(node.left), self.size(node.right)
            if left is node.left and right is node.right:
                return predicate
            return Compare(node.op, left, right, node.span)
        if type(node) is And or type(node) is Or:
            args: list[Predicate] = []
            for arg in node.args:
                expanded = self.predicate(arg)
                args += expanded.args if type(expanded) is type(node) else (expanded,)  # type: ignore[union-attr]
            return type(node)(tuple(args), node.span)
        if type(node) is Not:
            return Not(self.predicate(node.arg), node.span)
        if type(node) is InSet:
            items = [item if item is ... else self.size(item) for item in node.items]
            members = sizes.list_members(items, node.span, self.report)
            if members is None:
                return And((), node.span)
            return sizes.member(self.size(node.subject), members, node.span)
        assert type(node) is MultipleOf
        checked = self.multiple(node.multiple)
        if checked is None:
            return And((), node.span)
        return sizes.multiple_of(self.size(node.subject), *checked, node.span, self.report)

    def multiple(self, multiple: Multiple) -> tuple[int, int] | None:
        """Returns modulus and residue; None if they are wrong (reported)."""
        modulus = self.size(multiple.modulus)
        residue = None if multiple.residue is None else self.size(multiple.residue)
        return sizes.checked_multiple(modulus, residue, multiple.span, self.report)

    # ----------------------------------------------------------------------------------- types

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
        if not isinstance(entry, TypeEntry):
            self._unknown_type(use, entry)
            return AnyType(use.span)
        dtype = dtype_of(entry)
        if dtype is not None:
            if dtype.variable is not None:
                self._reach(f"type {dtype.variable}", entry, use.span)
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
        outer_scope, outer_bound = self.scope, self._bound
        self.scope, self._bound, entry.busy = entry.scope, bound, True
        try:
            made = self.type(entry.statement.value)
        finally:
            self.scope, self._bound, entry.busy = outer_scope, outer_bound, False
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


def dtype_of(entry: TypeEntry) -> Dtype | None:
    """Returns the dtype that ``type F = floating`` names; None for another type.

    A family is a variable: every use of it in a call is one dtype.
    """
    if entry.statement.parameters is not None or entry.busy:
        return None
    node: Any = entry.statement.value
    if type(node) is TensorType and node.dims is None and node.dtype is not None:
        return Dtype(node.dtype.name, entry.name.text if node.dtype.name in FAMILIES else None)
    if type(node) is TypeUse and node.dims is None:
        other = entry.scope.find(node.name.text)
        if isinstance(other, TypeEntry):
            entry.busy = True
            try:
                return dtype_of(other)
            finally:
                entry.busy = False
    return None


def _at(size: Size, span: Span | None) -> Size:
    """Returns ``size`` as if it stood at ``span``: what a let stands for is found where it is used."""
    match size:
        case Const(value=value):
            return Const(value, span)
        case Var(name=name):
            return Var(name, span)
        case Apply(op=op, args=args):
            return Apply(op, args, span)
        case Variadic(name=name):
            return Variadic(name, span)


# ----------------------------------------------------------------------------- declarations


def const_value(entry: ConstEntry) -> int | None:
    """Returns the value of a constant; None if it has none (reported once)."""
    if entry.value is not None or entry.expression is None:
        return entry.value
    report = entry.scope.session.report
    if entry.busy:
        report.error("definition-cycle", f"`{entry.name.text}` is defined by itself", at=entry.name.span)
        return None
    entry.busy = True
    expression = entry.expression
    value = entry.scope.session.evaluate(entry.name.span, lambda: Expander(entry.scope).integer(expression, "a const"))
    entry.busy = False
    entry.value = 1 if value is None else value  # 1: so that the error is said once
    return entry.value


def let_size(entry: LetEntry) -> Size:
    """Returns what a let stands for, everything expanded; 1 in its place if that is an error (reported once)."""
    if entry.size is not None:
        return entry.size
    report = entry.scope.session.report
    if entry.busy:
        report.error("definition-cycle", f"`{entry.name.text}` is defined by itself", at=entry.name.span)
        return Const(1, entry.name.span)
    entry.busy = True
    expander = Expander(entry.scope)
    size = entry.scope.session.evaluate(entry.name.span, lambda: expander.size(entry.statement.value))
    entry.busy = False
    if size is None or sizes.is_too_large(size, entry.name.span, report):
        size = Const(1, entry.name.span)
    entry.nodes = sizes.depth_and_nodes(size)[1]
    entry.reaches = expander.reaches
    entry.lets = (entry, *dict.fromkeys(expander.lets))[: limits.NOTES]
    entry.size = size
    return size


def declaration_of(entry: SizeEntry) -> Declaration:
    """Returns a variable's declaration, its bounds evaluated; evaluated once."""
    if entry.declaration is not None:
        return entry.declaration
    statement = entry.statement
    expander = Expander(entry.scope)
    is_int = statement.kind is VariableKind.INT
    low: int | None = None if is_int else 0
    high: int | None = None
    if statement.range is not None:
        low = _end(expander, statement.range.low, low)
        high = _end(expander, statement.range.high, None)
    if not is_int and low is not None:
        low = max(low, 0)  # a size is never negative
    modulus, residue = 1, 0
    if statement.multiple is not None:
        modulus, residue = expander.multiple(statement.multiple) or (1, 0)
    hint = None if statement.hint is None else expander.integer(statement.hint, "a hint")
    entry.declaration = Declaration(
        entry.name.text,
        statement.kind,
        entry.variadic,
        low,
        high,
        modulus,
        residue,
        hint,
        entry.name.span,
        None if statement.range is None else statement.range.span,
        None if statement.multiple is None else statement.multiple.span,
    )
    return entry.declaration


def _end(expander: Expander, bound: Bound, unbounded: int | None) -> int | None:
    if isinstance(bound, float):
        return unbounded if bound < 0 else None
    return expander.integer(bound, "an end of a range")


__all__ = ["Expander", "const_value", "declaration_of", "dtype_of", "let_size"]
