"""Solve a structure's sizes for its variables, as lowering would, for checks that cannot by themselves.

`runtime` reads most variables off one after the other, on the dims as they are written. What it cannot
is solved here, by the very steps that lowering takes: so a check accepts what is lowered, and refuses
to judge what cannot be lowered.

Before::

    a: Tensor[A], x: Tensor[A * B], y: Tensor[max(C, 0)]        where B == 3, C <= 9

After::

    A is a.shape[0]    B is 3    C is y.shape[0]        a: [A], x: [3 * A], y: [C]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...diagnostics import Report
from ...ir import Const, Size, Var, VariableKind
from ...ir.expanded import Expanded, Solution
from ...ir.walk import free_vars
from .given import Given
from .invert import Inversion, invert
from .known import Known, settle
from .slots import Slot, slots_of
from .tell import tell_unsolved


def solve(expanded: Expanded, report: Report) -> Expanded | None:
    """Returns ``expanded`` with its `Solution`, or None if ``report`` says why there is none.

    Args:
        expanded: A signature at one structure.
        report: Receives ``contradiction`` and ``not-invertible``.
    """
    lengths = dict(expanded.lengths)
    sizes = tuple(  # a call has a static size as it has any other
        replace(variable, kind=VariableKind.DIM)
        if variable.kind is VariableKind.CONST and variable.name not in lengths
        else variable
        for variable in expanded.signature.variables
    )
    known = settle(replace(expanded, signature=replace(expanded.signature, variables=sizes)), report, lengths)
    if known is None:
        return None
    found = inverted(known, expanded, report)
    if found is None:
        return None
    slots, inversion = found
    read: dict[str, tuple[int, int]] = {}
    for number, leaf in enumerate(known.leaves):
        for axis, dim in enumerate(leaf.dims):
            if dim in slots:
                read.setdefault(slots[dim].name, (number, axis))
    solution = Solution(
        tuple(sorted(_definitions(expanded, known, inversion))),
        tuple((name, *place) for name, place in read.items()),
        tuple(leaf.dims for leaf in known.leaves),
    )
    return replace(expanded, solution=solution)


def inverted(known: Known, expanded: Expanded, report: Report) -> tuple[dict[Size, Slot], Inversion] | None:
    """Returns the slots and each variable over them; the one way, so that checks and lowering agree.

    Args:
        known: From `settle`.
        expanded: What it was made from.
        report: Receives ``not-invertible``; then nothing is returned.
    """
    slots = slots_of(known.leaves)
    used = dict.fromkeys(
        name for node in (*slots, *known.predicates) for name in free_vars(node) if name not in known.values
    )
    given = Given(known.variables.values(), known.predicates, known.domains)
    inversion = invert(slots.values(), used, given)
    if inversion.unsolved:
        tell_unsolved(inversion.unsolved, expanded, given, slots, known.values, report)
        return None
    return slots, inversion


def _definitions(expanded: Expanded, known: Known, inversion: Inversion) -> Iterator[tuple[str, Size]]:
    for variable in expanded.signature.variables:
        value = known.values.get(variable.name)
        name = value.name if isinstance(value, Var) else variable.name
        if isinstance(value, Const):
            yield variable.name, value
        elif name in inversion.definitions:
            yield variable.name, inversion.definitions[name].size
