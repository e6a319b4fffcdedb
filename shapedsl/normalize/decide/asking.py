"""Ask for sizes: first the engine of this package, then z3, if the engine does not know and z3 is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir import Predicate, Variable
from . import smt
from .search import WORK
from .search import find_sizes as search
from .verdict import Unknown


def find_sizes(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> Mapping[str, int] | Unknown | None:
    """Returns sizes that satisfy ``predicates``, None if there are none, or why neither was found.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try.
    """
    known = tuple(variables)
    found = search(known, predicates, work=work)
    return smt.consulted(found, known, predicates, work=work) if isinstance(found, Unknown) else found
