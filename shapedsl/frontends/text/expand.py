"""Expands lets and consts in sizes and predicates; `expand_types` does the same for types.

Before::

    const LIMIT = 8
    let S = 2 * B
    … where S + LIMIT < D

After: ``2 * B + 8 < D``; the names it reached are remembered with their declarations.

An `Expander` works for one def, or for one declaration, in its scope.
"""

from __future__ import annotations

from typing import Any

from ...diagnostics import Span
from ...ir import (
    And,
    Apply,
    Compare,
    Const,
    Dim,
    Not,
    Or,
    Predicate,
    Size,
    Var,
    VariableKind,
    Variadic,
)
from ..assemble import Declaration
from . import limits, sizes
from .limits import LeansOnBrokenError
from .scope import ConstEntry, Entry, LetEntry, Scope, SizeEntry
from .syntax import SIZES, Bound, InSet, Multiple, MultipleOf, Name, Pair


class Expander:
    """Expands what stands in one scope.

    Attributes:
        scope: Where names are looked up.
        reaches: The names of variables that were met, and the entries they mean.
        lets: The lets that were met since someone last emptied it.
        bound: The size parameters of the type that is being expanded.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.report = scope.session.report
        self.reaches: dict[str, Entry | None] = {}
        self.lets: list[LetEntry] = []
        self.bound: dict[str, Dim] = {}

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
            self.reach(size.name, entry, size.span)
        return size

    def _variable(self, use: Var) -> Size:
        name = use.name
        if name in self.bound:
            dim = self.bound[name]
            if isinstance(dim, (Const, Var, Apply)):
                return dim
            self.report.error("type-arity", f"`{name}` stands in an expression, so it is a size", at=dim.span)
            return Const(1, use.span)
        entry = self.scope.find(name)
        if entry is None and name in self.scope.session.broken:
            raise LeansOnBrokenError(name)
        if entry is None or type(entry) is SizeEntry:
            self.reach(name, entry, use.span)
            return use
        if isinstance(entry, ConstEntry):
            value = const_value(entry)
            if entry.broken:
                raise LeansOnBrokenError(name)
            return Const(1 if value is None else value, use.span)
        if isinstance(entry, LetEntry):
            size = let_size(entry)
            if entry.broken:
                raise LeansOnBrokenError(name)
            self.lets += entry.lets
            self.scope.session.spend(entry.nodes, use.span or entry.name.span)
            for reached, meant in entry.reaches.items():
                self.reach(reached, meant, use.span)
            return _at(size, use.span)
        self.report.error(
            "unknown-name", f"`{name}` is a type, not a size", at=use.span, also=[(entry.name.span, "declared here")]
        )
        return Const(1, use.span)

    def reach(self, name: str, entry: Entry | None, at: Span | None) -> None:
        """Notes that ``name`` was met and means ``entry``; reports ``ambiguous-name`` if it meant another one."""
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
        if isinstance(dim, Var) and dim.name in self.bound:
            return self.bound[dim.name]
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
            self.reach(name.text, entry, name.span)
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
            args = [part for arg in node.args for part in sizes.parts_of(type(node), self.predicate(arg))]
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
    entry.broken = value is None
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
    made: Size | None = entry.scope.session.evaluate(entry.name.span, lambda: expander.size(entry.statement.value))
    entry.busy = False
    size: Size = Const(1, entry.name.span)
    if made is None or sizes.is_too_large(made, entry.name.span, report):
        entry.broken = True
    else:
        size = made
    entry.size = size
    entry.nodes = sizes.depth_and_nodes(size)[1]
    entry.reaches = expander.reaches
    entry.lets = (entry, *dict.fromkeys(expander.lets))[: limits.NOTES]
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
        entry.scope.level,
    )
    return entry.declaration


def _end(expander: Expander, bound: Bound, unbounded: int | None) -> int | None:
    if isinstance(bound, SIZES):
        return expander.integer(bound, "an end of a range")
    return unbounded if bound < 0 else None


__all__ = ["Expander", "const_value", "declaration_of", "let_size"]
