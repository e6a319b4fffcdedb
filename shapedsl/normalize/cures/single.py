"""For which sizes of one variable a predicate holds, in the words that torch concludes from.

Before and after (``S >= 1``)::

    S != 1                     S >= 2
    not S // 2 > 38            S <= 77
    S // 2 == 1                S >= 2, S <= 3

Bounds and numbers only: from ``S != 2, S != 3`` torch does not conclude ``S // 2 != 1``. What is found by looking at
sizes is proved before it is believed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Compare, Predicate, Var
from ..decide import Range
from .question import Question, compare, conjunction, constants, satisfied

REACH = 260  # sizes from the lowest one on that are looked at
AROUND = 3  # sizes on both sides of a number that the predicate speaks of


def exactly(question: Question, predicate: Predicate, name: str) -> tuple[Predicate, ...] | None:
    """Returns bounds that hold together where ``predicate`` does, within the spec; None if none were found.

    Args:
        question: The spec.
        predicate: Of one variable.
        name: That variable.
    """
    domain = question.range(Var(name))
    if domain is None:
        return None
    values = list(values_of(domain, predicate))
    verdicts = {value: satisfied(predicate, {name: value}) for value in values}
    true = [value for value in values if verdicts[value] is True]
    false = [value for value in values if verdicts[value] is False]
    if not true or not false:
        return None
    for parts in _shapes(Var(name), true, false):
        together = conjunction(parts)
        agrees = all(satisfied(together, {name: value}) == (verdicts[value] is True) for value in values)
        if agrees and question.implied(predicate, *parts) and question.implied(together, predicate):
            return parts
    return None


def values_of(domain: Range, predicate: Predicate) -> Iterator[int]:
    """Yields sizes in ``domain`` that tell most of where ``predicate`` holds, ascending."""
    step = domain.modulus or 1
    start = domain.low if domain.low is not None else -REACH // 2
    numbers = constants(predicate)
    looked = {start + step * at for at in range(REACH)}
    ends = {*numbers, *(a * b for a in numbers for b in numbers), *(a // b for a in numbers for b in numbers if b)}
    ends |= {end for end in (domain.low, domain.high) if end is not None}
    for end in ends:
        nearest = end - (end - domain.residue) % step if domain.modulus else end
        looked |= {nearest + step * at for at in range(-AROUND, AROUND + 1)}
    for value in sorted(looked):
        if (domain.low is None or value >= domain.low) and (domain.high is None or value <= domain.high):
            yield value


def _shapes(variable: Var, true: list[int], false: list[int]) -> Iterator[tuple[Compare, ...]]:
    """Yields what could be said of sizes of which some are known, one size before a bound."""
    first, last = true[0], true[-1]
    low, high = compare(variable, ">=", first), compare(variable, "<=", last)
    if len(true) == 1:
        yield (compare(variable, "==", first),)
    if first > false[-1]:
        yield (low,)
    if last < false[0]:
        yield (high,)
    yield low, high


__all__ = ["exactly", "values_of"]
