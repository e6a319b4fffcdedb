"""What inversion may use of the spec: ranges at hand first, then proofs.

A proof is asked for only where the ranges and residues do not show it, and each only once: most specs
never need one.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from ...ir import COMPARISONS, Compare, Const, Predicate, Size, Variable
from ..decide import Proved, implied_by, range_of
from ..domains import Domains
from ..intervals import Bound
from ..polynomial import Terms, build, terms_interval
from ..propagate import residue_of


class Given:
    """The assumptions, and what follows from them.

    Attributes:
        predicates: Canonical.
        domains: Propagated.
    """

    def __init__(self, variables: Iterable[Variable], predicates: Iterable[Predicate], domains: Domains) -> None:
        self.variables = tuple(variables)
        self.predicates = tuple(predicates)
        self.domains = domains
        self._proved: dict[Predicate, bool] = {}
        self._residues: dict[Size, tuple[int, int]] = {}

    def proves(self, left: Size, op: str, right: Size) -> bool:
        """Returns whether ``left op right`` is proved."""
        question = Compare(COMPARISONS[op], left, right)
        if question not in self._proved:
            verdict = implied_by(self.variables, self.predicates, question)
            self._proved[question] = isinstance(verdict, Proved)
        return self._proved[question]

    def low(self, polynomial: Terms) -> Bound:
        """Returns a bound below which ``polynomial`` never is; minus infinity if the ranges show none."""
        return terms_interval(polynomial, self.domains.box).low

    def at_least(self, polynomial: Terms, bound: int) -> bool:
        """Returns whether ``polynomial >= bound`` is shown."""
        interval = terms_interval(polynomial, self.domains.box)
        if interval.low >= bound:
            return True
        return interval.high >= bound and self.proves(build(polynomial), ">=", Const(bound))

    def residue(self, polynomial: Terms) -> tuple[int, int]:
        """Returns a modulus and the residue of ``polynomial`` by it, as the domains know them; 0: it has that one value."""
        return residue_of(self.domains, polynomial)

    def proved_residue(self, polynomial: Terms) -> tuple[int, int]:
        """Returns the same, as it can be proved."""
        size = build(polynomial)
        if size not in self._residues:
            found = range_of(self.variables, self.predicates, size)
            self._residues[size] = (1, 0) if found is None else (found.modulus, found.residue)
        return self._residues[size]

    def block(self, dividend: Terms, by: int) -> int | None:
        """Returns ``dividend // by`` if all values have the same, else None."""
        interval = terms_interval(dividend, self.domains.box)
        if interval.low == -inf or interval.high == inf:
            return None
        low, high = int(interval.low) // by, int(interval.high) // by
        return low if low == high else None
