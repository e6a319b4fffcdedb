"""Say every constraint over the slots, in integers.

Before (``B`` is ``u // 2``)::

    B >= 3, 3 * B <= S + 1, B % 4 == 1, B // 3 == D, B == 2 or B == 5, H // 8 == S with H % 8 == 0

After::

    u >= 6, 3 * u <= 2 * S + 2, u % 8 == 2, u // 6 == D, u == 4 or u == 10, H == 8 * S

Denominators are multiplied out: a sign never changes, since they are positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...ir import COMPARISONS, And, Apply, Compare, Const, Not, Or, Predicate, Size
from ...ir.walk import free_vars, substitute
from ..algebra import TooLarge, difference, terms
from ..comparisons import congruent
from ..domains import Domains
from ..polynomial import build
from ..predicates import simplify_predicate
from ..propagate import residue_of
from .opened import without_floors
from .quotient import Quotient, translate


def translate_predicate(predicate: Predicate, definitions: Mapping[str, Quotient], domains: Domains) -> Predicate:
    """Returns a canonical ``predicate`` over the slots' names, in canonical form.

    Args:
        predicate: Over the variables of the signature.
        definitions: Each of them over the slots.
        domains: Their residues; the result is equivalent only where these hold.

    Raises:
        KeyError: A variable has no definition.
    """
    if not has_floor(predicate) and all(definitions[name].is_variable(name) for name in free_vars(predicate)):
        return predicate
    return simplify_predicate(_translated(predicate, definitions, domains))


def has_floor(node: Predicate | Size) -> bool:
    """Returns whether a floor division stands in ``node``: a known residue may open it."""
    match node:
        case Apply(op=op, args=args):
            return op.name == "//" or any(map(has_floor, args))
        case Compare(left=left, right=right):
            return has_floor(left) or has_floor(right)
        case And(args=args) | Or(args=args):
            return any(map(has_floor, args))
        case Not(arg=arg):
            return has_floor(arg)
        case _:
            return False


def _translated(predicate: Predicate, definitions: Mapping[str, Quotient], domains: Domains) -> Predicate:
    match predicate:
        case And(args=args):
            return And(tuple(_translated(arg, definitions, domains) for arg in args))
        case Or(args=args):
            return Or(tuple(_translated(arg, definitions, domains) for arg in args))
        case Not(arg=arg):
            return Not(_translated(arg, definitions, domains))
        case Compare(
            op=op, left=Apply(op=inner, args=(dividend, Const(value=modulus))), right=Const(value=residue)
        ) if inner.name == "%" and op.name in ("==", "!=") and modulus > 0:
            try:
                value = translate(terms(dividend), definitions)
                wanted = congruent(value.numerator, modulus * value.denominator, residue * value.denominator)
                return wanted if op.name == "==" else Not(wanted)
            except TooLarge:
                return _substituted(predicate, definitions)
        case Compare(op=op, left=left, right=right):
            try:
                polynomial, _ = without_floors(difference(left, right), partial(residue_of, domains))
                value = translate(polynomial, definitions)
                return Compare(COMPARISONS[op.name], build(value.numerator), Const(0))
            except TooLarge:
                return _substituted(predicate, definitions)


def _substituted(predicate: Predicate, definitions: Mapping[str, Quotient]) -> Predicate:
    return substitute(predicate, {name: definitions[name].size for name in free_vars(predicate)})
