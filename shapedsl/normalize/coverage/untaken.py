"""Find accepted sizes that some predicates ask for and some alternatives do not.

Where all that is involved speaks of one size at a time it is cut (`cells`): quick, exact, and the lowest
corner of what is left is the smallest witness. Otherwise `decide` is asked; and where that does not
know, it is asked again about each of the pieces that cutting by the simple alternatives leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import inf

from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size, Var, VariableKind
from ..comparisons import FALSE
from ..decide import Refuted, Unknown, decide, find_sizes
from .boxes import bounds_of
from .cells import ANYTHING, Axis, Cell, TooManyCells, cell_in, cells_of, left_of, lowest, meet
from .points import Points
from .regions import Space, satisfies

MOST_UNANSWERED = 8  # questions that are asked in vain with full effort
MOST_PIECES = 64  # that `decide` is asked about one by one

Found = Mapping[str, int] | Unknown | None


@dataclass(slots=True)
class Untaken:
    """Finds sizes in one space.

    Attributes:
        space: Where to look.
        work: How hard `decide` tries; a tenth of it once several questions could not be answered.
        points: Receives what is found.
        unanswered: How many questions were asked in vain.
    """

    space: Space
    work: int
    points: Points
    unanswered: int = 0

    @property
    def effort(self) -> int:
        """How hard to try now: a spec that is hard throughout must not take long."""
        return self.work if self.unanswered < MOST_UNANSWERED else self.work // 10

    def find(self, parts: Sequence[Predicate], rivals: Sequence[int] = (), *, smallest: bool = False) -> Found:
        """Returns accepted sizes that satisfy ``parts`` and that none of ``rivals`` asks for; None if there are none.

        Args:
            parts: Canonical.
            rivals: Alternatives of which all is known.
            smallest: Whether the sizes are to be the smallest.
        """
        found = self._by_cutting(parts, rivals, smallest)
        if isinstance(found, Unknown):
            found = self._by_proof(parts, rivals, smallest)
        if isinstance(found, Unknown):
            found = self._by_pieces(parts, rivals, found)
        if isinstance(found, Unknown):
            self.unanswered += 1
        elif found is not None:
            self.points.add(found)
        return found

    def _by_cutting(self, parts: Sequence[Predicate], rivals: Sequence[int], smallest: bool) -> Found:
        mine = cells_of([*self.space.parts, *parts])
        others = [self.space.regions[rival].cells for rival in rivals]
        if mine is None or None in others:
            return Unknown("")
        best: dict[str, int] | None = None

        def better(cell: Cell) -> bool:
            return best is None or _size(lowest(cell)) < _size(best)

        try:
            for cell in self._whole(mine):
                for left in left_of(cell, chain(*filter(None, others)), better):
                    best = lowest(left)
                    if not smallest:
                        return self._confirmed(best, parts, rivals)
        except TooManyCells:
            return Unknown("")
        return None if best is None else self._confirmed(best, parts, rivals)

    def _confirmed(self, sizes: dict[str, int], parts: Sequence[Predicate], rivals: Sequence[int]) -> Found:
        """Returns ``sizes`` if Python's integers confirm them."""
        fit = self.space.accepts(sizes) and all(satisfies(part, sizes) for part in parts)
        taken = any(self.space.regions[rival].asks(sizes) for rival in rivals)
        return sizes if fit and not taken else Unknown("")

    def _whole(self, cells: Sequence[Cell]) -> Iterator[Cell]:
        """Yields ``cells`` with all names, and as the kinds allow."""
        for cell in cells:
            kinds = {v.name: ANYTHING if v.kind is VariableKind.INT else Axis(0, inf) for v in self.space.variables}
            whole = {name: meet(kind, cell.get(name, ANYTHING)) for name, kind in kinds.items()}
            if None not in whole.values():
                yield {name: one for name, one in whole.items() if one is not None}

    def _by_proof(self, parts: Sequence[Predicate], rivals: Sequence[int], smallest: bool) -> Found:
        box = bounds_of(self.space.variables, [*self.space.parts, *parts])
        if box is None:
            return None
        given = [*self.space.parts, *parts, *self.space.outside(rivals, box)]
        if not smallest:
            return find_sizes(self.space.variables, given, work=self.effort)
        match decide(self.space.variables, given, FALSE, work=self.effort):
            case Refuted(witness=witness):
                return dict(witness)
            case Unknown() as unknown:
                return unknown
            case _:
                return None

    def _by_pieces(self, parts: Sequence[Predicate], rivals: Sequence[int], unknown: Unknown) -> Found:
        """Asks about what the rivals that are cells leave, piece by piece."""
        box = bounds_of(self.space.variables, [*self.space.parts, *parts])
        regions = self.space.regions
        simple = [cells for rival in rivals if (cells := regions[rival].cells) is not None]
        rest = [rival for rival in rivals if regions[rival].cells is None]
        if box is None or not simple:
            return unknown
        try:
            pieces = list(islice(left_of(cell_in(box), chain(*simple)), MOST_PIECES + 1))
        except TooManyCells:
            return unknown
        if len(pieces) > MOST_PIECES:
            return unknown
        open_ = False
        for piece in pieces:
            given = [*self.space.parts, *parts, *_predicates(piece), *self.space.outside(rest, box)]
            found = find_sizes(self.space.variables, given, work=self.effort // 4)
            if isinstance(found, Unknown):
                open_ = True
            elif found is not None:
                return found
        return unknown if open_ else None


def _size(sizes: Mapping[str, int]) -> tuple[tuple[int, bool], ...]:
    """Returns what witnesses are compared by: variable by variable, in the order of names."""
    return tuple((abs(sizes[name]), sizes[name] < 0) for name in sorted(sizes))


def _predicates(cell: Cell) -> Iterator[Predicate]:
    for name, (low, high, modulus, residue) in cell.items():
        size: Size = Var(name)
        if low > -inf:
            yield Compare(COMPARISONS[">="], size, Const(int(low)))
        if high < inf:
            yield Compare(COMPARISONS["<="], size, Const(int(high)))
        if modulus > 1:
            yield Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (size, Const(modulus))), Const(residue))


__all__ = ["Found", "Untaken"]
