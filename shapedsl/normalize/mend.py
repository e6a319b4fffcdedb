"""Say how a contradiction can be mended: to which number each bound at fault could move.

Before::

    dim B in [2, 64] multiple of 8
    let S = 2 * B
    ...
        where S >= 200

After: ``raise B's upper bound to 104, or use S >= 128``. Without the first bound ``B`` is at least 104, without
the second one ``S`` is at most 128. Nothing is proposed that was not shown to leave some shape. Where no
bound can move, the constraints are named without which the others hold together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..diagnostics import Edit, Fix, Span
from ..ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Constraint, Origin, Size, Var, Variable, Variadic
from ..ir.walk import free_vars
from ..ir.write import write_predicate
from .decide import Range, Unknown, find_sizes, range_of
from .labels import listed, text_of

WORK = 10_000  # of one question
MOST_TRIED = 8  # constraints of a core for which a number is looked for
MOST_SHOWN = 3
MOST_STEPS = 12  # away from a number that a size equals, where the numbers that it can be have gaps
LOWER, UPPER = (">=", ">"), ("<=", "<")


@dataclass(frozen=True, slots=True)
class Mending:
    """What to do.

    Attributes:
        help: One line, or none.
        fix: The first of the moves as an edit; it changes which sizes are accepted, so it is not safe.
    """

    help: tuple[str, ...]
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class _Move:
    text: str
    edit: Edit | None


def mending(core: Sequence[Constraint], stated: Sequence[Constraint], variables: Sequence[Variable]) -> Mending:
    """Returns how ``stated`` could become satisfiable.

    Args:
        core: A minimal set of them that no sizes satisfy.
        stated: All constraints.
        variables: Their kinds count.
    """
    if len(core) == 1 and not free_vars_of(core[0]):
        return Mending(("delete this constraint",))
    moves = list(_moves(core, stated, variables)) if len(core) <= MOST_TRIED else []
    moves.sort(key=lambda move: move.text.startswith("use"))
    if moves:
        first, *others = (move.text for move in moves[:MOST_SHOWN])
        same = "use " if first.startswith("use ") else None
        text = ", or ".join([first, *(other.removeprefix(same) if same else other for other in others)])
        edit = moves[0].edit
        return Mending((text,), None if edit is None else Fix(moves[0].text, (edit,)))
    changeable = [constraint for constraint in core if constraint.origin is not Origin.DIM]
    if not changeable:
        return Mending(("change one of these dims",))
    if len(core) == 1:
        return Mending(("delete this constraint",))
    cures = [c for c in changeable if _holds_together(variables, [o for o in stated if o is not c])]
    if cures and len(cures) < len(core) and len(cures) <= MOST_SHOWN:
        return Mending((f"change or delete {listed([f'`{text_of(c)}`' for c in cures], 'or')}",))
    return Mending(("change or delete one of these constraints",))


def free_vars_of(constraint: Constraint) -> set[str]:
    """Returns the variables of ``constraint``."""
    return set(free_vars(constraint.predicate))


def _moves(core: Sequence[Constraint], stated: Sequence[Constraint], variables: Sequence[Variable]) -> Iterator[_Move]:
    """Yields, of each bound at fault, the nearest number at which something is left."""
    for constraint in core:
        match constraint.predicate:
            case Compare(op=op, left=left, right=right) if constraint.origin is not Origin.DIM and op.name != "!=":
                pass
            case _:
                continue
        if constraint.origin is Origin.DECLARED and not isinstance(left, (Var, Variadic)):
            continue  # another `multiple of` is another spec
        others = [other for other in stated if other is not constraint]
        if not isinstance(right, Const):
            moved = _apart(constraint, others, variables)
            if moved is not None and _holds_together(variables, [*others, Constraint(moved)]):
                yield _Move(f"use {write_predicate(moved)}", None)
            continue
        for value in _nearest(constraint.predicate, left, others, variables):
            moved = Compare(op, left, Const(value))
            if _holds_together(variables, [*others, Constraint(moved)]):
                yield _written(constraint, moved, value)
                break


def _apart(constraint: Constraint, others: Sequence[Constraint], variables: Sequence[Variable]) -> Compare | None:
    """Returns ``left < right`` with as little added as ``others`` ask for, in the direction that it was written in."""
    predicate = constraint.predicate
    if not isinstance(predicate, Compare) or predicate.op.name not in UPPER:
        return None
    difference = Apply(OPERATORS["-"], (predicate.left, predicate.right))
    found = range_of(variables, [other.predicate for other in others], difference, work=WORK)
    if found is None or found.low is None:
        return None
    (left, before), (right, after) = _without_number(predicate.left), _without_number(predicate.right)
    added = after - before + found.low
    strict = predicate.op.name == "<" and added != 0
    added += strict
    if ">" in text_of(constraint):
        return Compare(COMPARISONS[">" if strict else ">="], right, _plus(left, -added))
    if added < 0:
        return Compare(COMPARISONS["<" if strict else "<="], _plus(left, -added), right)
    return Compare(COMPARISONS["<" if strict else "<="], left, _plus(right, added))


def _without_number(size: Size) -> tuple[Size, int]:
    """Returns ``S`` and 2 for ``S + 2``."""
    match size:
        case Apply(op=op, args=(inner, Const(value=value))) if op.name in ("+", "-"):
            return inner, value if op.name == "+" else -value
        case _:
            return size, 0


def _plus(size: Size, number: int) -> Size:
    return Apply(OPERATORS["+" if number > 0 else "-"], (size, Const(abs(number)))) if number else size


def _nearest(
    predicate: Compare, size: Size, others: Sequence[Constraint], variables: Sequence[Variable]
) -> Iterator[int]:
    """Yields the numbers at which ``predicate`` may hold together with ``others``, the nearest first."""
    found = range_of(variables, [other.predicate for other in others], size, work=WORK)
    if found is None or not isinstance(predicate.right, Const):
        return
    if predicate.op.name in UPPER:
        ends = [found.low]
    elif predicate.op.name in LOWER:
        ends = [found.high]
    else:
        ends = [found.low, found.high]
    number = predicate.right.value
    if predicate.op.name == "==":
        modulus = found.modulus or 1  # 0: one number, which is both ends
        down = number - (number - found.residue) % modulus
        ends += [down, down + modulus, *(number + step for step in range(-MOST_STEPS, MOST_STEPS + 1))]
        ends = [end for end in ends if end is not None and _within(end, found)]
    for end in sorted({end for end in ends if end is not None}, key=lambda end: (abs(end - number), end)):
        yield end + {">": -1, "<": 1}.get(predicate.op.name, 0)


def _within(number: int, found: Range) -> bool:
    inside = (found.low is None or found.low <= number) and (found.high is None or number <= found.high)
    return inside and (number - found.residue) % (found.modulus or 1) == 0


def _holds_together(variables: Sequence[Variable], constraints: Sequence[Constraint]) -> bool:
    found = find_sizes(variables, [constraint.predicate for constraint in constraints], work=WORK)
    return found is not None and not isinstance(found, Unknown)


def _written(constraint: Constraint, moved: Compare, value: int) -> _Move:
    """Returns how to write ``constraint`` with another number."""
    assert isinstance(constraint.predicate, Compare)
    old = constraint.predicate.right
    assert isinstance(old, Const)
    if constraint.origin is Origin.DECLARED:
        name = "".join(dict.fromkeys(free_vars(moved.left)))
        verb, end = ("raise", "upper") if moved.op.name in UPPER else ("lower", "lower")
        return _Move(f"{verb} {name}'s {end} bound to {value}", _end_moved(constraint.span, end, old.value, value))
    text, changes = re.subn(rf"(?<=[\s=<>]){old.value}$", str(value), text_of(constraint))
    shown = text if changes else write_predicate(moved)
    at = old.span
    edit = Edit(at, str(value)) if at is not None and at.text == str(old.value) and changes else None
    return _Move(f"use {shown}", edit)


def _end_moved(span: Span | None, end: str, old: int, new: int) -> Edit | None:
    """Returns the edit of one end of ``[lo, hi]``, where it is written as the number that it is."""
    found = re.fullmatch(r"\[\s*([^\s,]+)\s*,\s*([^\s,]+)\s*,?\s*\]", span.text) if span is not None else None
    at = 1 if end == "lower" else 2
    if span is None or found is None or found[at] != str(old):
        return None
    return Edit(span.source.span(span.start + found.start(at), span.start + found.end(at)), str(new))


__all__ = ["Mending", "mending"]
