"""Bounds and residues of columns, each with the assumptions it follows from, and with undo."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any, Final, TypeAlias

from .budget import Budget
from .clash import Clash
from .formula import Monomial

LARGEST_BITS: Final = 100  # of a bound; a larger one is not used

Bound: TypeAlias = tuple[int, int]  # value, why
Residue: TypeAlias = tuple[int, int, int]  # modulus > 1, residue, why


@dataclass(slots=True)
class Bounds:
    """What is known of single columns. Why it is known is a bitmask of assumptions.

    Attributes:
        budget: What is left of the work.
        lows: By column, its lower bound.
        highs: By column, its upper bound.
        residues: By column, what it is modulo what. Bounds are on the residue.
        trail: What to restore: a dict, a key and what it held.
        moved: Columns whose bounds or residues changed since someone looked.
    """

    budget: Budget
    lows: dict[Monomial, Bound] = field(default_factory=dict[Monomial, "Bound"])
    highs: dict[Monomial, Bound] = field(default_factory=dict[Monomial, "Bound"])
    residues: dict[Monomial, Residue] = field(default_factory=dict[Monomial, "Residue"])
    trail: list[tuple[dict[Any, Any], Any, Any]] = field(default_factory=list[Any])
    moved: dict[Monomial, None] = field(default_factory=dict[Monomial, None])

    def raise_low(self, column: Monomial, value: int, why: int) -> None:
        """Assumes ``column >= value``."""
        old = self.lows.get(column)
        if (old is not None and old[0] >= value) or value.bit_length() > LARGEST_BITS:
            return
        residue = self.residues.get(column)
        if residue is not None and (value - residue[1]) % residue[0]:
            value += (residue[1] - value) % residue[0]
            why |= residue[2]
        high = self.highs.get(column)
        if high is not None and high[0] < value:
            raise Clash(why | high[1])
        self.trail.append((self.lows, column, old))
        self.lows[column] = value, why
        self.moved[column] = None

    def lower_high(self, column: Monomial, value: int, why: int) -> None:
        """Assumes ``column <= value``."""
        old = self.highs.get(column)
        if (old is not None and old[0] <= value) or value.bit_length() > LARGEST_BITS:
            return
        residue = self.residues.get(column)
        if residue is not None and (value - residue[1]) % residue[0]:
            value -= (value - residue[1]) % residue[0]
            why |= residue[2]
        low = self.lows.get(column)
        if low is not None and low[0] > value:
            raise Clash(why | low[1])
        self.trail.append((self.highs, column, old))
        self.highs[column] = value, why
        self.moved[column] = None

    def set_residue(self, column: Monomial, modulus: int, residue: int, why: int) -> None:
        """Assumes that ``column`` is ``residue`` modulo ``modulus`` (above 1)."""
        old = self.residues.get(column)
        residue %= modulus
        if old is not None:
            common = gcd(old[0], modulus)
            if (old[1] - residue) % common:
                raise Clash(why | old[2])
            if common == modulus:
                return
            why |= old[2]
            step = modulus // common
            factor = (residue - old[1]) // common * pow(old[0] // common, -1, step) % step if step > 1 else 0
            residue = old[1] + old[0] * factor
            modulus = old[0] * step
            if modulus.bit_length() > LARGEST_BITS:
                return
        self.trail.append((self.residues, column, old))
        self.residues[column] = modulus, residue, why
        self.moved[column] = None
        low, high = self.lows.get(column), self.highs.get(column)
        if low is not None and (low[0] - residue) % modulus:
            self.raise_low(column, low[0] + 1, low[1] | why)
        if high is not None and (high[0] - residue) % modulus:
            self.lower_high(column, high[0] - 1, high[1] | why)

    def fixed(self, column: Monomial) -> Bound | None:
        """Returns the value of ``column`` and why, if there is only one."""
        low, high = self.lows.get(column), self.highs.get(column)
        if low is not None and high is not None and low[0] == high[0]:
            return low[0], low[1] | high[1]
        return None
