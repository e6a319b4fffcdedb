"""The lowerable form: every slot a variable, a number or static, every assumption in integers.

The torch writer decides nothing, so everything is decided here, one step a module:

1. `slots`: static sizes and pinned variables leave; what is left are the distinct sizes.
2. `invert`: each variable as a function of the slots; a derived slot is a fresh variable.
3. `translate`: every constraint over the slots, in integers.
4. ranges and residues of the slots, by `propagate`; single-variable bounds go there.
5. `consequences`: what torch does not conclude itself.
6. `divisors`: none is 0 where Python would have stopped before it; `bounds`: none below 2 is lost.

Before::

    def f(x: Tensor[2 * B, S], y: Tensor[S + 1]):
        dim B in [4, inf] multiple of 4
        where B < S

After::

    x: [u, S]   y: [v]         u: "2*B" in [8, inf], S in [5, inf], v: "S+1" in [6, inf]
    v == S + 1, u % 2 == 0, u % 4 == 0, u % 8 == 0, u < 2 * S
    B is u // 2

What is lowered accepts exactly what the signature accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf

from ...diagnostics import Report
from ...ir import (
    COMPARISONS,
    OPERATORS,
    Apply,
    Compare,
    Const,
    Constraint,
    Predicate,
    Size,
    Var,
    Variable,
    VariableKind,
)
from ...ir.expanded import Expanded, Leaf, Lowered, TorchVariable
from ...ir.walk import evaluate, free_vars, substitute, substitute_size
from ...ir.write import write_predicate
from ..algebra import LARGEST, canonical
from ..comparisons import FALSE
from ..domains import Contradiction, Domain, Domains
from ..facts import excluded_value, fact_of
from ..polynomial import build, terms_interval
from ..predicates import may_divide, predicate_key, simplify_predicate, split
from ..propagate import AtMost, Congruent, propagate, residue_of, rows_of
from ..refute import predicates_of, refutation_of, report_contradiction
from .bounds import late_bounds, small_bounds
from .consequences import residues, with_consequences
from .divisors import with_safe_divisors
from .fit import fitting
from .invert import Inversion, Quotient, invert
from .slots import Slot, known_leaves, slot_dims, slots_of
from .tell import tell_missing_constants, tell_negative_ints, tell_unsolved
from .translate import translate_predicate


def lower(
    expanded: Expanded, report: Report, *, statics: Mapping[str, int], allow_negative_ints: bool = False
) -> Lowered | None:
    """Returns the lowerable form of ``expanded``, or None if ``report`` says why there is none.

    Args:
        expanded: A signature at one structure; in normal form or not.
        report: Receives ``contradiction``, ``not-invertible``, ``negative-int``, ``not-constant``,
            ``unsupported-by-torch``.
        statics: The value of each ``const X = _`` at the example.
        allow_negative_ints: Whether the entry point can take an int that may be negative.
    """
    known = _settle(expanded, report, statics)
    if known is None:
        return None
    slots = slots_of(known.leaves)
    used = dict.fromkeys(
        name for node in (*slots, *known.predicates) for name in free_vars(node) if name not in known.values
    )
    inversion = invert(slots.values(), used, known.domains)
    if inversion.unsolved:
        tell_unsolved(inversion.unsolved, slots.values(), known.variables, report)
        return None
    told = _said(slots.values(), inversion, known)
    by_slot = [Variable(slot.name, slot.kind) for slot in slots.values()]
    try:
        domains, numbers, told = _tighten(by_slot, told)
    except Contradiction:
        report.error("contradiction", "no shape satisfies this spec", at=expanded.signature.span)
        return None
    variables = tuple(
        _torch_variable(slot, domains.domain(slot.name), known, told)
        for slot in slots.values()
        if slot.name not in numbers
    )
    if not allow_negative_ints and tell_negative_ints(variables, known.variables, slots.values(), report):
        return None
    assumptions: list[Predicate] = list(small_bounds(variables))
    for assumption in _assumptions(variables, domains, told):
        safe = with_safe_divisors(assumption, domains.box)
        if safe is None:
            message = f"torch computes all of `{write_predicate(assumption)}`, and a divisor in it may be 0 or negative"
            report.error("unsupported-by-torch", message, at=expanded.signature.span)
            return None
        assumptions.append(safe)
    variables, late = late_bounds(variables, assumptions)
    return Lowered(
        expanded,
        tuple(slot_dims(leaf, slots, numbers) for leaf in known.leaves),
        variables,
        (*assumptions, *late),
        tuple(sorted(_definitions(expanded, known, inversion, numbers))),
    )


# ------------------------------------------------------------------------- statics and pinned sizes


@dataclass(frozen=True, slots=True)
class _Known:
    """The signature without its static and pinned sizes.

    Attributes:
        variables: Those that are left, by name.
        values: Each name that left, as a constant or as the variable that stands for it.
        predicates: Canonical, over what is left.
        leaves: With ``values`` substituted.
        domains: Propagated.
        hints: Of the variables that have one, moved to the nearest size that fits.
    """

    variables: Mapping[str, Variable]
    values: Mapping[str, Size]
    predicates: tuple[Predicate, ...]
    leaves: list[Leaf]
    domains: Domains
    hints: Mapping[str, int]


def _settle(expanded: Expanded, report: Report, statics: Mapping[str, int]) -> _Known | None:
    signature = expanded.signature
    constants = {v.name for v in signature.variables if v.kind is VariableKind.CONST}
    values: dict[str, Size] = {name: Const(statics[name]) for name in sorted(constants & statics.keys())}
    constraints = [_substituted(constraint, values) for constraint in signature.constraints]
    if tell_missing_constants(expanded, constraints, constants - statics.keys(), report):
        return None
    variables = [v for v in signature.variables if v.kind is not VariableKind.CONST]
    refutation = refutation_of(variables, constraints)
    if refutation is not None:
        used = sorted({name for c in signature.constraints for name in free_vars(c.predicate)} & values.keys())
        example = [f"the example has {', '.join(f'{name} = {statics[name]}' for name in used)}"] if used else []
        report_contradiction(refutation, signature, report, notes=example)
        return None
    predicates = predicates_of(constraints)
    predicates = _without_aliases(predicates, expanded, values)
    left = [v for v in variables if v.name not in values]
    domains = propagate(left, predicates)
    pinned = {name: Const(domain.value) for name, domain in domains.of.items() if domain.value is not None}
    for name, value in list(values.items()):
        if isinstance(value, Var) and value.name in pinned:
            values[name] = pinned[value.name]
    values.update(pinned)
    predicates = predicates_of_substituted(predicates, pinned)
    hints = {v.name: v.hint for v in left if v.hint is not None}
    for variable in signature.variables:  # what was made one variable may have its hint by another name
        alias = values.get(variable.name)
        if variable.hint is not None and isinstance(alias, Var):
            hints.setdefault(alias.name, variable.hint)
    about: dict[str, list[Predicate]] = {}
    for predicate in predicates if hints else ():
        if len(names := set(free_vars(predicate))) == 1:
            about.setdefault(names.pop(), []).append(predicate)
    hints = {name: fitting(wish, domains.domain(name), name, about.get(name, ())) for name, wish in hints.items()}
    leaves = known_leaves(expanded, values, frozenset(constants), domains.box)
    variables_left = {v.name: v for v in left if v.name not in pinned}
    return _Known(variables_left, values, tuple(predicates), leaves, domains, hints)


def _substituted(constraint: Constraint, values: Mapping[str, Size]) -> Constraint:
    if not values or not any(name in values for name in free_vars(constraint.predicate)):
        return constraint
    return replace(constraint, predicate=substitute(constraint.predicate, values))


def predicates_of_substituted(predicates: Iterable[Predicate], values: Mapping[str, Size]) -> list[Predicate]:
    """Returns ``predicates`` with ``values`` substituted, as canonical conjuncts without duplicates."""
    substituted = [simplify_predicate(substitute(each, values)) if values else each for each in predicates]
    return list(dict.fromkeys(part for each in substituted for part in split(each)))


def _without_aliases(predicates: list[Predicate], expanded: Expanded, values: dict[str, Size]) -> list[Predicate]:
    """Makes ``A == B`` one variable where both stand bare: torch then sees one size, and guards it for nothing."""
    order: dict[str, int] = {}
    for leaf in expanded.leaves:
        for dim in leaf.dims:
            if isinstance(dim, Var) and dim.name not in values:
                order.setdefault(dim.name, len(order))
    while True:
        for predicate in predicates:
            match predicate:
                case Compare(op=op, left=Var(name=left), right=Var(name=right)) if (
                    op.name == "==" and left in order and right in order
                ):
                    keep, drop = sorted((left, right), key=order.__getitem__)
                    break
                case _:
                    pass
        else:
            return predicates
        for name, value in values.items():
            if value == Var(drop):
                values[name] = Var(keep)
        values[drop] = Var(keep)
        predicates = predicates_of_substituted(predicates, {drop: Var(keep)})


# ------------------------------------------------------------------------------ over the slots


def _said(slots: Iterable[Slot], inversion: Inversion, known: _Known) -> list[Predicate]:
    """Returns everything that holds, over the slots: derived sizes, exact divisions, constraints."""
    definitions = inversion.definitions
    said: list[Predicate] = []
    for slot in slots:
        if slot.name not in inversion.bases:
            equality = Compare(COMPARISONS["=="], Var(slot.name), slot.size)
            with_slot = {**definitions, slot.name: Quotient({(Var(slot.name),): 1})}
            said += split(translate_predicate(simplify_predicate(equality), with_slot, known.domains))
    for quotient in definitions.values():
        if quotient.denominator > 1:
            modulo = Apply(OPERATORS["%"], (build(quotient.numerator), Const(quotient.denominator)))
            said += split(simplify_predicate(Compare(COMPARISONS["=="], modulo, Const(0))))
    sizes = [
        Compare(COMPARISONS[">="], Var(name), Const(0))
        for name, variable in known.variables.items()
        if name in definitions and variable.kind is VariableKind.DIM
    ]
    residues_used = [  # floors are opened where these hold, so they must be told
        Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (Var(name), Const(domain.modulus))), Const(domain.residue))
        for name, domain in known.domains.of.items()
        if name in definitions and domain.modulus > 1
    ]
    for predicate in (*known.predicates, *sizes, *residues_used):
        said += split(translate_predicate(predicate, definitions, known.domains))
    return list(dict.fromkeys(said))


def _tighten(variables: list[Variable], told: list[Predicate]) -> tuple[Domains, dict[str, int], list[Predicate]]:
    """Returns the slots' domains, those that are one number, and what is told of the others.

    Raises:
        Contradiction: No sizes satisfy it.
    """
    numbers: dict[str, int] = {}
    while True:
        domains = propagate([v for v in variables if v.name not in numbers], told)
        if FALSE in told:
            raise Contradiction(frozenset())
        fixed = {name: domain.value for name, domain in domains.of.items() if domain.value is not None}
        if not fixed:
            return domains, numbers, told
        numbers.update(fixed)
        told = predicates_of_substituted(told, {name: Const(value) for name, value in fixed.items()})


def _torch_variable(slot: Slot, domain: Domain, known: _Known, told: Iterable[Predicate]) -> TorchVariable:
    high = None if domain.high == inf or domain.high > LARGEST else int(domain.high)
    low = None if domain.low == -inf else int(domain.low)
    return TorchVariable(slot.name, slot.kind, low, high, _hint(slot, domain, known, told), slot.size)


def _hint(slot: Slot, domain: Domain, known: _Known, told: Iterable[Predicate]) -> int | None:
    """Returns the size of ``slot`` at the variables' hints, moved to the nearest that fits; None without hints."""
    if not known.hints.keys() >= set(free_vars(slot.size)):
        return None
    try:
        wish = evaluate(slot.size, known.hints)
    except ZeroDivisionError:
        return None
    return fitting(wish, domain, slot.name, [each for each in told if set(free_vars(each)) == {slot.name}])


def _definitions(
    expanded: Expanded, known: _Known, inversion: Inversion, numbers: Mapping[str, int]
) -> Iterable[tuple[str, Size]]:
    """Yields each variable of the signature that has a value, as a size over torch's variables."""
    fixed: dict[str, Size] = {name: Const(value) for name, value in numbers.items()}
    for variable in expanded.signature.variables:
        value = known.values.get(variable.name)
        name = value.name if isinstance(value, Var) else variable.name
        if isinstance(value, Const):
            yield variable.name, value
        elif name in inversion.definitions:
            size = inversion.definitions[name].size
            yield variable.name, canonical(substitute_size(size, fixed)) if fixed else size


# --------------------------------------------------------------------------------- assumptions


def _assumptions(
    variables: tuple[TorchVariable, ...], domains: Domains, told: Iterable[Predicate]
) -> Iterable[Predicate]:
    """Yields what torch should assume beside the ranges, in the order it should hear it.

    Residues and equalities come first: torch replaces the left side of ``v == 2 * u + 1`` by the right
    in all that it hears later.
    """
    seen: dict[Predicate, None] = {}
    for variable in variables:
        domain = domains.domain(variable.name)
        if domain.modulus > 1:
            seen.update(dict.fromkeys(residues(variable.name, domain.modulus, domain.residue)))
    rest = [predicate for predicate in told if not _in_domains(predicate, domains)]
    rest.sort(key=lambda each: (not _is_equality(each), may_divide(each), predicate_key(each)))
    seen.update(dict.fromkeys(with_consequences(rest)))
    return seen


def _is_equality(predicate: Predicate) -> bool:
    return isinstance(predicate, Compare) and predicate.op.name == "=="


def _in_domains(predicate: Predicate, domains: Domains) -> bool:
    """Returns whether the ranges and residues, which torch is told anyway, already say it."""
    if fact_of(predicate) is not None:
        return True
    if edge := excluded_value(predicate):
        name, value = edge
        domain = domains.domain(name)
        return not domain.low <= value <= domain.high or (value - domain.residue) % domain.modulus != 0
    match rows_of(predicate):
        case (AtMost(polynomial=polynomial),):
            return terms_interval(polynomial, domains.box).high <= 0
        case (Congruent(polynomial=polynomial, modulus=modulus),):
            known, residue = residue_of(domains, polynomial)
            return known % modulus == 0 and residue % modulus == 0
        case _:
            return False
