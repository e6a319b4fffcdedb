"""Higher lower bounds under which a predicate holds: what torch concludes most from.

Before and after::

    16 * B * P != 0                B >= 1, P >= 1
    S != 1                         S >= 2, which excludes 0, too
    D + min(1, E) > 1              D >= 2; D >= 1, E >= 1

Small bounds are tried, those that take least first; each is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...ir import Predicate, Var
from .question import Question, compare, names, satisfied
from .single import values_of

MOST_VARIABLES = 4
MOST_RAISE = 3  # above the lowest size of each variable, where there are several
SAMPLED = {2: 9, 3: 6, 4: 5}  # sizes of each variable that are looked at before anything is proved
MOST_FOUND = 3


def raised(question: Question, predicate: Predicate) -> Iterator[tuple[Predicate, ...]]:
    """Yields lower bounds of the variables of ``predicate`` under which it holds, those that take least first."""
    free = names(predicate)
    if len(free) == 1:
        bound = _least(question, predicate, free[0])
        if bound is not None:
            yield (bound,)
    elif 1 < len(free) <= MOST_VARIABLES:
        yield from _several(question, predicate, free)


def lowered(question: Question, predicate: Predicate) -> Iterator[tuple[Predicate, ...]]:
    """Yields an upper bound of the one variable of ``predicate`` under which it holds."""
    free = names(predicate)
    if len(free) == 1 and (bound := _least(question, predicate, free[0], "<=")) is not None:
        yield (bound,)


def _least(question: Question, predicate: Predicate, name: str, op: str = ">=") -> Predicate | None:
    """Returns the bound of ``name`` that takes least of those that make ``predicate`` hold."""
    domain = question.range(Var(name))
    if domain is None:
        return None
    values = list(values_of(domain, predicate))
    if op == "<=":
        values.reverse()
    wrong = [at for at, value in enumerate(values) if satisfied(predicate, {name: value}) is not True]
    if not wrong or wrong[-1] == len(values) - 1:
        return None
    bound = compare(Var(name), op, values[wrong[-1] + 1])
    return bound if question.implied(predicate, bound) else None


def _several(question: Question, predicate: Predicate, free: list[str]) -> Iterator[tuple[Predicate, ...]]:
    lows: dict[str, int] = {}
    for name in free:
        domain = question.range(Var(name))
        if domain is None or domain.low is None:
            return
        lows[name] = domain.low
    wide = range(SAMPLED[len(free)])
    wrong = [at for at in product(wide, repeat=len(free)) if satisfied(predicate, _sizes(free, lows, at)) is not True]
    found: list[tuple[int, ...]] = []
    for raises in sorted(product(range(MOST_RAISE + 1), repeat=len(free)), key=lambda each: (sum(each), each)):
        if any(all(r >= f for r, f in zip(raises, smaller, strict=True)) for smaller in found):
            continue  # takes more than one that was found
        if any(all(w >= r for w, r in zip(at, raises, strict=True)) for at in wrong):
            continue
        bounds = tuple(compare(Var(name), ">=", lows[name] + r) for name, r in zip(free, raises, strict=True) if r)
        if bounds and question.implied(predicate, *bounds):
            found.append(raises)
            yield bounds
            if len(found) == MOST_FOUND:
                return


def _sizes(free: list[str], lows: dict[str, int], at: tuple[int, ...]) -> dict[str, int]:
    return {name: lows[name] + above for name, above in zip(free, at, strict=True)}


__all__ = ["lowered", "raised"]
