"""Find what the alternatives of a spec leave out, take twice, or never get.

Alternatives are tried in written order. What one *asks for* are its predicates and buckets
(`ir.taking`); what it *takes* is that, without what an earlier one asks for.

Before::

    where B <= 64
    case small: B <= 8
    case even: B % 2 == 0
    case four: B == 4

After: ``four`` is unreachable (``small`` takes it), ``small`` and ``even`` overlap (``B = 0`` satisfies
both, and neither contains the other), and nothing takes ``B = 9``.

An earlier special case inside a later general one is the idiom, and silent; so is one that overlaps a
bucket behind it, which is there for what no case takes.

`questions` asks; `boxes`, `points` and `cells` answer most of it without a proof, `untaken` the rest with
`decide`; `report` tells.
"""

from __future__ import annotations

from .findings import Coverage, Misfit, Overlap, Unreachable
from .questions import coverage_of
from .report import check_coverage

__all__ = ["Coverage", "Misfit", "Overlap", "Unreachable", "check_coverage", "coverage_of"]
