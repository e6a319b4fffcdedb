"""In which order sizes become known: a list of steps that generated code and explanations both follow.

Before::

    x: Tensor[2 * B + 1, D]      w: Tensor[D, 3]

After::

    Bind(D, x.shape[1]); Verify(w.shape[0] == D); Verify(w.shape[1] == 3)
    Solve(B, x.shape[0] == 2 * B + 1)

A bare use binds; then every dim that is linear in one unknown with a constant coefficient is solved,
as long as there are any; whatever is left is verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..ir import Apply, Const, Size, Static, Var, Variadic
from ..ir.expanded import Leaf
from ..ir.walk import free_vars, substitute_size


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
class Solve:
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


Step: TypeAlias = "Bind | Solve | Verify"


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps, in an order in which each has what it needs.

    Attributes:
        steps: What to do.
        places: Variable → the slot it is read off.
    """

    steps: tuple[Step, ...]
    places: Mapping[str, Slot]


def plan(leaves: Iterable[Leaf], known: Iterable[str] = ()) -> Plan:
    """Returns how the variables of ``leaves`` are found.

    Args:
        leaves: With `Const`, `Var`, `Apply` and `Static` dims.
        known: Variables that have a value already: lengths.
    """
    steps: list[Step] = []
    places: dict[str, Slot] = {}
    solved = set(known)
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
    progress = True
    while progress:
        progress = False
        for at, (slot, size) in enumerate(waiting):
            step = _solve(slot, size, solved)
            if step is not None:
                steps.append(step)
                places[step.variable] = slot
                solved.add(step.variable)
                del waiting[at]
                progress = True
                break
    steps += [Verify(slot, size) for slot, size in waiting if solved.issuperset(free_vars(size))]
    return Plan(tuple(steps), places)


def _solve(slot: Slot, size: Size, solved: set[str]) -> Solve | None:
    unknown = {name for name in free_vars(size) if name not in solved}
    if len(unknown) != 1:
        return None
    (name,) = unknown
    coefficient = linear(size, name)
    if not coefficient:
        return None
    return Solve(name, slot, coefficient, substitute_size(size, {name: Const(0)}), size)


def linear(size: Size, name: str) -> int | None:
    """Returns ``k`` if ``size`` is ``k * name + (something without name)`` for a constant ``k``, else None."""
    match size:
        case Const() | Variadic():
            return 0
        case Var(name=other):
            return int(other == name)
        case Apply(op=op, args=args):
            parts = [linear(arg, name) for arg in args]
            if not any(part != 0 for part in parts):
                return 0
            if any(part is None for part in parts):
                return None
            first, *others = (part or 0 for part in parts)
            match op.name:
                case "+":
                    return first + others[0]
                case "-":
                    return first - others[0]
                case "neg":
                    return -first
                case "*":
                    return _scaled(args, first, others[0])
                case _:
                    return None


def _scaled(factors: tuple[Size, ...], left: int, right: int) -> int | None:
    match factors:
        case (Const(value=value), _):
            return value * right
        case (_, Const(value=value)):
            return value * left
        case _:
            return None
