"""Open what hides a variable: floors, remainders and extremes of which the spec says how they come out.

Before::

    B // 8               where B % 8 == 3
    max(A, B) + 1        where A <= B
    B % 8                where 16 <= B < 24
    B % 8                where B % 8 == 3
    (B + 1) // 2

After::

    B / 8 - 3 / 8        (over a common denominator: `8 * (B // 8)` is `B - 3`; factors beside it stay)
    B + 1
    B - 16
    3
    B - B // 2           (which a tensor's other half may be)

Invariant: the size is the same wherever the assumptions hold. Only dims are opened, never the assumptions
themselves: those are what it rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...ir import OPERATORS, Apply, Const, Size
from ..algebra import TooLarge, canonical, product, terms
from ..polynomial import Terms, add, build, constant, scale
from .given import Given

Residue = Callable[[Terms], "tuple[int, int]"]


def without_floors(polynomial: Terms, residue: Residue) -> tuple[Terms, int]:
    """Returns ``factor * polynomial`` and the factor, with floors of known residue written as exact divisions.

    ``H // 8`` where ``H % 8 == 0`` gives ``H`` and 8; the factor is positive.

    Args:
        polynomial: Over the variables of the signature.
        residue: What is known of the residue of a polynomial.

    Raises:
        TooLarge: The result would be too long.
    """
    for monomial, coefficient in polynomial.items():
        for at, atom in enumerate(monomial):
            match atom:
                case Apply(op=op, args=(dividend, Const(value=by))) if op.name == "//" and by > 0:
                    modulus, rest = residue(terms(dividend))
                    if modulus % by == 0:
                        others = add(scale(polynomial, by), {monomial: -by * coefficient})
                        exact = add(terms(dividend), {(): rest % by} if rest % by else {}, -1)
                        whole = product({monomial[:at] + monomial[at + 1 :]: coefficient}, exact)
                        opened, more = without_floors(add(others, whole), residue)
                        return opened, by * more
                case _:
                    pass
    return polynomial, 1


def opened(size: Size, given: Given) -> Size:
    """Returns ``size`` without the extremes and remainders that can be proved to be one of their parts, canonical.

    Args:
        size: Canonical.
        given: What may be assumed.
    """
    result = _opened(size, given)
    return size if result is size else canonical(result)


def _opened(size: Size, given: Given) -> Size:
    if not isinstance(size, Apply):
        return size
    args = tuple(_opened(arg, given) for arg in size.args)
    if any(new is not old for new, old in zip(args, size.args, strict=True)):
        size = replace(size, args=args)
    match size.op.name, args:
        case ("min" | "max") as name, _:
            order = "<=" if name == "min" else ">="
            for arg in args:
                if all(other is arg or given.proves(arg, order, other) for other in args):
                    return arg
        case "%", (dividend, Const(value=by)) if by > 0:
            try:
                polynomial = terms(dividend)
                whole = given.block(polynomial, by)
                modulus, rest = given.proved_residue(polynomial) if whole is None else (1, 0)
            except TooLarge:
                return size
            if whole is not None:
                return Apply(OPERATORS["-"], (dividend, Const(by * whole)))
            if modulus % by == 0:
                return Const(rest % by)
        case "//", (dividend, Const(value=2)):
            try:
                polynomial = terms(dividend)
            except TooLarge:
                return size
            if constant(polynomial) % 2:
                below = build(add(polynomial, {(): -1}))
                return Apply(OPERATORS["-"], (below, Apply(OPERATORS["//"], (below, Const(2)))))
        case _:
            pass
    return size
