"""Ask, of each alternative, whether it is reached and whom it overlaps; of all, what they leave.

Most answers are seen in the boxes around what alternatives ask for, or in sizes that were met before;
the others are looked for by `Untaken`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...ir import And, Not, Predicate, Signature
from ...ir.taking import pads
from ..decide import WORK, Unknown, minimal_core
from .boxes import Bounds
from .findings import Coverage, Overlap, Unreachable
from .hints import misfits
from .points import Points, corners
from .regions import Region, Space, at_ranks, space_of
from .untaken import Untaken

MOST_PROOFS = 200  # of overlaps and of minimal sets: each is cheap, but their number grows by the square
TOO_MANY = "a bucket has too many joint choices"
MOST_EXPLAINED = 8  # alternatives for which the assumptions are looked for that make them take all


def coverage_of(signature: Signature, *, work: int = WORK) -> Coverage:
    """Returns what the alternatives of ``signature`` do with the sizes it accepts.

    Args:
        signature: Without errors, and satisfiable.
        work: How hard to try, for each question; a tenth of it once several could not be answered.
    """
    if not signature.alternatives:
        return Coverage()
    space = space_of(at_ranks(signature))
    if space.box is None:
        return Coverage()
    points = Points(space)
    return _Search(space, points, Untaken(space, work, points)).run(space.box)


@dataclass(slots=True)
class _Search:
    """Answers the questions about one space.

    Attributes:
        space: What is asked about.
        points: Sizes that were met.
        untaken: Finds more.
        proofs: How many more overlaps may be proved.
        undecided: See `Coverage`.
    """

    space: Space
    points: Points
    untaken: Untaken
    proofs: int = MOST_PROOFS
    undecided: dict[str | int, str] = field(default_factory=dict[str | int, str])

    def run(self, box: Bounds) -> Coverage:
        """Returns all answers; ``box`` is the space's."""
        positions = range(len(self.space.regions))
        unreachable = [dead for at in positions if (dead := self.unreachable(at)) is not None]
        gap = self.gap(box)
        gone = {dead.at for dead in unreachable}
        live = [at for at in positions if at not in gone]
        overlaps = [overlap for at in live if (overlap := self.overlap(at, gone)) is not None]
        hints = [misfit for at in live for misfit in misfits(self.space, at, self.points, self.untaken.find)]
        return Coverage(gap, tuple(unreachable), tuple(overlaps), tuple(hints), tuple(self.undecided.items()))

    def unreachable(self, at: int) -> Unreachable | None:
        """Returns why alternative ``at`` takes nothing, or None if it takes something, or that is unknown."""
        region = self.space.regions[at]
        if region.box is None:
            return self._explained(at, region, [])
        if self.points.takes(at):
            return None
        rivals = self.space.rivals(at, region.box)
        whole = next((rival for rival in rivals if not self.space.regions[rival].left_in(region.box)), None)
        if whole is not None:
            return self._explained(at, region, [whole])
        for corner in corners(region.box):
            self.points.add(corner)
            if self.points.takes(at):
                return None
        match self.untaken.find(region.parts, rivals):
            case None:
                return self._explained(at, region, rivals)
            case Unknown(reason=reason):
                self.undecided[at] = reason
            case _:
                pass
        return None

    def gap(self, box: Bounds) -> tuple[tuple[str, int], ...] | None:
        """Returns accepted sizes that no alternative takes."""
        regions = self.space.regions
        if any(region.exact and not region.left_in(box) for region in regions):
            return None
        rivals = [at for at, region in enumerate(regions) if region.exact and region.box is not None]
        match self.untaken.find((), rivals, smallest=True):
            case None:
                pass
            case Unknown(reason=reason):
                self.undecided["gap"] = reason
            case sizes if all(region.exact or not region.asks(sizes) for region in regions):
                return tuple(sorted(sizes.items()))
            case _:
                self.undecided["gap"] = TOO_MANY
        return None

    def overlap(self, at: int, dead: set[int]) -> Overlap | None:
        """Returns which earlier alternatives share sizes with ``at``, none of the two containing the other."""
        later = self.space.regions[at]
        if not later.parts or pads(later.alternative) or later.alternative.keyword == "otherwise":
            return None
        rivals = [each for each in range(at) if each not in dead and self._may_overlap(each, at)]
        earlier = [each for each in rivals if self._overlaps(each, at)]
        if not earlier:
            reasons: list[str] = []
            shown = next((each for each in rivals if self._shown_to_overlap(each, at, reasons)), None)
            if shown is None:
                self.undecided.update((at, reason) for reason in reasons[:1])
                return None
            earlier = [shown]
        first = self.space.regions[earlier[0]]
        before = [] if first.box is None else self.space.rivals(earlier[0], first.box)
        sizes = self.untaken.find([*first.parts, *later.parts], before, smallest=True)
        if not isinstance(sizes, Mapping):  # what showed it, at least
            sizes = self.points.shared_sizes(earlier[0], at)
        return Overlap(at, tuple(earlier), tuple(sorted(sizes.items())))

    def _may_overlap(self, first: int, second: int) -> bool:
        """Returns whether the boxes leave it open that ``first`` and ``second`` overlap."""
        one, other = self.space.regions[first], self.space.regions[second]
        if one.box is None or other.box is None or one.alternative.keyword == "otherwise":
            return False
        return not one.misses(other.box) and not other.misses(one.box) and other.left_in(one.box) != ()

    def _overlaps(self, first: int, second: int) -> bool:
        """Returns whether ``first`` is known to take sizes that ``second`` asks for, and sizes that it does not."""
        return self.points.shares(first, second) and self.points.differs(first, second)

    def _shown_to_overlap(self, first: int, second: int, reasons: list[str]) -> bool:
        """Like `_overlaps`, and looks for such sizes; ``reasons`` receives why it is not known whether there are any."""
        one, other = self.space.regions[first], self.space.regions[second]
        if one.box is None or other.box is None:
            return False
        for corner in corners(one.box, other.box):
            self.points.add(corner)
            if self._overlaps(first, second):
                return True
        before = self.space.rivals(first, one.box)
        for shown, parts in ((self.points.shares, other.parts), (self.points.differs, (other.outside(one.box),))):
            if shown(first, second):
                continue
            if self.proofs <= 0:
                reasons.append("it would take too long to decide")
                return False
            self.proofs -= 1
            found = self.untaken.find([*one.parts, *parts], before)
            if not shown(first, second):
                if found is not None:
                    reasons.append(found.reason if isinstance(found, Unknown) else TOO_MANY)
                return False
        return True

    def _explained(self, at: int, region: Region, rivals: Sequence[int]) -> Unreachable:
        """Returns alternative ``at`` as unreachable, and a minimal set of what makes it so."""
        stated = [*self.space.given, *region.conditions]
        predicates = [constraint.predicate for constraint in stated]
        if region.box is None or not (self.points.asked(at) or self.untaken.find(region.parts) is not None):
            rivals = []  # it asks for nothing that is accepted
        elif len(rivals) > 1:
            rivals = self._needed(at, region, region.box, rivals)
        if len(rivals) > MOST_EXPLAINED:
            return Unreachable(at, tuple(rivals), ())
        core = self._core([*predicates, *(Not(And(self.space.regions[rival].parts)) for rival in rivals)])
        taken_by = tuple(rivals[each - len(stated)] for each in core if each >= len(stated))
        return Unreachable(at, taken_by, tuple(stated[each] for each in core if each < len(stated)))

    def _needed(self, at: int, region: Region, box: Bounds, rivals: Sequence[int]) -> Sequence[int]:
        """Returns a minimal set of ``rivals`` that take all that ``at`` asks for."""
        if len(self.points.needed(at, rivals)) < len(rivals) / 2:  # few are: the proof itself tells which
            core = self._core([*self.space.parts, *region.parts, *self.space.outside(rivals, box)])
            fixed = len(self.space.parts) + len(region.parts)
            rivals = [rivals[each - fixed] for each in core if each >= fixed]
        kept = list(rivals)
        for rival in reversed(rivals):
            without = [each for each in kept if each != rival]
            if self.proofs > 0 and rival not in self.points.needed(at, kept):
                self.proofs -= 1
                if self.untaken.find(region.parts, without) is None:
                    kept = without
        return kept

    def _core(self, predicates: Sequence[Predicate]) -> Sequence[int]:
        core = minimal_core(self.space.variables, predicates, work=self.untaken.effort)
        return range(len(predicates)) if core is None else core


__all__ = ["coverage_of"]
