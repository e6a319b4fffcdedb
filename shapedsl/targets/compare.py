"""Compare what a program demands with what its spec implies.

What the spec states, or what follows from it, is no finding: ``A == B`` in a program is fine under
``A == 2 * C, B == 2 * C``. Deciding that is `normalize`'s; its answer is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ..diagnostics import Report
from ..ir import COMPARISONS, Compare, Const, Predicate, Var
from ..ir.expanded import Lowered
from ..ir.walk import substitute
from ..ir.write import write_predicate
from .program import Demand, demands, plain

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import GraphModule

    Program: TypeAlias = "ExportedProgram | GraphModule"

# None: implied; sizes that show it is not; or the reason why neither was found
Refutation: TypeAlias = "Mapping[str, int] | str | None"


def compare(
    program: Program,
    lowered: Lowered,
    refute: Callable[[Predicate, tuple[Predicate, ...]], Refutation],
    report: Report,
    allowed: Collection[str] = (),
) -> None:
    """Reports what ``program`` demands and the spec does not imply.

    Args:
        program: From export, or a graph from our make_fx.
        lowered: The spec that it was made with.
        refute: Whether the spec, with further predicates, implies a predicate: None if so, sizes that
            satisfy it all but the predicate, or why neither was found.
        report: Receives errors ``merged-dims``, ``specialized-dim`` and ``extra-assumption``, and
            warnings ``undecided``.
        allowed: Codes of the first three that are not reported.
    """
    spans = {
        leaf.place(axis): dim.span or leaf.span
        for leaf in lowered.expanded.leaves
        for axis, dim in enumerate(leaf.dims)
    }
    # what was taken from the example, and what was lowered: the program may rely on it
    known = [
        Compare(COMPARISONS["=="], Var(name), size) for name, size in lowered.definitions if isinstance(size, Const)
    ]
    meanings = {variable.name: variable.meaning for variable in lowered.variables}
    given: tuple[Predicate, ...] = (*known, *(substitute(each, meanings) for each in lowered.assumptions))
    stated = _Stated(lowered, given)
    for demand in demands(program, lowered):
        if stated.covers(demand.predicate):
            continue  # most demands: deciding each would take its time
        refuted = refute(demand.predicate, given)
        if refuted is None:
            continue
        given += (demand.predicate,)  # what follows from a finding is none of its own
        text = write_predicate(lowered.reasoner.shorter(demand.predicate) if lowered.reasoner else demand.predicate)
        notes = [] if demand.line is None else [f"needed by {demand.line}"]
        at, *also = [spans.get(place) for place in demand.places] or [None]
        if isinstance(refuted, str):
            message = f"could not prove that the spec implies `{text}`, which the program demands"
            report.warning("undecided", message, at=at, note=[*notes, refuted])
        elif demand.code not in allowed:
            if refuted:
                sizes = ", ".join(f"{name} = {size}" for name, size in refuted.items())
                notes.append(f"the spec accepts {sizes}, the program does not")
            report.error(
                demand.code,
                _headline(demand, text),
                at=at,
                also=[(span, "") for span in also],
                note=notes,
                help=(
                    f"add `where {text}` to the spec, or change the program",
                    f'or allow it: `verify={{"{demand.code}"}}`',
                ),
                witness=tuple(sorted(refuted.items())),
            )


class _Stated:
    """What was lowered, word for word: ranges, residues and assumptions. It needs no proof that the spec implies it."""

    def __init__(self, lowered: Lowered, given: Iterable[Predicate]) -> None:
        stated = [constraint.predicate for constraint in lowered.expanded.signature.constraints]
        self.predicates = {plain(each) for each in (*given, *stated)}
        self.ranges = {variable.meaning: (variable.low, variable.high) for variable in lowered.variables}

    def covers(self, predicate: Predicate) -> bool:
        match predicate:
            case Compare(op=op, left=left, right=Const(value=value)) if left in self.ranges:
                low, high = self.ranges[left]
                if (op.name == ">=" and low is not None and low >= value) or (
                    op.name == "<=" and high is not None and high <= value
                ):
                    return True
            case _:
                pass
        return predicate in self.predicates


def _headline(demand: Demand, text: str) -> str:
    match demand:
        case Demand(code="merged-dims", places=(first, second)):
            return f"the program made `{first}` and `{second}` one size: `{text}`"
        case Demand(code="specialized-dim", places=(place,)):
            return f"the program pinned `{place}`: `{text}`"
        case _:
            return f"the program demands `{text}`, which the spec does not imply"
