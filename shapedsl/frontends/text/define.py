"""One def, in its scope → a `Signature`.

Most defs use neither lets, consts nor declared types: their sizes are IR as the parser made them,
and only their variables' declarations are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...diagnostics import Span
from ...ir import (
    AnyType,
    Constraint,
    Level,
    MappingType,
    ObjectType,
    Param,
    ParamKind,
    Rest,
    SequenceType,
    Signature,
    Type,
)
from ...ir.walk import free_vars, scalar_sizes, tensor_dims
from ..assemble import assemble, orient
from . import limits
from .build_statements import RECEIVERS
from .clauses import constraints, read_body
from .expand import Expander, declaration_of
from .expand_types import TypeExpander
from .limits import LeansOnBrokenError, UnreadableError
from .names import Names
from .scope import Entry, Scope, SizeEntry
from .syntax import ConstStatement, Def, Let, SizesStatement, TypeStatement, Where

_DECLARATIONS = (ConstStatement, Let, SizesStatement, TypeStatement)


class Definer:
    """Makes signatures of the defs of one file or class.

    Attributes:
        scope: The class's or file's.
        wheres: File-level and class-level ``where`` statements, with the scope each stands in.
    """

    def __init__(self, scope: Scope, wheres: Iterable[SharedWhere] = ()) -> None:
        self.scope = scope
        self.report = scope.session.report
        self._by_name: dict[str, list[SharedWhere]] = {}
        self._nameless: list[SharedWhere] = []
        for where in wheres:
            if where.reaches:
                self._by_name.setdefault(next(iter(where.reaches)), []).append(where)
            else:
                self._nameless.append(where)

    def signature(self, definition: Def, prefix: str = "", extra: Iterable[Constraint] = ()) -> Signature:
        """Returns what `define` returns; a def that is too large is reported, and its parameters are left open."""
        try:
            return self.define(definition, prefix, extra)
        except UnreadableError as error:
            error.tell(self.report)
            params = tuple(Param(p.name, AnyType(), p.kind, p.default, p.span) for p in definition.params)
            return Signature(prefix + definition.name.text, params, span=definition.span)

    def define(self, definition: Def, prefix: str = "", extra: Iterable[Constraint] = ()) -> Signature:
        """Returns the signature of ``definition``.

        Args:
            definition: As parsed.
            prefix: The class's name and a dot, or nothing.
            extra: More constraints, resolved but for lets and consts (annotations have them).

        Raises:
            UnreadableError: It expands to too much.
        """
        scope = self.scope
        local = [clause for clause in definition.clauses if isinstance(clause, _DECLARATIONS)]
        if local:
            scope = Scope(scope.session, scope, Level.DEF)
            scope.declare(local)
        expander = TypeExpander(scope)
        found: dict[str, Entry | None] = {name: scope.find(name) for name in definition.names}
        for name in scope.session.broken & found.keys():
            if found[name] is None:
                raise LeansOnBrokenError(name)
        expand = definition.pending or any(
            entry is not None and not isinstance(entry, SizeEntry) for entry in found.values()
        )
        params, receiver = self._params(definition, expander if expand else None, in_class=bool(prefix))
        returns = definition.returns
        if returns is not None and expand:
            returns = expander.type(returns)
        body = read_body(definition.clauses, expander, expand=expand)
        if not expand:
            expander.reaches.update(found)
        wheres = body.wheres
        for constraint in extra:
            predicate = expander.predicate(constraint.predicate)
            if predicate is not constraint.predicate:  # which side comes first may change with the names
                constraint = replace(constraint, predicate=orient(predicate))
            wheres.append(constraint)
        if self._by_name or self._nameless:
            wheres = [*self._shared(params, expander, definition.span), *wheres]
        scope.session.met |= found | expander.reaches
        if scope is not self.scope:
            self._unused(scope, expander)
        declarations = {
            name: declaration_of(entry) for name, entry in expander.reaches.items() if isinstance(entry, SizeEntry)
        }
        return assemble(
            name=prefix + definition.name.text,
            params=params,
            returns=returns,
            declarations=declarations,
            wheres=wheres,
            alternatives=body.alternatives,
            values=body.values,
            ranks=body.ranks,
            drops=body.drops,
            hints=body.hints,
            index=definition.index,
            receiver=receiver,
            doc=body.doc,
            span=definition.span,
            names=Names(scope, expander.reaches),
        )

    def _unused(self, scope: Scope, expander: Expander) -> None:
        """Warns of the def's own variables that it does not use; a file's may be imported by another file."""
        for name, entry in scope.entries.items():
            if isinstance(entry, SizeEntry) and name not in expander.reaches:
                self.report.warning(
                    "unused-declaration",
                    f"nothing in this def uses `{name}`",
                    at=entry.name.span,
                    help="use it, or delete it",
                )

    def _params(
        self, definition: Def, expander: TypeExpander | None, *, in_class: bool
    ) -> tuple[tuple[Param, ...], str | None]:
        """Returns the parameters and the receiver's name; an untyped receiver is none of them."""
        params = definition.params
        receiver: str | None = None
        if in_class and params and params[0].name in RECEIVERS:
            receiver = params[0].name
            if isinstance(params[0].type, AnyType):
                params = params[1:]
        if expander is not None:
            params = tuple(
                [
                    Param(p.name, expander.type(p.type), p.kind, p.default, p.span) if p.kind not in _VARIADIC else p
                    for p in params
                ]
            )
        if (
            receiver is not None
            and params
            and params[0].name == receiver
            and not isinstance(params[0].type, ObjectType)
        ):
            self.report.error(
                "syntax-error",
                f"`{receiver}` is written without a type, or with an object's attributes",
                at=params[0].span,
                help=f"write `{receiver}`, or `{receiver}: object(weight: Tensor[D, D])`",
            )
            params = params[1:]
        if any(p.kind in _VARIADIC for p in params):
            params = tuple([p if p.kind not in _VARIADIC else self._variadic(p, expander) for p in params])
        return params, receiver

    def _variadic(self, param: Param, expander: TypeExpander | None) -> Param:
        """Returns ``*args`` with a sequence, ``**kwargs`` with a mapping."""
        type_: Type = param.type if expander is None else expander.type(param.type)
        if isinstance(type_, AnyType):
            return param
        if param.kind is ParamKind.VAR_POSITIONAL:
            if not isinstance(type_, SequenceType):
                type_ = SequenceType("list", (type_,), Rest.REPEAT, None, type_.span)
            elif type_.kind != "list":
                type_ = replace(type_, kind="list")
        elif not isinstance(type_, MappingType) or not all(isinstance(key, str) for key, _ in type_.entries):
            self.report.error(
                "syntax-error",
                f"`**{param.name}` lists its keys",
                at=type_.span or param.span,
                help=f'write `**{param.name}: {{"key": T}}`',
            )
            type_ = AnyType(type_.span)
        return Param(param.name, type_, param.kind, param.default, param.span)

    def _shared(self, params: tuple[Param, ...], expander: Expander, at: Span) -> list[Constraint]:
        """Returns the file's and class's wheres whose names these parameters all bind."""
        bound = bound_names(params)
        found: list[Constraint] = []
        candidates = [*self._nameless, *(where for name in bound for where in self._by_name.get(name, ()))]
        self.scope.session.spend(sum(len(where.constraints) for where in candidates) * limits.CONSTRAINT, at)
        for where in sorted(candidates, key=lambda where: where.order):
            means = {name: expander.reaches.get(name, expander.scope.find(name)) for name in where.reaches}
            if where.reaches.keys() <= bound and means == where.reaches:
                where.used = True
                found += where.constraints
                expander.reaches.update(means)
        return found


_VARIADIC = (ParamKind.VAR_POSITIONAL, ParamKind.VAR_KEYWORD)


class SharedWhere:
    """A ``where`` statement of a file or class, evaluated in its scope.

    Attributes:
        statement: As parsed.
        order: Its number in the file.
        constraints: Expanded.
        reaches: The names in it and what they mean.
        used: Whether a def was found that binds them all.
    """

    __slots__ = ("constraints", "order", "reaches", "statement", "used")

    def __init__(self, statement: Where, scope: Scope, order: int) -> None:
        expander = Expander(scope)
        self.statement = statement
        self.order = order
        self.used = False
        self.constraints = [replace(c, level=scope.level) for c in constraints(statement.predicates, expander)]
        self.reaches = expander.reaches


def bound_names(params: Iterable[Param]) -> set[str]:
    """Returns the names of variables that stand in the types of ``params``."""
    return {
        name
        for param in params
        for walk in (tensor_dims, scalar_sizes)
        for size in walk(param.type)
        for name in free_vars(size)
    }


__all__ = ["Definer", "SharedWhere", "bound_names"]
