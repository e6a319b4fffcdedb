"""IR → IR. `PASSES` is the whole pipeline, in order; each pass is the module of its name.

`normalize` gives the normal form of a signature and the table of its variables; `lower` gives, at one
structure, the form that the torch writer can write without deciding anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..diagnostics import Report
from ..ir import Signature
from .absorb_facts import absorb_facts
from .domains import Contradiction, Domains
from .lowerable import lower, solve
from .propagate import propagate
from .refute import refute
from .resolve import resolve
from .simplify import simplify
from .table import Facts, Table

Pass: TypeAlias = "Callable[[Signature, Report], Signature | None]"  # None: no sizes satisfy it, nothing follows

PASSES: Final[tuple[Pass, ...]] = (
    resolve,  # names, hints and divisors are checked; nothing changes
    refute,  # contradictions are told, on what the user wrote; nothing changes, or nothing follows
    simplify,  # sizes and predicates in canonical form
    absorb_facts,  # single-variable constraints become declarations
)


@dataclass(frozen=True, slots=True)
class Normal:
    """A signature in normal form.

    Attributes:
        signature: The normal form.
        table: The facts of each variable, by name, sorted; what follows from several constraints is in it.
        contradictory: Whether no sizes satisfy it; then ``signature`` is as it was, and the table says
            only what the kinds say.
    """

    signature: Signature
    table: Mapping[str, Facts]
    contradictory: bool = False


def normalize(signature: Signature, report: Report) -> Normal:
    """Returns the normal form of ``signature``.

    Args:
        signature: As a frontend made it. Normalizing twice changes nothing.
        report: Receives wrong names, hints, divisors, and contradictions.
    """
    for each in PASSES:
        after = each(signature, report)
        if after is None:
            return Normal(signature, Table(signature, Domains.of_variables(signature.variables), tight=False), True)
        signature = after
    try:
        domains = propagate(signature.variables, [constraint.predicate for constraint in signature.constraints])
    except Contradiction:  # shows in the normal form only
        report.error("contradiction", "no shape satisfies this spec", at=signature.span)
        return Normal(signature, Table(signature, Domains.of_variables(signature.variables), tight=False), True)
    return Normal(signature, Table(signature, domains))


__all__ = ["PASSES", "Facts", "Normal", "lower", "normalize", "resolve", "solve"]
