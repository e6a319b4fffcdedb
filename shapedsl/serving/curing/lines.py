"""A plan → the lines that say it, each with why it is needed as its comment.

where S >= 2  # net.py:20 asks whether `S > 1`
# S == 1 is left out; `case S == 1` would serve it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir import COMPARISONS, Compare, Const, Mode, Origin, Predicate, Signature, Var
from ...ir.write import write_predicate
from .model import Added
from .planned import Clause, Plan

_MARGIN = "    "
MOST_REASONS = 2


@dataclass(frozen=True, slots=True)
class Lines:
    """What is put into the text of a def.

    Attributes:
        where: Lines of the def itself.
        blocks: Lines of the blocks of alternatives, by position.
        fronts: Whole clauses, by the position of the alternative that they stand in front of.
    """

    where: tuple[str, ...]
    blocks: dict[int, tuple[str, ...]]
    fronts: dict[int, tuple[str, ...]]


def lines_of(plan: Plan) -> Lines:
    """Returns the lines of a plan."""
    count = len(plan.signature.alternatives)
    fronts = {at: [row for clause in clauses for row in _clause(clause)] for at, clauses in plan.fronts.items()}
    if plan.rest is not None:
        rows = fronts.setdefault(count, [])
        rows += ["otherwise:", *(f"{_MARGIN}{_assumption(each)}" for each in plan.rest)]
    blocks: dict[int, tuple[str, ...]] = {}
    for at, added in plan.blocks.items():
        served = bool(plan.fronts.get(at))
        last = at == count - 1
        blocks[at] = tuple(row for each in added for row in _assumed(each, plan, served=served, last=last))
    where = [_static(plan.signature, name) for name in plan.statics]
    where += [row for each in plan.where for row in _assumed(each, plan, served=False, last=True)]
    return Lines(
        tuple(where), {at: rows for at, rows in blocks.items() if rows}, {a: tuple(b) for a, b in fronts.items()}
    )


def reasons(added: Added) -> str:
    """Returns why something is assumed, in one line."""
    found = list(dict.fromkeys(step.reason for step in added.steps))
    more = f"; and {len(found) - MOST_REASONS} more" if len(found) > MOST_REASONS else ""
    return "; ".join(found[:MOST_REASONS]) + more


def _assumption(added: Added) -> str:
    return f"where {added.text}  # {reasons(added)}"


def _assumed(added: Added, plan: Plan, *, served: bool, last: bool) -> list[str]:
    """Returns an assumption with what it leaves out; see `left_out_rows`."""
    return [_assumption(added), *([] if served else left_out_rows(added, plan, last=last))]


def left_out_rows(added: Added, plan: Plan, *, last: bool = True) -> list[str]:
    """Returns what an assumption leaves out, as a comment.

    Args:
        added: The assumption.
        plan: What it is part of.
        last: Whether no alternative follows that could have it.
    """
    left = added.left_out_text
    if not left or added.demanded:
        return []
    if left in plan.refused:
        return [f"# {left} is left out: there the program raises by itself"]
    if not last:
        return [f"# {left} is left to what follows"]
    return [f"# {left} is left out; `case {left}` would serve it"]


def _clause(clause: Clause) -> list[str]:
    own = ", ".join(map(write_predicate, clause.own))
    if clause.alternative.mode is Mode.EAGER:
        return [f"case {own} eager  # {clause.note}"]
    if not clause.added:
        return [f"case {own}"]
    return ["case:", f"{_MARGIN}where {own}", *(f"{_MARGIN}{_assumption(each)}" for each in clause.added)]


def _static(signature: Signature, name: str) -> str:
    """Returns the line that declares a size as static; its range stays."""
    low, high = "0", "inf"
    for constraint in signature.constraints:
        if constraint.origin is Origin.DECLARED:
            low = _bound(constraint.predicate, name, ">=") or low
            high = _bound(constraint.predicate, name, "<=") or high
    interval = "" if (low, high) == ("0", "inf") else f" in [{low}, {high}]"
    return f"const {name}{interval} = _"


def _bound(predicate: Predicate, name: str, op: str) -> str | None:
    match predicate:
        case Compare(op=found, left=Var(name=left), right=Const(value=value)) if (left, found) == (
            name,
            COMPARISONS[op],
        ):
            return str(value)
        case _:
            return None


def python_where(plan: Plan) -> str | None:
    """Returns the decorator that adds the assumptions of a plan to annotations; None where more than that is added."""
    if plan.fronts or plan.statics or any(plan.blocks.values()) or not plan.where:
        return None
    rows: Sequence[str] = [f'    "{each.text}",  # {reasons(each)}' for each in plan.where]
    return "\n".join(["@where(", *rows, ")"])


__all__ = ["Lines", "left_out_rows", "lines_of", "python_where", "reasons"]
