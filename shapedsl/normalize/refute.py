"""Find contradictions, and the smallest set of lines that are at fault.

torch drops a statically false assumption silently, so nothing may be lowered from a spec that no
shape satisfies.

Before::

    dim B in [2, 64] multiple of 8
    let S = 2 * B
    ...
        where S >= 200

After: ``contradiction`` with the core ``B <= 64; S >= 200``, each line labelled with what it asks of
``B``, and what to change.

The core is deletion-minimal: without any one of its constraints no contradiction is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from ..diagnostics import Report, Span
from ..ir import Compare, Const, Constraint, Origin, Predicate, Signature, Var, Variable
from ..ir.walk import evaluate, free_vars, holds
from ..ir.write import write_predicate
from .comparisons import FALSE
from .components import components
from .decide import find_sizes
from .domains import Contradiction, Domains
from .facts import fact_of
from .predicates import simplify_predicate, split
from .propagate import propagate
from .signs import negative_dims

WORK = 10_000  # units of `linear.Budget` for each group of constraints
MOST_TRIALS = 200


@dataclass(frozen=True, slots=True)
class Refutation:
    """Why no sizes satisfy some constraints.

    Attributes:
        core: The constraints at fault, in the order they were given.
        variable: The variable for which nothing is left, where it is one.
    """

    core: tuple[Constraint, ...]
    variable: str | None


def refute(signature: Signature, report: Report) -> Signature | None:
    """Returns ``signature`` unchanged, or None if no sizes satisfy it.

    Args:
        signature: Resolved.
        report: Receives ``contradiction``, unless ``negative-dim`` has told of it.
    """
    if any(negative_dims(signature)):
        return None
    refutation = refutation_of(signature.variables, signature.constraints)
    if refutation is None:
        return signature
    report_contradiction(refutation, signature, report)
    return None


def refutation_of(variables: Iterable[Variable], constraints: Sequence[Constraint]) -> Refutation | None:
    """Returns why no sizes satisfy ``constraints``, or None if no reason was found."""
    found = refutation_or_domains(variables, constraints)
    return found if isinstance(found, Refutation) else None


def refutation_or_domains(variables: Iterable[Variable], constraints: Sequence[Constraint]) -> Refutation | Domains:
    """Returns why no sizes satisfy ``constraints``, or, if no reason was found, what `propagate` makes of them."""
    search = _Search(tuple(variables), [split(simplify_predicate(constraint.predicate)) for constraint in constraints])
    found = search.clash(range(len(constraints)))
    if found is None:
        return search.domains
    core, variable = _minimal(found, search)
    return Refutation(tuple(constraints[at] for at in core), variable)


@dataclass(slots=True)
class _Search:
    """Looks for clashes among some of the constraints.

    Attributes:
        variables: Their kinds count.
        parts: Of each constraint, its canonical conjuncts.
        trials: How many more clashes may be looked for.
        domains: Where the last clash that was looked for was not found, what each variable can be.
    """

    variables: tuple[Variable, ...]
    parts: list[tuple[Predicate, ...]]
    trials: int = MOST_TRIALS
    domains: Domains = field(default_factory=Domains)

    def clash(self, at: Iterable[int]) -> tuple[list[int], str | None] | None:
        """Returns which of the constraints ``at`` clash, not necessarily minimal, and the variable of which nothing is left."""
        self.trials -= 1
        owners = [owner for owner in at for _ in self.parts[owner]]
        predicates = [part for owner in at for part in self.parts[owner]]
        for owner, predicate in zip(owners, predicates, strict=True):
            if predicate == FALSE:
                return [owner], None
        try:
            self.domains = propagate(self.variables, predicates)
        except Contradiction as contradiction:
            return sorted({owners[reason] for reason in contradiction.reasons}), contradiction.variable
        if _smallest_fits(self.domains, predicates):
            return None
        for group in components(predicates):
            if all(fact_of(predicates[each]) is not None for each in group):
                continue  # what facts say about each other, `propagate` has seen
            together = [predicates[each] for each in group]
            names = {name for predicate in together for name in free_vars(predicate)}
            if find_sizes([v for v in self.variables if v.name in names], together, work=WORK) is None:
                return sorted({owners[each] for each in group}), None
        return None


def _smallest_fits(domains: Domains, predicates: Sequence[Predicate]) -> bool:
    """Returns whether the smallest sizes, defined ones computed, satisfy everything: most specs are that easy."""
    sizes = {name: int(d.low if d.low > -inf else min(0, d.high)) for name, d in domains.of.items()}
    try:
        for predicate in predicates:
            match predicate:
                case Compare(op=op, left=Var(name=name), right=right) if op.name == "==":
                    sizes[name] = evaluate(right, sizes)
                case _:
                    pass
        fits = all(sizes[name] >= domain.low for name, domain in domains.of.items())
        return fits and all(holds(predicate, sizes) for predicate in predicates)
    except (ZeroDivisionError, TypeError, KeyError):  # a variadic has no size of its own
        return False


def _minimal(found: tuple[list[int], str | None], search: _Search) -> tuple[list[int], str | None]:
    """Deletes constraints, many at once first, for as long as the others still clash."""
    core, variable = found
    size = len(core) // 2
    while size:
        for start in range(len(core), 0, -size):
            gone = set(core[max(0, start - size) : start])
            if not gone or search.trials < 0:
                continue
            without = search.clash([at for at in core if at not in gone])
            if without is not None:
                core, variable = without
        size //= 2
    return core, variable


def report_contradiction(
    refutation: Refutation, signature: Signature, report: Report, *, notes: Iterable[str] = ()
) -> None:
    """Adds the ``contradiction`` of ``signature``.

    Args:
        refutation: Why no sizes satisfy it.
        signature: What was refuted.
        report: Receives the finding.
        notes: What else was assumed.
    """
    core = sorted(refutation.core, key=lambda c: c.origin is not Origin.WHERE)  # the first `where` is the main line
    stated = [c for c in signature.constraints if c.origin is not Origin.DIM or c in refutation.core]
    annotations: list[tuple[Span | None, str]] = [(c.span, _label(c)) for c in core]
    lets: dict[tuple[Span, str], None] = dict.fromkeys(note for c in refutation.core for note in c.notes)
    spans = {span for span, _ in annotations}
    annotations += [note for note in lets if note[0] not in spans]
    main = next((at for at, (span, _) in enumerate(annotations) if span is not None), 0)
    report.error(
        "contradiction",
        "no shape satisfies this spec",
        at=annotations[main][0] or signature.span,
        label=annotations[main][1],
        also=[*annotations[:main], *annotations[main + 1 :]],
        note=[*notes, *_kind_notes(refutation, signature)],
        help=_help(refutation, signature),
        core=[c.text or write_predicate(c.predicate) for c in refutation.core],
        core_of=len(stated),
    )


def _label(constraint: Constraint) -> str:
    """Returns what a line asks for, in canonical form."""
    predicate = simplify_predicate(constraint.predicate)
    if predicate == FALSE:
        return "never holds"
    verb = "needs" if constraint.origin is Origin.WHERE else "so"
    return f"{verb} {write_predicate(predicate)}"


def _kind_notes(refutation: Refutation, signature: Signature) -> Iterable[str]:
    """Says that a size is never negative where nothing in the core does."""
    variable = signature.variable(refutation.variable) if refutation.variable else None
    if variable is not None and variable.kind.value != "int":
        lows, _ = _bounds(refutation, variable.name)
        highs = _bounds(refutation, variable.name)[1]
        if not lows and highs and max(high for _, high in highs) < 0:
            yield f"{variable.name} is a size, so {variable.name} >= 0"


def _bounds(refutation: Refutation, name: str) -> tuple[list[tuple[Constraint, int]], list[tuple[Constraint, int]]]:
    """Returns the lower and the upper bounds that single constraints of the core give ``name``."""
    lows: list[tuple[Constraint, int]] = []
    highs: list[tuple[Constraint, int]] = []
    for constraint in refutation.core:
        for part in split(simplify_predicate(constraint.predicate)):
            fact = fact_of(part)
            if fact is not None and fact[0] == name:
                if fact[1].low > -inf:
                    lows.append((constraint, int(fact[1].low)))
                if fact[1].high < inf:
                    highs.append((constraint, int(fact[1].high)))
    return lows, highs


def _help(refutation: Refutation, signature: Signature) -> list[str]:
    """Returns how to mend it: where one lower and one upper bound cross, to which number each could move."""
    name = refutation.variable
    if name is not None and len(refutation.core) == 2:
        lows, highs = _bounds(refutation, name)
        if len(lows) == 1 and len(highs) == 1 and lows[0][1] > highs[0][1]:
            (lower, low), (upper, high) = lows[0], highs[0]
            modulus, residue = _residue(signature, name)
            low, high = low + (residue - low) % modulus, high - (high - residue) % modulus
            wished = (_move(upper, name, low, "raise", "upper"), _move(lower, name, high, "lower", "lower"))
            moves = sorted((move for move in wished if move), key=lambda move: move.startswith("use"))
            if moves:
                return [", or ".join(moves).replace(", or use ", ", or ", moves[0].startswith("use"))]
    if len(refutation.core) > 1:
        return ["change or delete one of these constraints"]
    return ["delete this constraint"]


def _residue(signature: Signature, name: str) -> tuple[int, int]:
    """Returns the modulus and residue that some declaration gives ``name``."""
    for constraint in signature.constraints:
        fact = fact_of(simplify_predicate(constraint.predicate))
        if fact is not None and fact[0] == name and fact[2] > 1:
            return fact[2], fact[3]
    return 1, 0


def _move(constraint: Constraint, name: str, value: int, verb: str, end: str) -> str | None:
    """Returns the change of ``constraint`` under which ``name`` may be ``value``."""
    if constraint.origin is Origin.DIM:
        return None
    if constraint.origin is Origin.DECLARED:
        return f"{verb} {name}'s {end} bound to {value}"
    match constraint.predicate:
        case Compare(op=op, left=left, right=Const(value=number)) if set(free_vars(left)) == {name}:
            try:
                new = evaluate(left, {name: value}) + {">": -1, "<": 1}.get(op.name, 0)
            except ZeroDivisionError:
                return None
            text, changes = re.subn(rf"(?<=[\s=<>]){number}$", str(new), constraint.text)
            return f"use {text}" if changes else None
        case _:
            return None


def predicates_of(constraints: Iterable[Constraint]) -> list[Predicate]:
    """Returns the canonical conjuncts of ``constraints``."""
    return [part for constraint in constraints for part in split(simplify_predicate(constraint.predicate))]
