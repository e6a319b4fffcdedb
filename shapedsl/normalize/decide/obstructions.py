"""Refute equalities with products by residues: no solution modulo a small number, or only the trivial one.

Before::

    A*A + B*B == 4*C + 3

After: a clash, for squares are 0 or 1 modulo 4. And ``A*A == 2*B*B`` makes both 0: modulo 4 both would be
even, so would be their halves, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product as choices
from typing import Final

from .box import Box
from .clash import Clash
from .formula import EQ, Formula, Polynomial, atom, every
from .quotients import Rule

MODULI: Final = (2, 3, 4, 5, 7, 8, 9, 16)
MOST_RESIDUES: Final = 600  # combinations of residues that are tried for one modulus


def refute_by_residues(box: Box, rules: Sequence[Rule]) -> None:
    """Looks for a small modulus under which an equality with products has no solution.

    Raises:
        Clash: There is one.
    """
    for polynomial, op, why in rules:
        if op != EQ or all(len(column) < 2 for column in polynomial):
            continue
        names = sorted({name for column in polynomial for name in column})
        for modulus in MODULI:
            if modulus ** len(names) > MOST_RESIDUES:
                break
            box.budget.spend(modulus ** len(names) * len(polynomial))
            if not _has_residues(box, polynomial, names, modulus):
                for name in names:
                    why |= box.residues.get((name,), (1, 0, 0))[2]
                raise Clash(why)


def _has_residues(box: Box, polynomial: Polynomial, names: Sequence[str], modulus: int) -> bool:
    for values in choices(*(_residues(box, name, modulus) for name in names)):
        model = dict(zip(names, values, strict=True))
        total = 0
        for column, value in polynomial.items():
            for name in column:
                value *= model[name]
            total += value
        if total % modulus == 0:
            return True
    return False


def _residues(box: Box, name: str, modulus: int) -> list[int]:
    known, residue, _ = box.residues.get((name,), (1, 0, 0))
    values = {(residue + known * at) % modulus for at in range(modulus)}
    return sorted(values)


def vanishing(box: Box, rules: Sequence[Rule]) -> Iterator[tuple[Formula, int]]:
    """Yields that all variables are 0 where a homogeneous equality has no primitive solution modulo a small power."""
    for polynomial, op, why in rules:
        degrees = {len(column) for column in polynomial}
        if op != EQ or len(degrees) != 1 or degrees == {1}:
            continue
        names = sorted({name for column in polynomial for name in column})
        for prime, modulus in ((2, 4), (3, 9), (2, 8), (5, 5), (7, 7), (2, 16)):
            if modulus ** len(names) > MOST_RESIDUES:
                continue
            box.budget.spend(modulus ** len(names) * len(polynomial))
            if not any(
                any(value % prime for value in values)
                and _value(polynomial, dict(zip(names, values, strict=True))) % modulus == 0
                for values in choices(range(modulus), repeat=len(names))
            ):
                yield every(atom(EQ, {(name,): 1}) for name in names), why
                break


def _value(polynomial: Polynomial, model: Mapping[str, int]) -> int:
    total = 0
    for column, value in polynomial.items():
        for name in column:
            value *= model[name]
        total += value
    return total
