"""What the slots say of the variables, as equations: known sizes on one side, unknown ones on the other.

Before (``S`` and ``N`` are known, ``u`` and ``v`` are slots)::

    2 * B + S on the axis u        N * A + B on the axis v       N == 3 * S is assumed

After::

    2 * B == u - S                 N * A + B == v                (nothing unknown)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import lcm

from ...ir import Size, Var
from ...ir.walk import free_vars
from ..algebra import TooLarge, terms
from ..polynomial import Monomial, Terms, add, scale
from .given import Given
from .hermite import Row
from .opened import without_floors
from .quotient import Quotient, translate


@dataclass(frozen=True, slots=True)
class Equation:
    """``left`` over the variables is ``right`` over the slots' names.

    Attributes:
        left, right: Canonical.
    """

    left: Size
    right: Size


def row_of(equation: Equation, definitions: Mapping[str, Quotient], given: Given, *, prove: bool) -> Row | None:
    """Returns ``equation`` with what is unknown on one side, or None if nothing is, or it would be too long.

    Args:
        equation: To be solved.
        definitions: What is known.
        given: Opens floors.
        prove: Whether residues may be proved, where the domains do not have them.
    """
    try:
        polynomial, factor = without_floors(terms(equation.left), given.proved_residue if prove else given.residue)
        known = scale(terms(equation.right), factor)
        unknowns: dict[Monomial, int] = {}
        parts: list[tuple[Quotient, int]] = []
        for monomial, coefficient in polynomial.items():
            if unknown_in(monomial, definitions):
                unknowns[monomial] = coefficient
            else:
                parts.append((translate({monomial: 1}, definitions), coefficient))
        if not unknowns:
            return None
        common = lcm(*(part.denominator for part, _ in parts))
        known = scale(known, common)
        for part, coefficient in parts:
            known = add(known, part.numerator, -coefficient * (common // part.denominator))
        return Row({monomial: c * common for monomial, c in unknowns.items()}, known)
    except TooLarge:
        return None


def unknown_in(monomial: Iterable[Size], definitions: Mapping[str, Quotient]) -> dict[str, None]:
    """Returns the names in ``monomial`` that have no definition yet, in order."""
    return dict.fromkeys(name for atom in monomial for name in free_vars(atom) if name not in definitions)


def variable_of(monomial: Monomial) -> str | None:
    """Returns the name of the variable that is all of ``monomial``, if it is."""
    match monomial:
        case (Var(name=name),):
            return name
        case _:
            return None


def factor_of(row: Row, name: str) -> tuple[Terms, Row] | None:
    """Returns what ``name`` is multiplied by in ``row``, and the row without it; None if it does not stand alone.

    The factor is over variables, maybe unknown ones.
    """
    factor: Terms = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in row.unknowns.items():
        if Var(name) in monomial:
            others = list(monomial)
            others.remove(Var(name))
            if name in {each for atom in others for each in free_vars(atom)}:
                return None
            factor[tuple(others)] = coefficient
        elif name in free_vars_of(monomial):
            return None
        else:
            rest[monomial] = coefficient
    return factor, Row(rest, row.known)


def free_vars_of(monomial: Monomial) -> set[str]:
    """Returns the names in ``monomial``."""
    return {name for atom in monomial for name in free_vars(atom)}
