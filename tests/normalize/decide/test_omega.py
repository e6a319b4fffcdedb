"""The Omega test against brute force: models, refutations and what they follow from; and its budget."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterable, Mapping

import pytest

from shapedsl.normalize.decide.budget import Budget, TooHard
from shapedsl.normalize.decide.clash import Clash
from shapedsl.normalize.decide.linear import Column, Row
from shapedsl.normalize.decide.omega import solve

LOW, HIGH = -6, 6
X, Y, Z = ("x",), ("y",), ("z",)
NAMES = (X, Y, Z)


def box() -> list[Row]:
    return [row for name in NAMES for row in (Row({name: 1}, -LOW), Row({name: -1}, HIGH))]


def random_rows(rng: random.Random) -> list[Row]:
    """Returns a few rows over x, y, z, each with a bit of its own."""
    rows: list[Row] = []
    for bit in range(rng.randint(1, 5)):
        coefficients: dict[Column, int] = {name: value for name in NAMES if (value := rng.randint(-7, 7))}
        rows.append(Row(coefficients, rng.randint(-20, 20), rng.random() < 0.3, 1 << bit))
    return rows


def holds(row: Row, model: Mapping[Column, int]) -> bool:
    value = row.value(model)
    return value == 0 if row.equality else value >= 0


def possible(rows: Iterable[Row]) -> bool:
    known = list(rows)
    points = itertools.product(range(LOW, HIGH + 1), repeat=3)
    return any(all(holds(row, dict(zip(NAMES, point, strict=True))) for row in known) for point in points)


@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    found = {True: 0, False: 0}
    for _ in range(50):
        rows = random_rows(rng)
        wanted = possible(rows)
        found[wanted] += 1
        try:
            model = solve([*box(), *rows], Budget(100_000))
        except Clash as clash:
            assert not possible(row for row in rows if row.why & clash.why), (rows, clash.why)
        else:
            assert wanted, rows
            assert all(holds(row, model) for row in (*box(), *rows)), (rows, model)
    assert min(found.values()) > 5, found


def test_the_dark_shadow_is_not_enough() -> None:
    # 27 <= 11x + 13y <= 45, -10 <= 7x - 9y <= 4: rational points, no integers (Pugh 1991)
    rows = [
        Row({X: 11, Y: 13}, -27, why=1),
        Row({X: -11, Y: -13}, 45, why=2),
        Row({X: 7, Y: -9}, 10, why=4),
        Row({X: -7, Y: 9}, 4, why=8),
    ]
    with pytest.raises(Clash) as clash:
        solve(rows, Budget(100_000))
    assert clash.value.why == 15


def test_a_refutation_does_not_name_what_it_did_not_use() -> None:
    rows = [
        Row({X: 1, Y: -1}, 0, why=1),
        Row({Z: 1, X: 3}, 5, why=2),
        Row({X: -1}, 3, why=4),
        Row({Y: 1}, -4, why=8),
        Row({Z: 1, Y: -1}, 0, why=16),
    ]
    with pytest.raises(Clash) as clash:
        solve(rows, Budget(10_000))
    assert clash.value.why == 1 | 4 | 8


def test_parity_is_a_matter_of_one_row() -> None:
    with pytest.raises(Clash) as clash:
        solve([Row({X: 2, Y: -2}, -1, True, 1), Row({X: 1}, 0, False, 2)], Budget(1_000))
    assert clash.value.why == 1


def test_unbounded_variables_have_models() -> None:
    rows = [Row({X: 3, Y: -5}, -1, True), Row({X: 1}, -1000)]
    model = solve(rows, Budget(10_000))
    assert all(holds(row, model) for row in rows)


def test_a_shuffled_chain_costs_little() -> None:
    links = [Row({(f"v{at}",): 1, (f"v{at + 1}",): -1}, 0, False, 1 << at) for at in range(299)]
    random.Random(0).shuffle(links)
    cycle = Row({("v299",): 1, ("v0",): -1}, -1, False, 1 << 299)
    with pytest.raises(Clash) as clash:
        solve([*links, cycle], Budget(60_000))
    assert clash.value.why == (1 << 300) - 1


def test_work_is_bounded() -> None:
    rng = random.Random(1)
    names = [(f"v{at}",) for at in range(12)]
    rows = [Row({name: rng.randint(-9, 9) or 1 for name in names}, rng.randint(-9, 9)) for _ in range(24)]
    with pytest.raises(TooHard):
        solve(rows, Budget(2_000))


def test_the_same_system_costs_the_same_work() -> None:
    rows = random_rows(random.Random(5))
    left: set[int] = set()
    for _ in range(2):
        budget = Budget(100_000)
        with contextlib.suppress(Clash):
            solve([*box(), *rows], budget)
        left.add(budget.left)
    assert len(left) == 1
