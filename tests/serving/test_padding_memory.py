"""Memory that padding lends: none is allocated once it is warm, none is kept or shared by mistake."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import shapedsl as sd
from tests.serving.padding_by_hand import call, padded

SUM = "def f(x: Tensor[B, S], m: bool[S]) -> Tensor[B]:\n    bucket S in {8, 16} pad x with 0, m with false"


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types there
    """Notes what torch runs, and how much new memory its results lie in."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types there
        self.names: set[str] = set()
        self.fresh = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.names.add(func.overloadpacket.__name__)
        given = [each for each in (*args, *(kwargs or {}).values()) if isinstance(each, torch.Tensor)]
        known = {each.untyped_storage().data_ptr() for each in given}
        if isinstance(result, torch.Tensor) and result.untyped_storage().data_ptr() not in known:
            self.fresh += result.untyped_storage().nbytes()
        return result


def test_padding_allocates_nothing_once_it_is_warm() -> None:
    sizes = [(3, 5), (3, 7), (3, 11), (3, 8)]
    inputs = [(torch.ones(b, s), torch.ones(s, dtype=torch.bool)) for b, s in sizes]
    result = torch.ones(3)
    made = padded(SUM, lambda x, m: result, *inputs[0])
    made.forget = True
    views = [(x[:, ::2], m[::2]) for x, m in inputs]  # in another layout
    with Operations() as cold:
        made(*inputs[0])
    for values in (*inputs, *views) * 2:  # the largest comes after smaller ones
        made(*values)
    with Operations() as warm:
        for values in (*inputs, *views):
            made(*values)
    assert cold.fresh == 3 * 8 * 4 + 8
    assert (warm.fresh, sorted(warm.names)) == (0, ["copy_", "detach", "fill_"])


def test_memory_that_a_result_holds_is_freed_with_it() -> None:
    made = padded("def f(x: Tensor[S]) -> Tensor[1]:\n    bucket S in {4} pad x with 0", lambda x: x[:1], torch.ones(3))
    made.forget = True
    gc.disable()
    try:
        results = [made(torch.ones(3)) for _ in range(3)]
        assert len({each.untyped_storage().data_ptr() for each in results}) == 3
        gone = [weakref.ref(each.untyped_storage()) for each in results]
        assert None not in [each() for each in gone]
        del results
        assert [each() for each in gone] == [None, None, None]
    finally:
        gc.enable()


def test_an_exception_lets_the_callers_tensors_go() -> None:
    def fail(x: torch.Tensor) -> torch.Tensor:
        raise KeyError("mine")

    made = padded("def f(x: Tensor[S]) -> Tensor[S]:\n    bucket S in {4} pad x with 0", fail, torch.ones(3))
    made.forget = True
    x = torch.ones(3)
    gone = weakref.ref(x)
    gc.disable()
    try:
        with pytest.raises(KeyError, match="mine"):
            made(x)
        del x
        assert gone() is None
    finally:
        gc.enable()


WRITES = """
def f(x: Tensor[S], y: Tensor[N]) -> Tensor[S]:
    bucket S in {8} pad x with 0
"""


def test_slices_of_one_tensor_that_lie_apart() -> None:
    def write(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x += 1
        y += 2
        return x * 1

    both = torch.zeros(6)
    result, _ = call(WRITES, write, both[:3], both[3:])
    assert both.tolist() == [1, 1, 1, 2, 2, 2]
    assert result.tolist() == [1, 1, 1]
    pairs = torch.zeros(3, 2, 2)  # parts of each row
    text = "def f(x: Tensor[S, 2], y: Tensor[S, 2]) -> Tensor[S, 2]:\n    bucket S in {8} pad x with 0, y with 0"
    call(text, write, pairs[:, 0], pairs[:, 1])
    assert pairs.tolist() == [[[1, 1], [2, 2]]] * 3


@pytest.mark.parametrize(("number", "writer", "reader"), [(0, "x", "y"), (1, "y", "x")])
def test_a_write_that_another_argument_does_not_see(number: int, writer: str, reader: str) -> None:
    def write(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        (x, y)[number].add_(1)
        return x * 1

    both = torch.zeros(5)
    message = f"the callee writes to `{writer}`, which shares its memory with `{reader}`"
    with pytest.raises(sd.ShapeError, match=message):
        call(WRITES, write, both[:3], both[2:])


@dataclass
class Layer:
    keys: torch.Tensor
    met: int = 0


@dataclass
class Cache:
    layers: list[Layer] = field(default_factory=list[Layer])


GROWS = """
def f(cache: Cache(layers: [Layer(keys: Tensor[P]), ...]), new: Tensor[1]) -> (Tensor[()], Cache(layers: [Layer(keys: Tensor[P + 1]), ...])):
    bucket P in {4, 8} at P pad cache with 0
"""


def extend(cache: Cache, new: torch.Tensor) -> tuple[torch.Tensor, Cache]:
    """Appends to each layer, as caches of language models do."""
    for layer in cache.layers:
        layer.keys = torch.cat([layer.keys, new])
        layer.met += 1
    return sum((layer.keys.sum() for layer in cache.layers), torch.zeros(())), cache


@pytest.mark.parametrize("inference", [False, True])
def test_a_cache_that_the_callee_extends_and_returns(inference: bool) -> None:
    with torch.inference_mode(inference):
        cache = Cache([Layer(torch.tensor([1.0, 2, 3])), Layer(torch.tensor([4.0, 5, 6]))])
        first = cache.layers[0]
        for size, total in ((4, 41), (5, 61)):  # padded from 3 to 4, then 4 itself
            (found, same), _ = call(GROWS, extend, cache, torch.tensor([10.0]))
            assert found.item() == total
            assert same is cache
            assert cache.layers[0] is first
            assert first.met == size - 3
            assert first.keys.tolist() == [1, 2, 3, 10, 10][:size]
            assert cache.layers[1].keys.tolist() == [4, 5, 6, 10, 10][:size]


def test_a_cache_that_does_not_come_back_is_refused() -> None:
    text = GROWS.replace(", Cache(layers: [Layer(keys: Tensor[P + 1]), ...]))", ", _)")
    cache = Cache([Layer(torch.ones(3))])
    with pytest.raises(sd.ShapeError, match="replaces or removes what `cache` holds") as caught:
        call(text, extend, cache, torch.ones(1))
    assert "say so in the return type" in str(caught.value)
    assert cache.layers[0].keys.tolist() == [1, 1, 1]


def test_what_the_callee_takes_out_of_a_dict_is_gone() -> None:
    def take(d: dict[str, Any]) -> Any:
        del d["n"]
        d["m"] = 2
        return d["k"] + 0

    text = 'def f(d: {"k": Tensor[P]}) -> Tensor[P]:\n    bucket P in {3} pad d["k"] with 0'
    with torch.inference_mode():  # so that the callee gets a copy of a dict of a member's size, too
        d: dict[str, Any] = {"k": torch.zeros(3), "n": 1}
        call(text, take, d)
        assert {**d, "k": 0} == {"k": 0, "m": 2}
        with pytest.raises(sd.ShapeError, match="replaces or removes"):
            call(text, take, {"k": torch.zeros(2), "n": 1})


def test_the_memory_that_is_kept_can_be_freed() -> None:
    text = """
def f(x: float32[S]) -> float32[S]:
    bucket S in {4, 100000} pad x with 0 as neutral
    otherwise eager
"""
    made = sd.dispatch(lambda x: x + 1, text, backend="eager")
    assert made.free_buffers() == 0
    gc.disable()
    try:
        for _ in range(2):
            for size in (5, 3):
                assert made(torch.zeros(size)).tolist() == [1.0] * size
            assert made.free_buffers() == 400_000  # as much as the largest call took
            assert made.free_buffers() == 0
    finally:
        gc.enable()
