"""In which order sizes become known: a list of steps that generated code and explanations both follow.

Before::

    x: Tensor[2 * B + 1, D]      w: Tensor[D, 3]

After::

    Bind(D, x.shape[1]); Verify(w.shape[0] == D); Verify(w.shape[1] == 3)
    Linear(B, x.shape[0] == 2 * B + 1)

A bare use binds; then every dim that is linear in one unknown with a constant coefficient is solved,
as long as there are any; then a system of such dims, by elimination (``A + B`` and ``A - B``); whatever
is left is verified. What that does not find is computed as a `Solution` says; without one it stays unknown,
and `solved` refuses the structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from ..ir import Apply, Const, Size, Static, Var
from ..ir.expanded import Expanded, Solution
from ..ir.walk import free_vars, substitute_size
from .linear import eliminate, linear


@dataclass(frozen=True, slots=True)
class Slot:
    """One size of an argument: ``leaf`` counts `Expanded.leaves`; a scalar's ``axis`` is 0."""

    leaf: int
    axis: int


@dataclass(frozen=True, slots=True)
class Bind:
    """The variable is the slot's size."""

    variable: str
    slot: Slot


@dataclass(frozen=True, slots=True)
class Linear:
    """The slot's size is ``coefficient * variable + rest``, which ``size`` says in full; ``rest`` is known."""

    variable: str
    slot: Slot
    coefficient: int
    rest: Size
    size: Size


@dataclass(frozen=True, slots=True)
class Verify:
    """The slot's size is ``size``, whose variables are known."""

    slot: Slot
    size: Size


@dataclass(frozen=True, slots=True)
class Combine:
    """``divisor * variable`` is the sum of ``factor * (the slot's size - rest)`` over ``terms``.

    Attributes:
        variable: What becomes known.
        terms: ``(factor, slot, rest, size)``; ``rest`` is known, ``size`` is what the slot's dim says in full.
        divisor: Above 0.
    """

    variable: str
    terms: tuple[tuple[int, Slot, Size, Size], ...]
    divisor: int

    @property
    def slot(self) -> Slot:
        """The first slot that takes part."""
        return self.terms[0][1]


@dataclass(frozen=True, slots=True)
class Define:
    """The variable is ``size``, whose names are the sizes at ``slots``.

    Attributes:
        variable: What becomes known.
        size: Nothing but what must hold anyway was used to find it, so no division in it needs a check.
        slots: Name → slot; empty where assumptions alone say what the variable is.
    """

    variable: str
    size: Size
    slots: tuple[tuple[str, Slot], ...]


Step: TypeAlias = "Bind | Linear | Combine | Verify | Define"


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps, in an order in which each has what it needs.

    Attributes:
        steps: What to do.
        places: Variable → the slot it is read off.
        known: The variables that have a value after the steps, lengths among them.
    """

    steps: tuple[Step, ...]
    places: Mapping[str, Slot]
    known: frozenset[str]


def plan(expanded: Expanded) -> Plan:
    """Returns how the variables of ``expanded`` are found; its dims are `Const`, `Var`, `Apply` and `Static`."""
    leaves = expanded.leaves
    steps: list[Step] = []
    places: dict[str, Slot] = {}
    solved = {name for name, _ in expanded.lengths}
    waiting: list[tuple[Slot, Size]] = []
    for number, leaf in enumerate(leaves):
        for axis, dim in enumerate(leaf.dims):
            slot = Slot(number, axis)
            match dim:
                case Var(name=name) if name not in solved:
                    steps.append(Bind(name, slot))
                    places[name] = slot
                    solved.add(name)
                case Static():
                    pass
                case Const() | Var():
                    steps.append(Verify(slot, dim))
                case Apply():
                    waiting.append((slot, dim))
                case _:
                    raise TypeError(f"not expanded: {dim!r}")
    verified: list[tuple[Slot, Size]] = []
    while True:
        step: Linear | Combine | None = None
        for at, (slot, size) in enumerate(waiting):
            step = _solve(slot, size, solved)
            if step is not None:
                del waiting[at]
                break
        else:
            step = _combine(waiting, solved)
            if step is None:
                break
            verified += waiting  # an equation that solved something in combination must still hold by itself
        steps.append(step)
        places[step.variable] = step.slot
        solved.add(step.variable)
    for define in _defined(expanded, solved):
        steps.append(define)
        if define.slots:
            places[define.variable] = define.slots[0][1]
        solved.add(define.variable)
    for slot, size in dict.fromkeys([*verified, *waiting]):
        if not solved.issuperset(free_vars(size)) and expanded.solution is not None:
            size = _canonical(expanded.solution, slot)  # `A - A` needs no A
        if solved.issuperset(free_vars(size)):
            steps.append(Verify(slot, size))
    return Plan(tuple(steps), places, frozenset(solved))


def unsolved(expanded: Expanded, found: Plan) -> dict[str, Slot | None]:
    """Returns the variables that ``found`` does not find, with a size that needs each; `None` if only a constraint does.

    What a `Solution` leaves out is needed by nothing.
    """
    missing: dict[str, Slot | None] = {}
    if expanded.solution is not None:
        return missing
    for number, leaf in enumerate(expanded.leaves):
        for axis, dim in enumerate(leaf.dims):
            for name in free_vars(dim):
                if name not in found.known:
                    missing.setdefault(name, Slot(number, axis))
    for constraint in expanded.signature.constraints:
        for name in free_vars(constraint.predicate):
            if name not in found.known:
                missing.setdefault(name, None)
    return missing


def _defined(expanded: Expanded, solved: set[str]) -> Iterator[Define]:
    if expanded.solution is None:
        return
    slots = {name: Slot(leaf, axis) for name, leaf, axis in expanded.solution.readings}
    for name, size in expanded.solution.definitions:
        if name not in solved:
            yield Define(name, size, tuple((each, slots[each]) for each in dict.fromkeys(free_vars(size))))


def _canonical(solution: Solution, slot: Slot) -> Size:
    dim = solution.dims[slot.leaf][slot.axis]
    if not isinstance(dim, (Const, Var, Apply)):
        raise TypeError(f"no size: {dim!r}")
    return dim


def _solve(slot: Slot, size: Size, solved: set[str]) -> Linear | None:
    unknown = {name for name in free_vars(size) if name not in solved}
    if len(unknown) != 1:
        return None
    (name,) = unknown
    coefficient = linear(size, name)
    if not coefficient:
        return None
    return Linear(name, slot, coefficient, substitute_size(size, {name: Const(0)}), size)


def _combine(equations: list[tuple[Slot, Size]], solved: set[str]) -> Combine | None:
    """Returns a variable that several dims determine together, by Gauss-Jordan elimination."""
    rows: list[tuple[Slot, Size, dict[str, int]]] = []
    for slot, size in equations:
        unknown = sorted({name for name in free_vars(size) if name not in solved})
        coefficients = {name: linear(size, name) for name in unknown}
        if coefficients and all(coefficient is not None for coefficient in coefficients.values()):
            rows.append((slot, size, {name: coefficient or 0 for name, coefficient in coefficients.items()}))
    names = sorted({name for _, _, row in rows for name in row})
    # each row: its coefficients, then which combination of the equations it is
    matrix = [
        [Fraction(row.get(name, 0)) for name in names] + [Fraction(int(i == j)) for j in range(len(rows))]
        for i, (_, _, row) in enumerate(rows)
    ]
    eliminate(matrix, len(names))
    for row in matrix:
        nonzero = [column for column in range(len(names)) if row[column]]
        if len(nonzero) == 1:
            shares = row[len(names) :]
            divisor = lcm(*(share.denominator for share in shares))
            zero = {name: Const(0) for name in names}
            terms = tuple(
                (int(share * divisor), slot, substitute_size(size, zero), size)
                for share, (slot, size, _) in zip(shares, rows, strict=True)
                if share
            )
            return Combine(names[nonzero[0]], terms, divisor)
    return None
