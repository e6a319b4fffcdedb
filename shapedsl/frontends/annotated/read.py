"""A callable's raw facts → its signature: types read and unified, the rest handed to the text frontend's `expand`."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from types import FunctionType
from typing import Any

from ...diagnostics import Diagnostic, Report, Source
from ...ir import (
    AnyType,
    Const,
    MappingType,
    Param,
    ParamKind,
    Rest,
    SequenceType,
    Signature,
    TensorType,
    Type,
)
from ...ir.walk import substitute_size
from ...surface.facts import Facts, Predicates
from ...surface.forms import Tensor, shown
from ..dialects.uses import Uses
from ..text.define import Definer, bound_names
from ..text.fragments import parse_type
from ..text.scope import Scope, Session, SizeEntry
from ..text.syntax import (
    Clause,
    ConstStatement,
    Def,
    Labeled,
    Let,
    Name,
    TypeStatement,
    Where,
)
from .bodies import Body, add_hints, declared_names, whole
from .callables import RawCallable, RawParameter, shared_by, unwrap
from .equalities import Equality, eliminate
from .keywords import is_type
from .namespace import Evaluator, Namespace, of_function
from .places import CallablePlaces, ClassPlaces, Places
from .shared import ClassBody, Shared
from .types import TypeReader, is_int, is_self, is_silent
from .unify import unify


def read_callable(target: Any, report: Report) -> Signature | None:
    """Returns the signature that annotations and decorators of ``target`` give.

    Args:
        target: A function, method, partial, callable object, module or class; of a module, ``forward`` is read.
        report: Receives what is wrong, each with the file and line of the annotation. What can be read is.

    Returns:
        None if nothing was said of shapes: no shape text, no `shapes`, no `where`.
    """
    unwrapped = unwrap(target)
    if unwrapped is None:
        return None
    raw, function = unwrapped
    class_facts = shared_by(target)
    if class_facts is not None:
        raw = replace(raw, shared=_shared(class_facts, raw.name))
    places = Places(function, None if class_facts is None else class_facts.owner)
    return read_raw(raw, _namespace(raw, function), places, report)


def bare_signature(target: Any) -> Signature | None:
    """Returns the signature of a callable of which nothing was said; None if it has none, as builtins have none."""
    unwrapped = unwrap(target)
    if unwrapped is None:
        return None
    raw, function = unwrapped
    places = Places(function)
    params = [
        Param(p.name, AnyType(), p.kind, p.default, places.parameter(p.name, p.name).span(0, len(p.name)))
        for p in raw.parameters
        if p.name != raw.receiver
    ]
    at = whole(places.function(raw.name.rpartition(".")[2]))
    return Signature(raw.name, tuple(params), receiver=raw.receiver, span=at)


def _namespace(raw: RawCallable, function: FunctionType) -> Namespace:
    """Returns what the string annotations of ``function`` are evaluated in."""
    facts = [facts for facts in (raw.facts, None if raw.shared is None else raw.shared.facts) if facts is not None]
    around = {name: value for each in reversed(facts) for name, value in each.locals.items()}
    return of_function(function, around, raw.owner)


def _shared(facts: Facts, reader: str) -> Shared:
    """Returns what the class shares for which ``facts`` were said, with its method called ``reader``."""
    owner = facts.owner
    assert owner is not None

    def others() -> Iterator[Collection[str]]:
        for value in vars(owner).values():
            unwrapped = unwrap(value) if shared_by(value) is facts else None
            if unwrapped is not None and unwrapped[0].name != reader:
                raw, function = unwrapped
                alone = replace(raw, shared=Shared(facts, places))
                yield sizes_of(alone, _namespace(alone, function), Places(function))

    places = ClassPlaces(owner)
    return Shared(facts, places, "forward" in vars(owner), others)


def sizes_of(raw: RawCallable, namespace: Evaluator, places: CallablePlaces) -> Collection[str]:
    """Returns the names of sizes that the parameters of a callable bind, whatever else is wrong with it."""
    signature = read_raw(raw, namespace, places, Report())
    return () if signature is None else bound_names(signature.params)


def read_raw(raw: RawCallable, namespace: Evaluator, places: CallablePlaces, report: Report) -> Signature | None:
    """Returns the signature of a callable whose facts are known, wherever they come from.

    Args:
        raw: What is known.
        namespace: What its string annotations are evaluated in.
        places: Where its parts stand.
        report: As `read_callable`.

    Returns:
        None if nothing was said of shapes.
    """
    return _Reading(raw, namespace, places, report).signature()


class _Reading:
    """One callable being read."""

    def __init__(self, raw: RawCallable, namespace: Evaluator, places: CallablePlaces, report: Report) -> None:
        self._raw = raw
        self._report = report
        self._found = Report()  # forwarded if the callable turns out to speak of shapes
        self._facts = raw.facts or Facts(None)
        self._places = places
        self._namespace = namespace
        self._body = Body(self._facts, places, report)
        self._plain_strings = self._facts.shapes or (raw.shared is not None and raw.shared.facts.shapes)
        self._predicates: list[Labeled] = []
        self._equalities: list[Equality] = []
        self._uses = Uses(lenient=raw.lenient)
        self._shape_vars = cache(places.shape_vars)
        self._spoken = raw.facts is not None

    def signature(self) -> Signature | None:
        params = tuple([self._param(parameter) for parameter in self._parameters()])
        if params and params[0].name == self._raw.receiver and is_silent(params[0].type):
            params = params[1:]
        returns = self._returns()
        if not self._spoken:
            return None
        for diagnostic in _joined(self._found):
            self._report.add(diagnostic)
        self._unknown_parameters()
        span = whole(self._places.function(self._raw.name.rpartition(".")[2]))
        found = Report()
        session = Session(found)
        shared = None if self._raw.shared is None else ClassBody(self._raw.shared, session, self._report)
        others = [side for pair in self._equalities for side in pair]
        settled = self._uses.settle(
            params, returns, others, lambda: self._constants(shared), self._texts(), self._report
        )
        params, returns = settled.params, settled.returns
        self._equalities = [
            Equality(*(substitute_size(side, settled.names) for side in pair)) for pair in self._equalities
        ]
        bound = bound_names(params)
        clauses = self._clauses(params, shared, bound)
        declared = {name for clause in clauses for name in declared_names(clause)}
        if shared is not None:
            declared |= shared.scope.entries.keys()
        meaning, equalities = eliminate(self._equalities, bound, declared)
        clauses[:0] = [Let(Name(name, size.span or span), size, size.span or span) for name, size in meaning.items()]
        definition = Def(Name(self._raw.name, span), 1, params, returns, clauses, span, pending=True)
        definer = Definer(Scope(session)) if shared is None else Definer(shared.scope, shared.wheres)
        extra = [*settled.constraints, *(equality.constraint() for equality in equalities)]
        signature = definer.signature(definition, extra=extra)
        unbound = self._unbound_hints(signature)
        for diagnostic in found:
            # a hint is written as a declaration; of an unbound one enough was said
            if (
                diagnostic.code != "unused-declaration"
                or diagnostic.span is None
                or diagnostic.span.text not in unbound
            ):
                self._report.add(diagnostic)
        if shared is not None:
            shared.check_names(bound)
        # a receiver that is a tensor is a parameter like the others: a method of a tensor class
        typed = bool(params) and params[0].name == self._raw.receiver and isinstance(params[0].type, TensorType)
        return replace(signature, receiver=None if typed else self._raw.receiver)

    # ------------------------------------------------------------------------------- types

    def _parameters(self) -> tuple[RawParameter, ...]:
        """Returns the parameters without a receiver that is typed as `Self`: it says nothing of attributes."""
        first, *rest = self._raw.parameters or (None,)
        if first is None or first.name != self._raw.receiver or first.name in self._facts.params:
            return self._raw.parameters
        annotation = self._raw.annotations.get(first.name)
        itself = annotation.rpartition(".")[2] == "Self" if isinstance(annotation, str) else is_self(annotation)
        return tuple(rest) if itself else self._raw.parameters

    def _param(self, parameter: RawParameter) -> Param:
        name = parameter.name
        annotation = self._raw.annotations.get(name, _NOTHING)
        reader = self._reader(partial(self._places.parameter, name))
        said = self._facts.params.get(name, _NOTHING)
        type_ = self._type(f"parameter `{name}`", said, annotation, reader)
        each = parameter.kind is ParamKind.VAR_POSITIONAL and said is _NOTHING and not reader.unpacked
        if each and isinstance(type_, SequenceType):  # Python's `*args: tuple[T, U]` says that each is one
            type_ = SequenceType("list", (type_,), Rest.REPEAT)
        if parameter.kind is ParamKind.VAR_KEYWORD and not isinstance(type_, (MappingType, AnyType)):
            self._found.warning(
                "ignored-metadata",
                f"the type of `**{name}` is not read: it holds for any keyword",
                at=self._places.parameter(name, name).span(0, len(name)),
                help="name the keywords: `Unpack[…]` of a TypedDict",
            )
            type_ = AnyType()
        span = self._places.parameter(name, name).span(0, len(name))
        if is_int(type_):
            self._uses.integers.add(name)
        return Param(name, type_, parameter.kind, parameter.default, span)

    def _returns(self) -> Type | None:
        said = _NOTHING if self._facts.returns is None else self._facts.returns
        annotation = self._raw.annotations.get("return", _NOTHING)
        reader = self._reader(self._places.returns)
        predicates, equalities = list(self._predicates), list(self._equalities)
        type_ = self._type("the return value", said, annotation, reader)
        # a claim assumes nothing: where the expressions differ, the first source's stands
        self._predicates, self._equalities = predicates, equalities
        return None if is_silent(type_) else type_

    def _reader(self, source: Callable[[str], Source], *, plain_strings: bool = False) -> TypeReader:
        return TypeReader(
            self._namespace,
            source,
            self._found,
            plain_strings=plain_strings or self._plain_strings,
            uses=self._uses,
            shape_vars=self._shape_vars,
            owner=self._raw.owner,
        )

    def _type(self, what: str, said: object, annotation: object, reader: TypeReader) -> Type:
        """Returns the type that a keyword of ``shapes`` and an annotation give together."""
        first: Type = AnyType() if said is _NOTHING else self._keyword(said)
        second: Type = AnyType() if annotation is _NOTHING else reader.read(annotation)
        self._spoken = self._spoken or reader.spoken
        self._take(reader)
        return unify(first, second, self._found, self._equalities, what)

    def _keyword(self, said: object) -> Type:
        """Returns the type of ``shapes(x=…)``: a string is what stands inside ``Tensor[…]``, or a whole type."""
        if isinstance(said, str):
            source = self._places.decorator(said)
            if is_type(source, self._declared_types):
                return parse_type(source, self._found) or AnyType()
            said = Tensor[said]
        if isinstance(said, _NO_TYPES) or type(said) is object or type(said).__name__ == "dtype":
            self._found.warning(
                "unresolved-annotation",
                f"`{shown(said)}` is no type",
                at=whole(self._places.decorator(shown(said))),
                help='a type is dims as a string, `x="B, 3"`, or what stands in an annotation',
            )
            return AnyType()
        reader = self._reader(self._places.decorator, plain_strings=True)
        type_ = reader.read(said)
        self._take(reader)
        return type_

    def _declared_types(self) -> Iterator[str]:
        """Yields the names of types that the decorators declare."""
        bodies = [self._body]
        if self._raw.shared is not None:
            bodies.append(Body(self._raw.shared.facts, self._raw.shared.places, Report()))
        for clause in [clause for body in bodies for clause in body.clauses()]:
            if isinstance(clause, TypeStatement):
                yield clause.name.text

    def _constants(self, shared: ClassBody | None) -> Iterator[str]:
        """Yields the names that the decorators give a value to."""
        for clause in self._body.clauses():
            if isinstance(clause, (ConstStatement, Let)):
                yield from declared_names(clause)
        for name, entry in () if shared is None else shared.scope.entries.items():
            if not isinstance(entry, SizeEntry):
                yield name

    def _take(self, reader: TypeReader) -> None:
        self._predicates += reader.wheres
        self._equalities += reader.equalities

    def _unknown_parameters(self) -> None:
        names = [parameter.name for parameter in self._raw.parameters]
        for name, said in self._facts.params.items():
            if name not in names:
                text = said if isinstance(said, str) else str(name)
                near = get_close_matches(str(name), names, n=1)  # whoever passed another key is told as well
                self._report.error(
                    "unknown-parameter",
                    f"`{self._raw.name}` has no parameter `{name}`",
                    at=whole(self._places.decorator(text)),
                    help=f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(names) or 'none'}",
                )

    def _unbound_hints(self, signature: Signature) -> list[str]:
        """Returns the names of hints that are no size of the signature, and reports them."""
        names = [variable.name for variable in signature.variables]
        # whoever passed another key was told so already
        unbound = [name for name in self._facts.hints if type(name) is str and name not in names]
        for name in unbound:
            near = get_close_matches(name, names, n=1)
            self._report.error(
                "unbound-name",
                f"`{self._raw.name}` has no size `{name}` to hint at",
                at=whole(self._places.decorator(name)),
                help=f"did you mean `{near[0]}`?" if near else f"its sizes are {', '.join(names) or 'none'}",
            )
        return unbound

    def _texts(self) -> list[str]:
        """Returns what was said as text outside of types."""
        said = [self._facts] if self._raw.shared is None else [self._facts, self._raw.shared.facts]
        return [text for facts in said for text in (*facts.wheres, *facts.clauses, *facts.consts, *facts.hints)]

    # ----------------------------------------------------------------------------- clauses

    def _clauses(self, params: tuple[Param, ...], shared: ClassBody | None, bound: Collection[str]) -> list[Clause]:
        """Returns what a def's body would say: constants, clauses as text, hints, predicates."""
        clauses = self._body.clauses()
        hints: dict[str, Const] = self._body.hints()
        if shared is not None:
            if self._raw.name.rpartition(".")[2] == "forward":
                clauses += shared.rest
            hints = {name: hint for name, hint in shared.hints.items() if name in bound} | hints
        add_hints(clauses, hints, params, in_class=shared is not None)
        predicates = [*self._predicates, *self._body.predicates()]
        if predicates:
            clauses.append(Where(predicates, predicates[0].span))
        return clauses


def _joined(report: Report) -> Iterable[Diagnostic]:
    """Returns the findings, those of one name that is missing at run time as one, with all of its places."""
    joined: dict[object, Diagnostic] = {}
    for diagnostic in report:
        key: object = diagnostic.message if diagnostic.code == "unresolved-annotation" else len(joined)
        first = joined.setdefault(key, diagnostic)
        if first is not diagnostic:
            joined[key] = replace(first, annotations=(*first.annotations, *diagnostic.annotations))
    return joined.values()


_NOTHING = object()
# What no annotation is; of the rest, nothing may have been said of shapes.
_NO_TYPES = (int, float, bytes, Predicates, types.EllipsisType, types.FunctionType, types.BuiltinFunctionType)

__all__ = ["bare_signature", "read_callable", "read_raw", "sizes_of"]
