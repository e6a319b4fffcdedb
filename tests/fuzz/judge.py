"""What the decision procedure says of a system, held against oracles.

Whatever is answered must be right: sizes that it found satisfy every predicate, where it finds none
no oracle finds any, the core of a proof is enough for it and minimal, a range holds every value. To
answer nothing is allowed, and counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import gcd

from shapedsl.ir import Const, Not, Predicate, Size, VariableKind
from shapedsl.normalize.decide import Proved, Range, Refuted, Unknown, decide, find_sizes, minimal_core, range_of

from ..normalize.decide import oracles
from .systems import System, apply, compare, names_of

MOST_VALUES = 3000
Z3_EFFORT = 200_000
AROUND = {1: 400, 2: 40, 3: 14, 4: 8, 5: 6}  # how many values stand for an unbounded size, by the number of variables


@dataclass
class Outcome:
    """What came of one system.

    Attributes:
        wrong: Answers that are wrong, with the proof.
        larger: Witnesses that are right, though a smaller one exists; cores that are right, though not minimal.
        unknown: Questions without an answer, with the reasons.
        satisfied: Whether sizes were found for all of it.
        asked: How many questions were asked.
        unconfirmed: Answers that no oracle could confirm.
        seconds: What the procedure took for its slowest answer.
    """

    wrong: list[str] = field(default_factory=list)
    larger: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    satisfied: bool = False
    asked: int = 0
    unconfirmed: int = 0
    seconds: float = 0.0


def judge(system: System) -> Outcome:
    """Returns what came of ``system``."""
    judged = _Judge(system, Outcome())
    for question in (judged.sizes, judged.question, judged.range):
        start = time.process_time()
        judged.outcome.asked += 1
        try:
            check = question()
        except Exception as error:  # a crash is a wrong answer
            judged.outcome.wrong.append(f"{question.__name__}: {type(error).__name__}: {error}")
            continue
        judged.outcome.seconds = max(judged.outcome.seconds, time.process_time() - start)
        for each in check:
            judged.outcome.wrong.append(f"{question.__name__}: {each}")
    return judged.outcome


class _Judge:
    """Each question asks at once, and returns what is wrong with the answer lazily, so that only asking is timed."""

    def __init__(self, system: System, outcome: Outcome) -> None:
        self.system, self.outcome = system, outcome
        self.names = names_of(system.variables)

    # Questions

    def sizes(self) -> Iterator[str]:
        system = self.system
        found = find_sizes(system.variables, system.predicates)  # any sizes: only `decide` looks for the smallest
        core = minimal_core(system.variables, system.predicates) if found is None else None
        return self.sizes_wrong(found, core)

    def sizes_wrong(self, found: Mapping[str, int] | Unknown | None, core: tuple[int, ...] | None) -> Iterator[str]:
        predicates = self.system.predicates
        if isinstance(found, Unknown):
            self.outcome.unknown.append(f"sizes: {found.reason}")
        elif found is None:
            yield from self.not_refuted(predicates)
            if core is None:
                self.outcome.unknown.append("sizes: no core")
            else:
                yield from self.core_wrong(core, predicates, ())
        else:
            self.outcome.satisfied = True
            yield from self.witness_wrong(found, predicates, smallest=False)

    def question(self) -> Iterator[str]:
        *given, asked = self.system.predicates
        return self.verdict_wrong(decide(self.system.variables, given, asked, core=True), given, asked)

    def verdict_wrong(
        self, verdict: Proved | Refuted | Unknown, given: Sequence[Predicate], asked: Predicate
    ) -> Iterator[str]:
        match verdict:
            case Unknown(reason=reason):
                self.outcome.unknown.append(f"question: {reason}")
            case Proved(core=core):
                yield from self.not_refuted([*given, Not(asked)])
                yield from self.core_wrong(core, given, [Not(asked)])
            case Refuted(witness=witness):
                yield from self.witness_wrong(dict(witness), [*given, Not(asked)])

    def range(self) -> Iterator[str]:
        system = self.system
        return self.range_wrong(range_of(system.variables, system.predicates, system.size, cores=True))

    def range_wrong(self, found: Range | None) -> Iterator[str]:
        predicates, size = self.system.predicates, self.system.size
        if found is None:  # or it has no value wherever the rest holds
            yield from self.not_refuted([*predicates, compare(size, "==", size)])
            return
        several = (self.value(size, point) for point in islice(self.points(predicates), MOST_VALUES))
        values = [value for value in several if value is not None]
        for value in values:
            if (found.low is not None and value < found.low) or (found.high is not None and value > found.high):
                yield f"{value} is outside of {found}"
            elif value != found.residue if found.modulus == 0 else (value - found.residue) % found.modulus:
                yield f"{value} has another residue than {found}"
        for limit, beyond, core in ((found.low, "<", found.low_core), (found.high, ">", found.high_core)):
            if limit is None:
                continue
            further = compare(size, beyond, Const(limit))
            yield from self.not_refuted([*predicates, further])
            yield from self.core_wrong(core, predicates, [further])
            if found.exact and self.satisfiable([*predicates, compare(size, "==", Const(limit))]) is False:
                yield f"{limit} is never taken, though {found} is exact"
        if found.modulus != 1:
            rest = apply("-", size, Const(found.residue))
            other = compare(apply("%", rest, Const(found.modulus)) if found.modulus else rest, "!=", Const(0))
            yield from self.not_refuted([*predicates, other])
            yield from self.core_wrong(found.residue_core, predicates, [other])
        if self.system.box is not None and values and len(values) < MOST_VALUES:  # then these are all
            modulus = gcd(*(value - values[0] for value in values))
            if (found.low, found.high, found.modulus) != (min(values), max(values), modulus):
                self.outcome.larger.append(f"{found}, though it is in [{min(values)}, {max(values)}], modulo {modulus}")

    # What is wrong with an answer

    def witness_wrong(
        self, found: Mapping[str, int], predicates: Sequence[Predicate], *, smallest: bool = True
    ) -> Iterator[str]:
        if sorted(found) != self.names:
            yield f"names {sorted(found)}"
            return
        if any(found[v.name] < 0 for v in self.system.variables if v.kind is not VariableKind.INT):
            yield f"a negative dim: {found}"
        point = [found[name] for name in self.names]
        for predicate in predicates:
            try:
                if not oracles.compiled(self.names, predicate)(*point):
                    yield f"{found} does not satisfy all"
            except ZeroDivisionError:
                yield f"{found} divides by 0"
        first = next(self.points(predicates), None) if smallest else None
        if first is not None and _weight(first) < _weight(found):
            self.outcome.larger.append(f"{dict(sorted(found.items()))} instead of {first}")

    def core_wrong(self, core: tuple[int, ...], given: Sequence[Predicate], more: Sequence[Predicate]) -> Iterator[str]:
        if list(core) != sorted(set(core) & set(range(len(given)))):
            yield f"core {core}"
            return
        if len(core) < len(given):
            yield from self.not_refuted([*(given[at] for at in core), *more])
        for left_out in core:
            rest = [given[at] for at in core if at != left_out]
            if self.satisfiable([*rest, *more]) is False:
                self.outcome.larger.append(f"core {core} without {left_out}")

    def not_refuted(self, predicates: Sequence[Predicate]) -> Iterator[str]:
        """Yields sizes that satisfy ``predicates``, which none should."""
        answer = self.satisfiable(predicates)
        if answer is None:
            self.outcome.unconfirmed += 1
        elif answer is not False:
            yield f"there are sizes: {answer or 'islpy knows'}"

    # Oracles

    def points(self, predicates: Sequence[Predicate]) -> Iterator[dict[str, int]]:
        """Yields the solutions in the system's box, or in one around 0."""
        box = self.system.box
        if box is None or any(bound not in predicates for bound in self.system.predicates[: 2 * len(box)]):
            count = AROUND[len(self.names)]
            box = {
                v.name: range(-count // 2, count // 2) if v.kind is VariableKind.INT else range(count)
                for v in self.system.variables
            }
        return oracles.points(box, predicates)

    def satisfiable(self, predicates: Sequence[Predicate]) -> Mapping[str, int] | bool | None:
        """Returns sizes or True if there are any, False if there are none, None if no oracle knows."""
        bounds = self.system.predicates[: 2 * len(self.system.box)] if self.system.box else ()
        whole = self.system.box is not None and all(bound in predicates for bound in bounds)
        found = next(self.points(predicates), None)
        if found is not None:
            return found
        if whole:
            return False
        try:
            return not oracles.isl_empty(self.system.variables, predicates)
        except (oracles.NotLinear, oracles.GaveUp):
            pass
        try:
            sizes = oracles.z3_sizes(self.system.variables, predicates, effort=Z3_EFFORT)
        except oracles.GaveUp:
            return None
        if sizes is None:
            return False
        return dict(sizes)

    def value(self, size: Size, point: Mapping[str, int]) -> int | None:
        try:
            return int(oracles.compiled(sorted(point), size)(*(point[name] for name in sorted(point))))
        except ZeroDivisionError:
            return None


def _weight(sizes: Mapping[str, int]) -> list[tuple[int, bool]]:
    return [(abs(value), value < 0) for _, value in sorted(sizes.items())]
