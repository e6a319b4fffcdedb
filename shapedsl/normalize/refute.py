"""Find contradictions, and the smallest set of lines that are at fault.

torch drops a statically false assumption silently, so nothing may be lowered from a spec that no
shape satisfies.

Before::

    dim B in [2, 64] multiple of 8
    let S = 2 * B
    ...
        where S >= 200

After: ``contradiction`` with the core ``B <= 64; S >= 200``, each line labeled with what it asks of
``B``, and what to change.

Most specs are easy: propagation empties a range, or the smallest sizes that it leaves satisfy
everything. The others are decided. The core is deletion-minimal: without any one of its constraints no
contradiction is found. Where neither sizes nor a contradiction are found, the warning ``undecided``
names the constraints that were too hard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from ..diagnostics import Report
from ..ir import COMPARISONS, Compare, Const, Constraint, Origin, Predicate, Signature, Var, Variable, VariableKind
from ..ir.walk import free_vars
from .comparisons import FALSE
from .components import components
from .decide import Unknown, find_sizes, minimal_core
from .divisors import divides_by_zero
from .domains import Contradiction, Domains
from .facts import fact_of
from .intervals import Interval, interval_of
from .labels import Line, lines_of, listed, text_of
from .mend import mending
from .near import smallest_sizes
from .predicates import simplify_predicate, split
from .propagate import propagate
from .signs import negative_dims


@dataclass(frozen=True, slots=True)
class Refutation:
    """Why no sizes satisfy some constraints.

    Attributes:
        core: The constraints at fault, in the order they were given.
        stated: All that were given; empty: those of the signature.
    """

    core: tuple[Constraint, ...]
    stated: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecided:
    """Constraints of which it is not known whether sizes satisfy them.

    Attributes:
        constraints: They have variables in common, and none with the others.
        reason: Why it is not known.
        domains: What `propagate` makes of everything.
    """

    constraints: tuple[Constraint, ...]
    reason: str
    domains: Domains


def refute(signature: Signature, report: Report) -> Signature | None:
    """Returns ``signature`` unchanged, or None if no sizes satisfy it.

    Args:
        signature: Resolved.
        report: Receives ``contradiction``, unless ``negative-dim`` or ``maybe-zero-divisor`` tells of it, and
            ``undecided``.
    """
    if any(negative_dims(signature)):
        return None
    match examine(signature.variables, signature.constraints):
        case Refutation() as refutation:
            if not any(divides_by_zero(constraint.predicate) for constraint in refutation.core):
                report_contradiction(refutation, signature, report)
            return None
        case Undecided() as undecided:
            _report_undecided(undecided, signature, report)
        case _:
            pass
    return signature


def refutation_of(variables: Iterable[Variable], constraints: Sequence[Constraint]) -> Refutation | None:
    """Returns why no sizes satisfy ``constraints``, or None if no reason was found."""
    found = examine(variables, constraints)
    return found if isinstance(found, Refutation) else None


def refutation_or_domains(variables: Iterable[Variable], constraints: Sequence[Constraint]) -> Refutation | Domains:
    """Returns why no sizes satisfy ``constraints``, or, if no reason was found, what `propagate` makes of them."""
    found = examine(variables, constraints)
    return found.domains if isinstance(found, Undecided) else found


def examine(variables: Iterable[Variable], constraints: Sequence[Constraint]) -> Refutation | Undecided | Domains:
    """Returns why no sizes satisfy ``constraints``, why that is not known, or what `propagate` makes of them."""
    variables = tuple(variables)
    parts = [split(simplify_predicate(constraint.predicate)) for constraint in constraints]
    owners = [owner for owner, mine in enumerate(parts) for _ in mine]
    predicates = [part for mine in parts for part in mine]

    def refuted(at: Iterable[int]) -> Refutation:
        core = _minimal(variables, constraints, sorted({owners[each] for each in at}))
        return Refutation(tuple(constraints[each] for each in core), tuple(constraints))

    if FALSE in predicates:
        return refuted([predicates.index(FALSE)])
    try:
        domains = propagate(variables, predicates)
    except Contradiction as contradiction:
        return refuted(contradiction.reasons)
    if smallest_sizes(domains, predicates) is not None:
        return domains
    undecided: Undecided | None = None
    for group in components(predicates):
        if all(fact_of(predicates[each]) is not None for each in group):
            continue  # what facts say about each other, `propagate` has seen
        together = [predicates[each] for each in group]
        names = {name for predicate in together for name in free_vars(predicate)}
        match find_sizes([v for v in variables if v.name in names], together):
            case None:
                return refuted(group)
            case Unknown(reason=reason) if undecided is None:
                involved = dict.fromkeys(owners[each] for each in group)
                undecided = Undecided(tuple(constraints[at] for at in involved), reason, domains)
            case _:
                pass
    return undecided or domains


def _minimal(variables: Sequence[Variable], constraints: Sequence[Constraint], clash: Sequence[int]) -> list[int]:
    """Returns the constraints of a smallest clash among those ``clash``, what was assumed before what was declared."""
    if len(clash) < 2:
        return list(clash)
    order = sorted(clash, key=lambda at: (_RANK[constraints[at].origin], at))
    found = minimal_core(variables, [constraints[at].predicate for at in order])
    if found is not None:
        return sorted(order[at] for at in found)
    core = list(clash)  # the engine does not see what propagation sees
    for at in reversed(order):
        without = [other for other in core if other != at]
        parts = [part for other in without for part in split(simplify_predicate(constraints[other].predicate))]
        try:
            propagate(variables, parts)
        except Contradiction:
            core = without
    return core


_RANK = {Origin.WHERE: 0, Origin.DECLARED: 1, Origin.DIM: 2}


# ------------------------------------------------------------------------------------- findings


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
    main, *others = _main_first(refutation.core)
    stated = (*(refutation.stated or signature.constraints), *signature.repeated)  # what is said twice must move twice
    mend = mending(refutation.core, stated, signature.variables)
    report.error(
        "contradiction",
        "no shape satisfies this spec",
        at=main[0] or signature.span,
        label=main[1],
        also=others,
        note=[*notes, *(f"{name} is a size, so {name} >= 0" for name in _sizes_needed(refutation, signature))],
        help=mend.help,
        fix=mend.fix,
        core=[text_of(c) for c in refutation.core],
        core_of=sum(c in refutation.core or _can_fail(c, signature) for c in signature.constraints),
    )


def _can_fail(constraint: Constraint, signature: Signature) -> bool:
    """Returns whether ``constraint`` says anything: that ``2 * B`` is a size does not, that ``L - 1`` is does."""
    if constraint.origin is not Origin.DIM:
        return True
    match constraint.predicate:
        case Compare(left=left):
            low = {v.name: -inf if v.kind is VariableKind.INT else 0 for v in signature.variables}
            return interval_of(left, {name: Interval(least) for name, least in low.items()}).low < 0
        case _:
            return True


def _report_undecided(undecided: Undecided, signature: Signature, report: Report) -> None:
    main, *others = _main_first(undecided.constraints)
    report.warning(
        "undecided",
        "could not decide whether any shape satisfies this spec",
        at=main[0] or signature.span,
        label=main[1],
        also=others,
        note=undecided.reason,
        help=_narrower(undecided, signature),
    )


def _narrower(undecided: Undecided, signature: Signature) -> str:
    """Returns how to make the question easier."""
    names = sorted({name for c in undecided.constraints for name in free_vars(c.predicate)})
    domains = undecided.domains
    open_ = [name for name in names if inf in (domains.domain(name).high, -domains.domain(name).low)]
    if not open_:
        return f"bound {listed(names)} more tightly, or write simpler assumptions"
    kinds = {v.kind is VariableKind.INT for v in signature.variables if v.name in open_}
    keyword, low = ("int", -4096) if True in kinds else ("dim", 0)
    example = f", as in `{keyword} {', '.join(open_)} in [{low}, 4096]`" if len(kinds) == 1 else ""
    return f"bound {listed(open_)}{example}: of bounded sizes more can be decided"


def _main_first(constraints: Iterable[Constraint]) -> list[Line]:
    """Returns `lines_of`, the first that stands somewhere in front."""
    lines = lines_of(constraints)
    main = next((at for at, (span, _) in enumerate(lines) if span is not None), 0)
    return [lines[main], *lines[:main], *lines[main + 1 :]]


def _sizes_needed(refutation: Refutation, signature: Signature) -> Iterator[str]:
    """Yields the variables of the core without whose sign there would be no contradiction."""
    predicates = [constraint.predicate for constraint in refutation.core]
    names = {name for predicate in predicates for name in free_vars(predicate)}
    variables = [v for v in signature.variables if v.name in names]
    sizes = [v.name for v in variables if v.kind is not VariableKind.INT and not v.variadic]
    if not sizes or any(simplify_predicate(predicate) == FALSE for predicate in predicates):
        return
    signs = [Compare(COMPARISONS[">="], Var(name), Const(0)) for name in sizes]
    ints = [replace(v, kind=VariableKind.INT) if v.name in sizes else v for v in variables]
    for at in minimal_core(ints, [*predicates, *signs]) or ():
        if at >= len(predicates):
            yield sizes[at - len(predicates)]


def predicates_of(constraints: Iterable[Constraint]) -> list[Predicate]:
    """Returns the canonical conjuncts of ``constraints``."""
    return [part for constraint in constraints for part in split(simplify_predicate(constraint.predicate))]
