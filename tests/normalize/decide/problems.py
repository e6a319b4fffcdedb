"""The problems of solver.tsv: constraints, a question, and the right answer, one a line.

Columns: id; variables as ``B:1..inf``; assumptions, separated by ``;``; question; answer. A question is

- ``sat``: ``sat`` or ``unsat``
- ``core``: the minimal set of constraints that cannot hold together; bounds of variables count; ``*32``: how many
- ``implies P``: ``proved`` or ``refuted``
- ``range E``: ``low..high``
- ``mod E``: ``modulus,residue``
- ``unique V given W …``: ``unique`` or ``not-unique``

An answer that ends in ``?`` may also be unknown. A lower bound of 0 is the variable's kind, others are constraints.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shapedsl.ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind

from ..texts import predicate

FILE = Path(__file__).with_name("solver.tsv")
_CHAIN = re.compile(r"\(chain (\w+?)(\d+)>=\w+\.\.\w+>=\w+?(\d+) shuffled by random\.Random\((\d+)\)\)")


@dataclass(frozen=True)
class Problem:
    """A row.

    Attributes:
        ranges: What each variable is declared to be in; None for no bound.
        bounds: The constraints that say so, without those of its kind.
        assumptions: The others.
    """

    name: str
    ranges: dict[str, tuple[int | None, int | None]]
    variables: tuple[Variable, ...]
    bounds: tuple[tuple[str, Predicate], ...]
    assumptions: tuple[tuple[str, Predicate], ...]
    question: str
    answer: str

    @property
    def given(self) -> list[Predicate]:
        """All constraints, bounds first."""
        return [predicate for _, predicate in (*self.bounds, *self.assumptions)]

    @property
    def texts(self) -> list[str]:
        """The constraints as the row writes them."""
        return [text for text, _ in (*self.bounds, *self.assumptions)]


@cache
def problems() -> tuple[Problem, ...]:
    """Returns every row."""
    header, *lines = FILE.read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["id", "variables", "assumptions", "query", "answer"]
    rows = [_row(*line.split("\t")) for line in lines]
    assert len({row.name for row in rows}) == len(rows)
    return tuple(rows)


def _row(name: str, variables: str, assumptions: str, question: str, answer: str) -> Problem:
    ranges: dict[str, tuple[int | None, int | None]] = {}
    for word in variables.split():
        names, _, bounds = word.partition(":")
        low, _, high = bounds.partition("..")
        for each in _names(names):
            ranges[each] = None if low == "-inf" else int(low), None if high == "inf" else int(high)
    declared: list[Variable] = []
    limits: list[tuple[str, Predicate]] = []
    for each, (least, most) in ranges.items():
        natural = least is not None and least >= 0
        declared.append(Variable(each, VariableKind.DIM if natural else VariableKind.INT))
        if least is not None and least != 0:
            limits.append((f"{each}>={least}", Compare(COMPARISONS[">="], Var(each), Const(least))))
        if most is not None:
            limits.append((f"{each}<={most}", Compare(COMPARISONS["<="], Var(each), Const(most))))
    texts = [text for part in assumptions.split(";") if part.strip() for text in _links(part.strip())]
    parsed = tuple((text, predicate(text)) for text in texts)
    return Problem(name, ranges, tuple(declared), tuple(limits), parsed, question, answer)


def _names(text: str) -> list[str]:
    first, dots, last = text.partition("..")
    if not dots:
        return [text]
    letter, start = first[0], int(first[1:])
    return [f"{letter}{at}" for at in range(start, int(last[1:]) + 1)]


def _links(text: str) -> list[str]:
    chain = _CHAIN.fullmatch(text)
    if chain is None:
        return [text]
    letter, first, last, seed = chain.groups()
    links = [f"{letter}{at}>={letter}{at + 1}" for at in range(int(first), int(last))]
    random.Random(int(seed)).shuffle(links)
    return links
