"""A size over the slots that is a fraction only in appearance: exact wherever the assumptions hold.

``2 * B`` on an axis makes ``B`` the quotient ``u / 2``. Polynomials over such quotients stay fractions
until a denominator can be multiplied out, so that ``3 * B <= S`` becomes ``3 * u <= 2 * S``, without a floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, lcm

from ...ir import OPERATORS, Apply, Const, Size, Var
from ...ir.walk import free_vars, substitute_size
from ..algebra import product, terms, tidied
from ..polynomial import Monomial, Terms, add, build, constant, content, scale


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
        numerator = build(tidied(self.numerator))
        if self.denominator == 1:
            return numerator
        return Apply(OPERATORS["//"], (numerator, Const(self.denominator)))


Definitions = Mapping[str, Quotient]


def reduced(numerator: Terms, denominator: int) -> Quotient:
    """Returns ``numerator / denominator`` in lowest terms; the denominator is not 0."""
    if denominator < 0:
        numerator, denominator = scale(numerator, -1), -denominator
    common = gcd(content(numerator), constant(numerator), denominator)
    return Quotient({m: c // common for m, c in numerator.items()}, denominator // common)


def translate(polynomial: Terms, definitions: Definitions) -> Quotient:
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


def _product(monomial: Monomial, definitions: Definitions) -> Quotient:
    result = Quotient({(): 1})
    for atom in monomial:
        if isinstance(atom, Var):
            factor = definitions[atom.name]
        else:
            sizes = {name: definitions[name].size for name in free_vars(atom)}
            factor = Quotient(terms(substitute_size(atom, sizes)))
        result = Quotient(product(result.numerator, factor.numerator), result.denominator * factor.denominator)
    return result
