"""Overloads that differ in what they assume only → one spec whose cases they are.

Before::

    @overload
    @where(B == 1)
    def f(x: Tensor[B]) -> Tensor[B]: ...
    @overload
    @where(B > 1, B < 32)
    def f(x: Tensor[B]) -> Tensor[B]: ...

After::

    def f(x: Tensor[B]) -> Tensor[B]:
        where B == 1 or B > 1 and B < 32
        case B == 1
        case B > 1, B < 32

A call is one of the first overload that takes it, as a case is. What all of them assume stays in ``where``; that one of
them takes every call is an assumption too, unless the last one assumes nothing more. Overloads that differ in types, in
documentation, hints or anything else remain specs of their own, ``f`` and ``f@2``; so do all of a file that says
``# shapedsl: overloads apart``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...ir import And, Or, Signature, VariableKind
from ...ir.alternatives import Alternative
from ..assemble import constraints_of


@dataclass(frozen=True, slots=True)
class Overload:
    """A signature with what joining asks for.

    Attributes:
        signature: It.
        overloaded: Whether it is one of several.
        nested: Whether its function stands in another.
    """

    signature: Signature
    overloaded: bool
    nested: bool = False


def joined(read: Sequence[Overload]) -> list[Overload]:
    """Returns signatures in their order, those that are cases of one joined where the first of them stood."""
    result: list[Overload] = []
    run: list[Overload] = []
    for overload in (*read, None):
        if overload is not None and run and _alike(run[0], overload):
            run.append(overload)
            continue
        if run:
            result += _joined(run) if len(run) > 1 else run
        run = [] if overload is None else [overload]
    return result


def _alike(first: Overload, other: Overload) -> bool:
    """Whether two overloads differ in assumptions only."""
    one, two = first.signature, other.signature
    if not (first.overloaded and other.overloaded) or one.name != two.name or one.doc or two.doc:
        return False
    if any(each.alternatives or each.values or each.drops for each in (one, two)):
        return False
    if any(variable.kind is VariableKind.CONST for variable in one.variables):
        return False  # a size of the object, not of the call: which overload it is, is known without a case
    return (one.params, one.returns, one.variables, one.ranks) == (two.params, two.returns, two.variables, two.ranks)


def _joined(run: Sequence[Overload]) -> list[Overload]:
    signatures = [overload.signature for overload in run]
    first = signatures[0]
    common = [c for c in first.constraints if all(c in each.constraints for each in signatures)]
    own = [tuple(c for c in each.constraints if c not in common) for each in signatures]
    if len(set(map(frozenset, own))) < len(own) or not own[0]:
        return list(run)  # one of them can never be meant: nothing to make cases of
    alternatives: list[Alternative] = []
    for signature, constraints in zip(signatures, own, strict=True):
        if not constraints:  # it takes what the others leave; one behind it would take nothing
            alternatives.append(Alternative("otherwise", span=signature.span))
            break
        alternatives.append(Alternative("case", None, constraints, span=signature.span))
    constraints = tuple(common)
    if all(own):
        predicates = [[c.predicate for c in each] for each in own]
        either = Or(tuple(And(tuple(each)) if len(each) > 1 else each[0] for each in predicates))
        constraints += tuple(constraints_of(either, span=first.span))
    return [replace(run[0], signature=replace(first, constraints=constraints, alternatives=tuple(alternatives)))]


__all__ = ["Overload", "joined"]
