"""A tensor that stands in two places of an example is still two inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="lowering needs torch")

import shapedsl as sd

Module: Any = torch.nn.Module

SAME = "def f(x: Tensor[B], y: Tensor[B]): ..."
OTHER = "def f(x: Tensor[A], y: Tensor[B]): where A == B"


def difference(x: Any, y: Any) -> Any:
    return x - y


def exported(target: Callable[..., Any], example: tuple[Any, ...], spec: str) -> Any:
    return sd.export(target, example, spec=spec).module()


def strictly_exported(target: Callable[..., Any], example: tuple[Any, ...], spec: str) -> Any:
    return sd.export(target, example, spec=spec, strict=True).module()


def traced(target: Callable[..., Any], example: tuple[Any, ...], spec: str) -> Any:
    return sd.make_fx(target, spec)(*example)


WAYS = pytest.mark.parametrize("way", [exported, strictly_exported, traced])


@WAYS
@pytest.mark.parametrize("spec", [SAME, OTHER])
def test_one_tensor_passed_twice(way: Callable[..., Any], spec: str) -> None:
    x = torch.randn(4)
    program = way(difference, (x, x), spec)
    assert program(torch.full((3,), 5.0), torch.ones(3)).tolist() == [4.0, 4.0, 4.0]


def test_torch_itself_is_wrong() -> None:
    """What the clone is for: torch's own make_fx gives zeros."""
    from torch.fx.experimental.proxy_tensor import make_fx

    x = torch.randn(4)
    graph = make_fx(difference, tracing_mode="fake", dynamic_shapes=sd.loads(SAME)["f"].to_torch())(x, x)
    assert graph(torch.full((4,), 5.0), torch.ones(4)).tolist() == [0.0] * 4


class Weighted(Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((4,), 10.0))

    def forward(self, x: Any) -> Any:
        return x.sum() + self.weight.sum()


@WAYS
def test_a_module_traced_on_its_own_weight(way: Callable[..., Any]) -> None:
    module = Weighted()
    program = way(module, (module.weight,), "def forward(x: Tensor[B]): ...")
    assert program(torch.ones(3)).item() == 43.0


CAPTURED = torch.full((4,), 10.0)


@pytest.mark.parametrize("way", [exported, strictly_exported])  # make_fx refuses functions that capture tensors
def test_a_function_traced_on_what_it_captured(way: Callable[..., Any]) -> None:
    held = torch.full((4,), 100.0)

    def f(x: Any) -> Any:
        return x.sum() + held.sum() + CAPTURED.sum()

    def g(x: Any) -> Any:
        return x.sum() + CAPTURED.sum()

    assert way(f, (held,), "def f(x: Tensor[B]): ...")(torch.ones(3)).item() == 443.0
    assert way(g, (CAPTURED,), "def g(x: Tensor[B]): ...")(torch.ones(3)).item() == 43.0
