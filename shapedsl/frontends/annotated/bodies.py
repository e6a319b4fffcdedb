"""What decorators said → clauses, as they stand in the body of a def or class of a ``.shapes`` file.

Before::

    @shapes("dim B in [1, 64]", consts={"HD": 128}, hints={"B": 8})
    @where(B < 32)

After (hints are looked up by name)::

    const HD = 128
    dim B in [1, 64]
    where B < 32
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from ...diagnostics import Report, Source, Span
from ...ir import Const, Param, VariableKind, Variadic
from ...ir.walk import free_vars, tensor_dims
from ...surface.facts import Facts
from ...surface.forms import shown
from ..text.fragments import parse_clauses
from ..text.parse import parse
from ..text.syntax import Clause, ConstStatement, HintLine, Labeled, Let, Name, Pair, SizesStatement, TypeStatement


class DecoratorPlaces(Protocol):
    """Finds what stands in decorators."""

    def decorator(self, text: str) -> Source:
        """Returns the source of ``text``, an argument of ``shapes`` or ``where``."""
        ...


class Body:
    """What decorators said of one function or class, apart from types; each thing is read, and told of, once."""

    def __init__(self, facts: Facts, places: DecoratorPlaces, report: Report) -> None:
        self._facts = facts
        self._places = places
        self._report = report
        self._clauses: list[Clause] | None = None

    def clauses(self) -> list[Clause]:
        """Returns constants and what was given as text."""
        if self._clauses is None:
            self._clauses = []
            for name, value in self._facts.consts.items():
                if value is None or self._is_integer(name, value, "a constant is an int, or None for a static size"):
                    self._clauses.append(self._const(name, value))
            for text in self._facts.clauses:
                parsed = parse_clauses(self._places.decorator(text), self._report)
                self._clauses += () if parsed is None else parsed.clauses
        return list(self._clauses)

    def predicates(self) -> list[Labeled]:
        """Returns what ``where`` said."""
        return [
            predicate
            for text in self._facts.wheres
            for predicate in parse(self._places.decorator(text), self._report, "where_fragment") or ()
        ]

    def hints(self) -> dict[str, Const]:
        """Returns the hints by name; values that are no ints are reported."""
        return {
            name: Const(value, whole(self._places.decorator(name)))
            for name, value in self._facts.hints.items()
            if self._is_integer(name, value, "a hint is an int")
        }

    def _is_integer(self, name: object, value: object, message: str) -> bool:
        """Whether ``name`` is a str and ``value`` an int of 64 bits; reports if not."""
        if isinstance(name, str) and type(value) is int and abs(value) < 2**63:
            return True
        place = self._places.decorator(str(name))
        self._report.error("not-constant", message, at=whole(place), label=f"this one is {shown(value)}")
        return False

    def _const(self, name: str, value: int | None) -> Clause:
        span = whole(self._places.decorator(name))
        named = Name(name, span)
        if value is None:
            return SizesStatement(VariableKind.CONST, [(named, False)], None, None, None, span)
        return ConstStatement([named], Const(value, span), span)


def declared_names(clause: Clause) -> list[str]:
    """Returns the names that a clause declares."""
    match clause:
        case ConstStatement(names=names):
            return [name.text for name in names]
        case SizesStatement(names=starred):
            return [name.text for name, _ in starred]
        case Let(name=name) | TypeStatement(name=name):
            return [name.text]
        case _:
            return []


def whole(source: Source) -> Span:
    """Returns the span of all of ``source``."""
    return source.span(0, len(source.text))


def add_hints(clauses: list[Clause], hints: Mapping[str, Const], params: tuple[Param, ...], *, in_class: bool) -> None:
    """Adds a declaration for each hint; one for a name that the clauses declare goes there.

    In a class a hint declares nothing: the declaration would hide the class's, and its predicates with it.
    """
    sizes = {used for param in params for dim in tensor_dims(param.type) for used in free_vars(dim)}
    runs = {d.name for param in params for d in tensor_dims(param.type) if isinstance(d, Variadic)}
    for name, hint in hints.items():
        span = hint.span
        assert span is not None
        for i, clause in enumerate(clauses):
            named = (
                [item for item in clause.names if item[0].text == name] if isinstance(clause, SizesStatement) else []
            )
            if named and isinstance(clause, SizesStatement):
                rest = [item for item in clause.names if item[0].text != name]
                clauses[i : i + 1] = [replace(clause, names=named, hint=clause.hint or hint)]
                if rest:
                    clauses.insert(i, replace(clause, names=rest))
                break
        else:
            if in_class:
                clauses.append(HintLine([Pair(Name(name, span), hint)]))
                continue
            kind = VariableKind.DIM if name in sizes else VariableKind.INT
            clauses.append(SizesStatement(kind, [(Name(name, span), name in runs)], None, None, hint, span))


__all__ = ["Body", "DecoratorPlaces", "add_hints", "declared_names", "whole"]
