"""What is asked of a spec: a predicate or a size that stands alone, in the names of one signature.

The names are the signature's variables, and the lets and consts that its file declares: these are
expanded, as in a ``where``.

Before, asked of ``def f(x: Tensor[B, S])`` under ``let T = 2 * B``::

    T % 8 == 0, S in {2, 4}

After::

    2 * B % 8 == 0 and (S == 2 or S == 4)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import TypeVar

from ...diagnostics import Edit, Fix, Report, Source
from ...ir import OPERATORS, And, Apply, Const, Dim, Predicate, Signature, Size, Var, Variadic
from ...ir.walk import map_sizes, nodes
from . import sizes
from .expand import Expander
from .limits import UnreadableError
from .parse import parse
from .scope import LetEntry, Scope, Session
from .syntax import SIZES, Labeled, Let, Name

T = TypeVar("T")


def read_predicate(source: Source, signature: Signature, report: Report) -> Predicate | None:
    """Returns the predicate that ``source`` asks about; ``a, b`` is ``a and b``. None if it has an error.

    Args:
        source: The text.
        signature: What it is asked of.
        report: Receives what is wrong, ``unknown-name`` included.
    """
    errors = len(report.errors)
    labeled: list[Labeled] | None = parse(source, report, "where_fragment")
    if labeled is None or len(report.errors) > errors:
        return None

    def whole(expander: Expander) -> Predicate:
        parts = [expander.predicate(predicate) for predicate, _, _ in labeled]
        return parts[0] if len(parts) == 1 else And(tuple(parts), source.span(0, len(source.text)))

    found = _expanded(whole, source, signature, report)
    if found is None or len(report.errors) > errors or sizes.is_too_large(found, found.span, report):
        return None
    _check_names(_names(found), signature, report)
    variadic = {variable.name for variable in signature.variables if variable.variadic}
    return None if len(report.errors) > errors else map_sizes(found, lambda size: _each(size, variadic))


def read_size(source: Source, signature: Signature, report: Report) -> Size | None:
    """Returns the size that ``source`` asks about; None if it has an error.

    Args:
        source: The text.
        signature: What it is asked of.
        report: Receives what is wrong, ``unknown-name`` included.
    """
    errors = len(report.errors)
    if source.text.strip() and not is_size(source.text) and _is_predicate(source.text):
        at = source.span(0, len(source.text))
        report.error("syntax-error", "this is a condition, not a size", at=at, help="`ask` tells whether it holds")
        return None
    dims: list[Dim] | None = parse(source, report, "dims_fragment") if source.text.strip() else []
    if dims is None or len(report.errors) > errors:
        return None
    at = source.span(0, len(source.text))
    size = dims[0] if len(dims) == 1 else None
    if not isinstance(size, SIZES):
        report.error("syntax-error", "a range is asked of one expression", at=at, help="ask for that of `2 * B + 1`")
        return None
    found = _expanded(lambda expander: expander.size(size), source, signature, report)
    if found is None or len(report.errors) > errors or sizes.is_too_large(found, found.span, report):
        return None
    _check_names(_names(found), signature, report)
    variadic = {variable.name for variable in signature.variables if variable.variadic}
    return None if len(report.errors) > errors else _each(found, variadic)


def is_size(text: str) -> bool:
    """Whether ``text`` is an expression such as ``2 * B + 1``, and no predicate."""
    report = Report()
    dims = parse(Source("<question>", text), report, "dims_fragment") if text.strip() else None
    return not len(report) and dims is not None and len(dims) == 1 and isinstance(dims[0], SIZES)


def _is_predicate(text: str) -> bool:
    report = Report()
    labeled = parse(Source("<question>", text), report, "where_fragment")
    return not len(report) and labeled is not None


def _expanded(make: Callable[[Expander], T], source: Source, signature: Signature, report: Report) -> T | None:
    """Returns what ``make`` makes with an expander for the names of ``signature``."""
    scope = Scope(Session(report))
    known = {variable.name for variable in signature.variables}
    for name, size in signature.names.items():
        if name not in known:
            at = size.span or source.span(0, 0)
            scope.entries[name] = LetEntry(Name(name, at), scope, Let(Name(name, at), size, at))
    try:
        return make(Expander(scope))
    except UnreadableError as error:
        error.tell(report)
        return None


def _each(size: Size, variadic: set[str]) -> Size:
    """Returns ``size`` with `Variadic` for a name that stands for each of its dims in turn.

    In ``min(batch, 4)`` a bare `Variadic` would be all of them, as in ``min(*batch, 4)``: it gets a ``+ 0``.
    """
    match size:
        case Var(name=name, span=span) if name in variadic:
            return Variadic(name, span)
        case Apply(op=op, args=args):
            several = op.arity is None
            return Apply(
                op, tuple(_argument(arg, variadic) if several else _each(arg, variadic) for arg in args), size.span
            )
        case _:
            return size


def _argument(size: Size, variadic: set[str]) -> Size:
    each = _each(size, variadic)
    return Apply(OPERATORS["+"], (each, Const(0)), size.span) if each != size and isinstance(each, Variadic) else each


# --------------------------------------------------------------------------------------- names


def _check_names(uses: Iterator[Var | Variadic], signature: Signature, report: Report) -> None:
    """Reports ``unknown-name`` for each name that ``signature`` does not bind."""
    known = {variable.name: variable for variable in signature.variables}
    told: set[str] = set()
    for use in uses:
        name = use.name
        if name in told:
            continue
        variable = known.get(name)
        starred = isinstance(use, Variadic)
        if variable is not None and (variable.variadic or not starred):
            continue
        told.add(name)
        if variable is not None:
            report.error("unknown-name", f"`{name}` is one size, no variadic", at=use.span, help=f"write `{name}`")
            continue
        names = [*known, *signature.names]
        like = next((other for other in names if other.lower() == name.lower()), None)
        like = like or next(iter(get_close_matches(name, names, 1)), None)
        exact = like is not None and use.span is not None and use.span.text == name
        report.error(
            "unknown-name",
            f"`{signature.name}` has no size `{name}`",
            at=use.span,
            label=f"did you mean `{like}`?" if like else "",
            help=() if like else f"its sizes are {', '.join(known)}" if known else "it has no sizes",
            fix=Fix(f"write `{like}`", (Edit(use.span, like),)) if exact and like and use.span else None,
        )


def _names(node: Predicate | Size) -> Iterator[Var | Variadic]:
    return (each for each in nodes(node) if isinstance(each, (Var, Variadic)))


__all__ = ["is_size", "read_predicate", "read_size"]
