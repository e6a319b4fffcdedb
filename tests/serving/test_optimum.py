"""Sizes to pad to: the dynamic programs against trying every choice, and against figures worked out elsewhere."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import pytest

from shapedsl.serving.profiles.traffic import Call, elements
from shapedsl.serving.suggesting import joint_optimum
from shapedsl.serving.suggesting.joint_optimum import joint_choices
from shapedsl.serving.suggesting.optimum import choices, cost_of


def chat() -> list[int]:
    """Returns made-up lengths of chats: 20,000 from a lognormal distribution, from 1 to 4096."""
    rng = random.Random(0)
    return [max(1, min(4096, int(rng.lognormvariate(5.2, 1.0)))) for _ in range(20_000)]


def waste(lengths: Sequence[int], cost: int) -> int:
    return round(100 * (1 - sum(lengths) / cost))


def test_figures_of_chat_lengths() -> None:
    """One bucket wastes 93 %, powers of two 30 % with 13 buckets, the optimum 24 % with 8 and 16 % with 12."""
    lengths = chat()
    line = {length: (0, times) for length, times in Counter(lengths).items()}
    found = choices(line, 12)
    assert waste(lengths, found[0].cost) == 93
    powers = [2**n for n in range(13)]
    assert waste(lengths, cost_of(line, powers)) == 30
    assert waste(lengths, found[7].cost) == 24
    assert waste(lengths, found[11].cost) == 16
    assert [len(choice.members) for choice in found] == list(range(1, 13))
    assert all(choice.members[-1] == max(lengths) for choice in found)
    assert all(cost_of(line, choice.members) == choice.cost for choice in found)


def every_choice(sizes: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    return (chosen for chosen in combinations(sorted(sizes), count) if max(sizes) in chosen)


def test_optimum_against_every_choice() -> None:
    rng = random.Random(1)
    for _ in range(300):
        sizes = rng.sample(range(15), rng.randint(1, 7))
        line = {size: tuple(rng.choice((0, rng.randint(0, 9))) for _ in range(rng.randint(1, 4))) for size in sizes}
        found = choices(line, len(sizes) + 2)
        assert len(found) == len(sizes)
        for count, choice in enumerate(found, 1):
            assert choice.cost == min(cost_of(line, members) for members in every_choice(sizes, count))
            assert choice.cost == cost_of(line, choice.members)
            assert len(choice.members) == count
        saved = [a.cost - b.cost for a, b in pairwise(found)]
        assert saved == sorted(saved, reverse=True)  # convex: what one more member saves never grows


def test_optimum_that_leaves_the_largest_sizes_to_others() -> None:
    rng = random.Random(2)
    for _ in range(200):
        sizes = sorted(rng.sample(range(12), rng.randint(1, 6)))
        line = {size: (0, rng.randint(1, 9)) for size in sizes}
        beyond = {size: rng.randint(0, 40) for size in sizes}
        for count, choice in enumerate(choices(line, len(sizes), beyond), 1):
            best = math.inf
            for members in combinations(sizes, count):
                inside = {size: row for size, row in line.items() if size <= members[-1]}
                best = min(best, cost_of(inside, members) + sum(beyond[s] for s in sizes if s > members[-1]))
            assert choice.cost == best


def test_of_nothing_there_is_no_choice() -> None:
    assert choices({}, 3) == []
    assert choices({4: (0, 1)}, 0) == []
    assert choices({0: (0, 5)}, 3)[0].members == (0,)


def test_many_sizes_are_chosen_among() -> None:
    rng = random.Random(3)
    line = {size: (0, rng.randint(1, 9)) for size in range(1, 4097)}
    found = choices(line, 12)
    assert len(found) == 12
    assert found[11].cost == cost_of(line, found[11].members)


def made_calls(rng: random.Random, most: int) -> list[Call]:
    calls = []
    for _ in range(rng.randint(1, most)):
        b, s = rng.randint(0, 5), rng.randint(0, 6)
        shapes = ((b, s), (s, s), (b, 3))
        calls.append(Call({"B": b, "S": s}, rng.randint(1, 9), shapes, (("B", "S"), ("S", "S"), ("B", None))))
    return calls


def joint_cost(calls: Sequence[Call], first: Sequence[int], second: Sequence[int]) -> int:
    def padded(call: Call) -> dict[str, int]:
        return {
            "B": min(member for member in first if member >= call.sizes["B"]),
            "S": min(member for member in second if member >= call.sizes["S"]),
        }

    return sum(call.times * elements(call, padded(call)) for call in calls)


@pytest.mark.parametrize("tries_all", [True, False])
def test_joint_choice_against_every_choice(monkeypatch: pytest.MonkeyPatch, tries_all: bool) -> None:
    if not tries_all:
        monkeypatch.setattr(joint_optimum, "_STEPS", 0)
    rng = random.Random(4)
    for _ in range(25):
        calls = made_calls(rng, 6)
        first = {call.sizes["B"] for call in calls}
        second = {call.sizes["S"] for call in calls}
        for budget, joint in enumerate(joint_choices(calls, "B", "S", 5), 1):
            best = min(
                joint_cost(calls, bs, ss)
                for a in range(1, min(budget, len(first)) + 1)
                for bs in every_choice(sorted(first), a)
                for ss in every_choice(sorted(second), min(budget // a, len(second)))
            )
            assert joint.artifacts <= budget
            assert joint.cost == joint_cost(calls, *joint.members)
            assert joint.least <= best <= joint.cost
            if tries_all:
                assert joint.exact
                assert joint.cost == best
