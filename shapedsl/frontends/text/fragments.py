"""Pieces of the language that stand in Python: what is inside ``Tensor[…]``, a type, predicates, a def's body.

They come back unresolved, with a `Var` for each name; `resolve_with` puts a def together from them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...diagnostics import Report, Source
from ...ir import Constraint, Dim, Type
from ..assemble import constraints_of
from .lexer import column_of
from .parse import parse
from .syntax import Clause, Labeled


@dataclass(frozen=True, slots=True)
class Clauses:
    """A def's body, unresolved; `resolve_with` reads it."""

    clauses: tuple[Clause, ...]


def parse_dims(source: Source, report: Report) -> tuple[Dim, ...] | None:
    """Returns what stands inside ``Tensor[…]``; no dims for an empty text. None if it has an error."""
    if not source.text.strip():
        return ()
    errors = len(report.errors)
    dims = parse(source, report, "dims_fragment")
    return None if dims is None or len(report.errors) > errors else tuple(dims)


def parse_type(source: Source, report: Report) -> Type | None:
    """Returns a type, its names unresolved; None if it has an error."""
    errors = len(report.errors)
    found: Type | None = parse(source, report, "type_fragment")
    return None if len(report.errors) > errors else found


def parse_where(source: Source, report: Report) -> list[Constraint] | None:
    """Returns what ``where`` says: predicates with their messages. None if it has an error."""
    errors = len(report.errors)
    labeled: list[Labeled] | None = parse(source, report, "where_fragment")
    if labeled is None or len(report.errors) > errors:
        return None
    return [
        constraint
        for predicate, message, span in labeled
        for constraint in constraints_of(predicate, message=message, text=span.text, span=span)
    ]


def parse_clauses(source: Source, report: Report) -> Clauses | None:
    """Returns a def's body; what of it has no error. Its lines may be indented, as in a docstring."""
    if not source.text.strip():
        return Clauses(())
    return Clauses(tuple(parse(source, report, "clauses_fragment", column=_margin(source.text)) or ()))


def _margin(text: str) -> int:
    """Returns the indentation of the outermost lines; the first line's does not count if others follow.

    If all that follow stand in the block that the first one opens, nothing tells, and nothing depends on it.
    """
    first, *rest = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")] or [""]
    lines = rest if rest and text.startswith(first) else [first, *rest]
    columns = [column_of(line[: len(line) - len(line.lstrip(" \t"))]) for line in lines]
    opens = lines is rest and first.partition("#")[0].rstrip().endswith(":")
    return 0 if opens and columns[0] == min(columns) else min(columns)
