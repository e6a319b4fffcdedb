"""One graph a member: torch does not tell tensors that are as large as a member from those that are padded to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch

import shapedsl as sd

TEXT = """
dim S in [1, 8]

def f(x: float32[B, S], w: float32[B]) -> float32[B, S]:
    bucket S in {4, 8} pad x with 0 as neutral
"""
SIZES = (3, 4, 2, 8, 5, 8, 4, 1)

MODES: dict[str, Callable[[], Any]] = {
    "plain": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
}


def _made_in_inference_mode(size: int) -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(3, size)


KINDS: dict[str, Callable[[int], torch.Tensor]] = {
    "dense": lambda size: torch.ones(3, size),
    "of inference mode": _made_in_inference_mode,
    "a slice": lambda size: torch.ones(3, 20)[:, :size],
    "a slice of one row": lambda size: torch.ones(1, 20)[:, :size],
    "expanded": lambda size: torch.ones(1, size).expand(3, size),
    "transposed": lambda size: torch.ones(size, 3).t(),
    "off alignment": lambda size: torch.ones(100)[1 : 1 + 3 * size].view(3, size),
    "a parameter": lambda size: torch.nn.Parameter(torch.ones(3, size)),
    "a frozen parameter": lambda size: torch.nn.Parameter(torch.ones(3, size), requires_grad=False),
    "a leaf": lambda size: torch.ones(3, size, requires_grad=True),
    "a transposed leaf": lambda size: torch.ones(size, 3, requires_grad=True).t(),
}


def graphs(made: Any) -> list[int]:
    return [row["graphs"] for row in made.stats()["artifacts"]]


def add(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x + w.sum()


@pytest.mark.parametrize(("mode", "expected"), [("plain", 4), ("no_grad", 4), ("inference_mode", 2)])
def test_exact_and_padded_sizes_have_the_same_graphs(mode: str, expected: int) -> None:
    made = sd.dispatch(add, TEXT, backend="aot_eager" if mode == "inference_mode" else "eager")
    with MODES[mode]():
        for kind, make in KINDS.items():
            for size in SIZES:
                x = make(size)
                result = made(x, torch.ones(len(x)))
                assert torch.equal(result, torch.full((len(x), size), 1.0 + len(x)))
                assert result.requires_grad == (x + 1).requires_grad
            if kind == "off alignment":
                assert graphs(made) == [2, 2]  # in order and transposed
    assert graphs(made) == [expected, expected]  # both with gradients too, where there are any


def test_modes_have_a_graph_each() -> None:
    made = sd.dispatch(add, TEXT, backend="eager")
    for mode in MODES.values():
        with mode():
            for size in SIZES:
                made(torch.ones(3, size), torch.ones(3))
    assert graphs(made) == [3, 3]


def test_layouts_of_images() -> None:
    text = """
def f(x: float32[B, 3, H, W]) -> float32[B, 3, H, W]:
    bucket H in {4} pad x with 0 as neutral
    bucket W in {4} pad x with 0 as neutral
    otherwise eager
"""
    made = sd.dispatch(lambda x: x * 2, text, backend="eager")
    for height, width in ((3, 4), (4, 4), (4, 2), (1, 3), (3, 1), (4, 1)):
        x = torch.randn(2, 3, height, width)
        assert torch.equal(made(x.contiguous(memory_format=torch.channels_last)), x * 2)
    assert graphs(made)[0] == 1


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_what_is_written_to_a_members_tensor_reaches_the_caller(mode: str) -> None:
    def write(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        x += w.sum()
        return x * 2

    made = sd.dispatch(write, TEXT, backend="eager")
    with MODES[mode]():
        for kind, make in KINDS.items():
            if kind in ("expanded", "of inference mode") and mode == "no_grad":
                continue  # torch writes to neither
            for size in (3, 4):
                x = make(size)
                if kind == "expanded":
                    x = torch.ones(3, 20)[:, 2 : 2 + size]
                result = made(x, torch.ones(len(x)))
                expected = 1.0 + len(x)
                assert torch.equal(x, torch.full_like(x, expected))
                assert torch.equal(result, torch.full_like(x, 2 * expected))


def test_gradients_of_a_members_tensor() -> None:
    made = sd.dispatch(lambda x, w: x * x * w.sum(), TEXT, backend="aot_eager")
    for kind in ("a parameter", "a leaf", "a transposed leaf"):
        for size in (3, 4):
            x = KINDS[kind](size)
            x.retain_grad()
            made(x, torch.ones(3)).sum().backward()
            assert x.grad is not None
            assert torch.equal(x.grad, torch.full((3, size), 6.0))


def test_gradients_that_the_callee_enables() -> None:
    def energy(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            return x * w.sum()

    made = sd.dispatch(energy, TEXT, backend="eager")
    with torch.no_grad():
        for size in (3, 4):
            x = torch.ones(3, size, requires_grad=True)
            result = made(x, torch.ones(3))
            assert result.requires_grad
    assert graphs(made)[0] == 1


@dataclass
class Cache:
    keys: torch.Tensor


def test_one_graph_a_member_while_a_cache_grows() -> None:
    text = """
dim P in [1, 8]

def f(cache: Cache(keys: float32[P, 2]), new: float32[1, 2]) -> (float32[2], Cache(keys: float32[P + 1, 2])):
    bucket P in {4, 8} at P pad cache with 0 as neutral
"""

    def step(cache: Cache, new: torch.Tensor) -> tuple[torch.Tensor, Cache]:
        cache.keys = torch.cat([cache.keys, new])
        return cache.keys.sum(0), cache

    made = sd.dispatch(step, text, backend="eager")
    with torch.inference_mode():
        cache = Cache(torch.ones(2, 2))
        for size in range(3, 9):
            total, same = made(cache, torch.ones(1, 2))
            assert same is cache
            assert total.tolist() == [size, size]
            assert torch.equal(cache.keys, torch.ones(size, 2))
    assert graphs(made) == [1, 1]
