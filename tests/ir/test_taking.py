"""What a bucket asks for is what some choice of its members fits, and is said in few words."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

import shapedsl as sd
from shapedsl.ir.taking import asked_by
from shapedsl.ir.walk import holds
from shapedsl.ir.write import write_predicate

N, G = (4, 8, 16), (2, 6)


CLAUSES: tuple[tuple[str, Callable[[int, int, int, int], bool]], ...] = (
    ("N_pad > N, G_pad > G", lambda n, g, n_pad, g_pad: n_pad > n and g_pad > g),
    ("N_pad > N, N_pad * G_pad <= 32", lambda n, g, n_pad, g_pad: n_pad > n and n_pad * g_pad <= 32),
    ("N_pad <= 2 * N", lambda n, g, n_pad, g_pad: n_pad <= 2 * n),
    ("N_pad >= N + G_pad", lambda n, g, n_pad, g_pad: n_pad >= n + g_pad),
    ("N_pad % 8 == 0 or G == 1", lambda n, g, n_pad, g_pad: n_pad % 8 == 0 or g == 1),
    ("N_pad != 8, N_pad - N >= G", lambda n, g, n_pad, g_pad: n_pad != 8 and n_pad - n >= g),
)


@pytest.mark.parametrize(("clause", "fits"), CLAUSES)
def test_some_choice_of_members_fits(clause: str, fits: Callable[[int, int, int, int], bool]) -> None:
    text = f"""
def f(x: Tensor[N], y: Tensor[G]) -> (Tensor[N], Tensor[G]):
    case padded:
        where {clause}
        bucket N in {{4, 8, 16}} pad x with 0 as masked
        bucket G in {{2, 6}} pad y with 0 as masked
    otherwise
"""
    asked = asked_by(sd.loads(text)["f"].signature.alternatives[0])
    for n, g in itertools.product(range(19), range(9)):
        expected = any(n <= n_pad and g <= g_pad and fits(n, g, n_pad, g_pad) for n_pad in N for g_pad in G)
        assert holds(asked.predicate, {"N": n, "G": g}) == expected, (n, g)


def test_one_more_slot_is_one_bound() -> None:
    """Else torch multiplies out what is not taken: three buckets of three members took it a minute."""
    text = """
def f(x: Tensor[N]) -> Tensor[N]:
    case padded:
        where N_pad > N
        bucket N in {16, 128, 1024} pad x with 0 as masked
    otherwise
"""
    asked = asked_by(sd.loads(text)["f"].signature.alternatives[0])
    assert [write_predicate(condition.predicate) for condition in asked.conditions] == ["N <= 1024", "N < 1024"]
