"""What to assume so that a predicate holds: comparisons, since torch concludes nothing from an ``or``.

Before and after (sizes are not negative)::

    16 * B * P != 0            B >= 1, P >= 1
    B * P == 0                 B == 0; P == 0
    not (S > 4 and S < 8)      S <= 4; S >= 8
    (H // 14) * W != 16        as it is
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import islice, product

from ...ir import And, Apply, Compare, Const, Not, Or, Predicate, Size, Var
from ..algebra import TooLarge, difference
from ..polynomial import Monomial, Terms, build, content
from ..predicates import simplify_predicate
from .bounds import raised
from .question import Question, compare, conjunction, names
from .single import exactly

MOST_WAYS = 12


def ways(question: Question, predicate: Predicate) -> Iterator[tuple[Predicate, ...]]:
    """Yields comparisons that make ``predicate`` hold, if all of them do; the ones nearest to it first.

    Args:
        question: The spec.
        predicate: What should hold.
    """
    yield from islice(_ways(question, simplify_predicate(predicate)), MOST_WAYS)


def _ways(question: Question, predicate: Predicate) -> Iterator[tuple[Predicate, ...]]:
    free = names(predicate)
    if len(free) == 1 and (found := exactly(question, predicate, free[0])) is not None:
        yield found
        if _is_bare(predicate):
            return
    match predicate:
        case And(args=args):
            each = [list(islice(_ways(question, arg), MOST_WAYS)) for arg in args]
            for parts in product(*each):
                yield tuple(dict.fromkeys(part for some in parts for part in some))
        case Or(args=args):
            for arg in args:
                yield from _ways(question, arg)
        case Compare():
            yield from _comparison(question, predicate)
            if len(free) == 1:
                yield from raised(question, predicate)
        case Not():
            yield from _ways(question, simplify_predicate(predicate))


def _is_bare(predicate: Predicate) -> bool:
    return isinstance(predicate, Compare) and isinstance(predicate.left, Var) and isinstance(predicate.right, Const)


def _comparison(question: Question, predicate: Compare) -> Iterator[tuple[Predicate, ...]]:
    """Yields the ways of a comparison, and what its factors ask for."""
    op = predicate.op.name
    found = list(_factors(predicate)) if op in ("==", "!=") else _positive(question, predicate)
    if found:
        if op == "==":
            for factor in found:
                yield from _ways(question, simplify_predicate(compare(factor, "==", 0)))
        else:
            other = [simplify_predicate(compare(factor, "!=", 0)) for factor in found]
            yield from _ways(question, conjunction(other))
    yield (plain(predicate),)


def _positive(question: Question, predicate: Compare) -> list[Size]:
    """Returns the factors of a product, never negative, that ``predicate`` says to be 1 or more; none if it is none."""
    match plain(predicate):
        case Compare(op=op, right=Const(value=1)) as above if op.name == ">=":
            found = list(_factors(compare(above.left, "!=", 0)))
            return found if all(map(question.never_negative, found)) else []
        case _:
            return []


def _factors(predicate: Compare) -> Iterator[Size]:
    """Yields the factors of which ``predicate`` says that their product is 0, or is not; none if there is one only."""
    try:
        polynomial = difference(predicate.left, predicate.right)
    except TooLarge:
        return
    if not polynomial:
        return
    common = reduce(_shared, polynomial)
    rest: Terms = {_without(monomial, common): coefficient for monomial, coefficient in polynomial.items()}
    if len(rest) == 1:
        rest = {}
    elif (by := content({**rest, (Const(1),): rest.get((), 0)})) > 1:
        rest = {monomial: coefficient // by for monomial, coefficient in rest.items()}
    if len(set(common)) + bool(rest) > 1:
        yield from dict.fromkeys(common)
        if rest:
            yield build(rest)


def _shared(first: Monomial, second: Monomial) -> Monomial:
    left = list(second)
    found: list[Size] = []
    for atom in first:
        if atom in left:
            left.remove(atom)
            found.append(atom)
    return tuple(found)


def _without(monomial: Monomial, common: Monomial) -> Monomial:
    left = list(monomial)
    for atom in common:
        left.remove(atom)
    return tuple(left)


def plain(predicate: Predicate) -> Predicate:
    """Returns a comparison as people write it: ``N >= 6`` for ``N > 5``, ``A < B`` for ``A + 1 <= B``."""
    match predicate:
        case Compare(op=op, left=left, right=Const(value=value)) if op.name in ("<", ">"):
            return plain(compare(left, f"{op.name}=", value + (1 if op.name == ">" else -1)))
        case Compare(op=op, left=Apply(op=inner, args=(_, Const(value=by))) as left, right=Const(value=1)) if (
            op.name == ">=" and inner.name == "%" and by > 1
        ):
            return compare(left, "!=", 0)
        case Compare(op=op, left=Apply(op=inner, args=(left, Const(value=1))), right=right) if (
            op.name == "<=" and inner.name == "+" and not isinstance(right, Const)
        ):
            return compare(left, "<", right)
        case _:
            return predicate


__all__ = ["plain", "ways"]
