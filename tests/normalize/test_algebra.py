"""Canonical sizes. Expected forms are worked out by hand; values are compared with Python's own."""

from __future__ import annotations

import random

import pytest

from shapedsl.ir import OPERATORS, Apply, Const, Size, Var
from shapedsl.ir.walk import evaluate
from shapedsl.ir.write import write_dim
from shapedsl.normalize import algebra
from shapedsl.normalize.algebra import NO_BOX, canonical, tidied
from shapedsl.normalize.intervals import Box, Interval
from shapedsl.normalize.polynomial import Terms

from .texts import size

FORMS = {
    "1 + B": "B + 1",
    "B + B": "2 * B",
    "2 * (B + S) - B": "B + 2 * S",
    "S - B + 3": "S - B + 3",
    "20 - B": "20 - B",
    "-B - 3": "-B - 3",
    "(B + 1) * (B - 1)": "B**2 - 1",
    "-2 * B * S": "-2 * B * S",
    "-(B * S)": "-B * S",
    "B * 4 // 2": "2 * B",
    "(2 * B + 1) // 2": "B",
    "(9 * B + 7) // 8": "B + (B + 7) // 8",
    "(B + 8) // 8": "B // 8 + 1",
    "B // 2 // 3": "B // 6",
    "(B // 2 + 1) // 3": "(B + 2) // 6",
    "(4 * B + 2) // 8": "B // 2",
    "B // -2": "-((B + 1) // 2)",
    "cdiv(B, 8)": "(B + 7) // 8",
    "-(-B // 8)": "(B + 7) // 8",
    "B - B // 8 * 8": "B % 8",
    "2 * B - B // 8 * 16": "2 * (B % 8)",
    "B // 8 * 8": "8 * (B // 8)",
    "B % 8": "B % 8",
    "(9 * B + 3) % 8": "(B + 3) % 8",
    "(8 * B + 3) % 8": "3",
    "(2 * B + 1) % 4": "2 * (B % 2) + 1",
    "B % 16 % 8": "B % 8",
    "B % 4 % 8": "B % 4",
    "B % 8 // 8": "0",
    "B % -4": "-(-B % 4)",
    "max(S, 3, max(B, 2))": "max(B, S, 3)",
    "min(B, B + 1)": "B",
    "max(B, B)": "B",
    "min(4, 7)": "4",
    "prod(B, 2)": "2 * B",
    "prod(*batch) * 2": "2 * prod(*batch)",
    "B * S // B": "B * S // B",
    "(B * S) % B": "B * S % B",
    "B**3 * B": "B**4",
}


@pytest.mark.parametrize(("written", "form"), FORMS.items())
def test_form(written: str, form: str) -> None:
    assert write_dim(canonical(size(written))) == form
    assert canonical(size(form)) == canonical(size(written)), "its own form is canonical"


def test_ranges_cancel_divisors_and_drop_what_never_decides() -> None:
    box = {"B": Interval(1, 9), "S": Interval(0, 5)}
    assert write_dim(canonical(size("B * S // B"), box)) == "S"
    assert write_dim(canonical(size("B * S % B"), box)) == "0"
    assert write_dim(canonical(size("max(B, 0)"), box)) == "B"
    assert write_dim(canonical(size("min(S, 5)"), box)) == "S"
    assert write_dim(canonical(size("S // 8"), box)) == "0"
    assert write_dim(canonical(size("B * S // S"), box)) == "B * S // S"  # S may be 0


@pytest.mark.parametrize("written", ["(B + S + D + 1)**60", "B * 9223372036854775807 * 2"])
def test_what_would_be_too_large_stays_as_it_was_written(written: str) -> None:
    assert write_dim(canonical(size(written))) == write_dim(size(written))


def random_size(rng: random.Random, depth: int) -> Size:
    if depth == 0 or rng.random() < 0.2:
        leaves: list[Size] = [Var("B"), Var("S"), Var("D"), Const(rng.randint(-9, 12))]
        return rng.choice(leaves)
    op = OPERATORS[rng.choice(["+", "-", "*", "//", "%", "neg", "min", "max", "cdiv", "**"])]
    if op.name == "**":
        return Apply(op, (random_size(rng, depth - 1), Const(rng.randint(0, 3))))
    if op.name in ("//", "%", "cdiv") and rng.random() < 0.8:
        return Apply(op, (random_size(rng, depth - 1), Const(rng.choice([1, 2, 3, 4, 6, 8, -2, -3]))))
    count = op.arity if op.arity is not None else rng.randint(1, 3)
    return Apply(op, tuple(random_size(rng, depth - 1) for _ in range(count)))


@pytest.mark.parametrize("seed", range(4))
def test_a_canonical_size_has_the_same_value_and_is_canonical(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    for at in range(300):
        box = {} if at % 2 else {"B": Interval(1, 9), "S": Interval(0, 9), "D": Interval(2, 9)}
        written = random_size(rng, 4)
        form = canonical(written, box)
        assert canonical(form, box) == form, write_dim(written)
        for _ in range(10):
            sizes = {name: rng.randint(2, 9) if box else rng.randint(-9, 9) for name in "BSD"}
            try:
                value = evaluate(written, sizes)
            except ZeroDivisionError:
                continue
            compared += 1
            assert evaluate(form, sizes) == value, (write_dim(written), write_dim(form), sizes)
    assert compared > 2000


@pytest.mark.parametrize("box", [{}, {"B": Interval(1, 64)}])
def test_quotients_inside_each_other_cost_little_more_with_each_level(
    box: dict[str, Interval], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = 0

    def counted(polynomial: Terms, ranges: Box = NO_BOX) -> Terms:
        nonlocal looked_at
        looked_at += 1
        return tidied(polynomial, ranges)

    monkeypatch.setattr(algebra, "tidied", counted)
    counts: list[int] = []
    for depth in (6, 12, 24):
        looked_at, text = 0, f"B{depth}{len(box)}"  # of which nothing is remembered yet
        for level in range(depth):
            text = f"({text} * B + {level}) // {2 + level % 5} % {100 - level}"
        canonical(size(text), box)
        counts.append(looked_at)
    assert counts[0] > 6
    assert counts[1] < 8 * counts[0]
    assert counts[2] < 8 * counts[1]  # not 4096 times
