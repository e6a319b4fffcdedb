"""Tighten every variable's range and residue by every constraint, until nothing moves.

Each canonical comparison bounds each of its variables by what the others can be; an equality also
carries residues: ``D == 2 * B + 1`` makes ``D`` odd. This is sound and cheap, and incomplete: it sees
``B <= 64, 2 * B >= 200`` but not ``A <= B, B <= C, C <= A - 1`` over unbounded sizes.

The work is bounded: a range that creeps (``A <= B - 1, B <= A - 1``) is given up, not followed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import gcd, inf

from ..ir import Apply, Const, Predicate, Size, Var, Variable, Variadic
from ..ir.walk import free_vars
from .algebra import TooLarge, terms
from .domains import NOTHING, Contradiction, Domain, Domains, Reasons
from .intervals import Bound, Interval, ceil_div, floor_div, interval_of
from .polynomial import Monomial, Terms, add, constant, monomial_interval, scale
from .rows import Apart, AtMost, Congruent, Equal, OneOf, Row, rows_of

MOST_CHANGES = 16  # of one variable
MOST_DEPTH = 12  # of nested // and max
NOTHING_KNOWN: Mapping[str, Domain] = {}
LARGEST_ACCIDENT = 16  # members 77 and 512 are 77 modulo 435: true, and of no use to anyone


def propagate(
    variables: Iterable[Variable], predicates: Sequence[Predicate], known: Mapping[str, Domain] = NOTHING_KNOWN
) -> Domains:
    """Returns the tightest domains that one pass after the other finds.

    Args:
        variables: Their kinds give the first bounds.
        predicates: Canonical; a reason is an index into it.
        known: What some of the variables can be.

    Raises:
        Contradiction: Nothing is left for a variable, or a constraint cannot hold.
    """
    domains = Domains.of_variables(variables)
    for name, domain in known.items():
        domains.set(name, domain)
    rows = [rows_of(predicate) for predicate in predicates]
    watchers: dict[str, list[int]] = {}
    for at, predicate in enumerate(predicates):
        if not all(map(_says_all_at_once, rows[at])):
            for name in dict.fromkeys(free_vars(predicate)):
                watchers.setdefault(name, []).append(at)
    queue = deque(range(len(predicates)))
    queued = set(queue)
    changes: dict[str, int] = {}
    while queue:
        at = queue.popleft()
        queued.discard(at)
        for row in rows[at]:
            _apply(domains, row, frozenset((at,)))
        for name in domains.take_changed():
            changes[name] = changes.get(name, 0) + 1
            if changes[name] <= MOST_CHANGES:
                fresh = [watcher for watcher in watchers.get(name, ()) if watcher not in queued]
                queue.extend(fresh)
                queued.update(fresh)
    return domains


def _says_all_at_once(row: Row) -> bool:
    """Returns whether a row has nothing to add later: it is an end of one variable's range, or its value."""
    match row:
        case AtMost(polynomial=polynomial) | Equal(polynomial=polynomial):
            atoms = [monomial for monomial in polynomial if monomial]
            return len(atoms) == 1 and _only_name(atoms) is not None
        case _:
            return False


def _apply(domains: Domains, row: Row, why: Reasons) -> None:
    match row:
        case AtMost(polynomial=polynomial):
            _at_most(domains, polynomial, why, 0)
        case Equal(polynomial=polynomial):
            _at_most(domains, polynomial, why, 0)
            _at_most(domains, scale(polynomial, -1), why, 0)
            _congruent(domains, polynomial, 0, why)
        case Congruent(polynomial=polynomial, modulus=modulus):
            _congruent(domains, polynomial, modulus, why)
        case Apart(name=name, value=value):
            domain = domains.domain(name)
            if domain.low == value:
                domains.restrict(name, Interval(value + 1, inf), why | domain.low_reasons)
            if domain.high == value:
                domains.restrict(name, Interval(-inf, value - 1), why | domain.high_reasons)
        case OneOf():
            _one_of(domains, row, why)


def _one_of(domains: Domains, one_of: OneOf, why: Reasons) -> None:
    """Keeps, of each variable, what some branch allows."""
    allowed: list[Domains] = []
    for branch in one_of.branches:
        trial = domains.copy(one_of.names)
        try:
            for row in branch:
                _apply(trial, row, why)
            allowed.append(trial)
        except Contradiction as contradiction:
            why |= contradiction.reasons
    if not allowed:
        raise Contradiction(why)
    for name in list(allowed[0].changed):
        if not all(name in trial.changed for trial in allowed):
            continue
        each = [trial.of[name] for trial in allowed]
        reasons = why.union(*(domain.reasons for domain in each))
        domains.restrict(name, Interval(min(d.low for d in each), max(d.high for d in each)), reasons)
        classes = [(d.modulus, d.residue) if d.value is None else (0, d.value) for d in each]
        modulus = gcd(*(modulus for modulus, _ in classes), *(residue - classes[0][1] for _, residue in classes))
        residue = classes[0][1] % modulus if modulus else 0
        if modulus > LARGEST_ACCIDENT:
            modulus = gcd(modulus, residue)
        if modulus > 1:
            domains.congruent(name, modulus, residue % modulus, reasons)


# --------------------------------------------------------------------------------------- ranges


def _at_most(domains: Domains, polynomial: Terms, why: Reasons, depth: int) -> None:
    """Bounds each monomial of ``polynomial <= 0`` by the least that the others can be."""
    linear = _linear(polynomial)
    if linear is not None:
        _at_most_linear(domains, linear, constant(polynomial), why)
        return
    lows = {m: monomial_interval(m, domains.box).scaled(c).low for m, c in polynomial.items() if m}
    infinite = [m for m, low in lows.items() if low == -inf]
    if len(infinite) > 1:
        return
    finite: Bound = constant(polynomial) + sum(low for low in lows.values() if low != -inf)
    reasons = {m: _low_reasons(domains, m, polynomial[m]) for m in lows}
    if not infinite and finite > 0:
        raise Contradiction(why.union(*reasons.values()), _only_name(lows))
    for monomial in infinite or list(lows):
        others = finite if infinite else finite - lows[monomial]
        coefficient = polynomial[monomial]
        because = why.union(*(each for m, each in reasons.items() if m != monomial))
        if coefficient > 0:
            _narrow(domains, monomial, Interval(-inf, floor_div(-others, coefficient)), because, depth)
        else:
            _narrow(domains, monomial, Interval(ceil_div(others, -coefficient), inf), because, depth)


def _linear(polynomial: Terms) -> list[tuple[str, int]] | None:
    """Returns the variables and their coefficients, or None if there is more than that."""
    found: list[tuple[str, int]] = []
    for monomial, coefficient in polynomial.items():
        match monomial:
            case (Var(name=name) | Variadic(name=name),):
                found.append((name, coefficient))
            case ():
                pass
            case _:
                return None
    return found


def _at_most_linear(domains: Domains, linear: list[tuple[str, int]], offset: int, why: Reasons) -> None:
    """`_at_most` for variables alone, which most constraints are: reasons are gathered only if something moves."""
    total: Bound = offset
    unbounded: list[str] = []
    parts: list[tuple[str, int, Bound]] = []
    for name, coefficient in linear:
        domain = domains.domain(name)
        low = domain.low if coefficient > 0 else domain.high
        if low in (inf, -inf):
            unbounded.append(name)
            if len(unbounded) > 1:
                return
        else:
            total += coefficient * low
        parts.append((name, coefficient, low))

    def because(but: str) -> Reasons:
        return why.union(*(_end_reasons(domains, name, c) for name, c, _ in parts if name != but))

    if not unbounded and total > 0:
        raise Contradiction(because(""), parts[0][0] if len(parts) == 1 else None)
    for name, coefficient, low in parts:
        if unbounded and name != unbounded[0]:
            continue
        others = total if unbounded else total - coefficient * low
        domain = domains.domain(name)
        if coefficient > 0:
            high = floor_div(-others, coefficient)
            if high < domain.high:
                domains.restrict(name, Interval(-inf, high), because(name))
        else:
            least = ceil_div(others, -coefficient)
            if least > domain.low:
                domains.restrict(name, Interval(least, inf), because(name))


def _end_reasons(domains: Domains, name: str, coefficient: int) -> Reasons:
    """Returns why ``coefficient * name`` is not smaller than it can be."""
    domain = domains.domain(name)
    return domain.low_reasons if coefficient > 0 else domain.high_reasons


def _only_name(monomials: Iterable[Monomial]) -> str | None:
    """Returns the name of the variable that is the only monomial, if it is."""
    match list(monomials):
        case [(Var(name=name) | Variadic(name=name),)]:
            return name
        case _:
            return None


def _low_reasons(domains: Domains, monomial: Monomial, coefficient: int) -> Reasons:
    """Returns why ``coefficient * monomial`` is not smaller than it can be."""
    match monomial:
        case (Var(name=name) | Variadic(name=name),):
            return _end_reasons(domains, name, coefficient)
        case _:
            return _all_reasons(domains, monomial)


def _all_reasons(domains: Domains, sizes: Iterable[Size]) -> Reasons:
    names = {name for size in sizes for name in free_vars(size)}
    return NOTHING.union(*(domains.domain(name).reasons for name in names))


def _narrow(domains: Domains, monomial: Monomial, target: Interval, why: Reasons, depth: int) -> None:
    """Restricts the variables of ``monomial`` so that its value can lie in ``target``."""
    now = monomial_interval(monomial, domains.box)
    if target.low <= now.low and target.high >= now.high:
        return
    if now.meet(target).empty and _only_name([monomial]) is None:
        raise Contradiction(why | _all_reasons(domains, monomial))
    if len(monomial) == 1:
        _narrow_atom(domains, monomial[0], target, why, depth)
        return
    for at, atom in enumerate(monomial):
        others = (*monomial[:at], *monomial[at + 1 :])
        rest = monomial_interval(others, domains.box)
        mine = interval_of(atom, domains.box)
        if rest.low < 0 or mine.low < 0:
            continue
        because = why | _all_reasons(domains, others)
        high = floor_div(target.high, int(rest.low)) if rest.low > 0 and target.high >= 0 else inf
        low = ceil_div(target.low, int(rest.high)) if rest.high not in (0, inf) and target.low > 0 else -inf
        if target.low > 0:
            low = max(low, 1)  # a product above 0 has no factor 0
        _narrow_atom(domains, atom, Interval(low, high), because, depth)


def _narrow_atom(domains: Domains, atom: Size, target: Interval, why: Reasons, depth: int) -> None:
    match atom:
        case Var(name=name) | Variadic(name=name):
            domains.restrict(name, target, why)
        case Apply(op=op, args=(dividend, Const(value=by))) if op.name == "//" and by > 0:
            dividends = target.scaled(by).plus(Interval(0, by - 1))
            _narrow_size(domains, dividend, dividends, why, depth + 1)
        case Apply(op=op, args=args) if op.name == "max" and target.high < inf:
            for arg in args:
                _narrow_size(domains, arg, Interval(-inf, target.high), why, depth + 1)
        case Apply(op=op, args=args) if op.name == "min" and target.low > -inf:
            for arg in args:
                _narrow_size(domains, arg, Interval(target.low, inf), why, depth + 1)
        case _:
            pass


def _narrow_size(domains: Domains, size: Size, target: Interval, why: Reasons, depth: int) -> None:
    if depth > MOST_DEPTH:
        return
    try:
        polynomial = terms(size)
    except TooLarge:
        return
    if target.high < inf:
        _at_most(domains, add(polynomial, {(): -int(target.high)} if target.high else {}), why, depth)
    if target.low > -inf:
        _at_most(domains, add({(): int(target.low)} if target.low else {}, polynomial, -1), why, depth)


# ------------------------------------------------------------------------------------- residues


def _congruent(domains: Domains, polynomial: Terms, modulus: int, why: Reasons) -> None:
    """Solves ``polynomial % modulus == 0`` (modulus 0: equality) for the residue of each variable."""
    parts = {m: _residue(domains, m) for m in polynomial if m}
    whole = gcd(modulus, *(polynomial[m] * parts[m][0] for m in parts))
    total = constant(polynomial) + sum(polynomial[m] * parts[m][1] for m in parts)
    if whole == 0:
        return
    if total % whole:
        raise Contradiction(why.union(*(part[2] for part in parts.values())))
    for monomial, (_, residue, _) in parts.items():
        match monomial:
            case (Var(name=name) | Variadic(name=name),):
                coefficient = polynomial[monomial]
                others = gcd(modulus, *(polynomial[m] * part[0] for m, part in parts.items() if m != monomial))
                if others == 0:
                    continue
                # coefficient * v == -rest (mod others), and the total above says that it can be solved
                common = gcd(coefficient, others)
                rest = total - coefficient * residue
                if rest % common or others == common:
                    continue
                value = -rest // common * pow(coefficient // common, -1, others // common)
                because = why.union(*(part[2] for m, part in parts.items() if m != monomial))
                domains.congruent(name, others // common, value % (others // common), because)
            case _:
                pass


def residue_of(domains: Domains, polynomial: Terms) -> tuple[int, int]:
    """Returns a modulus and the residue of ``polynomial`` by it; a modulus of 0: it has that one value."""
    parts = {m: _residue(domains, m) for m in polynomial if m}
    modulus = gcd(*(polynomial[m] * part[0] for m, part in parts.items()))
    total = constant(polynomial) + sum(polynomial[m] * part[1] for m, part in parts.items())
    return modulus, total % modulus if modulus else total


def _residue(domains: Domains, monomial: Monomial) -> tuple[int, int, Reasons]:
    """Returns a modulus, the residue of ``monomial`` by it, and why. A modulus of 0: it has that one value."""
    match monomial:
        case (Var(name=name) | Variadic(name=name),):
            domain = domains.domain(name)
            if domain.value is not None:
                return 0, domain.value, domain.reasons
            return domain.modulus, domain.residue, domain.residue_reasons
        case _:
            everywhere = monomial_interval(monomial, domains.box)
            if everywhere.low == everywhere.high:
                return 0, int(everywhere.low), _all_reasons(domains, monomial)
            factor = 1  # of a product, the moduli of the factors that are multiples
            because = NOTHING
            for atom in monomial:
                if isinstance(atom, Var):
                    domain = domains.domain(atom.name)
                    if domain.residue == 0 and domain.modulus > 1:
                        factor *= domain.modulus
                        because |= domain.residue_reasons
            return factor, 0, because
