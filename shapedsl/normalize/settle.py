"""Write what a program demands as a person would: equal sizes as one, ranges as ranges, and nothing twice.

What tracing leaves behind says the same in many ways. This is no pass: it changes which variables there are.

Before::

    f(x: Tensor[a], y: Tensor[b], z: Tensor[c])     a, b, c in [0, inf]
    a == b, c == 2 * a, a % 4 == 0, 4 * (a // 4) >= 2, a // 4 != 1

After::

    f(x: Tensor[a], y: Tensor[a], z: Tensor[2 * a])     a in [8, inf] multiple of 4

Invariant: the set of accepted sizes does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ..ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Dim, Param, Predicate, Size, Var, Variable
from ..ir.orient import orient
from ..ir.walk import free_vars, map_dims, scalar_sizes, substitute, substitute_size, tensor_dims
from ..ir.write import write_predicate
from .decide import Proved, implied_by, range_of
from .predicates import simplify_predicate, split

# what a size may be computed with, if it is to stand in place of a variable; a divisor must be a number
_EXACT: Final = ("+", "-", "*")
_DIVIDED: Final = ("//", "%")
_MOST: Final = 80  # predicates of several variables among which those that follow are looked for


@dataclass(frozen=True, slots=True)
class Facts:
    """What is declared of a variable; bounds are inclusive, None for none."""

    low: int | None
    high: int | None
    modulus: int = 1
    residue: int = 0

    def predicates(self, variable: str) -> Iterator[Predicate]:
        """Yields the same as comparisons of ``variable``."""
        var = Var(variable)
        if self.low is not None:
            yield Compare(COMPARISONS[">="], var, Const(self.low))
        if self.high is not None:
            yield Compare(COMPARISONS["<="], var, Const(self.high))
        if self.modulus > 1:
            yield Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (var, Const(self.modulus))), Const(self.residue))


@dataclass(frozen=True, slots=True)
class Settled:
    """What is left.

    Attributes:
        params: Over the variables that are left.
        facts: What is declared of each of them.
        wheres: What is to be assumed beside.
        replaced: What the variables that are gone stand for.
    """

    params: tuple[Param, ...]
    facts: Mapping[str, Facts]
    wheres: tuple[Predicate, ...]
    replaced: Mapping[str, Size]


def settle(
    params: Iterable[Param],
    variables: Iterable[Variable],
    facts: Mapping[str, Facts],
    predicates: Iterable[Predicate],
    keep: frozenset[str] = frozenset(),
) -> Settled | None:
    """Returns the same as briefly as can be.

    Args:
        params: Over ``variables``.
        variables: In the order in which they are preferred, where two are one.
        facts: What is declared of each variable.
        predicates: What holds beside.
        keep: Variables that are never replaced.

    Returns:
        None if no sizes satisfy it.
    """
    params, variables = tuple(params), tuple(variables)
    order = [variable.name for variable in variables]
    wheres = list(_simplified(predicates))
    facts, replaced = dict(facts), dict[str, Size]()
    wheres = [_multiplied(each, wheres) for each in wheres]
    while (found := _definition(params, order, wheres, keep)) is not None:
        name, size = found
        bindings = {name: size}
        order.remove(name)
        wheres += facts.pop(name).predicates(name)
        wheres = list(_simplified(substitute(each, bindings) for each in wheres))
        params = tuple(replace(param, type=map_dims(param.type, partial(_bound, bindings))) for param in params)
        replaced = {**{old: substitute_size(other, bindings) for old, other in replaced.items()}, name: size}
    left = [variable for variable in variables if variable.name in order]
    dims = [
        Compare(COMPARISONS[">="], dim, Const(0))
        for param in params
        for dim in tensor_dims(param.type)
        if isinstance(dim, Apply)
    ]
    for variable in left:
        own = [each for each in wheres if set(free_vars(each)) == {variable.name}]
        if not own:
            continue
        given = [*facts[variable.name].predicates(variable.name), *own]
        found_range = range_of([variable], given, Var(variable.name))
        if found_range is None:
            return None
        known = Facts(found_range.low, found_range.high, found_range.modulus or 1, 0)
        known = replace(known, residue=found_range.residue % known.modulus)
        facts[variable.name] = known
        said = list(known.predicates(variable.name))
        for each in own:
            if follows([variable], said, each):
                wheres.remove(each)
    stated = [fact for variable in left for fact in facts[variable.name].predicates(variable.name)]
    if len(wheres) <= _MOST:
        for each in sorted(wheres, key=lambda where: len(write_predicate(where)), reverse=True):
            others = [where for where in wheres if where is not each]
            if follows(left, [*stated, *dims, *others], each):
                wheres = others
    return Settled(params, facts, tuple(wheres), replaced)


def _simplified(predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    """Yields the canonical parts of ``predicates``, each once."""
    yield from dict.fromkeys(orient(part) for each in predicates for part in split(simplify_predicate(each)))


def _multiplied(where: Predicate, wheres: Sequence[Predicate]) -> Predicate:
    """Returns ``a == 2 * b`` for ``b == a // 2``, where ``a`` is even."""
    match where:
        case Compare(op=op, left=Var() as whole, right=Apply(op=inner, args=(Var() as part, Const() as divisor))) if (
            op.name == "==" and inner.name == "//" and divisor.value > 0
        ):
            even = Compare(op, Apply(OPERATORS["%"], (part, divisor)), Const(0))
            if even in wheres:
                return Compare(op, part, Apply(OPERATORS["*"], (divisor, whole)))
        case _:
            pass
    return where


def _definition(
    params: Sequence[Param], order: Sequence[str], wheres: Sequence[Predicate], keep: frozenset[str]
) -> tuple[str, Size] | None:
    """Returns a variable that an equation gives, and what it is."""
    bare = {dim.name for param in params for dim in tensor_dims(param.type) if isinstance(dim, Var)}
    bare |= {size.name for param in params for size in scalar_sizes(param.type) if isinstance(size, Var)}
    for where in wheres:
        if not isinstance(where, Compare) or where.op.name != "==":
            continue
        pairs = [(where.left, where.right), (where.right, where.left)]
        if isinstance(where.left, Var) and isinstance(where.right, Var):
            pairs.sort(key=lambda pair: order.index(pair[0].name), reverse=True)  # type: ignore[union-attr]
        for left, right in pairs:
            if not isinstance(left, Var) or left.name in keep:
                continue
            used = set(free_vars(right))
            if left.name not in used and used <= bare and _is_exact(right):
                return left.name, right
    return None


def _is_exact(size: Size) -> bool:
    match size:
        case Const() | Var():
            return True
        case Apply(op=op, args=(dividend, Const(value=divisor))) if op.name in _DIVIDED:
            return divisor > 0 and _is_exact(dividend)
        case Apply(op=op, args=args):
            return op.name in _EXACT and all(_is_exact(arg) for arg in args)
        case _:
            return False


def _bound(bindings: Mapping[str, Size], dim: Dim) -> Dim:
    return substitute_size(dim, bindings) if isinstance(dim, (Var, Apply)) else dim


def follows(variables: Sequence[Variable], given: Sequence[Predicate], predicate: Predicate) -> bool:
    """Returns whether ``given`` was proved to imply ``predicate``; what has nothing to do with it is not looked at."""
    related = set(free_vars(predicate))
    mine: list[Predicate] = []
    waiting = list(given)
    while found := [each for each in waiting if not related.isdisjoint(free_vars(each))]:
        mine += found
        waiting = [each for each in waiting if each not in found]
        related |= {name for each in found for name in free_vars(each)}
    known = [variable for variable in variables if variable.name in related]
    return isinstance(implied_by(known, mine, predicate), Proved)


__all__ = ["Facts", "Settled", "follows", "settle"]
