"""Check that no divisor can be 0 where it is evaluated.

``and`` and ``or`` stop as Python's do, so ``B == 0 or S % B == 0`` is fine; an alternative is tried where none
before it held. Declared ranges and other
assumptions count, as far as they divide by nothing that can be 0 themselves.

Before::

    where S % B == 0               # error: [maybe-zero-divisor] B can be 0
    where B >= 1, S % B == 0       # fine
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from ..diagnostics import Report, Span
from ..ir import (
    COMPARISONS,
    And,
    Apply,
    Compare,
    Const,
    Constraint,
    Dim,
    Not,
    Or,
    Predicate,
    Signature,
    Size,
    Variable,
    VariableKind,
)
from ..ir.taking import asked_by
from ..ir.walk import free_vars
from ..ir.write import write_dim
from .comparisons import FALSE, divides_by_variable
from .decide import Proved, Refuted, implied_by
from .facts import fact_of
from .intervals import Interval, interval_of
from .predicates import may_divide, simplify_predicate
from .uses import sizes_of


@dataclass(frozen=True, slots=True)
class _Division:
    """A division by more than a number.

    Attributes:
        divisor: What is divided by.
        path: What holds where it is evaluated.
        span: The divisor's, or the nearest one around it.
        guarded: Whether a predicate can be written in front of it.
    """

    divisor: Size
    path: tuple[Predicate, ...]
    span: Span | None
    guarded: bool = True


def check_divisors(signature: Signature, report: Report) -> None:
    """Adds ``maybe-zero-divisor`` findings."""
    divisions = list(_divisions(signature))
    if not divisions:
        return
    given = [c.predicate for c in signature.constraints if not may_divide(c.predicate)]
    box = {v.name: Interval(-inf if v.kind is VariableKind.INT else 0, inf) for v in signature.variables}
    for predicate in given:
        if fact := fact_of(predicate):
            box[fact[0]] = box.get(fact[0], Interval()).meet(fact[1])
    told: set[tuple[Size, Span | None]] = set()
    for division in divisions:
        range_ = interval_of(division.divisor, box)
        if range_.low > 0 or range_.high < 0 or (division.divisor, division.span) in told:
            continue
        kinds = {v.name: v for v in signature.variables}
        names = set(free_vars(division.divisor))
        variables = [*kinds.values(), *(Variable(n, VariableKind.DIM) for n in sorted(names - kinds.keys()))]
        nonzero = Compare(COMPARISONS["!="], division.divisor, Const(0))
        verdict = implied_by(variables, [*given, *division.path], nonzero)
        if isinstance(verdict, Proved):
            continue
        told.add((division.divisor, division.span))
        is_zero = range_ == Interval(0, 0) or simplify_predicate(nonzero) == FALSE
        text = write_dim(division.divisor)
        at_zero = verdict.witness if isinstance(verdict, Refuted) else ()
        report.error(
            "maybe-zero-divisor",
            f"the divisor `{text}` {'is' if is_zero else 'can be'} 0",
            at=division.span or signature.span,
            label="division by 0" if is_zero else f"`{text}` can be 0",
            note=[] if at_zero else ["it could not be shown that it never is"],
            help="divide by something else"
            if is_zero and names
            else _advice(text, names, division, unbound=sorted(names - kinds.keys())),
            witness=[(name, value) for name, value in at_zero if name in names],
        )


def _advice(text: str, names: set[str], division: _Division, *, unbound: Sequence[str]) -> str:
    if not names:
        return "divide by another number"
    if unbound:  # of the return type: no assumption can be made of it
        return f"let a parameter bind `{unbound[0]}`, and add `where {text} >= 1`"
    return f"add `where {text} >= 1`" + (f", or write `{text} == 0 or ...` in front" if division.guarded else "")


def check_question(signature: Signature, question: Predicate, report: Report) -> None:
    """Adds the ``maybe-zero-divisor`` findings of a predicate that is asked of ``signature``."""
    stated = tuple(c for c in signature.constraints if not may_divide(c.predicate))
    asked = Constraint(question, span=question.span)
    check_divisors(
        Signature(signature.name, (), None, signature.variables, (*stated, asked), span=signature.span), report
    )


def divides_by_zero(predicate: Predicate) -> bool:
    """Returns whether ``predicate`` divides by what is always 0."""
    divisors = [division.divisor for division in _in_predicate(predicate, (), None)]
    return any(simplify_predicate(Compare(COMPARISONS["!="], divisor, Const(0))) == FALSE for divisor in divisors)


def _divisions(signature: Signature) -> Iterator[_Division]:
    types = [param.type for param in signature.params]
    types += [signature.returns] if signature.returns is not None else []
    for type_ in types:
        for dim in sizes_of(type_):
            yield from (replace(division, guarded=False) for division in _in_size(dim, (), dim.span))
    for constraint in signature.constraints:
        yield from _in_predicate(constraint.predicate, (), constraint.span)
    for value in signature.values:
        for size in (value.low, value.high):
            yield from (replace(division, guarded=False) for division in _in_size(size, (), value.span))
    tried: tuple[Predicate, ...] = ()  # none of the alternatives before held
    for alternative in signature.alternatives:
        path = tried
        for constraint in alternative.constraints:
            yield from _in_predicate(constraint.predicate, path, constraint.span or alternative.span)
            path = (*path, *_usable([constraint.predicate]))
        asked = asked_by(alternative)
        if asked.conditions and asked.exact and not may_divide(asked.predicate):
            tried = (*tried, Not(asked.predicate))


def _usable(predicates: list[Predicate]) -> list[Predicate]:
    return [predicate for predicate in predicates if not may_divide(predicate)]


def _in_predicate(predicate: Predicate, path: tuple[Predicate, ...], span: Span | None) -> Iterator[_Division]:
    match predicate:
        case Compare(left=left, right=right):
            yield from _in_size(left, path, predicate.span or span)
            yield from _in_size(right, path, predicate.span or span)
        case And(args=args):
            for at, arg in enumerate(args):  # evaluated where all before it hold
                yield from _in_predicate(arg, (*path, *_usable(list(args[:at]))), predicate.span or span)
        case Or(args=args):
            for at, arg in enumerate(args):  # evaluated where none before it holds
                before: list[Predicate] = [Not(other) for other in args[:at]]
                yield from _in_predicate(arg, (*path, *_usable(before)), predicate.span or span)
        case Not(arg=arg):
            yield from _in_predicate(arg, path, predicate.span or span)


def _in_size(size: Dim, path: tuple[Predicate, ...], span: Span | None) -> Iterator[_Division]:
    if not isinstance(size, Apply) or not divides_by_variable(size):
        return
    for arg in size.args:
        yield from _in_size(arg, path, size.span or span)
    if size.op.defined == "{1} != 0":
        divisor = size.args[1]
        if not isinstance(divisor, Const) or divisor.value == 0:
            yield _Division(divisor, path, divisor.span or size.span or span)
