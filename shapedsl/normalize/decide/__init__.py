"""Decide questions about integers: does a spec imply a predicate, which sizes satisfy it, what can a size be?

Every answer is *proved* (with the constraints that it follows from), *refuted* (with sizes that
Python's own integers confirm) or *unknown* (with a reason). Unknown is never taken for proved. The
work is counted, so the same question has the same answer on every machine.

Where a divisor is 0 a predicate neither holds nor fails: such sizes are no witness of anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...ir import Not, Predicate, Signature, Variable
from .asking import find_sizes, sizes_or_core
from .cores import minimal_core, minimized
from .minimize import smallest_sizes
from .ranges import range_of
from .search import WORK
from .verdict import Proved, Range, Refuted, Unknown, Verdict


def decide(
    variables: Iterable[Variable],
    given: Sequence[Predicate],
    question: Predicate,
    *,
    work: int = WORK,
    core: bool = False,
) -> Verdict:
    """Returns whether ``given`` implies ``question``.

    Args:
        variables: Their kinds count: a dim and a static size are never negative. A name that is not
            among them stands for any integer.
        given: What may be assumed.
        question: What is asked.
        work: How hard to try.
        core: Whether `Proved.core` is wanted; it is deletion-minimal then.
    """
    known = tuple(variables)
    together = [*given, Not(question)]
    answer = sizes_or_core(known, together, work=work)
    if isinstance(answer, Unknown):
        return answer
    if not isinstance(answer, tuple):
        return Refuted(tuple(sorted(smallest_sizes(known, together, answer, work=work).items())))
    if not core:
        return Proved()
    asked = len(given)
    whole = minimized(known, together, sorted({*answer, asked}), work=work, kept=(asked,))
    return Proved(tuple(at for at in whole if at != asked))


def implied(given: Signature, predicate: Predicate, *, work: int = WORK) -> Verdict:
    """Returns whether the constraints of ``given`` imply ``predicate``; see `decide`."""
    return implied_by(given.variables, [c.predicate for c in given.constraints], predicate, work=work)


def implied_by(
    variables: Iterable[Variable], given: Sequence[Predicate], predicate: Predicate, *, work: int = WORK
) -> Verdict:
    """Returns whether ``given`` implies ``predicate``, without a core; see `decide`."""
    return decide(variables, given, predicate, work=work)


__all__ = [
    "WORK",
    "Proved",
    "Range",
    "Refuted",
    "Unknown",
    "Verdict",
    "decide",
    "find_sizes",
    "implied",
    "implied_by",
    "minimal_core",
    "range_of",
    "smallest_sizes",
]
