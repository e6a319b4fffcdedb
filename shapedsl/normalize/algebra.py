"""The canonical form of a size: an integer polynomial over atoms. The only module that imports sympy.

sympy's `ring` over ``ZZ`` multiplies and divides; everything that a computer algebra system would do
with rationals, floors, or guesses about symbols is left alone. Floors follow Python: an atom ``a // m``
is rewritten only by identities that hold for all integers.

Before and after::

    (B * 4) // 2               2 * B
    (2 * B + 1) // 2           B
    (B // 2) // 3              B // 6
    cdiv(B, 8), -(-B // 8)     (B + 7) // 8
    B - B // 8 * 8             B % 8
    max(B, max(S, 3), 2)       max(B, S, 3)
    B * S // B                 S if B is known not to be 0, else B * S // B

A variable divisor is never canceled unless its range excludes 0: torch's ``FloorDiv(B*S, B)`` gives
``S`` even at ``B = 0``, where Python raises.

It is longer than other modules because the rewriting of atoms and the polynomials around them call each
other, and sympy has one door.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import comb, gcd
from typing import Any

from ..ir import OPERATORS, Apply, Const, Size, Var, Variadic
from .intervals import Box, Interval
from .polynomial import Terms, add, atom_key, build, content, leading, scale, terms_interval

MOST_TERMS = 200
LARGEST = 2**63 - 1
NO_BOX: Mapping[str, Interval] = {}


class TooLarge(Exception):
    """A canonical form would be too long, or hold a number beyond int64: the size is left as it was written."""


def terms(size: Size, box: Box = NO_BOX) -> Terms:
    """Returns the canonical polynomial of ``size``.

    Args:
        size: Any size.
        box: Ranges that may be used to drop dominated arguments of min and max, and to cancel divisors.

    Raises:
        TooLarge: See the class.
    """
    box = _remembering(box)
    return tidied(dict(_free(size) if not box else _terms(size, box)), box)


def canonical(size: Size, box: Box = NO_BOX) -> Size:
    """Returns ``size`` in canonical form, with its own span; unchanged where that would be too large."""
    if isinstance(size, (Var, Variadic)):
        return size  # most dims are
    try:
        result = build(_checked(terms(size, box)))
    except TooLarge:
        return size
    match result:
        case Const(value=value):
            return Const(value, size.span)
        case Var(name=name):
            return Var(name, size.span)
        case Variadic(name=name):
            return Variadic(name, size.span)
        case Apply(op=op, args=args):
            return Apply(op, args, size.span)


def difference(left: Size, right: Size, box: Box = NO_BOX) -> Terms:
    """Returns the canonical polynomial of ``left - right``.

    Raises:
        TooLarge: See the class.
    """
    if box:
        box = _remembering(box)
        return tidied(add(_terms(left, box), _terms(right, box), -1), box)
    return tidied(add(dict(_free(left)), dict(_free(right)), -1), box)


def product(left: Terms, right: Terms) -> Terms:
    """Returns ``left * right``.

    Raises:
        TooLarge: See the class.
    """
    if len(left) * len(right) > 20 * MOST_TERMS:
        raise TooLarge
    if len(left) == 1 and () in left:
        return scale(right, left[()])
    if len(right) == 1 and () in right:
        return scale(left, right[()])
    atoms = _atoms(left, right)
    result = _from_ring(_to_ring(left, atoms) * _to_ring(right, atoms), atoms)
    if len(result) > MOST_TERMS:
        raise TooLarge
    return result


def _checked(result: Terms) -> Terms:
    if any(abs(coefficient) > LARGEST for coefficient in result.values()):
        raise TooLarge
    return result


@lru_cache(maxsize=8192)
def _free(size: Size) -> tuple[tuple[tuple[Size, ...], int], ...]:
    """`_terms` without ranges; remembered, because many passes ask."""
    return tuple(_terms(size, NO_BOX).items())


class _Remembering(dict[str, Interval]):
    """Ranges, and the polynomials that were worked out with them.

    The same dividend is looked at from several places, and so is the one inside it: without remembering,
    quotients inside each other would cost twice as much with each level.
    """

    __slots__ = ("known",)

    def __init__(self, box: Box) -> None:
        super().__init__(box)
        self.known: dict[Size, Terms] = {}


def _remembering(box: Box) -> Box:
    return _Remembering(box) if box and not isinstance(box, _Remembering) else box


def _again(size: Size, box: Box) -> Terms:
    """`_terms` of a part of what is already canonical, remembered."""
    if not box:
        return dict(_free(size))
    box = _remembering(box)
    assert isinstance(box, _Remembering)
    if size not in box.known:
        box.known[size] = _terms(size, box)
    return dict(box.known[size])


def _terms(size: Size, box: Box) -> Terms:
    match size:
        case Const(value=value):
            return {(): value} if value else {}
        case Var(name=name):
            return {(Var(name),): 1}
        case Variadic(name=name):
            return {(Variadic(name),): 1}
        case Apply(op=op, args=args):
            return _apply(op.name, [_terms(arg, box) for arg in args], args, box)


def _apply(name: str, args: list[Terms], written: tuple[Size, ...], box: Box) -> Terms:
    match name, args:
        case "+", [left, right]:
            return add(left, right)
        case "-", [left, right]:
            return add(left, right, -1)
        case "neg", [only]:
            return scale(only, -1)
        case "*", [left, right]:
            return product(left, right)
        case "**", [base, exponent]:
            return _power(base, exponent)
        case "//", [left, right]:
            return _floor_div(left, right, box)
        case "cdiv", [left, right]:
            return scale(_floor_div(scale(left, -1), right, box), -1)
        case "%", [left, right]:
            return _modulo(left, right, box)
        case (("min" | "max"), _):
            return _extreme(name, args, box)
        case "prod", _:
            total: Terms = {(): 1}
            for factor, source in zip(args, written, strict=True):
                many = isinstance(source, Variadic)
                total = product(total, _atom("prod", factor) if many else factor)
            return total
        case _:
            return _atom(name, *args)


def _atom(name: str, *args: Terms) -> Terms:
    """Returns the polynomial of one opaque operation."""
    return {(Apply(OPERATORS[name], tuple(build(_checked(tidied(arg, NO_BOX))) for arg in args)),): 1}


def _power(base: Terms, exponent: Terms) -> Terms:
    power = exponent.get((), 0)
    if any(monomial for monomial in exponent) or power < 0:
        return _atom("**", base, exponent)
    if not base or power == 0:
        return {} if power else {(): 1}
    largest = max(abs(coefficient) for coefficient in base.values())
    if (largest.bit_length() - (largest == 1)) * power > 64 or (len(base) > 1 and power > 64):
        raise TooLarge
    if power * max(len(monomial) for monomial in base) > 512 or comb(len(base) - 1 + power, power) > MOST_TERMS:
        raise TooLarge
    result: Terms = {(): 1}
    for _ in range(power):
        result = product(result, base)
    return result


def _value(polynomial: Terms) -> int | None:
    """Returns the constant that ``polynomial`` is, or None."""
    return None if any(polynomial) else polynomial.get((), 0)


# ------------------------------------------------------------------------------------ // and %


def _floor_div(left: Terms, right: Terms, box: Box) -> Terms:
    divisor = _value(right)
    if divisor is None:
        return _floor_div_variable(left, right, box)
    if divisor == 0:
        return _atom("//", left, right)
    return _floor(left, divisor, box) if divisor > 0 else _floor(scale(left, -1), -divisor, box)


def _floor_div_variable(left: Terms, right: Terms, box: Box) -> Terms:
    if leading(right) < 0:
        left, right = scale(left, -1), scale(right, -1)  # (-a) // (-b) == a // b
    if not _nonzero(right, box):
        return _atom("//", left, right)
    quotient, rest = _divided(left, right)
    if not rest:
        return quotient
    if len(rest) < len(left):
        return add(quotient, _atom("//", rest, right))
    return _atom("//", left, right)


def _nonzero(divisor: Terms, box: Box) -> bool:
    range_ = terms_interval(divisor, box)
    return range_.low > 0 or range_.high < 0


def _floor(left: Terms, divisor: int, box: Box) -> Terms:
    """Returns ``left // divisor`` for ``divisor > 0``."""
    whole: Terms = {}
    rest: Terms = {}
    for monomial, coefficient in left.items():
        if monomial:
            part = abs(coefficient) // divisor * (1 if coefficient > 0 else -1)
        else:
            part = coefficient // divisor
        if part:
            whole[monomial] = part
        if coefficient - part * divisor:
            rest[monomial] = coefficient - part * divisor
    common = gcd(content(rest), divisor)
    if not any(rest):
        return whole  # what is left of the constant is smaller than the divisor
    if common > 1:  # (g*a + c) // (g*m) == (a + c // g) // m
        rest = {m: c // common for m, c in rest.items() if c // common}
        return add(whole, _floor(rest, divisor // common, box))
    if leading(rest) < 0:  # a // m == -((m - 1 - a) // m)
        return add(whole, _floor(add({(): divisor - 1}, rest, -1), divisor, box), -1)
    range_ = terms_interval(rest, box)
    if range_.low >= 0 and range_.high < divisor:
        return whole
    inner = _single(rest, "//")
    if inner is not None:  # (a // b + c) // m == (a + b*c) // (b*m)
        dividend, by, offset = inner
        return add(whole, _floor(add(_again(dividend, box), {(): by * offset} if offset else {}), by * divisor, box))
    return add(whole, _atom("//", rest, {(): divisor}))


def _single(polynomial: Terms, name: str) -> tuple[Size, int, int] | None:
    """Matches ``a // b + c``: returns ``a``, ``b > 0`` and ``c``."""
    match [(monomial, coefficient) for monomial, coefficient in polynomial.items() if monomial]:
        case [((Apply(op=op, args=(dividend, Const(value=by))),), 1)] if op.name == name and by > 0:
            return dividend, by, polynomial.get((), 0)
        case _:
            return None


def _modulo(left: Terms, right: Terms, box: Box) -> Terms:
    modulus = _value(right)
    if modulus is None:
        if leading(right) < 0:  # a % -b == -(-a % b)
            return scale(_modulo(scale(left, -1), scale(right, -1), box), -1)
        if _nonzero(right, box) and not _divided(left, right)[1]:
            return {}
        return _atom("%", left, right)
    if modulus == 0:
        return _atom("%", left, right)
    if modulus < 0:
        return scale(_remainder(scale(left, -1), -modulus, box), -1)
    return _remainder(left, modulus, box)


def _remainder(left: Terms, modulus: int, box: Box) -> Terms:
    """Returns ``left % modulus`` for ``modulus > 0``."""
    rest = _reduced(_opened(left, modulus, box), modulus)
    if not any(rest):
        return rest
    common = gcd(content(rest), modulus)
    if common > 1:  # (g*a + c) % (g*m) == g * ((a + c // g) % m) + c % g
        offset = rest.get((), 0)
        inner = {m: c // common for m, c in rest.items() if c // common}
        result = scale(_remainder(inner, modulus // common, box), common)
        return add(result, {(): offset % common} if offset % common else {})
    range_ = terms_interval(rest, box)
    if range_.low >= 0 and range_.high < modulus:
        return rest
    return _atom("%", rest, {(): modulus})


def _opened(polynomial: Terms, modulus: int, box: Box) -> Terms:
    """Replaces ``a % b`` by ``a`` where ``modulus`` divides ``b``: the remainder by ``modulus`` is the same."""
    result = polynomial
    for monomial, coefficient in polynomial.items():
        match monomial:
            case (Apply(op=op, args=(dividend, Const(value=by))),) if op.name == "%" and by and by % modulus == 0:
                result = add(add(result, {monomial: -coefficient}), _again(dividend, box), coefficient)
            case _:
                pass
    return result


def _reduced(polynomial: Terms, modulus: int) -> Terms:
    """Returns ``polynomial`` modulo ``modulus``: coefficients around 0, the constant in ``[0, modulus)``."""
    result: Terms = {}
    for monomial, coefficient in polynomial.items():
        value = coefficient % modulus
        if monomial and 2 * value > modulus:
            value -= modulus
        if value:
            result[monomial] = value
    return result


def tidied(polynomial: Terms, box: Box = NO_BOX) -> Terms:
    """Writes ``a - a // m * m`` as ``a % m`` where all of ``a`` stands there."""
    for monomial, coefficient in polynomial.items():
        match monomial:
            case (Apply(op=op, args=(dividend, Const(value=by))),) if op.name == "//" and by > 0:
                times = -coefficient // by
                inner = _again(dividend, box)
                if coefficient % by or any(polynomial.get(m) != times * c for m, c in inner.items() if m):
                    continue
                rest = add(add(polynomial, {monomial: -coefficient}), inner, -times)
                return tidied(add(rest, _remainder(inner, by, box), times), box)
            case _:
                pass
    return polynomial


# ---------------------------------------------------------------------------------- min and max


def _extreme(name: str, args: list[Terms], box: Box) -> Terms:
    """Returns ``min`` or ``max``: flattened, constants merged, sorted, without arguments that never decide."""
    flat: list[Terms] = []
    for arg in args:
        match list(arg.items()):
            case [((Apply(op=op, args=inner),), 1)] if op.name == name:
                flat += [_again(each, box) for each in inner]
            case _:
                flat.append(arg)
    if any(
        spreads(atom) for arg in flat for monomial in arg for atom in monomial
    ):  # as many arguments as there are dims
        spread = {build(_checked(tidied(arg, box))): None for arg in flat}
        return {(Apply(OPERATORS[name], tuple(sorted(spread, key=_argument_key))),): 1}
    kept: list[Terms] = []
    for arg in flat:
        if any(_decides(name, other, arg, box) for other in kept):
            continue
        kept = [other for other in kept if not _decides(name, arg, other, box)] + [arg]
    if len(kept) == 1:
        return kept[0]
    sizes = sorted((build(_checked(tidied(arg, box))) for arg in kept), key=_argument_key)
    return {(Apply(OPERATORS[name], tuple(sizes)),): 1}


def _argument_key(size: Size) -> tuple[object, ...]:
    return isinstance(size, Const), atom_key(size)


def spreads(size: Size) -> bool:
    """Returns whether ``size`` stands for one size a dim: ``*batch``, but not ``max(*batch)``."""
    match size:
        case Variadic():
            return True
        case Apply(op=op, args=args):
            return op.name not in ("min", "max", "prod") and any(map(spreads, args))
        case _:
            return False


def _decides(name: str, winner: Terms, loser: Terms, box: Box) -> bool:
    """Returns whether ``loser`` never matters beside ``winner``."""
    ahead = terms_interval(add(winner, loser, -1), box)
    return ahead.low >= 0 if name == "max" else ahead.high <= 0


# ---------------------------------------------------------------------------------------- sympy


@lru_cache(maxsize=64)
def _ring(generators: int) -> Any:
    """Returns sympy's ring of integer polynomials in so many generators. Its elements are untyped."""
    from sympy import ZZ  # type: ignore[import-untyped]
    from sympy.polys.rings import PolyRing  # type: ignore[import-untyped]

    return PolyRing([f"x{at}" for at in range(generators)], ZZ)


def _atoms(*polynomials: Terms) -> list[Size]:
    return sorted({atom for each in polynomials for monomial in each for atom in monomial}, key=atom_key)


def _to_ring(polynomial: Terms, atoms: list[Size]) -> Any:
    at = {atom: index for index, atom in enumerate(atoms)}
    ring = _ring(-(-len(atoms) // 4) * 4)  # few different rings: making one takes a millisecond
    powers: dict[tuple[int, ...], int] = {}
    for monomial, coefficient in polynomial.items():
        exponents = [0] * ring.ngens
        for atom in monomial:
            exponents[at[atom]] += 1
        powers[tuple(exponents)] = coefficient
    return ring.from_dict(powers)


def _from_ring(element: Any, atoms: list[Size]) -> Terms:
    return {
        tuple(atom for atom, power in zip(atoms, exponents, strict=False) for _ in range(power)): int(coefficient)
        for exponents, coefficient in element.items()
    }


def _divided(left: Terms, right: Terms) -> tuple[Terms, Terms]:
    """Returns integer polynomials ``q``, ``r`` with ``left == q * right + r``; ``r`` is empty if it divides."""
    atoms = _atoms(left, right)
    quotient, rest = divmod(_to_ring(left, atoms), _to_ring(right, atoms))
    return _from_ring(quotient, atoms), _from_ring(rest, atoms)
