"""Propagation: what it derives, why, and that undo forgets it."""

from __future__ import annotations

import pytest

from shapedsl.normalize.decide.box import Box
from shapedsl.normalize.decide.budget import Budget
from shapedsl.normalize.decide.clash import Clash
from shapedsl.normalize.decide.formula import EQ, GE, NE, Formula, Polynomial, atom, every, some

A, B, C, AB, AA = ("A",), ("B",), ("C",), ("A", "B"), ("A", "A")


def box(*formulas: Formula) -> Box:
    """Returns a box in which each of ``formulas`` is assumed, with a bit of its own."""
    result = Box(Budget(100_000))
    for bit, formula in enumerate(formulas):
        result.assume(formula, 1 << bit)
    return result


def at_least(polynomial: Polynomial, value: int) -> Formula:
    return atom(GE, {**polynomial, (): -value})


def at_most(polynomial: Polynomial, value: int) -> Formula:
    return atom(GE, {**{column: -factor for column, factor in polynomial.items()}, (): value})


def equal(polynomial: Polynomial, value: int) -> Formula:
    return atom(EQ, {**polynomial, (): -value})


def test_bounds_go_through_rows() -> None:
    known = box(at_least({A: 1}, 3), at_least({B: 1, A: -2}, 1), at_most({B: 1}, 9))
    known.propagate()
    assert known.lows[B] == (7, 0b011)
    assert known.highs[A] == (4, 0b110)


def test_residues_go_through_equalities() -> None:
    known = box(equal({A: 1, B: -6}, 4), equal({C: 1, A: -1}, 1))
    known.propagate()
    assert known.residues[A][:2] == (6, 4)
    assert known.residues[C] == (6, 5, 0b11)


def test_a_bound_moves_to_the_residue() -> None:
    known = box(equal({A: 1, B: -8}, 0), at_least({A: 1}, 1), at_most({A: 1}, 30))
    known.propagate()
    assert known.lows[A] == (8, 0b011)
    assert known.highs[A] == (24, 0b101)


def test_residues_that_differ_clash() -> None:
    known = box(equal({A: 1, B: -4}, 1), at_least({C: 1}, 5), equal({A: 1, C: -2}, 0))
    with pytest.raises(Clash) as clash:
        known.propagate()
    assert clash.value.why == 0b101


def test_products_have_bounds_and_residues() -> None:
    known = box(at_least({A: 1}, 2), at_least({B: 1}, 3), at_most({AB: 1}, 20), equal({A: 1, C: -2}, 0))
    known.propagate()
    assert known.lows[AB] == (6, 0b0011)
    assert known.highs[B] == (10, 0b0101)
    assert known.highs[A] == (6, 0b0110)
    assert known.residues[AB] == (2, 0, 0b1000)


def test_signs_of_factors() -> None:
    known = box(at_most({A: 1}, -1), at_most({B: 1}, -2), at_least({AB: 1, C: -1}, 0))
    known.propagate()
    assert known.lows[AB] == (2, 0b011)


def test_squares_are_not_negative_and_bound_their_roots() -> None:
    known = box(at_most({AA: 1}, 50), at_least({A: 1}, 1), at_least({AA: 1}, 37))
    known.propagate()
    assert known.lows[A] == (7, 0b110)
    assert known.highs[A] == (7, 0b001)


def test_a_hole_at_the_end_is_cut_off() -> None:
    known = box(at_least({A: 1}, 0), atom(NE, {A: 1}), atom(NE, {A: 1, (): -1}))
    known.propagate()
    assert known.lows[A] == (2, 0b111)


def test_the_last_argument_of_a_clause_is_assumed_for_reasons() -> None:
    known = box(
        at_least({A: 1}, 5),
        some([at_most({A: 1}, 3), at_least({B: 1}, 7), every([at_most({A: 1}, 4), at_most({B: 1}, 2)])]),
        at_most({C: 1}, 2),
    )
    known.propagate()
    assert known.lows[B] == (7, 0b011)


def test_a_clause_without_arguments_that_can_hold_clashes() -> None:
    known = box(at_least({A: 1}, 5), some([at_most({A: 1}, 3), at_most({A: 1, B: 1}, 2)]), at_least({B: 1}, 0))
    with pytest.raises(Clash) as clash:
        known.propagate()
    assert clash.value.why == 0b111


def test_undo_forgets() -> None:
    known = box(at_least({A: 1}, 1), at_least({B: 1, A: -1}, 0))
    known.propagate()
    before = dict(known.lows), dict(known.highs), dict(known.residues), len(known.constraints)
    mark = known.mark()
    known.assume(at_least({A: 1}, 10), 4)
    known.assume(equal({A: 1, C: -3}, 0), 8)
    known.assume(some([at_least({AB: 1}, 7), at_most({B: 1}, 2)]), 16)
    known.propagate()
    assert known.lows[B] == (12, 0b1110)
    known.undo(mark)
    assert (dict(known.lows), dict(known.highs), dict(known.residues), len(known.constraints)) == before
    assert not known.clauses


def test_bounds_that_chase_each_other_end() -> None:
    known = box(at_least({A: 1, B: -1}, 1), at_least({B: 1, A: -1}, 1), at_least({A: 1}, 0))
    known.propagate()  # without a bound from above only the Omega test sees that it is impossible
    assert known.budget.left > 99_000
