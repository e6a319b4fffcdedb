"""Counts the outcomes of many systems, by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from .judge import judge
from .systems import random_system


@dataclass
class Tally:
    """What came of many systems.

    Attributes:
        systems: How many, by class.
        satisfied: How many of them have sizes, by class.
        asked: How many questions, by class.
        unknown: How many of them had no answer, by class.
        larger: How many witnesses and cores could have been smaller, by class.
        wrong: Wrong answers, one line each.
        unconfirmed: Answers that no oracle could confirm.
        slowest: Seconds of the slowest answer, and where.
    """

    systems: Counter[str] = field(default_factory=Counter)
    satisfied: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    larger: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    unconfirmed: int = 0
    slowest: tuple[float, str] = (0.0, "")

    def __str__(self) -> str:
        rows = [
            f"{kind}: {self.systems[kind]} systems, {self.satisfied[kind]} with sizes, {self.asked[kind]} questions, "
            f"unknown {self.unknown[kind]} ({100 * self.unknown[kind] / self.asked[kind]:.2f} %), "
            f"larger than needed {self.larger[kind]}"
            for kind in sorted(self.systems)
        ]
        seconds, where = self.slowest
        end = f"wrong {len(self.wrong)}; unconfirmed {self.unconfirmed}; slowest {1000 * seconds:.0f} ms ({where})"
        return "\n".join([*rows, end])


def run(
    seed: int, numbers: Iterable[int], tally: Tally, only: str | None = None, show: Collection[str] = ()
) -> Iterator[str]:
    """Judges the systems ``numbers`` of ``seed`` and counts in ``tally``; yields what is worth a line.

    Args:
        seed: Of the generator.
        numbers: Which of its systems.
        tally: Receives the counts.
        only: ``linear`` or ``nonlinear``: leave out the others.
        show: What is worth a line beside wrong answers: ``unknown``, ``larger``.
    """
    for number in numbers:
        system = random_system(seed, number)
        if only and system.linear != (only == "linear"):
            continue
        outcome = judge(system)
        kind, place = system.kind, f"--seed {seed} --start {number} --count 1"
        tally.systems[kind] += 1
        tally.satisfied[kind] += outcome.satisfied
        tally.asked[kind] += outcome.asked
        tally.unknown[kind] += len(outcome.unknown)
        tally.larger[kind] += len(outcome.larger)
        tally.unconfirmed += outcome.unconfirmed
        tally.slowest = max(tally.slowest, (outcome.seconds, place))
        for title, findings in (("WRONG", outcome.wrong), ("unknown", outcome.unknown), ("larger", outcome.larger)):
            lines = [f"{title} [{place}] {finding} <- {system}" for finding in findings]
            if title == "WRONG":
                tally.wrong += lines
            if title == "WRONG" or title in show:
                yield from lines
