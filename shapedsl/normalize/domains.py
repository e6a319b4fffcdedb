"""What one variable can be: a range and a residue, and which constraints said so.

A lattice: `Domains` only ever shrinks, so the order in which facts arrive does not matter. Ends are within
int64, as sizes and int arguments are, or infinite: ``B >= 2**64`` leaves nothing, ``B <= 2**64`` says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd, inf

from ..ir import Variable, VariableKind
from .intervals import Bound, Interval

Reasons = frozenset[int]  # indices of constraints
NOTHING: Reasons = frozenset()
SMALLEST, LARGEST = -(2**63), 2**63 - 1  # every size and every int argument lies between


class Contradiction(Exception):
    """Nothing is left of a domain.

    Attributes:
        reasons: Indices of constraints that suffice for it; not necessarily minimal.
        variable: Whose domain is empty, where it is one's.
    """

    def __init__(self, reasons: Reasons, variable: str | None = None) -> None:
        super().__init__(reasons)
        self.reasons = reasons
        self.variable = variable


@dataclass(slots=True)
class Domain:
    """``low <= v <= high`` and ``v % modulus == residue``, each with its reasons."""

    low: Bound = -inf
    high: Bound = inf
    modulus: int = 1
    residue: int = 0
    low_reasons: Reasons = NOTHING
    high_reasons: Reasons = NOTHING
    residue_reasons: Reasons = NOTHING

    @property
    def reasons(self) -> Reasons:
        """All constraints that shaped it."""
        return self.low_reasons | self.high_reasons | self.residue_reasons

    @property
    def value(self) -> int | None:
        """The one value that is left, if there is one."""
        return int(self.low) if self.low == self.high else None


@dataclass(slots=True)
class Domains:
    """The domains of all variables.

    Attributes:
        of: By name; a name that is missing can be any integer.
        box: The same as intervals, for the algebra.
        changed: Names whose domain shrank since `take_changed`.
    """

    of: dict[str, Domain] = field(default_factory=dict[str, Domain])
    box: dict[str, Interval] = field(default_factory=dict[str, Interval])
    changed: dict[str, None] = field(default_factory=dict[str, None])

    @staticmethod
    def of_variables(variables: Iterable[Variable]) -> Domains:
        """Returns what the kinds alone say: a dim and a static size are never negative."""
        domains = Domains()
        for variable in variables:
            low: Bound = -inf if variable.kind is VariableKind.INT else 0
            domains.of[variable.name] = Domain(low=low)
            domains.box[variable.name] = Interval(low, inf)
        return domains

    def copy(self, names: Iterable[str]) -> Domains:
        """Returns an independent copy of the domains of ``names``, with nothing marked as changed."""
        copies: dict[str, Domain] = {}
        for name in names:
            d = self.domain(name)
            copies[name] = Domain(d.low, d.high, d.modulus, d.residue, d.low_reasons, d.high_reasons, d.residue_reasons)
        return Domains(copies, {name: Interval(d.low, d.high) for name, d in copies.items()})

    def domain(self, name: str) -> Domain:
        """Returns the domain of ``name``."""
        found = self.of.get(name)
        if found is None:
            found = self.of[name] = Domain()
        return found

    def set(self, name: str, domain: Domain) -> None:
        """Makes ``domain``, without its reasons, what ``name`` can be; its kind still counts."""
        low = max(domain.low, self.domain(name).low)
        self.of[name] = Domain(low, domain.high, domain.modulus, domain.residue)
        self.box[name] = Interval(low, domain.high)

    def take_changed(self) -> list[str]:
        """Returns the names that changed, and forgets them."""
        names = list(self.changed)
        self.changed.clear()
        return names

    def restrict(self, name: str, interval: Interval, reasons: Reasons) -> None:
        """Meets the range of ``name`` with ``interval``.

        Raises:
            Contradiction: Nothing is left.
        """
        domain = self.domain(name)
        low, high = domain.low, domain.high
        if interval.low > low and interval.low >= SMALLEST:
            domain.low, domain.low_reasons = interval.low, reasons
        if interval.high < high and interval.high <= LARGEST:
            domain.high, domain.high_reasons = interval.high, reasons
        if (domain.low, domain.high) != (low, high):
            self._settle(name, domain)

    def congruent(self, name: str, modulus: int, residue: int, reasons: Reasons) -> None:
        """Meets the residue of ``name`` with ``name % modulus == residue``, by the Chinese remainder theorem.

        Where the common modulus is beyond int64 and more than one int is left, the meet is not taken.

        Raises:
            Contradiction: No number has both residues, or none in the range.
        """
        domain = self.domain(name)
        common = gcd(domain.modulus, modulus)
        if (residue - domain.residue) % common:
            raise Contradiction(domain.residue_reasons | reasons, name)
        together = domain.modulus // common * modulus
        if together == domain.modulus:
            return
        steps = (residue - domain.residue) // common * pow(domain.modulus // common, -1, modulus // common)
        both = (domain.residue + domain.modulus * steps) % together
        if together > LARGEST:  # no constant of the language: but very few sizes are left
            least = max(domain.low, SMALLEST) + (both - int(max(domain.low, SMALLEST))) % together
            if least > min(domain.high, LARGEST):
                raise Contradiction(domain.reasons | reasons, name)
            if least + together > min(domain.high, LARGEST):
                self.restrict(name, Interval(least, least), domain.reasons | reasons)
            return
        domain.residue = both
        domain.modulus = together
        domain.residue_reasons |= reasons
        self._settle(name, domain)

    def _settle(self, name: str, domain: Domain) -> None:
        """Moves the ends of the range onto the residue."""
        if domain.modulus > 1:
            if domain.low != -inf and (up := (domain.residue - int(domain.low)) % domain.modulus):
                domain.low += up
                domain.low_reasons |= domain.residue_reasons
            if domain.high != inf and (down := (int(domain.high) - domain.residue) % domain.modulus):
                domain.high -= down
                domain.high_reasons |= domain.residue_reasons
        if domain.low > domain.high or domain.low > LARGEST or domain.high < SMALLEST:
            raise Contradiction(domain.low_reasons | domain.high_reasons, name)
        self.box[name] = Interval(domain.low, domain.high)
        self.changed[name] = None
