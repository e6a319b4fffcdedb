"""The lowerable form: every slot a variable, a number or static, every assumption in integers.

The torch writer decides nothing, so everything is decided here, one step a module:

0. `broadcasts`: a size that is 1 or another one is refused.
1. `known`: static sizes, pinned and equal variables leave; `slots`: what is left are the distinct sizes.
2. `invert`: each variable as a function of the slots; a derived slot is a fresh variable. `base`: what the
   derived ones are told in terms of.
3. `translate`: every constraint over the slots, in integers.
4. ranges and residues of the slots, by `propagate`; single-variable bounds go there, and what is `stated` of derived ones.
5. `assumptions`: what is left to tell; `consequences`: what torch does not conclude itself,
   and `written`: what it knows by other words.
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

from collections.abc import Collection, Iterable, Mapping
from math import inf

from ...diagnostics import Report
from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size, Var, Variable, VariableKind
from ...ir.expanded import Expanded, Lowered, TorchVariable
from ...ir.walk import evaluate, free_vars, substitute_size
from ...ir.write import write_predicate
from ..algebra import LARGEST, canonical
from ..comparisons import FALSE
from ..decide import Proved, implied_by
from ..domains import Contradiction, Domain, Domains
from ..facts import is_fact_of
from ..intervals import interval_of
from ..polynomial import build
from ..predicates import simplify_predicate, split
from ..propagate import propagate
from .assumptions import assumptions_of
from .base import adds, bases
from .bounds import late_bounds, small_bounds
from .broadcasts import refuse_broadcasts
from .divisors import with_safe_divisors
from .fit import fitting
from .invert import Inversion
from .known import Known, predicates_of_substituted, settle
from .quotient import Quotient
from .slots import Slot, slot_dims
from .solve import inverted
from .solve import solve as solve
from .stated import stated_of
from .tell import tell_negative_ints
from .translate import has_floor, translate_predicate
from .written import as_written


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
    if refuse_broadcasts(expanded, report, statics):
        return None
    known = settle(expanded, report, statics)
    if known is None:
        return None
    found = inverted(known, expanded, report)
    if found is None:
        return None
    slots, inversion = found
    try:
        domains, numbers, told = _over_slots(slots.values(), inversion, known)
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
    for assumption in assumptions_of(variables, domains, told):
        safe = with_safe_divisors(assumption, domains.box)
        if safe is None:
            message = f"torch computes all of `{write_predicate(assumption)}`, and a divisor in it may be 0 or negative"
            report.error("unsupported-by-torch", message, at=expanded.signature.span)
            return None
        assumptions.append(safe)
    names = {slot.name for slot in slots.values() if slot.bare and slot.name not in numbers}
    written = as_written(expanded.signature.constraints, known.values, names, domains.box)
    assumptions += [each for each in dict.fromkeys(written) if each not in assumptions]
    variables, late = late_bounds(variables, assumptions)
    return Lowered(
        expanded,
        tuple(slot_dims(leaf, slots, numbers) for leaf in known.leaves),
        variables,
        (*assumptions, *late),
        tuple(sorted(_definitions(expanded, known, inversion, numbers))),
    )


def _over_slots(
    slots: Collection[Slot], inversion: Inversion, known: Known
) -> tuple[Domains, dict[str, int], list[Predicate]]:
    """Returns the slots' domains, those that are one number, and what is told of the others.

    Raises:
        Contradiction: No sizes satisfy it.
    """
    if all(slot.bare for slot in slots) and not known.pinned and not any(map(has_floor, known.predicates)):
        return known.domains, {}, list(known.predicates)  # the slots are the variables
    bare = {slot.name: known.domains.domain(slot.name) for slot in slots if slot.bare}
    return _tighten([Variable(slot.name, slot.kind) for slot in slots], _said(slots, inversion, known), bare)


def _said(slots: Iterable[Slot], inversion: Inversion, known: Known) -> list[Predicate]:
    """Returns everything that holds, over the slots: derived sizes, exact divisions, constraints."""
    definitions = inversion.definitions
    derived = {name for name, quotient in definitions.items() if not quotient.is_variable(name)}
    said: list[Predicate] = []
    of_slots = {slot.name: Quotient({(Var(slot.name),): 1}) for slot in slots}
    based = bases(slots)
    names = {**definitions, **of_slots}
    for name, value in based.items():
        said += split(simplify_predicate(Compare(COMPARISONS["=="], Var(name), value.size)))
    for equation in inversion.equations:
        equality = Compare(COMPARISONS["=="], equation.right, equation.left)
        over = names if adds(equation.left) else {**names, **based}
        told = translate_predicate(simplify_predicate(equality), over, known.domains)
        said += split(told)  # nothing where the definitions make it an identity
    said += inversion.exact
    for quotient in definitions.values():
        if quotient.denominator > 1:
            modulo = Apply(OPERATORS["%"], (build(quotient.numerator), Const(quotient.denominator)))
            said += split(simplify_predicate(Compare(COMPARISONS["=="], modulo, Const(0))))
    sizes = [
        Compare(COMPARISONS[">="], Var(name), Const(0))
        for name, variable in known.variables.items()
        if name in derived and variable.kind is VariableKind.DIM
    ]
    residues_used = [  # floors are opened where these hold, so they must be told
        Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (Var(name), Const(domain.modulus))), Const(domain.residue))
        for name, domain in known.domains.of.items()
        if name in derived and domain.modulus > 1
    ]
    said += _ranges(slots, known)
    for predicate in (*known.predicates, *sizes, *residues_used):
        if is_fact_of(known.domains, predicate) and derived.isdisjoint(free_vars(predicate)):
            continue  # its domain knows
        said += split(translate_predicate(predicate, definitions, known.domains))
    return list(dict.fromkeys(said))


def _ranges(slots: Iterable[Slot], known: Known) -> Iterable[Predicate]:
    """Yields what the ranges of the variables and the constraints say of each derived size: over the slots some is lost.

    ``2 * B`` is never negative, which ``2 * (c - C)`` does not show. Of an int it is worth a proof.
    """
    for slot in slots:
        if slot.bare:
            continue
        low, high = interval_of(slot.size, known.domains.box)
        if slot.kind is VariableKind.INT and low < 0:
            never_negative = Compare(COMPARISONS[">="], slot.size, Const(0))
            if isinstance(implied_by(known.variables.values(), known.predicates, never_negative), Proved):
                low = 0
        for op, bound in ((">=", low), ("<=", high)):
            if abs(bound) <= LARGEST:
                yield Compare(COMPARISONS[op], Var(slot.name), Const(int(bound)))
    yield from stated_of([slot for slot in slots if not slot.bare], known.predicates)


def _tighten(
    variables: list[Variable], told: list[Predicate], known: Mapping[str, Domain]
) -> tuple[Domains, dict[str, int], list[Predicate]]:
    """Returns the slots' domains, those that are one number, and what is told of the others.

    Raises:
        Contradiction: No sizes satisfy it.
    """
    numbers: dict[str, int] = {}
    while True:
        left = [v for v in variables if v.name not in numbers]
        domains = propagate(left, told, {v.name: known[v.name] for v in left if v.name in known})
        if FALSE in told:
            raise Contradiction(frozenset())
        fixed = {name: domain.value for name, domain in domains.of.items() if domain.value is not None}
        if not fixed:
            return domains, numbers, told
        numbers.update(fixed)
        told = predicates_of_substituted(told, {name: Const(value) for name, value in fixed.items()})


def _torch_variable(slot: Slot, domain: Domain, known: Known, told: Iterable[Predicate]) -> TorchVariable:
    high = None if domain.high == inf or domain.high > LARGEST else int(domain.high)
    low = None if domain.low == -inf else int(domain.low)
    return TorchVariable(slot.name, slot.kind, low, high, _hint(slot, domain, known, told), slot.size)


def _hint(slot: Slot, domain: Domain, known: Known, told: Iterable[Predicate]) -> int | None:
    """Returns the size of ``slot`` at the variables' hints, moved to the nearest that fits; None without hints."""
    if not known.hints.keys() >= set(free_vars(slot.size)):
        return None
    try:
        wish = evaluate(slot.size, known.hints)
    except ZeroDivisionError:
        return None
    return fitting(wish, domain, slot.name, [each for each in told if set(free_vars(each)) == {slot.name}])


def _definitions(
    expanded: Expanded, known: Known, inversion: Inversion, numbers: Mapping[str, int]
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
