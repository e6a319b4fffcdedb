"""Bounds of derived sizes that the spec states in words of its own.

Before::

    x: [B, T], mask: [T, P + T]        P + T <= 2048, 3 * T + 3 * P >= 7

After::

    P+T in [3, 2048]

The ranges of ``P`` and ``T`` alone would leave 4095, and torch gives a size the range that its variable has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from ...ir import COMPARISONS, Compare, Const, Predicate, Var
from ..algebra import LARGEST, TooLarge, difference, terms
from ..polynomial import Monomial, Terms, constant
from .slots import Slot


def stated_of(slots: Iterable[Slot], predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    """Yields what single comparisons among ``predicates`` say of derived ``slots``, as bounds of their variables.

    Args:
        slots: None of them bare.
        predicates: Canonical.
    """
    sizes: dict[frozenset[Monomial], list[tuple[str, Terms]]] = {}
    for slot in slots:
        with suppress(TooLarge):
            size = terms(slot.size)
            sizes.setdefault(frozenset(size) - {()}, []).append((slot.name, size))
    for predicate in predicates if sizes else ():
        match predicate:
            case Compare(op=op, left=left, right=right) if op.name != "!=":
                try:
                    polynomial = difference(left, right)
                except TooLarge:
                    continue
            case _:
                continue
        for name, size in sizes.get(frozenset(polynomial) - {()}, ()):
            for side, bound in _bounds(op.name, *_multiple(polynomial, size)):
                if abs(bound) <= LARGEST:
                    yield Compare(COMPARISONS[side], Var(name), Const(bound))


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def _bounds(op: str, factor: int, rest: int) -> Iterator[tuple[str, int]]:
    """Yields the bounds of a size with ``factor * size + rest`` compared with 0; none where ``factor`` is 0."""
    if factor < 0:
        op, factor, rest = _MIRRORED[op], -factor, -rest
    if factor and op in ("<=", "<", "=="):
        yield "<=", (-rest - (op == "<")) // factor
    if factor and op in (">=", ">", "=="):
        yield ">=", -((rest - (op == ">")) // factor)


def _multiple(polynomial: Terms, size: Terms) -> tuple[int, int]:
    """Returns ``(factor, rest)`` if ``polynomial`` is ``factor * size + rest``, else 0 and 0. They have the same monomials."""
    factor = 0
    for monomial, coefficient in size.items():
        if monomial:
            each, left = divmod(polynomial[monomial], coefficient)
            if left or (factor and each != factor):
                return 0, 0
            factor = each
    return factor, constant(polynomial) - factor * constant(size)
