"""A spec that does not fit its callable is refused by every entry point, never ignored."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="lowering needs torch")

import shapedsl as sd

Module: Any = torch.nn.Module


def matmul(w: Any, x: Any) -> Any:
    return x @ w


def compiled(target: Any, example: tuple[Any, ...], spec: str) -> Any:
    return sd.compile(target, spec, backend="eager")(*example)


def exported(target: Any, example: tuple[Any, ...], spec: str) -> Any:
    return sd.export(target, example, spec=spec).module()(*example)


def traced(target: Any, example: tuple[Any, ...], spec: str) -> Any:
    return sd.make_fx(target, spec)(*example)(*example)


def attached(target: Any, example: tuple[Any, ...], spec: str) -> Any:
    return sd.attach(sd.loads(spec), types.SimpleNamespace(matmul=target))


ENTRIES = pytest.mark.parametrize("entry", [compiled, exported, traced])
BOTH = "def matmul(w: Tensor[D, E], x: Tensor[B, D]): ..."


@pytest.mark.parametrize("entry", [compiled, exported, traced, attached])
def test_unknown_parameter(entry: Callable[..., Any]) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        entry(matmul, (torch.ones(3, 4), torch.ones(2, 3)), "def matmul(v: Tensor[D, E], x: Tensor[B, D]): ...")
    assert caught.value.code == "unknown-parameter"


@ENTRIES
@pytest.mark.parametrize(
    "partial", [functools.partial(matmul, torch.ones(3, 4)), functools.partial(matmul, w=torch.ones(3, 4))]
)
def test_what_a_partial_has_bound_is_no_parameter(entry: Callable[..., Any], partial: Any) -> None:
    example = {"x": torch.ones(2, 3)} if partial.keywords else (torch.ones(2, 3),)
    arguments = () if isinstance(example, dict) else example
    with pytest.raises(sd.ShapeError) as caught:
        entry(partial, arguments, BOTH)
    assert caught.value.code == "unknown-parameter"


@ENTRIES
def test_a_partial_by_what_it_takes(entry: Callable[..., Any]) -> None:
    partial = functools.partial(matmul, torch.ones(3, 4))
    assert entry(partial, (torch.ones(2, 3),), "def matmul(x: Tensor[B, 3]): ...").shape == (2, 4)


class Held(Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(7, 3))

    def forward(self, x: Any) -> Any:
        return x @ self.w.t()


ATTRIBUTES = "class Held:\n    def forward(self: object(w: Tensor[N, 3]), x: Tensor[B, 3]):\n        where B <= N\n"


@pytest.mark.parametrize("entry", [exported, traced])
def test_attributes_of_self_are_refused_where_torch_ignores_them(entry: Callable[..., Any]) -> None:
    with pytest.raises(sd.ShapeError) as caught:
        entry(Held(), (torch.ones(2, 3),), ATTRIBUTES)
    assert caught.value.code == "unsupported-by-torch"


def test_attributes_of_self_are_obeyed_by_compile() -> None:
    module = sd.compile(Held(), ATTRIBUTES, backend="eager")
    assert module(torch.ones(7, 3)).shape == (7, 7)
    with pytest.raises(sd.ShapeError):
        module(torch.ones(8, 3))


def test_torchs_own_decorator_is_a_spec() -> None:
    from torch.fx.experimental.dynamic_spec import ShapesSpec, ShapeVar, TensorSpec, dynamic_spec

    def double(x: Any) -> Any:
        return x * 2

    decorated = dynamic_spec(ShapesSpec({"x": TensorSpec([ShapeVar("B", max=8)])}))(double)
    assert str(sd.spec_of(decorated)).splitlines()[0] == "def f(x: Tensor[B]):"
    function = sd.compile(decorated, backend="eager")
    assert function(torch.ones(8)).shape == (8,)
    with pytest.raises(sd.ShapeError):
        function(torch.ones(9))


@pytest.mark.parametrize("wrong", [5, None, "def f(x: Tensor[B]): ..."])
def test_from_torch_takes_torchs_specs_only(wrong: Any) -> None:
    with pytest.raises(TypeError, match="takes a ShapesSpec"):
        sd.from_torch(wrong)


def test_codes_that_verify_does_not_know() -> None:
    with pytest.raises(TypeError, match="verify= takes a bool or codes"):
        sd.export(matmul, (torch.ones(3, 4), torch.ones(2, 3)), spec=BOTH, verify={"bogus"})


@ENTRIES
def test_a_wrapper_without_a_signature(entry: Callable[..., Any]) -> None:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return matmul(*args, **kwargs)

    assert entry(wrapper, (torch.ones(3, 4), torch.ones(2, 3)), BOTH).shape == (2, 4)


@ENTRIES
def test_a_method_of_a_module_with_weights(entry: Callable[..., Any]) -> None:
    layer = torch.nn.Linear(3, 4)
    assert entry(layer.forward, (torch.ones(2, 3),), "def forward(input: Tensor[B, 3]): ...").shape == (2, 4)


def test_an_example_that_is_no_tuple() -> None:
    with pytest.raises(TypeError, match="args= takes a tuple of example inputs, not Tensor"):
        sd.export(matmul, torch.ones(3), spec=BOTH)
    with pytest.raises(TypeError, match="pass a spec as spec="):
        sd.export(matmul, (torch.ones(3, 4), torch.ones(2, 3)), BOTH)  # type: ignore[arg-type]


def test_a_name_that_a_file_lacks() -> None:
    with pytest.raises(KeyError, match="no spec 'nope'; the file's specs are matmul"):
        sd.loads(BOTH)["nope"]
