"""Solve the slots for the variables: torch reads sizes, so each variable must be computed from some.

Before::

    x: [2 * N], y: [3 * N + 1], z: [A - B], w: [A + B]

After (``u``, ``v``, ``p``, ``q`` are the slots)::

    N = u / 2        u % 2 == 0, 2 * v == 3 * u + 2
    A = (p + q) / 2  B = (q - p) / 2   p % 2 == q % 2

A bare slot is its variable. Of several others, the one with the smallest coefficient is solved, and
of those the one with the smallest constant: the other slots are then written with `+` only, which
torch reasons about better (base ``P`` with ``P + 1``, not ``L`` with ``L - 1``).

A size that loses information (``B // 8``, ``A * B`` where ``A`` may be 0, ``max(B, 4)``) is no
equation, except a floor of a known residue: ``B // 8`` is ``B / 8`` where ``B % 8 == 0``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd, lcm

from ...ir import OPERATORS, Apply, Compare, Const, Predicate, Size, Var
from ...ir.walk import free_vars, substitute_size
from ..algebra import TooLarge, product, terms
from ..domains import Domains
from ..polynomial import Monomial, Terms, add, build, constant, content, scale
from ..propagate import residue_of
from .slots import Slot


@dataclass(frozen=True, slots=True)
class Quotient:
    """``numerator / denominator``, exact wherever the assumptions hold; the denominator is positive."""

    numerator: Terms
    denominator: int = 1

    def is_variable(self, name: str) -> bool:
        """Returns whether it is the slot ``name`` itself."""
        return self.denominator == 1 and self.numerator == {(Var(name),): 1}

    @property
    def size(self) -> Size:
        """The value as a size: a floor division, which is exact."""
        if self.denominator == 1:
            return build(self.numerator)
        return Apply(OPERATORS["//"], (build(self.numerator), Const(self.denominator)))


@dataclass(frozen=True, slots=True)
class Inversion:
    """What `invert` found.

    Attributes:
        definitions: Each variable over the slots' names.
        bases: Names of the slots that define a variable; the others are derived.
        unsolved: Variables that no slot gives.
    """

    definitions: dict[str, Quotient]
    bases: frozenset[str]
    unsolved: tuple[str, ...]


def invert(
    slots: Iterable[Slot], names: Iterable[str], domains: Domains, predicates: Iterable[Predicate] = ()
) -> Inversion:
    """Returns every variable in ``names`` as a function of the slots, where that is possible.

    Args:
        slots: In the order of first use.
        names: The variables that slots or constraints use.
        domains: Ranges and residues of the variables.
        predicates: Canonical; where no slot gives a variable, an equality among them may.
    """
    slots = tuple(slots)
    equalities = [each for each in predicates if isinstance(each, Compare) and each.op.name == "=="]
    definitions = {slot.name: Quotient({(Var(slot.name),): 1}) for slot in slots if slot.bare}
    bases = {slot.name for slot in slots if slot.bare}
    wanted = dict.fromkeys(name for name in names if name not in definitions)
    open_slots = [slot for slot in slots if not slot.bare]
    while wanted:
        rows = {slot.name: row for slot in open_slots if (row := _row(slot, definitions, domains)) is not None}
        found = _single(rows) or _system(rows)
        if not found:
            stated = (_stated(each, definitions, domains) for each in equalities)
            rows.update((f"#{number}", row) for number, row in enumerate(stated) if row is not None)
            found = _single(rows) or _system(rows)
        if not found:
            break
        for name, quotient, used in found:
            definitions[name] = quotient
            bases.update(used)
            wanted.pop(name, None)
        open_slots = [slot for slot in open_slots if slot.name not in bases]
    return Inversion(definitions, frozenset(bases), tuple(wanted))


@dataclass(frozen=True, slots=True)
class _Row:
    """``sum(unknowns) == known``, the known side over the slots' names."""

    unknowns: dict[str, int]
    known: Terms
    used: frozenset[str]


def _row(slot: Slot, definitions: Mapping[str, Quotient], domains: Domains) -> _Row | None:
    """Returns the equation of ``slot``, or None if its unknowns do not stand in it linearly."""
    try:
        polynomial, factor = without_floors(terms(slot.size), domains)
    except TooLarge:
        return None
    return _equation(polynomial, {(Var(slot.name),): factor}, frozenset((slot.name,)), definitions)


def _stated(equality: Compare, definitions: Mapping[str, Quotient], domains: Domains) -> _Row | None:
    """Returns the equation that ``equality`` states, or None if its unknowns do not stand in it linearly."""
    try:
        polynomial, _ = without_floors(add(terms(equality.left), terms(equality.right), -1), domains)
    except TooLarge:
        return None
    return _equation(polynomial, {}, frozenset(), definitions)


def _equation(
    polynomial: Terms, known: Terms, used: frozenset[str], definitions: Mapping[str, Quotient]
) -> _Row | None:
    """Returns ``polynomial == known`` with its unknowns on one side; ``used`` are the slots in ``known``."""
    try:
        unknowns: dict[str, int] = {}
        parts: list[tuple[Quotient, int]] = []
        for monomial, coefficient in polynomial.items():
            names = {name for atom in monomial for name in free_vars(atom)}
            if names <= definitions.keys():
                parts.append((translate({monomial: 1}, definitions), coefficient))
                continue
            match monomial:
                case (Var(name=name),):
                    unknowns[name] = coefficient
                case _:
                    return None
        if not unknowns:
            return None
        common = lcm(*(part.denominator for part, _ in parts))
        known = scale(known, common)
        for part, coefficient in parts:
            known = add(known, part.numerator, -coefficient * (common // part.denominator))
        return _Row({name: c * common for name, c in unknowns.items()}, known, used)
    except TooLarge:
        return None


def without_floors(polynomial: Terms, domains: Domains) -> tuple[Terms, int]:
    """Returns ``factor * polynomial`` and the factor, with floors of known residue written as exact divisions.

    ``H // 8`` where ``H % 8 == 0`` gives ``H`` and 8; the factor is positive.

    Args:
        polynomial: Over the variables of the signature.
        domains: Their residues.
    """
    factor = 1
    for monomial in polynomial:
        match monomial:
            case (Apply(op=op, args=(dividend, Const(value=by))),) if op.name == "//" and by > 0:
                modulus, residue = residue_of(domains, terms(dividend))
                if modulus % by == 0:
                    rest = add(scale(polynomial, by), {monomial: -by * polynomial[monomial]})
                    exact = add(terms(dividend), {(): residue % by} if residue % by else {}, -1)
                    opened, more = without_floors(add(rest, exact, polynomial[monomial]), domains)
                    return opened, factor * by * more
            case _:
                pass
    return polynomial, factor


def _single(rows: Mapping[str, _Row]) -> list[tuple[str, Quotient, frozenset[str]]]:
    """Solves the best row with one unknown."""
    candidates = [row for row in rows.values() if len(row.unknowns) == 1]
    if not candidates:
        return []

    def cost(row: _Row) -> tuple[int, bool, int]:
        (coefficient,) = row.unknowns.values()
        return abs(coefficient), coefficient < 0, -constant(row.known)  # of B - 10 and B + 3, B - 10

    best = min(candidates, key=cost)
    ((name, coefficient),) = best.unknowns.items()
    return [(name, _quotient(best.known, coefficient), best.used)]


def _quotient(known: Terms, coefficient: int) -> Quotient:
    if coefficient < 0:
        known, coefficient = scale(known, -1), -coefficient
    common = gcd(content(known), constant(known), coefficient)
    return Quotient({m: c // common for m, c in known.items()}, coefficient // common)


def _system(rows: Mapping[str, _Row]) -> list[tuple[str, Quotient, frozenset[str]]]:
    """Solves rows with several unknowns, by elimination without fractions."""
    open_rows = list(rows.values())
    solved: dict[str, _Row] = {}
    while open_rows:
        row = open_rows.pop(0)
        for name, pivot in solved.items():
            row = _eliminate(row, name, pivot)
        if not row.unknowns:
            continue
        name = min(row.unknowns, key=lambda each: (abs(row.unknowns[each]), each))
        solved = {other: _eliminate(pivot, name, row) for other, pivot in solved.items()}
        solved[name] = row
    return [
        (name, _quotient(row.known, row.unknowns[name]), row.used)
        for name, row in solved.items()
        if len(row.unknowns) == 1
    ]


def _eliminate(row: _Row, name: str, pivot: _Row) -> _Row:
    """Returns ``row`` without ``name``, by means of ``pivot``."""
    mine = row.unknowns.get(name, 0)
    if not mine:
        return row
    theirs = pivot.unknowns[name]
    common = gcd(mine, theirs)
    times, factor = theirs // common, mine // common
    unknowns = {
        each: value
        for each in (*row.unknowns, *pivot.unknowns)
        if (value := times * row.unknowns.get(each, 0) - factor * pivot.unknowns.get(each, 0))
    }
    return _Row(unknowns, add(scale(row.known, times), pivot.known, -factor), row.used | pivot.used)


def translate(polynomial: Terms, definitions: Mapping[str, Quotient]) -> Quotient:
    """Returns ``polynomial`` over the slots' names.

    Raises:
        KeyError: A variable has no definition.
        TooLarge: The result would be too long.
    """
    total = Quotient({})
    for monomial, coefficient in polynomial.items():
        part = _product(monomial, definitions)
        common = lcm(total.denominator, part.denominator)
        numerator = add(
            scale(total.numerator, common // total.denominator),
            part.numerator,
            coefficient * (common // part.denominator),
        )
        total = Quotient(numerator, common)
    return total


def _product(monomial: Monomial, definitions: Mapping[str, Quotient]) -> Quotient:
    result = Quotient({(): 1})
    for atom in monomial:
        if isinstance(atom, Var):
            factor = definitions[atom.name]
        else:
            sizes = {name: definitions[name].size for name in free_vars(atom)}
            factor = Quotient(terms(substitute_size(atom, sizes)))
        result = Quotient(product(result.numerator, factor.numerator), result.denominator * factor.denominator)
    return result
