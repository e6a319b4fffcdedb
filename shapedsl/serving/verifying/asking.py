"""Ask what follows from what an artifact enforces; only what has a say is handed to the decision procedure.

An artifact with many inputs checks hundreds of things, most of them about other places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ...ir import Compare, Predicate, Variable, VariableKind
from ...ir.walk import free_vars
from ...ir.write import write_predicate
from ...normalize.decide import Proved, Verdict, implied_by
from ...normalize.predicates import simplify_predicate
from ...targets.program import plain

_SIZE: Final = re.compile(r"\.shape\[\d+\]$")


class Premises:
    """What may be assumed; it grows.

    Attributes:
        variables: By name; a name that is not among them is a size if it looks like a tensor's, else any int.
    """

    def __init__(self, variables: Iterable[Variable], given: Iterable[Predicate] = ()) -> None:
        self.variables = {each.name: each for each in variables}
        self._given: list[Predicate] = []
        self._names: list[frozenset[str]] = []
        self._by_name: dict[str, list[int]] = {}
        self._said: set[Predicate] = set()
        for each in given:
            self.add(each)

    def add(self, predicate: Predicate) -> None:
        """Assumes ``predicate`` from now on."""
        said = plain(predicate)
        if said in self._said:
            return
        self._said.add(said)
        names = frozenset(free_vars(said))
        for name in names:
            self._by_name.setdefault(name, []).append(len(self._given))
        self._given.append(said)
        self._names.append(names)

    def decide(self, predicate: Predicate) -> Verdict:
        """Returns whether ``predicate`` follows; the sizes of a refutation are those that have a say."""
        said = plain(predicate)
        if said in self._said:
            return Proved()
        given = [self._given[at] for at in self._relevant(said)]
        names = {name for each in (said, *given) for name in free_vars(each)}
        return implied_by([self._variable(name) for name in sorted(names)], given, said)

    def _relevant(self, predicate: Predicate) -> Iterator[int]:
        pending, seen, taken = list(free_vars(predicate)), set[str](), set[int]()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for at in self._by_name.get(name, ()):
                if at not in taken:
                    taken.add(at)
                    pending += self._names[at]
        taken |= {at for at, names in enumerate(self._names) if not names}  # false ones
        return iter(sorted(taken))

    def _variable(self, name: str) -> Variable:
        known = self.variables.get(name)
        if known is not None:
            return known
        return Variable(name, VariableKind.DIM if _SIZE.search(name) else VariableKind.INT)


def shorter(predicate: Predicate) -> Predicate:
    """Returns ``predicate``, or its canonical form where that is one comparison, and shorter."""
    simple = simplify_predicate(predicate)
    briefer = isinstance(simple, Compare) and len(write_predicate(simple)) < len(write_predicate(predicate))
    return simple if briefer else predicate


__all__ = ["Premises", "shorter"]
