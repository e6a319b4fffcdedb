"""Cells: products of ranges with residues, one a variable. What is left of a cell outside of many others.

Most cases speak of one size at a time: ``B in [2, 8], S % 16 == 0`` is a cell, and ``B in {2, 4}`` are two.
What no case takes is then a matter of cutting, exact and quick, where a proof over eighty negations is not.

Before and after, one size::

    [0, 20] outside of [4, 9] and of the multiples of 2
    [1, 3] odd, [11, 19] odd
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import gcd, inf
from typing import NamedTuple, TypeAlias

from ...ir import And, Apply, Compare, Const, Or, Predicate, Var
from ..domains import Domains
from ..facts import excluded_value, fact_of
from ..intervals import Bound

MOST_CELLS = 128  # that one predicate is made of
MOST_CLASSES = 64  # of residues that a cut leaves
MOST_CUTS = 20_000


class TooManyCells(Exception):
    """It would be cut into too many pieces."""


class Axis(NamedTuple):
    """The integers ``v`` with ``low <= v <= high`` and ``v % modulus == residue``; a finite end is one of them."""

    low: Bound
    high: Bound
    modulus: int = 1
    residue: int = 0


Cell: TypeAlias = "Mapping[str, Axis]"  # a name that is missing can be anything
Facts: TypeAlias = "tuple[tuple[str, Axis], ...]"  # of a cell, those not known to hold where it is looked at

ANYTHING = Axis(-inf, inf)


def axis(low: Bound, high: Bound, modulus: int = 1, residue: int = 0) -> Axis | None:
    """Returns the axis with its ends moved onto the residue, or None if it is empty."""
    if low == inf or high == -inf:
        return None
    if modulus > 1:
        if low != -inf:
            low += (residue - int(low)) % modulus
        if high != inf:
            high -= (int(high) - residue) % modulus
    return Axis(low, high, modulus, residue) if low <= high else None


def meet(one: Axis, other: Axis) -> Axis | None:
    """Returns what is in both, or None if nothing is."""
    low, high = max(one.low, other.low), min(one.high, other.high)
    if low > high:
        return None
    if other.modulus == 1:
        return axis(low, high, one.modulus, one.residue)
    common = gcd(one.modulus, other.modulus)
    if (other.residue - one.residue) % common:
        return None
    rest = other.modulus // common
    steps = (other.residue - one.residue) // common * pow(one.modulus // common, -1, rest) % rest if rest > 1 else 0
    modulus = one.modulus * rest
    return axis(low, high, modulus, (one.residue + one.modulus * steps) % modulus)


def inside(one: Axis, other: Axis) -> bool:
    """Returns whether all of ``one`` is in ``other``."""
    if one.low < other.low or one.high > other.high:
        return False
    if one.low == one.high:
        return int(one.low) % other.modulus == other.residue
    return one.modulus % other.modulus == 0 and one.residue % other.modulus == other.residue


def without(one: Axis, other: Axis) -> Iterator[Axis]:
    """Yields disjoint axes: what is in ``one`` and not in ``other``, from which it is not apart."""
    below = axis(one.low, min(one.high, other.low - 1), one.modulus, one.residue)
    if below is not None:
        yield below
    low, high = max(one.low, other.low), min(one.high, other.high)
    classes = other.modulus // gcd(one.modulus, other.modulus)
    if classes > MOST_CLASSES:
        raise TooManyCells
    modulus = one.modulus * classes
    for step in range(classes):
        residue = (one.residue + one.modulus * step) % modulus
        if residue % other.modulus != other.residue:
            piece = axis(low, high, modulus, residue)
            if piece is not None:
                yield piece
    above = axis(max(one.low, other.high + 1), one.high, one.modulus, one.residue)
    if above is not None:
        yield above


# ------------------------------------------------------------------------------- from predicates


def cells_of(predicates: Iterable[Predicate]) -> list[Cell] | None:
    """Returns cells that together are what satisfies all of ``predicates``, or None if they speak of more.

    Args:
        predicates: Canonical.
    """
    found: list[Cell] = [{}]
    for predicate in predicates:
        options = _options(predicate)
        if options is None or len(found) * len(options) > MOST_CELLS:
            return None
        found = [cell for one, other in product(found, options) if (cell := _both(one, other)) is not None]
    return found


def _options(predicate: Predicate) -> list[Cell] | None:
    match predicate:
        case And(args=args):
            return cells_of(args)
        case Or(args=args):
            several = [_options(arg) for arg in args]
            return None if None in several else [cell for options in several for cell in options or ()]
        case _:
            pass
    if fact := fact_of(predicate):
        name, interval, modulus, residue = fact
        single = axis(interval.low, interval.high, modulus, residue)
        return [] if single is None else [{name: single}]
    if edge := excluded_value(predicate):
        return [{edge[0]: piece} for piece in without(ANYTHING, Axis(edge[1], edge[1]))]
    match predicate:
        case Compare(
            op=op, left=Apply(op=inner, args=(Var(name=name), Const(value=modulus))), right=Const(value=residue)
        ) if op.name == "!=" and inner.name == "%" and 0 <= residue < modulus <= MOST_CLASSES:
            return [{name: piece} for piece in without(ANYTHING, Axis(-inf, inf, modulus, residue))]
        case _:
            return None


def _both(one: Cell, other: Cell) -> Cell | None:
    together = dict(one)
    for name, mine in other.items():
        shared = meet(together.get(name, ANYTHING), mine)
        if shared is None:
            return None
        together[name] = shared
    return together


def cell_in(box: Domains) -> dict[str, Axis]:
    """Returns ``box`` as a cell."""
    return {name: Axis(d.low, d.high, d.modulus, d.residue) for name, d in box.of.items()}


# ---------------------------------------------------------------------------------------- cutting


def left_of(cell: Cell, others: Iterable[Cell], worth: Callable[[Cell], bool] | None = None) -> Iterator[Cell]:
    """Yields disjoint cells: what is in ``cell`` and in none of ``others``.

    Args:
        cell: Of all the names that ``others`` have.
        others: Any cells.
        worth: Whether to look into a cell; asked of each before it is cut.

    Raises:
        TooManyCells: After `MOST_CUTS` of them.
    """
    facts: list[Facts] = [tuple(other.items()) for other in others]
    pending: list[tuple[Cell, Sequence[Facts], bool]] = [(cell, facts, True)]
    cuts = 0
    while pending:
        cuts += 1
        if cuts > MOST_CUTS:
            raise TooManyCells
        here, rivals, parted = pending.pop()
        if worth is not None and not worth(here):
            continue
        near = _near(here, rivals)
        if near is None:
            continue
        if not near:
            yield here
            continue
        pieces = _between(here, near) if parted and len(near) > 1 else None
        if pieces is not None:
            pending += ((piece, near, True) for piece in reversed(pieces))
        else:  # the rival of which the fewest questions are left cuts off the most
            pending += ((piece, near, parted) for piece in reversed(_around(here, min(near, key=len))))


def _around(cell: Cell, rival: Facts) -> list[Cell]:
    """Returns disjoint cells: what is in ``cell`` and not in ``rival``."""
    pieces: list[Cell] = []
    for name, fact in rival:
        pieces += ({**cell, name: piece} for piece in without(cell[name], fact))
        shared = meet(cell[name], fact)
        if shared is None:
            break
        cell = {**cell, name: shared}
    return pieces


def _between(cell: Cell, rivals: Sequence[Facts]) -> list[Cell] | None:
    """Returns ``cell`` in parts, so that each of ``rivals`` lies in one of them; None if there is no such cut.

    Cases that divide the sizes among them are told apart like this one by one, without being cut.
    """
    by_name: dict[str, list[Axis]] = {}
    for rival in rivals:
        for name, fact in rival:
            by_name.setdefault(name, []).append(fact)
    for name, facts in by_name.items():
        if len(facts) < len(rivals):
            continue
        mine = cell[name]
        if (at := _gap(facts)) is not None and mine.low <= at < mine.high:
            halves = (
                axis(mine.low, at, mine.modulus, mine.residue),
                axis(at + 1, mine.high, mine.modulus, mine.residue),
            )
            return [{**cell, name: half} for half in halves if half is not None]
        common = gcd(*(fact.modulus for fact in facts))
        classes = common // gcd(common, mine.modulus)
        if 1 < classes <= MOST_CLASSES:
            modulus = mine.modulus * classes
            residues = (mine.residue + mine.modulus * step for step in range(classes))
            parts = (axis(mine.low, mine.high, modulus, residue % modulus) for residue in residues)
            return [{**cell, name: part} for part in parts if part is not None]
    return None


def _gap(facts: Sequence[Axis]) -> int | None:
    """Returns a number such that each axis lies below or at it, or above, about as many on both sides; None if none is."""
    ordered = sorted(facts)
    highest: Bound = -inf
    best: tuple[int, int] | None = None
    for at, fact in enumerate(ordered):
        if at and highest < fact.low:
            balance = abs(2 * at - len(ordered))
            if best is None or balance < best[0]:
                best = balance, int(highest)
        highest = max(highest, fact.high)
    return None if best is None else best[1]


def _near(cell: Cell, rivals: Iterable[Facts]) -> list[Facts] | None:
    """Returns those of ``rivals`` that are not apart from ``cell``, each without what holds in it; None if one contains it."""
    near: list[Facts] = []
    for rival in rivals:
        left: list[tuple[str, Axis]] = []
        for name, fact in rival:
            mine = cell[name]
            if inside(mine, fact):
                continue
            if mine.high < fact.low or mine.low > fact.high:
                break
            if (fact.modulus > 1 or mine.modulus > 1) and meet(mine, fact) is None:
                break
            left.append((name, fact))
        else:
            if not left:
                return None
            near.append(tuple(left))
    return near


def lowest(cell: Cell) -> dict[str, int]:
    """Returns the sizes of ``cell`` that are nearest to 0, the positive of two."""
    return {name: _nearest(mine) for name, mine in cell.items()}


def _nearest(mine: Axis) -> int:
    if mine.low >= 0:
        return int(mine.low)
    if mine.high <= 0:
        return int(mine.high)
    up = mine.residue % mine.modulus
    options = [value for value in (up, up - mine.modulus) if mine.low <= value <= mine.high]
    return min(options, key=lambda value: (abs(value), value < 0))
