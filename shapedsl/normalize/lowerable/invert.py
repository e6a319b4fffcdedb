"""Solve the slots for the variables: torch reads sizes, so each variable must be computed from some.

Before::

    x: [2 * N], y: [3 * N + 1], z: [2 * A + 3 * B], w: [A + B], v: [16 * C + D, S, S * E]   D < 16, S >= 1

After (``u``, ``t``, ``p``, ``q``, ``c``, ``e`` are the slots)::

    N = u / 2                         u % 2 == 0, 2 * t == 3 * u + 2
    A = 3 * q - p  B = p - 2 * q
    C = c // 16    D = c % 16
    E = e // S                        e % S == 0

The rules, one after the other, and from the first again once one has found something: a bare slot is its
variable; one equation with one unknown (of several, the one with the smallest coefficient, and of those
the one with the smallest constant: the other slots are then written with `+` only, which torch reasons about better); several
equations together (`hermite`); the same with equalities that are assumed; division, with and without a
rest (`division`); and last what only proofs can open (`opened`).

A size that loses information (``B // 8``, ``A * B`` where ``A`` may be 0, ``max(B, 4)``) gives no variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...ir import Compare, Const, Predicate, Var
from ..algebra import TooLarge, difference
from ..intervals import interval_of
from ..polynomial import Monomial, Terms, build, constant
from .division import Found, ceiling, divided, modular, quotients
from .equations import Equation, row_of, variable_of
from .given import Given
from .hermite import Row, determined
from .opened import opened
from .quotient import Quotient, reduced
from .slots import Slot


@dataclass(frozen=True, slots=True)
class Inversion:
    """What `invert` found.

    Attributes:
        definitions: Each variable over the slots' names.
        equations: What must hold beside, for the slots to be the sizes they stand for.
        exact: Over the slots' names: divisions by sizes that must leave no rest.
        unsolved: Variables that no slot gives.
    """

    definitions: dict[str, Quotient]
    equations: tuple[Equation, ...]
    exact: tuple[Predicate, ...]
    unsolved: tuple[str, ...]


def invert(slots: Iterable[Slot], names: Iterable[str], given: Given) -> Inversion:
    """Returns every variable in ``names`` as a function of the slots, where that is possible.

    Args:
        slots: In the order of first use.
        names: The variables that slots or constraints use.
        given: The assumptions; where no slot gives a variable, an equality among them may.
    """
    search = _Search(tuple(slots), given)
    wanted = dict.fromkeys(name for name in names if name not in search.definitions)
    while any(name not in search.definitions for name in wanted):
        if not search.step():
            break
    unsolved = tuple(name for name in wanted if name not in search.definitions)
    return Inversion(search.definitions, tuple(search.equations), tuple(search.exact), unsolved)


class _Search:
    """The state of one inversion.

    Attributes:
        definitions: What is found.
        equations: Of the slots, and what division made of them.
        exact: See `Inversion`.
    """

    def __init__(self, slots: Sequence[Slot], given: Given) -> None:
        self.given = given
        self.definitions = {slot.name: Quotient({(Var(slot.name),): 1}) for slot in slots if slot.bare}
        self.equations = [Equation(slot.size, Var(slot.name)) for slot in slots if not slot.bare]
        self.exact: list[Predicate] = []
        self._stated = [each for predicate in given.predicates if (each := _stated(predicate)) is not None]
        self._box = {slot.name: interval_of(slot.size, given.domains.box) for slot in slots}
        self._opened = False
        self._seen: set[Equation] = set()

    def step(self) -> bool:
        """Applies the first rule that finds something; returns whether there was one."""
        return any(rule() for rule in (self.linear, self.stated, self.quotients, self.division, self.open))

    def linear(self) -> bool:
        return self._solve(list(self._rows(self.equations)))

    def stated(self) -> bool:
        return self._solve(list(self._rows([*self.equations, *self._stated])))

    def quotients(self) -> bool:
        found = False
        for equation, superfluous in quotients(self._rows(self.equations), self.definitions, self.given):
            if equation not in self._seen:
                self._seen.add(equation)
                self.equations = [each for each in self.equations if each != superfluous]
                self.equations.append(equation)
                found = True
        return found

    def division(self) -> bool:
        """Divides by a factor first; then takes what one equation tells by its steps."""
        rows = list(self._rows([*self.equations, *self._stated]))
        for equation, row in rows:
            found = divided(row, self.definitions, self.given, self._box)
            if found is None:
                continue
            self.equations = [each for each in self.equations if each != equation]
            if found.rest is not None:
                self.equations.append(found.rest)
            return self._define(found)
        for _, row in rows:
            found = modular(row, self.given) or ceiling(row, self.definitions, self.given)
            if found is not None:
                return self._define(found)
        return False

    def open(self) -> bool:
        """Opens what only proofs can, once, in all equations."""
        if self._opened:
            return False
        self._opened = True
        self.equations = [replace(each, left=opened(each.left, self.given)) for each in self.equations]
        return True

    def _rows(self, equations: Iterable[Equation]) -> Iterator[tuple[Equation, Row]]:
        for equation in equations:
            row = row_of(equation, self.definitions, self.given, prove=self._opened)
            if row is not None:
                yield equation, row

    def _solve(self, rows: Sequence[tuple[Equation, Row]]) -> bool:
        """Takes the best equation with one unknown, or what all of them give together."""
        alone = [row for _, row in rows if len(row.unknowns) == 1 and variable_of(next(iter(row.unknowns)))]
        found = [_alone(min(alone, key=_cost))] if alone else determined([row for _, row in rows])
        named = [(name, known, divisor) for monomial, divisor, known in found if (name := variable_of(monomial))]
        self.definitions.update((name, reduced(known, divisor)) for name, known, divisor in named)
        return bool(named)

    def _define(self, found: Found) -> bool:
        self.definitions[found.name] = found.value
        if found.exact is not None:
            self.exact.append(found.exact)
        return True


def _stated(predicate: Predicate) -> Equation | None:
    """Returns the equality that ``predicate`` is, with everything on its left side."""
    match predicate:
        case Compare(op=op, left=left, right=right) if op.name == "==":
            try:
                return Equation(build(difference(left, right)), Const(0))
            except TooLarge:
                return None
        case _:
            return None


def _cost(row: Row) -> tuple[int, bool, int]:
    (coefficient,) = row.unknowns.values()
    return abs(coefficient), coefficient < 0, -constant(row.known)  # of B - 10 and B + 3, B - 10


def _alone(row: Row) -> tuple[Monomial, int, Terms]:
    ((monomial, coefficient),) = row.unknowns.items()
    return monomial, coefficient, row.known
