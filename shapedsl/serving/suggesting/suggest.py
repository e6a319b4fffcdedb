"""Traffic → the alternatives to write: cases for hot sizes, buckets for the rest, and what becomes of the tail.

Before, of 1,000 calls with B from 1 to 8 and S from 1 to 512, seven hundred of them with S == 1::

    budget of 5 artifacts

After::

    case S == 1                        # 700 calls
    bucket S in {61, 130, 260, 512}    # 300 calls, 18 % of their elements are padding
    otherwise eager

The budget is spent on a case only for all sizes of at least a quarter of the calls, for one size that half of them share,
or a tenth, if it is the size 1, on which torch specializes anyway. A size that is padded needs no case but for 1: a member
equal to it pads nothing. Everything else goes to the members, which are the optimum for what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ...ir import Alternative
from ...ir.taking import asked_by
from ...ir.walk import holds
from ..profiles.traffic import Call, Traffic, elements, polynomials
from .joint_optimum import joint_choices
from .keeping import Kept
from .optimum import choices

HOT: Final = 0.25  # of all calls: if all their sizes are the same, these become a case
HOT_SIZE: Final = 0.5  # if one size is
HOT_ONE: Final = 0.1  # if this is 1
WORTH: Final = 0.01  # of the elements that calls really have: what one more artifact must save at least
COMPILE_SECONDS: Final = 20.0
MOST: Final = 16  # artifacts that are thought of where no budget is given
_TAIL: Final = 0.01  # of the calls: what is looked at when a tail is spoken of


@dataclass(frozen=True, slots=True)
class Case:
    """A case for sizes that many calls share: ``sizes`` by variable, and how many calls it takes."""

    sizes: tuple[tuple[str, int], ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Members:
    """Buckets.

    Attributes:
        sizes: Variable → members, in the order of the parameters.
        calls: How many calls are padded to them.
        padded: Elements of these calls once they are padded.
        real: Elements that they have.
        least: No members within the same budget give fewer padded elements.
        exact: Whether they are the optimum.
    """

    sizes: tuple[tuple[str, tuple[int, ...]], ...]
    calls: int
    padded: int
    real: int
    least: int
    exact: bool

    @property
    def artifacts(self) -> int:
        """How many combinations of members there are."""
        product = 1
        for _, members in self.sizes:
            product *= len(members)
        return product

    @property
    def waste(self) -> float:
        """The share of padding in what is computed, from 0 to 1."""
        return 1 - self.real / self.padded if self.padded else 0.0


@dataclass(slots=True)
class Plan:
    """What is suggested.

    Attributes:
        cases: In the order in which they are tried.
        members: The buckets, or None where nothing varies that could be padded.
        calls: How many calls there are.
        eager: How many of them go to ``otherwise``.
        rest: What ``otherwise`` is: ``eager``, ``dynamic`` or ``backed``.
        compile_seconds: What one artifact costs.
        notes: What is to be known of it, one line each.
        kept: How many artifacts the alternatives that stay take.
        ends: Whether an ``otherwise`` stays, so that none is written.
    """

    cases: list[Case]
    members: Members | None
    calls: int
    eager: int
    rest: str
    compile_seconds: float
    notes: list[str] = field(default_factory=list[str])
    kept: int = 0
    ends: bool = False

    @property
    def artifacts(self) -> int:
        """How many artifacts are compiled."""
        buckets = 0 if self.members is None else self.members.artifacts
        return len(self.cases) + buckets + self.kept + (self.rest != "eager" and not self.ends)

    @property
    def coverage(self) -> float:
        """The share of calls that a case or a bucket takes, from 0 to 1."""
        return 1 - self.eager / self.calls if self.calls else 0.0

    @property
    def waste(self) -> float:
        """The share of padding in what cases and buckets compute, from 0 to 1; cases pad nothing and are left out."""
        return 0.0 if self.members is None else self.members.waste


@dataclass(frozen=True, slots=True)
class Options:
    """How to choose.

    Attributes:
        k: At most so many artifacts; None: as long as one more is worth it.
        over: The sizes to pad, one or two; empty: the one that has most different sizes.
        worth: What one more artifact must save, as a share of the elements that calls really have.
        tail: The share of calls, the largest ones, that may be left to ``otherwise``.
        rest: What ``otherwise`` is: ``eager`` or ``dynamic``; None: dynamic where no size can be padded, since most
            calls would be eager then.
        compile_seconds: What one artifact costs.
    """

    k: int | None = None
    over: tuple[str, ...] = ()
    worth: float = WORTH
    tail: float = 0.0
    rest: str | None = None
    compile_seconds: float = COMPILE_SECONDS


def plan(traffic: Traffic, options: Options, kept: Kept) -> Plan:
    """Returns the alternatives to write.

    Args:
        traffic: The calls.
        options: How to choose.
        kept: The alternatives that the spec has; those that stay and come first take their calls first.
    """
    every = traffic.calls
    calls = [call for call in every if not any(_asks(each, call) for each in kept.before)]
    total = sum(call.times for call in every)
    most = MOST if options.k is None else options.k
    over = options.over or tuple(name for name in kept.over if name in paddable(traffic)) or _widest(traffic, calls)
    rest = options.rest or ("eager" if over or not _varying(calls) or most <= kept.artifacts else "dynamic")
    made = Plan([], None, total, 0, rest, options.compile_seconds)
    made.kept = kept.artifacts
    made.ends = kept.ends
    budget = most - made.kept - (made.rest != "eager" and not made.ends)
    made.cases = _cases(calls, total, budget, over)
    left = [call for call in calls if not any(_takes(case, call) for case in made.cases)]
    budget -= len(made.cases)
    missing = [name for name in over if any(name not in call.sizes for call in left)]
    if missing:
        made.notes.append(f"{missing[0]} is not a size of every call, so it is not padded")
        over = ()
    if over and left and budget < 1:
        made.notes.append(
            f"no artifact is left for buckets: of {most}, {made.kept} are those of alternatives that stay"
        )
    elif over and left:
        made.members = _members(left, over, budget, total, options)
        _tell(made, left, over, options)
    made.eager = sum(call.times for call in left) - (0 if made.members is None else made.members.calls)
    return made


def paddable(traffic: Traffic) -> list[str]:
    """Returns the sizes that could be padded: those that vary and stand bare on an axis, and in no expression."""
    bare = {name for call in traffic.calls for dims in call.dims for name in dims if name is not None}
    return [
        name
        for name in traffic.variables()
        if name in bare and name not in traffic.blocked and "[" not in name and len(traffic.counts(name)) > 1
    ]


def _widest(traffic: Traffic, calls: Sequence[Call]) -> tuple[str, ...]:
    """Returns the size with most different values, if any can be padded."""
    found = [name for name in paddable(traffic) if all(name in call.sizes for call in calls)]
    return (max(found, key=lambda name: len(traffic.counts(name))),) if found else ()


def _cases(calls: Sequence[Call], total: int, budget: int, over: Sequence[str]) -> list[Case]:
    """Returns cases for what many calls share: all their sizes first, then single sizes."""
    found: list[Case] = []
    varying = _varying(calls)
    left = list(calls)
    room = max(0, min(budget - (1 if over else 0), max(1, budget // 4)))
    while len(found) < room:
        whole: dict[tuple[tuple[str, int], ...], int] = {}
        single: dict[tuple[str, int], int] = {}
        for call in left:
            own = tuple((name, call.sizes[name]) for name in varying if name in call.sizes)
            whole[own] = whole.get(own, 0) + call.times
            for pair in own:
                single[pair] = single.get(pair, 0) + call.times
        hot = [
            Case(sizes, times)
            for sizes, times in whole.items()
            if times >= HOT * total and any(name not in over or size == 1 for name, size in sizes)
        ] or [
            Case(((name, size),), times)
            for (name, size), times in single.items()
            if times >= (HOT_ONE if size == 1 else HOT_SIZE) * total and (name not in over or size == 1)
        ]
        if not hot:
            break
        best = max(hot, key=lambda case: case.calls)
        found.append(best)
        left = [call for call in left if not _takes(best, call)]
        varying = [name for name in varying if name in _varying(left)]
    return found


def _varying(calls: Sequence[Call]) -> list[str]:
    seen: dict[str, set[int]] = {}
    for call in calls:
        for name, size in call.sizes.items():
            if "[" not in name:  # an element of a variadic has no name that a clause could use
                seen.setdefault(name, set()).add(size)
    return [name for name, sizes in seen.items() if len(sizes) > 1]


def _asks(each: Alternative, call: Call) -> bool:
    """Whether an alternative asks for the sizes of a call."""
    try:
        return all(holds(condition.predicate, call.sizes) for condition in asked_by(each).conditions)
    except (KeyError, ZeroDivisionError, TypeError):
        return False


def _takes(case: Case, call: Call) -> bool:
    return all(call.sizes.get(name) == size for name, size in case.sizes)


def _members(calls: Sequence[Call], over: Sequence[str], budget: int, total: int, options: Options) -> Members:
    """Returns the best members within a budget: all of it, or as long as one more is worth it."""
    kept = _without_tail(calls, over, options.tail * total) if options.tail else list(calls)
    real = sum(call.times * elements(call, {name: call.sizes[name] for name in over}) for call in kept)
    times = sum(call.times for call in kept)
    if len(over) == 1:
        line = polynomials(kept, over[0])
        found = [
            Members(((over[0], choice.members),), times, choice.cost, real, choice.cost, exact=True)
            for choice in choices(line, budget)
        ]
    else:
        found = [
            Members(tuple(zip(over, joint.members, strict=True)), times, joint.cost, real, joint.least, joint.exact)
            for joint in joint_choices(kept, over[0], over[1], budget)
        ]
    if options.k is not None:
        return min(found, key=lambda members: (members.padded, members.artifacts))
    return min(
        found, key=lambda members: (members.padded + members.artifacts * options.worth * real, members.artifacts)
    )


def _without_tail(calls: Sequence[Call], over: Sequence[str], most: float) -> list[Call]:
    """Returns the calls without the largest ones: no more of these than ``most``."""
    ordered = sorted(calls, key=lambda call: tuple(call.sizes[name] for name in over))
    gone = 0
    while len(ordered) > 1 and gone + ordered[-1].times <= most:
        gone += ordered.pop().times
    largest = {name: max(call.sizes[name] for call in ordered) for name in over}
    return [call for call in calls if all(call.sizes[name] <= largest[name] for name in over)]


def _tell(made: Plan, left: Sequence[Call], over: Sequence[str], options: Options) -> None:
    """Notes what the choice is worth, and what would change it."""
    members = made.members
    assert members is not None
    if not members.exact:
        bound = 1 - members.real / members.least if members.least else 0.0
        made.notes.append(f"not proved to be the optimum: no choice pads less than {bound:.1%}")
    if options.tail or len(over) != 1:
        return
    trimmed = _members(left, over, members.artifacts, made.calls, Options(k=members.artifacts, tail=_TAIL))
    if trimmed.calls < members.calls and members.waste - trimmed.waste > 0.02:
        made.notes.append(
            f"without the largest {(members.calls - trimmed.calls) / made.calls:.1%} of the calls"
            f" ({over[0]} above {trimmed.sizes[0][1][-1]}) it would be {trimmed.waste:.0%}: --tail {_TAIL:g}"
        )


__all__ = ["COMPILE_SECONDS", "HOT", "MOST", "WORTH", "Case", "Members", "Options", "Plan", "paddable", "plan"]
