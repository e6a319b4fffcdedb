"""Check hints: a size to optimize for must be one that can occur.

Against the declared range or residue it is the error ``hint-out-of-range``; against a ``where`` or the
case it stands in, a warning, and lowering uses the nearest size that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from ..diagnostics import Report, Span
from ..ir import Constraint, Origin, Predicate, Signature, Variable, VariableKind
from ..ir.taking import negation
from ..ir.walk import free_vars, holds
from .domains import Contradiction
from .facts import fact_of
from .intervals import Interval
from .lowerable.fit import fitting
from .predicates import simplify_predicate, split
from .propagate import propagate

_Lowered: TypeAlias = "tuple[Sequence[Variable], Sequence[Predicate]]"  # what the hint is moved to fit


@dataclass(frozen=True, slots=True)
class _Hint:
    variable: Variable
    value: int
    span: Span | None


def check_hints(signature: Signature, report: Report) -> None:
    """Adds ``hint-out-of-range`` findings."""
    wheres = [c for c in signature.constraints if c.origin is not Origin.DECLARED]
    stated = [c.predicate for c in signature.constraints]
    for variable in signature.variables:
        if variable.hint is not None:
            hint = _Hint(variable, variable.hint, variable.span)
            if not _outside_declared(hint, signature.constraints, report):
                _outside_wheres(hint, wheres, (signature.variables, stated), report)
    for at, alternative in enumerate(signature.alternatives):
        for name, value in alternative.hints:
            known = signature.variable(name)
            if known is None:
                continue
            hint = _Hint(known, value, alternative.span)
            if _outside_declared(hint, signature.constraints, report):
                continue
            before = signature.alternatives[:at]
            lowered: _Lowered | None = None
            if not any(each.buckets for each in (*before, alternative)):
                mine = [*(c.predicate for c in alternative.constraints), *map(negation, before)]
                lowered = signature.variables, [*stated, *mine]
            _outside_wheres(hint, [*wheres, *alternative.constraints], lowered, report)


def _outside_declared(hint: _Hint, constraints: Iterable[Constraint], report: Report) -> bool:
    """Reports a hint that the declaration excludes."""
    name, kind = hint.variable.name, hint.variable.kind
    interval = Interval(-inf if kind is VariableKind.INT else 0, inf)
    at: list[Span | None] = []
    modulus, residue = 1, 0
    for constraint in constraints:
        fact = fact_of(constraint.predicate) if constraint.origin is Origin.DECLARED else None
        if fact is not None and fact[0] == name:
            interval = interval.meet(fact[1])
            if fact[2] > 1:
                modulus, residue = fact[2], fact[3]
            if not _allows(hint.value, fact[1], fact[2], fact[3]):
                at.append(constraint.span)
    if _allows(hint.value, interval, modulus, residue):
        return False
    wanted: list[str] = []
    if not interval.low <= hint.value <= interval.high:
        low = "-inf" if interval.low == -inf else str(interval.low)
        high = "inf" if interval.high == inf else str(interval.high)
        wanted.append(f"in [{low}, {high}]")
    if (hint.value - residue) % modulus:
        wanted.append(f"a multiple of {modulus}" + (f" plus {residue}" if residue else ""))
    report.error(
        "hint-out-of-range",
        f"hint {hint.value} of `{name}` is not {' and '.join(wanted)}",
        at=hint.span,
        label=f"hint {hint.value}",
        also=[(span, "declared here") for span in dict.fromkeys(at) if span != hint.span],
    )
    return True


def _allows(value: int, interval: Interval, modulus: int, residue: int) -> bool:
    return interval.low <= value <= interval.high and (value - residue) % modulus == 0


def _outside_wheres(hint: _Hint, wheres: Sequence[Constraint], lowered: _Lowered | None, report: Report) -> None:
    """Warns of a hint that a single-variable assumption excludes, unless it leaves one size, which needs no hint."""
    name = hint.variable.name
    broken = [c for c in wheres if set(free_vars(c.predicate)) == {name} and not _holds(c, name, hint.value)]
    if not broken or hint.variable.variadic or any(_is_one_size(c.predicate) for c in broken):
        return
    nearest = None if lowered is None else nearest_fit(name, hint.value, *lowered)
    report.warning(
        "hint-out-of-range",
        f"hint {hint.value} of `{name}` does not satisfy `{broken[0].text}`",
        at=broken[0].span or hint.span,
        label=f"{name} is not {hint.value} here",
        also=[(hint.span, f"hint {hint.value}")],
        note=[] if nearest is None else f"{nearest} is used, the nearest size that fits",
    )


def _is_one_size(predicate: Predicate) -> bool:
    fact = fact_of(simplify_predicate(predicate))
    return fact is not None and fact[1].low == fact[1].high


def _holds(constraint: Constraint, name: str, value: int) -> bool:
    try:
        return holds(constraint.predicate, {name: value})
    except (ZeroDivisionError, TypeError):  # undefined, or about a variadic
        return True


def nearest_fit(name: str, value: int, variables: Sequence[Variable], predicates: Sequence[Predicate]) -> int | None:
    """Returns the size that lowering takes for a hint of ``name`` under ``predicates``; None if there is none."""
    parts = [part for each in predicates for part in split(simplify_predicate(each))]
    alone = [part for part in parts if set(free_vars(part)) == {name}]
    try:
        nearest = fitting(value, propagate(variables, parts).domain(name), name, alone)
    except Contradiction:
        return None
    return nearest if all(_satisfied(part, {name: nearest}) for part in alone) else None


def _satisfied(predicate: Predicate, sizes: Mapping[str, int]) -> bool:
    try:
        return holds(predicate, sizes)
    except ZeroDivisionError:
        return False
