"""Tell of redundant constraints: what they follow from, and what deletes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..diagnostics import Fix, Report
from ..ir import COMPARISONS, Compare, Const, Not, Var, VariableKind
from ..ir.walk import free_vars
from .decide import minimal_core
from .labels import cited, lines_of, listed, text_of
from .redundant import Redundant

MOST_NAMED = 3  # constraints that a headline names
MOST_SHOWN = 8  # lines that something follows from


def report_redundant(found: Sequence[Redundant], fixes: Sequence[Fix | None], report: Report) -> None:
    """Adds ``redundant`` findings.

    Args:
        found: From `find_redundant`.
        fixes: What deletes each of them, where that can be done.
        report: Receives the findings.
    """
    for each, fix in zip(found, fixes, strict=True):
        texts = list(dict.fromkeys(f"`{text_of(c)}`" for c in each.constraints))
        what, plural = listed(texts), len(texts) > 1
        if not each.core:
            headline, label = f"{what} always {'hold' if plural else 'holds'}", "always holds"
        elif not plural and [cited(c) for c in each.core] == texts:
            headline, label = f"{what} is stated twice", "stated again"
        else:
            names = list(dict.fromkeys(cited(c) for c in each.core))
            by = listed(names) if len(names) <= MOST_NAMED else f"{len(names)} other constraints"
            headline, label = f"{what} {'are' if plural else 'is'} implied by {by}", "implied"
        own = dict.fromkeys(note for c in each.constraints for note in c.notes)
        others = lines_of(each.core[:MOST_SHOWN], "so")
        report.warning(
            "redundant",
            headline,
            at=each.span,
            label=label,
            also=[*others, *(let for let in own if let not in others)],
            note=list(_kinds(each)),
            help=fix.description if fix is not None else "delete it",
            fix=fix,
        )


def _kinds(each: Redundant) -> Iterator[str]:
    """Yields which variables are sizes, where that is a part of why a constraint always holds."""
    for constraint in each.constraints if not each.core else ():
        negated = Not(constraint.predicate)
        names = list(dict.fromkeys(free_vars(constraint.predicate)))
        variables = [v for v in each.signature.variables if v.name in names and not v.variadic]
        sizes = [v.name for v in variables if v.kind is not VariableKind.INT]
        signs = [Compare(COMPARISONS[">="], Var(name), Const(0)) for name in sizes]
        ints = [replace(v, kind=VariableKind.INT) for v in variables]
        for at in minimal_core(ints, [negated, *signs]) or ():
            if at:
                yield f"{sizes[at - 1]} is a size, so {sizes[at - 1]} >= 0"
