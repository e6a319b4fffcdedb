"""What the artifact of a bucket may assume: only what holds of padded sizes."""

from __future__ import annotations

from itertools import product

import shapedsl as sd
from shapedsl.ir import Signature
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate
from shapedsl.serving.buckets.padded import padded_spec


def signature(text: str) -> Signature:
    (spec,) = sd.loads(text).values()
    return spec.signature


def assumed(
    text: str, position: int, *combination: tuple[str, int], excluded: frozenset[int] = frozenset()
) -> set[str]:
    spec = padded_spec(signature(text), position, combination, excluded)
    return {write_predicate(c.predicate) for c in spec.signature.constraints}


TEXT = """
dim S in [2, 512]
def f(x: Tensor[B, S]) -> Tensor[B, S]:
    where B <= 8, S < 500, B * S <= 4000
    case one: B == 1
    case padded:
        where S_pad * B <= 1024, S_pad > S
        bucket S in {64, 513} pad x with 0
"""


def test_what_speaks_of_other_sizes_holds_as_it_is() -> None:
    assert {"B <= 8", "not B == 1"} <= assumed(TEXT, 1, ("S", 64))


def test_a_failed_alternative_is_not_excluded() -> None:
    assert "not B == 1" not in assumed(TEXT, 1, ("S", 64), excluded=frozenset({0}))


def test_the_padded_size_is_pinned() -> None:
    spec = padded_spec(signature(TEXT), 1, (("S", 64),))
    assert spec.pinned == (("S", 64),)
    assert "S == 64" in {write_predicate(c.predicate) for c in spec.signature.constraints}
    assert spec.signature.alternatives == ()


def test_what_speaks_of_the_bucketed_size_is_proved_first() -> None:
    small = assumed(TEXT, 1, ("S", 64))
    assert "S <= 512" in small  # 64 is
    assert "B * S <= 4000" in small  # 64 * 8 is
    large = assumed(TEXT, 1, ("S", 513))
    assert "S <= 512" not in large  # of 513 they do not hold, though of each caller's size
    assert "S < 500" not in large
    assert "S >= 2" in large


def test_a_predicate_of_the_padded_size_is_about_what_the_artifact_sees() -> None:
    assert "S * B <= 1024" in assumed(TEXT, 1, ("S", 64))
    assert not any("S_pad" in each for each in assumed(TEXT, 1, ("S", 64)))  # S_pad > S says nothing there


def test_negations_of_a_bucketed_size() -> None:
    text = """
def f(x: Tensor[S]) -> Tensor[S]:
    case S == 64
    case S == 5
    bucket S in {64, 128} pad x with 0
"""
    # 40 is padded to 64, which the first case is about: it must not be excluded
    assert "not S == 64" not in assumed(text, 2, ("S", 64))
    assert "not S == 5" in assumed(text, 2, ("S", 64))
    assert "not S == 64" in assumed(text, 2, ("S", 128))


def test_a_shared_artifact_knows_the_members() -> None:
    text = """
def f(x: Tensor[S]) -> Tensor[S]:
    where S <= 100
    bucket S in {64, 128} shared pad x with 0
"""
    spec = padded_spec(signature(text), 0)
    assert spec.pinned == ()
    found = {write_predicate(c.predicate) for c in spec.signature.constraints}
    assert "S in {64, 128}" in found
    assert "S <= 100" not in found


def test_a_size_that_is_rounded_up_knows_its_residue() -> None:
    text = """
dim H hint 13
def f(x: Tensor[H, W]) -> Tensor[H, W]:
    bucket H multiple of 8 plus 3 pad x with 0
    bucket W multiple of 2
"""
    spec = padded_spec(signature(text), 0)
    assert {"H % 8 == 3", "W % 2 == 0"} <= {write_predicate(c.predicate) for c in spec.signature.constraints}
    hint = next(variable.hint for variable in spec.signature.variables if variable.name == "H")
    assert hint == 19  # 13 is padded to that


def test_members_without_pads_are_what_the_caller_has() -> None:
    text = """
def f(x: Tensor[S]):
    where S != 9
    bucket S in {8, 9}
"""
    assert {"S == 8", "S != 9"} <= assumed(text, 0, ("S", 8))


def test_each_assumption_holds_of_each_padded_size() -> None:
    text = """
dim B in [1, 9]
def f(x: Tensor[B, S], n: Tensor[N]) -> Tensor[B, S]:
    where S >= 1, B <= S + 4, B * S <= 60, N >= B
    case one: B == 1
    case odd: S % 2 == 1, N > 5
    case padded:
        where B * S_pad <= 64, S_pad <= N + 8
        bucket S in {4, 8, 16} pad x with 0
"""
    signature_ = signature(text)
    padded = signature_.alternatives[2]
    specs = {member: padded_spec(signature_, 2, (("S", member),)).signature for member in (4, 8, 16)}
    met = 0
    for b, s, n, member in product(range(10), range(18), range(12), specs):
        real = {"B": b, "S": s, "N": n, "S_pad": member}
        facts = [c.predicate for c in (*signature_.constraints, *padded.constraints)]
        earlier = b == 1 or (s % 2 == 1 and n > 5)
        if s > member or earlier or not all(holds(each, real) for each in facts):
            continue
        met += 1
        seen = {"B": b, "S": member, "N": n}
        assert all(holds(c.predicate, seen) for c in specs[member].constraints), (real, specs[member].constraints)
    assert met > 100
