"""Draw conclusions for single columns from one linear constraint."""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

from .bounds import Bounds
from .clash import Clash
from .formula import Monomial

Terms: TypeAlias = tuple[tuple[Monomial, int], ...]


def at_least(bounds: Bounds, terms: Terms, constant: int, why: int, sign: int) -> None:
    """Draws conclusions from ``sign * (terms + constant) >= 0``."""
    bounds.budget.spend(len(terms))
    total = sign * constant
    open_column: Monomial | None = None
    lows, highs = bounds.lows, bounds.highs
    for column, value in terms:
        bound = (highs if value * sign > 0 else lows).get(column)
        if bound is None:
            if open_column is not None:
                return
            open_column = column
        else:
            total += sign * value * bound[0]
    if open_column is None and total < 0:
        raise Clash(_reasons(bounds, terms, why, sign, None))
    for column, value in terms:
        if open_column is not None and column is not open_column:
            continue
        factor = sign * value
        if factor > 0:
            high = highs.get(column)
            least = -((total - factor * high[0] if high is not None else total) // factor)
            low = lows.get(column)
            if low is None or least > low[0]:
                bounds.raise_low(column, least, _reasons(bounds, terms, why, sign, column))
        else:
            low = lows.get(column)
            most = (total - factor * low[0] if low is not None else total) // -factor
            high = highs.get(column)
            if high is None or most < high[0]:
                bounds.lower_high(column, most, _reasons(bounds, terms, why, sign, column))


def _reasons(bounds: Bounds, terms: Terms, why: int, sign: int, but: Monomial | None) -> int:
    for column, value in terms:
        if column != but:
            why |= (bounds.highs if value * sign > 0 else bounds.lows)[column][1]
    return why


def congruence(bounds: Bounds, terms: Terms, constant: int, why: int) -> None:
    """Draws conclusions about residues from ``terms + constant == 0``."""
    bounds.budget.spend(len(terms))
    parts: list[tuple[int, int, int]] = []  # modulus, residue, why of value * column
    lows, highs, residues = bounds.lows, bounds.highs, bounds.residues
    free = -1  # the only part that can be anything
    for at, (column, value) in enumerate(terms):
        low, high = lows.get(column), highs.get(column)
        if low is not None and high is not None and low[0] == high[0]:
            parts.append((0, value * low[0], low[1] | high[1]))
            continue
        modulus, residue, reason = residues.get(column, (1, 0, 0))
        if modulus == 1 and (value == 1 or value == -1):
            if free >= 0:
                return
            free = at
        parts.append((abs(value) * modulus, value * residue, reason))
    bounds.budget.spend(len(terms))
    for at, (column, value) in enumerate(terms):
        if parts[at][0] == 0 or (free >= 0 and free != at):
            continue
        modulus, rest, reason = 0, constant, why
        for other, part in enumerate(parts):
            if other != at:
                modulus = gcd(modulus, part[0])
                rest += part[1]
                reason |= part[2]
        if modulus == 0:
            continue  # the only one left: its bounds say it
        common = gcd(value, modulus)
        if rest % common:
            raise Clash(reason)
        modulus //= common
        if modulus > 1:
            residue = -rest // common * pow(value // common, -1, modulus) % modulus
            old = residues.get(column)
            if old is None or old[0] % modulus or (old[1] - residue) % modulus:
                bounds.set_residue(column, modulus, residue, reason)
    if free >= 0:
        return
    modulus, rest, reason = 0, constant, why
    for part in parts:
        modulus = gcd(modulus, part[0])
        rest += part[1]
        reason |= part[2]
    if rest % modulus if modulus else rest:
        raise Clash(reason)


def unequal(bounds: Bounds, terms: Terms, constant: int, why: int) -> None:
    """Draws conclusions from ``terms + constant != 0`` where all columns but one have one value."""
    bounds.budget.spend(len(terms))
    total = constant
    left: tuple[Monomial, int] | None = None
    for column, value in terms:
        fixed = bounds.fixed(column)
        if fixed is None:
            if left is not None:
                return
            left = column, value
        else:
            total += value * fixed[0]
            why |= fixed[1]
    if left is None:
        if total == 0:
            raise Clash(why)
        return
    column, value = left
    if total % value:
        return
    hole = -total // value
    low, high = bounds.lows.get(column), bounds.highs.get(column)
    if low is not None and low[0] == hole:
        bounds.raise_low(column, hole + 1, why | low[1])
    if high is not None and high[0] == hole:
        bounds.lower_high(column, hole - 1, why | high[1])
