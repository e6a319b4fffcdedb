"""Ask for sizes: first the engine, then by trying all of them where they are few, then z3 if it is installed.

Each is asked only if the one before it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir import Predicate, Variable
from . import smt
from .search import WORK
from .search import sizes_or_core as engine
from .small import tried
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
    found = sizes_or_core(variables, predicates, work=work)
    return None if isinstance(found, tuple) else found


def sizes_or_core(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> Mapping[str, int] | Unknown | tuple[int, ...]:
    """Returns sizes that satisfy ``predicates``, or which of them cannot hold together, or why neither was found.

    The indices ascend. They are those that a refutation used, which need not be minimal.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try.
    """
    known = tuple(variables)
    found = searched(known, predicates, work=work)
    if not isinstance(found, Unknown):
        return found
    consulted = smt.consulted(found, known, predicates, work=work)
    return tuple(range(len(predicates))) if consulted is None else consulted


def searched(
    variables: Sequence[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> Mapping[str, int] | Unknown | tuple[int, ...]:
    """Like `sizes_or_core`, without z3."""
    found = engine(variables, predicates, work=work)
    return tried(variables, predicates, found, work=work) if isinstance(found, Unknown) else found
