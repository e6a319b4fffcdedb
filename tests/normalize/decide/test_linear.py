"""The Omega test against brute force, and its budget."""

from __future__ import annotations

import itertools
import random

import pytest

from shapedsl.normalize.decide.linear import Budget, OutOfBudget, Row, solve

LOW, HIGH = -6, 6


def random_system(rng: random.Random) -> list[Row]:
    """Returns a few rows over x, y, z inside of a box."""
    rows = [row for name in "xyz" for row in (Row({name: 1}, -LOW), Row({name: -1}, HIGH))]
    for _ in range(rng.randint(1, 4)):
        coefficients = {name: value for name in "xyz" if (value := rng.randint(-7, 7))}
        rows.append(Row(coefficients, rng.randint(-20, 20), rng.random() < 0.4))
    return rows


def holds(row: Row, model: dict[str, int]) -> bool:
    value = row.value(model)
    return value == 0 if row.equality else value >= 0


@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    found = {True: 0, False: 0}
    for _ in range(60):
        rows = random_system(rng)
        points = itertools.product(range(LOW, HIGH + 1), repeat=3)
        wanted = any(all(holds(row, dict(zip("xyz", point, strict=True))) for row in rows) for point in points)
        model = solve(rows, Budget(100_000))
        found[wanted] += 1
        assert (model is not None) == wanted, rows
        if model is not None:
            assert all(holds(row, model) for row in rows), (rows, model)
    assert min(found.values()) > 5, found


def test_the_dark_shadow_is_not_enough() -> None:
    # 27 <= 11x + 13y <= 45, -10 <= 7x - 9y <= 4: rational points, no integers (Pugh 1991)
    rows = [
        Row({"x": 11, "y": 13}, -27),
        Row({"x": -11, "y": -13}, 45),
        Row({"x": 7, "y": -9}, 10),
        Row({"x": -7, "y": 9}, 4),
    ]
    assert solve(rows, Budget(100_000)) is None


def test_unbounded_variables_have_models() -> None:
    rows = [Row({"x": 3, "y": -5}, -1, True), Row({"x": 1}, -1000)]
    model = solve(rows, Budget(10_000))
    assert model is not None
    assert all(holds(row, model) for row in rows)


def test_work_is_bounded() -> None:
    rng = random.Random(1)
    names = [f"v{at}" for at in range(12)]
    rows = [Row({name: rng.randint(-9, 9) or 1 for name in names}, rng.randint(-9, 9)) for _ in range(24)]
    with pytest.raises(OutOfBudget):
        solve(rows, Budget(2_000))
