"""Settling changes how demands are said, and never which sizes satisfy them."""

from __future__ import annotations

import itertools
import random

import pytest

import shapedsl as sd
from shapedsl.ir import Signature
from shapedsl.ir.walk import evaluate, holds, tensor_dims
from shapedsl.ir.write import write_dim, write_predicate
from shapedsl.normalize.settle import Facts, Settled, settle

PARTS = [
    "a == b", "b == 2 * a", "c == b // 2", "b % 2 == 0", "a % 4 == 0", "4 * (a // 4) >= 2", "a // 4 != 1",
    "a != 3", "a + b <= 9", "a * c <= 12", "c == a - 1", "a == 4", "b <= c", "c >= 2", "2 * a <= 2 * b", "a == (b + 1) // 2",
]  # fmt: skip
SIZES = range(11)


def signature(wheres: list[str]) -> Signature:
    return sd.loads(f"def f(x: Tensor[a], y: Tensor[b], z: Tensor[c]): where {', '.join(wheres)}")["f"].signature


def settled(given: Signature) -> Settled | None:
    facts = {variable.name: Facts(0, None) for variable in given.variables}
    return settle(given.params, given.variables, facts, [each.predicate for each in given.constraints])


@pytest.mark.parametrize("seed", range(60))
def test_the_sizes_that_satisfy_it_stay(seed: int) -> None:
    rng = random.Random(seed)
    given = signature(rng.sample(PARTS, rng.randint(1, 5)))
    found = settled(given)
    accepted = {
        sizes
        for sizes in itertools.product(SIZES, repeat=3)
        if all(holds(each.predicate, dict(zip("abc", sizes, strict=True))) for each in given.constraints)
    }
    if found is None:
        assert not accepted
        return
    dims = [dim for param in found.params for dim in tensor_dims(param.type)]
    names = list(found.facts)
    again: set[tuple[int, ...]] = set()
    for values in itertools.product(SIZES, repeat=len(names)):
        sizes = dict(zip(names, values, strict=True))
        facts = [fact for name in names for fact in found.facts[name].predicates(name)]
        if all(holds(each, sizes) for each in (*facts, *found.wheres)):
            made = tuple(evaluate(dim, sizes) for dim in dims)  # type: ignore[arg-type]
            if all(size in SIZES for size in made):
                again.add(made)
    assert again == accepted


@pytest.mark.parametrize(
    ("wheres", "dims", "left"),
    [
        (["a == b", "c == 2 * a"], "a, a, 2 * a", []),
        (["a % 4 == 0", "4 * (a // 4) >= 2", "a // 4 != 1"], "a, b, c", ["a in 8.. by 4"]),
        (["a == 4", "b <= a"], "4, b, c", ["b in 0..4 by 1"]),
        (["b == a // 2", "a % 2 == 0"], "2 * b, b, c", []),
        (["a == (b + 1) // 2"], "(b + 1) // 2, b, c", []),
        (["a <= b", "2 * a <= 2 * b", "a <= b + 3"], "a, b, c", ["a <= b"]),
    ],
)
def test_it_is_said_in_brief(wheres: list[str], dims: str, left: list[str]) -> None:
    found = settled(signature(wheres))
    assert found is not None
    assert ", ".join(write_dim(dim) for param in found.params for dim in tensor_dims(param.type)) == dims
    said = [
        f"{name} in {facts.low}..{'' if facts.high is None else facts.high} by {facts.modulus}"
        for name, facts in found.facts.items()
        if facts != Facts(0, None)
    ]
    assert [*said, *map(write_predicate, found.wheres)] == left


def test_what_excludes_itself_is_nothing() -> None:
    assert settled(signature(["a >= 4", "a <= 3"])) is None
