"""What an assumption takes from a spec, and what a program's demand is in few words, as a case would say them.

Before and after, where the spec has ``S >= 1``::

    S >= 2                     takes S == 1
    S == min(77, S)            is S <= 77, and takes S >= 78
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import COMPARISONS, Compare, Const, Predicate, Var
from ...ir.expanded import Lowered
from ...normalize.cures import cures
from ...normalize.cures.excluded import excluded
from ...normalize.cures.question import Question


def left_out(lowered: Lowered, predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns what holds of the sizes that the spec accepts and ``predicate`` does not; empty if there are none."""
    return next(iter(excluded(_question(lowered), [predicate])), ())


def in_brief(lowered: Lowered, given: Sequence[Predicate], predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns predicates that say together what ``predicate`` says, in words that torch concludes from where there are.

    Args:
        lowered: The spec.
        given: What is assumed besides.
        predicate: What a program demands.
    """
    question = _question(lowered, given)
    for cure in cures(lowered, predicate, given=given):
        if cure.holds and all(question.implied(each, predicate) for each in cure.add):
            return cure.add
    return (predicate if lowered.reasoner is None else lowered.reasoner.shorter(predicate),)


def _question(lowered: Lowered, given: Sequence[Predicate] = ()) -> Question:
    signature = lowered.expanded.signature
    stated = [constraint.predicate for constraint in signature.constraints]
    known = [
        Compare(COMPARISONS["=="], Var(name), size) for name, size in lowered.definitions if isinstance(size, Const)
    ]
    return Question(signature.variables, (*stated, *known, *given), {})


__all__ = ["in_brief", "left_out"]
