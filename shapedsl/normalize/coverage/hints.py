"""Check the hints of alternatives exactly: can the size occur in what the alternative takes?

`hints` looks at assumptions and predicates about the hinted size alone, when a file is read. What is left
to see is what several sizes, or the alternatives in front, exclude.

Before::

    where S == 2 * B
    case small: S <= 8 hint B = 6          # warning: B is at most 4 here
    case B == 2
    otherwise hint B = 2                   # warning: the case in front takes it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...ir import COMPARISONS, And, Compare, Const, Not, Predicate, Var
from ...ir.walk import free_vars
from ..decide import Unknown
from ..hints import nearest_fit
from .boxes import bounds_of
from .findings import Misfit
from .points import Points, corners
from .regions import Region, Space, satisfies

Find = Callable[[Sequence[Predicate], Sequence[int]], "Mapping[str, int] | Unknown | None"]  # see `Untaken.find`


def misfits(space: Space, at: int, points: Points, find: Find) -> Iterator[Misfit]:
    """Yields the hints of alternative ``at`` that do not fit; what is not decided is let pass.

    Args:
        space: Of the signature.
        at: An alternative that takes something.
        points: Sizes that were met.
        find: Finds accepted sizes that satisfy predicates, and that none of some alternatives asks for.
    """
    region = space.regions[at]
    known = {variable.name for variable in space.variables if not variable.variadic}
    hints = [(name, value) for name, value in region.alternative.hints if name in known]
    told = False
    for name, value in hints:
        if _told_before(space, region, name, value):
            told = True
            continue
        fits, taken_by = _fits(space, at, [(name, value)], points, find)
        if not fits:
            told = True
            yield Misfit(at, ((name, value),), taken_by, _nearest(space, at, name, value))
    if len(hints) > 1 and not told:
        fits, taken_by = _fits(space, at, hints, points, find)
        if not fits:
            yield Misfit(at, tuple(hints), taken_by)


def _told_before(space: Space, region: Region, name: str, value: int) -> bool:
    """Returns whether a predicate about ``name`` alone excludes ``value``."""
    constraints = [*space.given, *region.alternative.constraints]
    return any(set(free_vars(c.predicate)) == {name} and not satisfies(c.predicate, {name: value}) for c in constraints)


def _fits(
    space: Space, at: int, hints: Sequence[tuple[str, int]], points: Points, find: Find
) -> tuple[bool, int | None]:
    """Returns whether ``at`` may take sizes with ``hints``, and if not, which earlier one takes such sizes."""
    region = space.regions[at]
    pinned: list[Predicate] = [Compare(COMPARISONS["=="], Var(name), Const(value)) for name, value in hints]
    box = bounds_of(space.variables, [*space.parts, *region.parts, *pinned])
    if box is None:
        return False, None
    taker: int | None = None
    for corner in corners(box):
        found = points.taker(corner)
        if found == at:
            return True, None
        taker = found if taker is None and found is not None and region.asks(corner) else taker
    if find([*region.parts, *pinned], space.rivals(at, box)) is not None:
        return True, None
    if taker is None and isinstance(asked := find([*region.parts, *pinned], ()), Mapping):
        taker = points.taker(asked)
    return False, taker


def _nearest(space: Space, at: int, name: str, value: int) -> int | None:
    """Returns what lowering the alternative takes for the hint; None where it is not lowered alone."""
    if any(region.alternative.buckets for region in space.regions[: at + 1]):
        return None
    mine = [*space.regions[at].parts, *(Not(And(region.parts)) for region in space.regions[:at])]
    return nearest_fit(name, value, space.variables, [*space.parts, *mine])


__all__ = ["misfits"]
