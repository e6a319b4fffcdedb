"""Evaluate formulas over bounds: surely true, surely false and why, or open."""

from __future__ import annotations

from math import gcd

from .bounds import Bounds
from .formula import EQ, GE, NE, All, Atom, Formula
from .rows import Terms


def why_false(bounds: Bounds, formula: Formula) -> int:
    """Returns the assumptions under which the bounds make ``formula`` false, or -1 if they do not."""
    if isinstance(formula, Atom):
        return _why_false(bounds, formula)
    if isinstance(formula, All):
        for arg in formula.args:
            why = why_false(bounds, arg)
            if why >= 0:
                return why
        return -1
    total = 0
    for arg in formula.args:
        why = why_false(bounds, arg)
        if why < 0:
            return -1
        total |= why
    return total


def _why_false(bounds: Bounds, atom: Atom) -> int:
    terms, total = atom.terms, atom.constant
    bounds.budget.spend(len(terms))
    if atom.op == NE:
        why = 0
        for column, value in terms:
            fixed = bounds.fixed(column)
            if fixed is None:
                return -1
            total += value * fixed[0]
            why |= fixed[1]
        return why if total == 0 else -1
    why = _below(bounds, terms, total, 1)
    if why >= 0 or atom.op == GE:
        return why
    why = _below(bounds, terms, total, -1)
    if why >= 0:
        return why
    modulus, why = 0, 0
    for column, value in terms:
        low, high = bounds.lows.get(column), bounds.highs.get(column)
        if low is not None and high is not None and low[0] == high[0]:
            total += value * low[0]
            why |= low[1] | high[1]
        else:
            residue = bounds.residues.get(column, (1, 0, 0))
            modulus = gcd(modulus, value * residue[0])
            total += value * residue[1]
            why |= residue[2]
    return why if (total % modulus if modulus else total) else -1


def _below(bounds: Bounds, terms: Terms, total: int, sign: int) -> int:
    """Returns why ``sign * (terms + total) < 0``, or -1."""
    total *= sign
    why = 0
    lows, highs = bounds.lows, bounds.highs
    for column, value in terms:
        bound = (highs if value * sign > 0 else lows).get(column)
        if bound is None:
            return -1
        total += sign * value * bound[0]
        why |= bound[1]
    return why if total < 0 else -1


def holds(bounds: Bounds, formula: Formula) -> bool:
    """Returns whether the bounds make ``formula`` true."""
    if isinstance(formula, All):
        return all(holds(bounds, arg) for arg in formula.args)
    if not isinstance(formula, Atom):
        return any(holds(bounds, arg) for arg in formula.args)
    terms, total = formula.terms, formula.constant
    bounds.budget.spend(len(terms))
    if formula.op == GE:
        return _surely(bounds, terms, total, 1)
    if formula.op == EQ:
        return _surely(bounds, terms, total, 1) and _surely(bounds, terms, total, -1)
    return _below(bounds, terms, total, 1) >= 0 or _below(bounds, terms, total, -1) >= 0


def _surely(bounds: Bounds, terms: Terms, total: int, sign: int) -> bool:
    total *= sign
    for column, value in terms:
        bound = (bounds.lows if value * sign > 0 else bounds.highs).get(column)
        if bound is None:
            return False
        total += sign * value * bound[0]
    return total >= 0
