"""Counting in bounded memory: totals, bounds and relations stay exact, counts are right on average."""

from __future__ import annotations

import random

from shapedsl.serving.profiles.histogram import Histogram


def test_few_rows_are_counted_as_they_are() -> None:
    counted = Histogram(limit=4)
    for row in [(1, 2), (3, 4), (1, 2)]:
        counted.add(row)
    assert counted.counts == {(1, 2): 2, (3, 4): 1}
    assert counted.calls == 3
    assert counted.joined == 0


def test_memory_is_bounded_and_the_total_is_exact() -> None:
    counted = Histogram(limit=50)
    rng = random.Random(0)
    for _ in range(20_000):
        counted.add((rng.randint(0, 3), rng.randint(0, 100_000), 7))
        assert len(counted.counts) <= 62  # the limit and a quarter
    assert counted.calls == 20_000
    assert len(counted.noted) < 100
    assert 0 < counted.joined <= 20_000


def test_frequent_rows_keep_their_counts() -> None:
    counted = Histogram(limit=50)
    rng = random.Random(1)
    for n in range(20_000):
        counted.add((1,) if n % 2 else (2,) if n % 10 == 0 else (rng.randint(3, 10**6),))
    assert counted.counts[1,] == 10_000
    assert counted.counts[2,] == 2_000


def test_counts_are_right_on_average() -> None:
    """Half of the rows are even: so is about half of what is counted, however few rows are kept."""
    shares = []
    for seed in range(20):
        counted = Histogram(limit=40)
        rng = random.Random(seed)
        for _ in range(2_000):
            counted.add((2 * rng.randint(0, 10**6) + (rng.random() < 0.3),))
        shares.append(sum(times for (size,), times in counted.counts.items() if size % 2) / 2_000)
    assert abs(sum(shares) / len(shares) - 0.3) < 0.06


def test_bounds_residues_and_relations_outlive_the_rows() -> None:
    """The rows kept, and those noted, have the bounds of all, break what any broke, and keep what all kept."""
    counted = Histogram(limit=8)
    rng = random.Random(2)
    every = []
    for n in range(3_000):
        x = 8 * rng.randint(1, 50_000)
        y = x + 1 if n != 1_500 else 0  # one call of three thousand breaks it
        every.append((x, y, 3 * x + 2))
        counted.add(every[-1])
    rows = list(counted.rows())
    for axis in range(3):
        assert min(row[axis] for row in rows) == min(row[axis] for row in every)
        assert max(row[axis] for row in rows) == max(row[axis] for row in every)
    assert any(row[1] != row[0] + 1 for row in rows)
    assert all(row[2] == 3 * row[0] + 2 for row in rows)
    assert any(row[1] % 8 != 1 for row in rows)
    assert set(rows) <= set(every)


def test_ever_new_bounds_are_no_reason_to_grow() -> None:
    counted = Histogram(limit=10)
    for n in range(2_000):
        counted.add((n, -n))
    assert len(counted.noted) < 10
    assert {min(row[0] for row in counted.rows()), max(row[0] for row in counted.rows())} == {0, 1_999}
    assert min(row[1] for row in counted.rows()) == -1_999


def test_merging_adds_up() -> None:
    first, second = Histogram(limit=8), Histogram(limit=8)
    for n in range(100):
        first.add((n,))
        second.add((2 * n,))
    second.add((10**9,))
    first.merge(second)
    assert first.calls == 201
    assert len(first.counts) <= 8
    assert max(row[0] for row in first.rows()) == 10**9
    assert min(row[0] for row in first.rows()) == 0
