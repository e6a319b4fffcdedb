"""Tell torch a condition as it was written, too, where its canonical form is another one with a division.

torch decides a branch from what looks almost like it (measured on 2.14.1): ``A % 4 == 0`` does not decide
``(A + 3) % 4 == 3``, and ``B < 5 * A`` does not decide ``B // 5 < A``. Who writes a division has it in the program.

Before::

    where B // 5 < A           B < 5 * A

After::

    where B // 5 < A           B < 5 * A, B // 5 < A

Invariant: each says what the constraint says that it was made from, so that nothing else is accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ...ir import And, Apply, Compare, Const, Constraint, Predicate, Size, Var
from ...ir.orient import orient
from ...ir.walk import free_vars, nodes, substitute
from ..intervals import Box, interval_of
from ..predicates import simplify_predicate, split

_TOLD = ("+", "-", "*", "//", "%", "neg", "min", "max")  # that torch and Python mean alike


def as_written(
    constraints: Iterable[Constraint], values: Mapping[str, Size], names: Collection[str], box: Box
) -> Iterator[Predicate]:
    """Yields comparisons as they were written, where canonically they are others without that division.

    Args:
        constraints: Of the signature.
        values: Variables that have left: pinned ones, and those that stand for others.
        names: Variables of the signature that torch has by these names.
        box: Their ranges.
    """
    for constraint in constraints:
        for part in _conjuncts(constraint.predicate):
            if not any(map(_divides, nodes(part))):
                continue
            predicate = orient(substitute(part, values))
            if not isinstance(predicate, Compare):
                continue
            used = set(free_vars(predicate))
            if not used or not used.issubset(names) or not _is_safe(predicate, box):
                continue
            canonical = split(simplify_predicate(predicate))
            if predicate in canonical or all(map(_is_range, canonical)):
                continue  # of one size torch knows the range
            yield predicate


def _conjuncts(predicate: Predicate) -> Iterator[Compare]:
    match predicate:
        case Compare():
            yield predicate
        case And(args=args):
            for arg in args:
                yield from _conjuncts(arg)
        case _:
            pass


def _divides(node: object) -> bool:
    return isinstance(node, Apply) and node.op.name in ("//", "%")


def _is_safe(predicate: Compare, box: Box) -> bool:
    """Returns whether torch computes the same as Python: all divisors are positive numbers, no remainder is one of less than 0."""
    for node in nodes(predicate):
        match node:
            case Apply(op=op) if op.name not in _TOLD:
                return False
            case Apply(op=op, args=(size, divisor)) if op.name in ("//", "%"):
                if not isinstance(divisor, Const) or divisor.value < 1:
                    return False
                if op.name == "%" and interval_of(size, box).low < 0:
                    return False
            case _:
                pass
    return True


def _is_range(predicate: Predicate) -> bool:
    match predicate:
        case Compare(op=op, left=Var(), right=Const()):
            return op.name in ("<", "<=", ">", ">=", "==")
        case _:
            return False


__all__ = ["as_written"]
