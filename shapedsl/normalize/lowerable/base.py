"""Choose the base of sizes that are derived from one variable: the one under which the others add.

torch replaces the left side of an equality by its right side, and reasons better about sums: what it knows as
``p`` and ``p + 1`` it can compare, what it knows as ``u`` and ``v + 1`` it cannot.

Before (``L`` is bare)::

    L, L - 1, L - 2          L == L-1 + 1, L == L-2 + 2
    K, Q, K - Q, K - Q + 1   K == K-Q + Q, K == K-Q+1 + Q - 1
    L, L - 1, C * (L - 1)    L == L-1 + 1, C * L == C + C*L-C

After::

    L == L-2 + 2, L-1 == L-2 + 1
    K == K-Q + Q, K-Q+1 == K-Q + 1
    L == L-1 + 1, C*L-C == C * L-1

A size that adds already is told as it is written. Invariant: the equalities have the same solutions. Variables keep their names, and assumptions stay as they are
written: torch replaces in them what it has learned from the equalities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from operator import itemgetter

from ...ir import Size, Var
from ...ir.walk import free_vars
from ..algebra import TooLarge, product, terms
from ..polynomial import Monomial, Terms, add, constant
from .quotient import Quotient
from .slots import Slot

MOST_CANDIDATES = 8


def bases(slots: Iterable[Slot]) -> dict[str, Quotient]:
    """Returns the bare variables that are better told in terms of another slot, each as ``slot + rest``.

    Args:
        slots: All of them, in the order of first use.
    """
    slots = tuple(slots)
    bare = {slot.name for slot in slots if slot.bare}
    chosen: dict[str, Quotient] = {}
    derived: dict[str, dict[str, Terms]] = {}  # by variable: the slots that it stands in
    for slot in slots:
        if slot.bare:
            continue
        try:
            polynomial = terms(slot.size)
        except TooLarge:
            continue
        for name in dict.fromkeys(free_vars(slot.size)):
            derived.setdefault(name, {})[slot.name] = polynomial
    for slot in slots:
        if (
            slot.bare
            and slot.name in derived
            and (better := _better(slot.name, derived[slot.name], bare - {slot.name} - chosen.keys()))
        ):
            chosen[slot.name] = better
    return chosen


def adds(size: Size) -> bool:
    """Returns whether nothing is subtracted in ``size``: it is told as it is written then."""
    try:
        return _adds(terms(size))
    except TooLarge:
        return True


def _better(name: str, derived: Mapping[str, Terms], others: Set[str]) -> Quotient | None:
    """Returns ``name`` over the slot under which most of ``derived`` only add; None where none is better than itself.

    ``others`` may stand beside the slot.
    """
    variable: Monomial = (Var(name),)
    candidates: list[tuple[int, str, Terms]] = []
    for slot, polynomial in derived.items():
        rest = {monomial: -value for monomial, value in polynomial.items() if monomial != variable}
        names = {each for monomial in rest for atom in monomial for each in free_vars(atom)}
        if polynomial.get(variable) == 1 and any(value > 0 for value in rest.values()) and names <= others:
            candidates.append((-constant(rest), slot, rest))
    best, most = None, 1 + sum(map(_adds, derived.values()))
    for _, slot, rest in sorted(candidates, key=itemgetter(0))[:MOST_CANDIDATES]:
        value = add(rest, {(Var(slot),): 1})
        try:
            told = [_substituted(each, name, value) for other, each in derived.items() if other != slot]
        except TooLarge:
            continue
        count = 1 + sum(map(_adds, (value, *told)))
        if count > most:
            best, most = Quotient(value), count
    return best


def _adds(polynomial: Terms) -> bool:
    return all(value > 0 for value in polynomial.values())


def _substituted(polynomial: Terms, name: str, value: Terms) -> Terms:
    """Returns ``polynomial`` with ``name`` replaced where it stands outside of atoms.

    Raises:
        TooLarge: The result would be too long.
    """
    total: Terms = {}
    for monomial, coefficient in polynomial.items():
        part: Terms = {tuple(atom for atom in monomial if atom != Var(name)): coefficient}
        for _ in range(monomial.count(Var(name))):
            part = product(part, value)
        total = add(total, part)
    return total
