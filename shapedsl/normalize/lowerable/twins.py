"""Two calls that look the same to torch and are not: why a variable cannot be computed.

Before::

    x: [B // 8], y: [max(S, 4)]        B >= 8

After::

    B = 8 and B = 9 both give x.shape[0] = 1
    S = 0 and S = 1 both give y.shape[0] = 4

The assumptions are taken twice, the second time over variables with a prime, with equal sizes on all axes
and two values of the variable. Where there are no such sizes the variable is determined, and only a formula
for it is missing: nothing that torch computes is a root of ``B**2``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...ir import COMPARISONS, Compare, Predicate, Size, Var
from ...ir.walk import evaluate, free_vars, substitute, substitute_size
from ..decide import Proved, Refuted, Unknown, decide
from .given import Given
from .slots import Slot

PRIME = "'"


@dataclass(frozen=True, slots=True)
class Twins:
    """Two assignments of sizes, by variable, that give every axis the same size."""

    first: Mapping[str, int]
    second: Mapping[str, int]

    @property
    def witness(self) -> tuple[tuple[str, int], ...]:
        """All sizes, sorted by name; of the second those that differ, under names with a prime."""
        primed = {name + PRIME: size for name, size in self.second.items() if size != self.first[name]}
        return tuple(sorted({**self.first, **primed}.items()))

    def told(self, places: Sequence[Slot]) -> str:
        """Returns both as a sentence, with what they give at ``places``: sizes as they are written."""
        names = dict.fromkeys(name for slot in places for name in free_vars(slot.size) if name in self.first)
        apart = [name for name in names if self.first[name] != self.second[name]]
        equal = [name for name in names if name not in apart]
        sizes = ", ".join(f"{slot.place} = {evaluate(slot.size, self.first)}" for slot in places)
        both = " and ".join(", ".join(f"{name} = {each[name]}" for name in apart) for each in (self.first, self.second))
        rest = f" with {', '.join(f'{name} = {self.first[name]}' for name in equal)}" if equal else ""
        return f"{both} both give {sizes}{rest}"


def twins(name: str, sizes: Iterable[Size], given: Given, values: Mapping[str, Size]) -> Twins | Unknown | None:
    """Returns two assignments that differ in ``name`` and agree in all ``sizes``; None if there are none.

    Args:
        name: A variable.
        sizes: Everything that can be read.
        given: What the assignments satisfy.
        values: What else to tell of them: names that stand for constants, or for other variables.
    """
    second = {variable.name: Var(variable.name + PRIME) for variable in given.variables}
    both = (*given.variables, *(replace(variable, name=second[variable.name].name) for variable in given.variables))
    equal = COMPARISONS["=="]
    assumed: list[Predicate] = [
        *given.predicates,
        *(substitute(predicate, second) for predicate in given.predicates),
        *(Compare(equal, size, substitute_size(size, second)) for size in sizes),
    ]
    match decide(both, assumed, Compare(COMPARISONS[">="], Var(name), second[name])):  # the smaller one comes first
        case Proved():
            return None
        case Refuted(witness=witness):
            found = dict(witness)
        case unknown:
            return unknown
    one = {variable.name: found.get(variable.name, 0) for variable in given.variables}
    other = {variable.name: found.get(variable.name + PRIME, 0) for variable in given.variables}
    return Twins(*({**each, **{name: evaluate(size, each) for name, size in values.items()}} for each in (one, other)))
