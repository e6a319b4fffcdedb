"""Say upper bounds below 2 so that torch keeps them.

torch never learns that a size is 0 or 1 for certain: it widens a range that ends at 1 to end at 2
(``ShapeEnv._update_var_to_range``, 2.14.1), and what it made then accepts 2. ``B < 2`` is dropped too,
since the bound implies it; that it is not 2 is kept as an assertion.

Before::

    B in [0, 1]

After::

    B in [0, 1], B != 2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...ir import COMPARISONS, Compare, Const, Predicate, Var, VariableKind
from ...ir.expanded import TorchVariable


def small_bounds(variables: Iterable[TorchVariable]) -> Iterator[Predicate]:
    """Yields ``B != 2`` for each size that is at most 1."""
    for variable in variables:
        if variable.kind is VariableKind.DIM and variable.high is not None and variable.high < 2:
            yield Compare(COMPARISONS["!="], Var(variable.name), Const(2))
