"""The sizes that each alternative asks for, with what single variables can be in them.

A region is kept twice: as predicates, which say it exactly, and as a box of ranges and residues around
it, by which most pairs of regions are told apart, or nested, without asking for a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ...ir import (
    Alternative,
    And,
    Apply,
    Constraint,
    Not,
    Or,
    Predicate,
    Signature,
    Size,
    Var,
    Variable,
    Variadic,
)
from ...ir.taking import asked_by
from ...ir.variadic import expand_alternative, expand_constraint
from ...ir.walk import free_vars, holds, map_sizes
from ..facts import fact_of, is_fact_of
from ..intervals import EVERYTHING, Interval
from ..predicates import simplify_predicate, split
from .boxes import Bounds, apart, bounds_of, truth
from .cells import Cell, cells_of


@dataclass(frozen=True, slots=True)
class Region:
    """What one alternative asks for.

    Attributes:
        alternative: Whose it is.
        conditions: As they were written; see `ir.taking.Asked`.
        exact: Whether nothing else is asked.
        parts: The conditions in canonical form, split.
        ties: Those of them that are no range or residue of one size.
        box: Around the sizes that are accepted and asked for; None where that is nothing.
        cells: What the parts say, where they speak of one size at a time; else None.
    """

    alternative: Alternative
    conditions: tuple[Constraint, ...]
    exact: bool
    parts: tuple[Predicate, ...]
    ties: frozenset[Predicate]
    box: Bounds | None
    cells: tuple[Cell, ...] | None

    def left_in(self, box: Bounds) -> tuple[Predicate, ...]:
        """Returns the parts that are not seen to hold all over ``box``: none if the region contains it."""
        return tuple(
            part for part in self.parts if not is_fact_of(box, part) and not (part in self.ties and truth(part, box))
        )

    def misses(self, box: Bounds) -> bool:
        """Returns whether it is seen that the region has nothing in common with ``box``."""
        if self.box is None or apart(self.box, box):
            return True
        return any(truth(part, box) is False for part in self.ties)

    def outside(self, box: Bounds) -> Predicate:
        """Returns that sizes of ``box`` are not in the region."""
        left = self.left_in(box)
        return simplify_predicate(Not(left[0] if len(left) == 1 else And(left)))

    def asks(self, sizes: Mapping[str, int]) -> bool:
        """Returns whether the conditions hold for ``sizes``."""
        return all(satisfies(condition.predicate, sizes) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Space:
    """The accepted sizes of a signature, and the regions of its alternatives in them.

    Attributes:
        variables: Those that alternatives speak of, and those that assumptions tie to them.
        given: The assumptions about them.
        parts: These in canonical form, split.
        box: Around all accepted sizes; None where there are none.
        regions: One an alternative, in order.
    """

    variables: tuple[Variable, ...]
    given: tuple[Constraint, ...]
    parts: tuple[Predicate, ...]
    box: Bounds | None
    regions: tuple[Region, ...]

    def accepts(self, sizes: Mapping[str, int]) -> bool:
        """Returns whether the assumptions hold for ``sizes``."""
        return all(satisfies(constraint.predicate, sizes) for constraint in self.given)

    def rivals(self, at: int, box: Bounds) -> list[int]:
        """Returns the alternatives before ``at`` that may ask for some of what is in ``box``, and of which all is known."""
        return [
            each
            for each, region in enumerate(self.regions[:at])
            if region.exact and region.box is not None and not region.misses(box)
        ]

    def outside(self, rivals: Iterable[int], box: Bounds) -> list[Predicate]:
        """Returns that none of ``rivals`` asks for sizes in ``box``."""
        return [self.regions[rival].outside(box) for rival in rivals]


def at_ranks(signature: Signature) -> Signature:
    """Returns ``signature`` with its variadics of fixed rank written out: ``batch[0]``, ``batch[1]``."""
    lengths = dict(signature.ranks)
    if not lengths:
        return signature
    variables: list[Variable] = []
    for v in signature.variables:
        axes = range(lengths.get(v.name, 0))
        variables += [Variable(f"{v.name}[{axis}]", v.kind) for axis in axes] if v.name in lengths else [v]
    return replace(
        signature,
        constraints=tuple(each for c in signature.constraints for each in expand_constraint(c, lengths)),
        alternatives=tuple(expand_alternative(each, lengths) for each in signature.alternatives),
        variables=tuple(variables),
        ranks=(),
    )


def space_of(signature: Signature) -> Space:
    """Returns the space of ``signature``."""
    asked = [asked_by(alternative) for alternative in signature.alternatives]
    names = {name for each in asked for c in each.conditions for name in free_vars(c.predicate)}
    names |= {name for each in signature.alternatives for name, _ in each.hints}
    given = _about(names, signature.constraints)
    variables = tuple(v for v in signature.variables if v.name in names)
    parts = _parts(given)
    regions: list[Region] = []
    for alternative, each in zip(signature.alternatives, asked, strict=True):
        mine = tuple(dict.fromkeys(map(undominated, _parts(each.conditions))))
        box = bounds_of(variables, [*parts, *mine])
        cells = cells_of(mine)
        known = None if cells is None else tuple(cells)
        ties = frozenset(part for part in mine if fact_of(part) is None)
        regions.append(Region(alternative, each.conditions, each.exact, mine, ties, box, known))
    return Space(variables, given, parts, bounds_of(variables, parts), tuple(regions))


def _about(names: set[str], constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Returns the constraints that ``names`` are tied to; ``names`` grows by theirs."""
    tied: dict[int, Constraint] = {}
    left = {at: (set(free_vars(c.predicate)), c) for at, c in enumerate(constraints)}
    grown = True
    while grown:
        grown = False
        for at, (mine, constraint) in list(left.items()):
            if not names.isdisjoint(mine):
                names |= mine
                tied[at] = constraint
                del left[at]
                grown = True
    return tuple(tied[at] for at in sorted(tied))


def _parts(constraints: Iterable[Constraint]) -> tuple[Predicate, ...]:
    return tuple(dict.fromkeys(part for c in constraints for part in split(simplify_predicate(c.predicate))))


def undominated(part: Predicate) -> Predicate:
    """Returns an ``or`` of boxes without those that lie in another: of joint choices, most do."""
    if not isinstance(part, Or) or len(part.args) < 3:
        return part
    boxes = [_ranges(arg) for arg in part.args]
    kept: list[int] = []
    for at, box in enumerate(boxes):
        rivals = [*kept, *range(at + 1, len(boxes))]
        if box is None or not any((other := boxes[rival]) is not None and _inside(box, other) for rival in rivals):
            kept.append(at)
    args = tuple(part.args[at] for at in kept)
    return args[0] if len(args) == 1 else replace(part, args=args)


def _ranges(part: Predicate) -> dict[str, Interval] | None:
    """Returns the ranges that a conjunction says, if it says nothing else."""
    ranges: dict[str, Interval] = {}
    for each in split(part):
        fact = fact_of(each)
        if fact is None or fact[2] != 1:
            return None
        ranges[fact[0]] = ranges.get(fact[0], EVERYTHING).meet(fact[1])
    return ranges


def _inside(small: Mapping[str, Interval], large: Mapping[str, Interval]) -> bool:
    return all(
        interval.low <= (mine := small.get(name, EVERYTHING)).low and mine.high <= interval.high
        for name, interval in large.items()
    )


# --------------------------------------------------------------------------------------- points


def satisfies(predicate: Predicate, sizes: Mapping[str, int]) -> bool:
    """Returns whether ``predicate`` holds for ``sizes``, a variadic having one dim; not where a divisor is 0."""
    try:
        return holds(predicate, sizes)
    except ZeroDivisionError:
        return False
    except TypeError:
        return satisfies(map_sizes(predicate, _of_one_dim), sizes)


def _of_one_dim(size: Size) -> Size:
    match size:
        case Variadic(name=name):
            return Var(name)
        case Apply(args=args):
            return replace(size, args=tuple(map(_of_one_dim, args)))
        case _:
            return size
