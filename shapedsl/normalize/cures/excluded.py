"""What an assumption takes from a spec, as briefly as the spec allows.

Before and after (``S >= 1``)::

    S >= 2                     takes not S >= 2, which is S == 1
    B >= 1, P >= 1             takes B == 0, and P == 0
    S % 8 == 0                 takes S % 8 != 0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir import Apply, Compare, Const, Not, Or, Predicate, Var
from ...ir.walk import nodes
from ..predicates import simplify_predicate
from ..predicates import split as conjuncts
from .question import Question, compare, conjunction
from .sides import plain


def excluded(question: Question, add: Sequence[Predicate]) -> Iterator[tuple[Predicate, ...]]:
    """Yields, for each of ``add``, what holds of the sizes that it takes; nothing where it takes none."""
    for predicate in add:
        if question.implied(predicate):
            continue
        opposite = simplify_predicate(Not(predicate))
        parts = without_implied(question, [brief(question, part) for part in conjuncts(opposite)])
        yield (*(guard for part in parts for guard in guards(question, part)), *parts)


def without_implied(question: Question, parts: Sequence[Predicate]) -> list[Predicate]:
    """Returns ``parts`` without those that follow from the others."""
    needed = list(parts)
    for part in parts:
        rest = [other for other in needed if other is not part]
        if rest and question.implied(part, *rest):
            needed = rest
    return needed


def brief(question: Question, predicate: Predicate) -> Predicate:
    """Returns ``predicate`` as the spec allows to say it: ``S == 1`` for ``S <= 1``, ``S >= 2`` for ``S != 1`` where S is 1 or more.

    Args:
        question: The spec.
        predicate: What holds of some sizes of the spec.
    """
    predicate = plain(predicate)
    match predicate:
        case Compare(op=op, left=Var() as left, right=Const()) if op.name in ("<=", ">="):
            found = question.range(left, predicate)
            if found is None:
                return predicate
            if found.low is not None and found.low == found.high:
                return compare(left, "==", found.low)
            end = found.high if op.name == "<=" else found.low
            return predicate if end is None else compare(left, op.name, end)
        case Compare(op=op, left=Var() as left, right=Const(value=value)) if op.name == "!=":
            whole, rest = question.range(left), question.range(left, predicate)
            if whole is not None and rest is not None and value == whole.low and rest.low is not None:
                return brief(question, compare(left, ">=", rest.low))
            if whole is not None and rest is not None and value == whole.high and rest.high is not None:
                return brief(question, compare(left, "<=", rest.high))
            return predicate
        case _:
            return predicate


def guards(question: Question, predicate: Predicate) -> Iterator[Predicate]:
    """Yields what keeps the divisors of ``predicate`` from 0, as far as the spec does not."""
    for node in nodes(predicate):
        match node:
            case Apply(op=op, args=(_, divisor)) if op.name in ("//", "%", "cdiv") and not isinstance(divisor, Const):
                if not question.implied(compare(divisor, "!=", 0)):
                    positive = question.never_negative(divisor)
                    yield compare(divisor, ">=", 1) if positive else compare(divisor, "!=", 0)
            case _:
                pass


def together(parts: Sequence[tuple[Predicate, ...]]) -> Predicate:
    """Returns that one of ``parts`` holds."""
    each = [conjunction(part) for part in parts]
    return each[0] if len(each) == 1 else Or(tuple(each))


__all__ = ["brief", "excluded", "guards", "together", "without_implied"]
