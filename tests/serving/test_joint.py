"""The joint choice of members: by hand, and against trying every combination."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

torch = pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

from shapedsl.serving.buckets.joint import Joint, chooser
from tests.serving.padding_by_hand import at


def joint(text: str, **shapes: tuple[int, ...]) -> Joint:
    """Returns the joint choice of ``text``, with tensors of any sizes for its parameters."""
    expanded, alternative = at(text, list(shapes), [torch.empty(shape) for shape in shapes.values()])
    return chooser(alternative, expanded)


TWO = """
def f(ids: int64[B, S]) -> Tensor[B, S]:
    bucket B in {1, 8, 32} pad ids with 0
    bucket S in {64, 128, 256} pad ids with 0
"""


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [
        ((5, 40), (8, 64)),
        ((8, 64), (8, 64)),  # a member is its own
        ((9, 65), (32, 128)),
        ((0, 0), (1, 64)),
        ((33, 1), None),  # larger than the largest goes on
        ((1, 257), None),
    ],
)
def test_each_size_takes_the_smallest_member_that_holds_it(
    sizes: tuple[int, int], chosen: tuple[int, int] | None
) -> None:
    made = joint(TWO, ids=(1, 1))
    assert made.needs == ("B", "S")
    assert made.choose(*sizes) == chosen


def test_a_repeated_symbol_begins_the_next_alternative() -> None:
    text = """
def f(x: Tensor[B, S]) -> Tensor[B, S]:
    bucket B in {2} pad x with 0
    bucket S in {8} pad x with 0
    bucket B in {4} pad x with 0
"""
    made = joint(text, x=(1, 1))
    assert made.choose(2, 8) == (2, 8)
    assert made.choose(3, 8) is None  # the second run of buckets, which pads B alone, is another alternative


def test_its_own_where_must_hold() -> None:
    text = """
def f(x: Tensor[B, S], y: Tensor[C]) -> Tensor[B, S]:
    case padded:
        where B >= 2, C < 5
        bucket S in {8, 16} pad x with 0
"""
    made = joint(text, x=(1, 1), y=(1,))
    assert made.needs == ("S", "B", "C")
    assert made.choose(3, 2, 4) == (8,)
    assert made.choose(3, 1, 4) is None
    assert made.choose(3, 2, 5) is None


def test_a_predicate_of_padded_sizes_restricts_the_choice() -> None:
    text = """
def f(x: Tensor[N, 4], g: Tensor[G]) -> Tensor[G]:
    case padded:
        where N_pad > N, G_pad > G
        bucket N in {8, 16} pad x with 0
        bucket G in {2, 4} pad g with 0
"""
    made = joint(text, x=(1, 4), g=(1,))
    assert made.choose(7, 1) == (8, 2)
    assert made.choose(8, 1) == (16, 2)  # one slot must be free
    assert made.choose(7, 2) == (8, 4)
    assert made.choose(16, 1) is None


def test_the_fewest_elements_in_all_padded_tensors() -> None:
    # one of them must be large; a row of x has 4 numbers, one of y has 100
    text = """
def f(x: Tensor[A, 4], y: Tensor[B, 100]) -> Tensor[A, 4]:
    case padded:
        where A_pad + B_pad >= 20
        bucket A in {4, 16} pad x with 0
        bucket B in {4, 16} pad y with 0
"""
    assert joint(text, x=(1, 4), y=(1, 100)).choose(3, 3) == (16, 4)
    other = text.replace("A, 4]", "A, 200]")
    assert joint(other, x=(1, 200), y=(1, 100)).choose(3, 3) == (4, 16)


def test_a_choice_far_from_the_smallest_among_many() -> None:
    members = ", ".join(map(str, range(1, 31)))
    text = f"""
def f(x: Tensor[A, B, C]) -> Tensor[A, B, C]:
    case padded:
        where A_pad + B_pad + C_pad == 89
        bucket A in {{{members}}} pad x with 0
        bucket B in {{{members}}} pad x with 0
        bucket C in {{{members}}} pad x with 0
"""
    assert joint(text, x=(1, 1, 1)).choose(2, 3, 4) == (29, 30, 30)  # the first of three equal ones


def test_static_sizes_weigh_too() -> None:
    text = """
def f(x: Tensor[A, _], y: Tensor[B, _]) -> Tensor[A, _]:
    case padded:
        where A_pad + B_pad >= 20
        bucket A in {4, 16} pad x with 0
        bucket B in {4, 16} pad y with 0
"""
    made = joint(text, x=(1, 4), y=(1, 100))
    assert [(str(path), axis) for path, axis in made.places] == [("x", 1), ("y", 1)]
    assert made.choose(3, 3, 4, 100) == (16, 4)
    assert made.choose(3, 3, 100, 4) == (4, 16)


def test_multiples_round_up_and_members_without_pads_are_met_exactly() -> None:
    text = """
def f(x: Tensor[H, W]) -> Tensor[H, W]:
    bucket H multiple of 8 plus 3 pad x with 0
    bucket W in {5, 6}
"""
    made = joint(text, x=(1, 1))
    assert made.choose(3, 5) == (3, 5)
    assert made.choose(4, 6) == (11, 6)
    assert made.choose(4, 4) is None


def test_what_pins_an_artifact() -> None:
    text = """
def f(x: Tensor[B, S, T]) -> Tensor[B, S, T]:
    bucket B in {2, 4} shared pad x with 0
    bucket S in {8, 16} pad x with 0
    bucket T multiple of 4 pad x with 0
"""
    made = joint(text, x=(1, 1, 1))
    chosen = made.choose(3, 9, 6)
    assert chosen == (4, 16, 8)
    assert made.combination(chosen) == (("S", 16),)


def test_it_says_what_it_pads() -> None:
    one = joint("def f(x: Tensor[B, S]) -> Tensor[B, S]:\n    bucket S in {64} pad x with 0", x=(1, 1))
    assert one.describe({"B": 5, "S": 40}, (64,)) == "pad 40→64 (37 % waste)"
    assert one.describe({"B": 5, "S": 64}, (64,)) == ""
    two = joint(TWO, ids=(1, 1))
    assert two.describe({"B": 4, "S": 64}, (8, 64)) == "pad B 4→8 (50 % waste)"
    assert two.describe({"B": 4, "S": 32}, (8, 64)) == "pad B 4→8, S 32→64 (75 % waste)"


LIMITS = {
    "A_pad * B_pad <= 600": lambda a, b, p, q: p * q <= 600,
    "A_pad > A": lambda a, b, p, q: p > a,
    "B_pad > B or A_pad == A": lambda a, b, p, q: q > b or p == a,
    "B_pad <= 4 * A_pad": lambda a, b, p, q: q <= 4 * p,
    "A_pad + B_pad >= 50": lambda a, b, p, q: p + q >= 50,
    "A_pad % 3 == 0": lambda a, b, p, q: p % 3 == 0,
}
MEMBERS = st.lists(st.integers(0, 70), min_size=1, max_size=5, unique=True).map(sorted)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(MEMBERS, MEMBERS, st.lists(st.sampled_from(sorted(LIMITS)), unique=True, max_size=3), st.data())
def test_no_combination_is_better(first: list[int], second: list[int], limits: list[str], data: st.DataObject) -> None:
    where = f"        where {', '.join(limits)}\n" if limits else ""
    text = (
        "def f(x: Tensor[A, B], y: Tensor[2 * A, 3], z: Tensor[B + 1]) -> Tensor[A, B]:\n    case padded:\n"
        f"{where}        bucket A in {{{', '.join(map(str, first))}}} pad (x with 0, y with 0)\n"
        f"        bucket B in {{{', '.join(map(str, second))}}} pad (x with 0, z with 0)\n"
    )
    made = joint(text, x=(1, 1), y=(2, 3), z=(2,))
    for _ in range(10):
        a, b = data.draw(st.integers(0, 72)), data.draw(st.integers(0, 72))
        allowed = [
            (prod((p, q)) + 2 * p * 3 + q + 1, (p, q))
            for p, q in product(first, second)
            if p >= a and q >= b and all(LIMITS[limit](a, b, p, q) for limit in limits)
        ]
        found = made.choose(a, b)
        assert (found is None) == (not allowed)
        if found is not None:
            assert (prod(found) + 6 * found[0] + found[1] + 1, found) == min(allowed)
