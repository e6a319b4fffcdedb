"""Read a variadic as one dim: where sizes are shown or computed, ``*batch`` stands for one size."""

from __future__ import annotations

from dataclasses import replace

from ...ir import Apply, Predicate, Size, Var, Variadic
from ...ir.walk import map_sizes


def of_one_dim(predicate: Predicate) -> Predicate:
    """Returns ``predicate`` with each variadic read as the only dim that it matches."""
    return map_sizes(predicate, size_of_one_dim)


def size_of_one_dim(size: Size) -> Size:
    """Returns ``size`` with each variadic read as the only dim that it matches."""
    match size:
        case Variadic(name=name):
            return Var(name)
        case Apply(args=args):
            return replace(size, args=tuple(map(size_of_one_dim, args)))
        case _:
            return size
