"""Cutting cells, against sets of integers."""

from __future__ import annotations

from itertools import product
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedsl.normalize.coverage.cells import Axis, Cell, axis, cells_of, inside, left_of, lowest, meet, without
from shapedsl.normalize.predicates import simplify_predicate, split

from .texts import predicates

RANGE = range(-12, 25)


@st.composite
def axes(draw: st.DrawFn) -> Axis:
    low = draw(st.one_of(st.just(-inf), st.integers(-6, 12)))
    high = draw(st.one_of(st.just(inf), st.integers(0, 18)))
    modulus = draw(st.integers(1, 5))
    made = axis(low, high, modulus, draw(st.integers(0, 4)) % modulus)
    return made if made is not None else Axis(-inf, inf)


def members(one: Axis) -> set[int]:
    return {v for v in RANGE if one.low <= v <= one.high and v % one.modulus == one.residue}


def points(cell: Cell) -> set[tuple[int, ...]]:
    return set(product(*(members(cell[name]) for name in sorted(cell))))


@given(axes(), axes())
def test_axes_are_sets(one: Axis, other: Axis) -> None:
    shared = meet(one, other)
    assert (members(shared) if shared is not None else set()) == members(one) & members(other)
    if inside(one, other):
        assert members(one) <= members(other)
    if shared is not None:
        pieces = [members(piece) for piece in without(one, other)]
        assert set().union(*pieces) == members(one) - members(other)
        assert sum(map(len, pieces)) == len(set().union(*pieces))


@given(st.lists(st.fixed_dictionaries({}, optional={"B": axes(), "S": axes()}), max_size=6))
def test_what_is_left_is_exact_and_disjoint(others: list[dict[str, Axis]]) -> None:
    whole = {"B": Axis(0, 12), "S": Axis(-4, 9)}
    left = [points(cell) for cell in left_of(whole, others)]
    taken = [points({**{name: Axis(-inf, inf) for name in whole}, **other}) for other in others]
    assert set().union(*left) == points(whole).difference(*taken)
    assert sum(map(len, left)) == len(set().union(*left))
    for cell in left_of(whole, others):
        nearest = lowest(cell)
        assert tuple(nearest[name] for name in sorted(nearest)) in points(cell)


CELLS = {
    "B in {1, 4}, S >= 2": [{"B": Axis(1, 1), "S": Axis(2, inf)}, {"B": Axis(4, 4), "S": Axis(2, inf)}],
    "B != 3": [{"B": Axis(-inf, 2)}, {"B": Axis(4, inf)}],
    "B % 2 != 1": [{"B": Axis(-inf, inf, 2, 0)}],
    "B >= 3 and B % 4 == 1 or S == 0": [{"B": Axis(5, inf, 4, 1)}, {"S": Axis(0, 0)}],
    "B == 1, B >= 2": [],
}


@pytest.mark.parametrize("text", CELLS)
def test_cells_of(text: str) -> None:
    parts = [part for each in predicates(text) for part in split(simplify_predicate(each))]
    found = cells_of(parts)
    assert found is not None
    assert sorted(map(repr, found)) == sorted(map(repr, CELLS[text]))


@pytest.mark.parametrize("text", ["B <= S", "B * S == 4", "B // 2 == S"])
def test_what_ties_two_sizes_is_no_cell(text: str) -> None:
    assert cells_of(split(simplify_predicate(predicates(text)[0]))) is None
