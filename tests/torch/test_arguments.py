"""Examples that torch cannot trace as the spec has it are refused with the cure, which is then tried."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="tracing needs torch")

import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

import shapedsl as sd

ones = torch.ones
WAYS = pytest.mark.parametrize("way", ["non-strict", "strict", "make_fx"])


def made(way: str, f: Any, args: tuple[Any, ...], text: str) -> Any:
    """Returns the callable program of ``f``."""
    if way == "make_fx":
        return sd.make_fx(f, text)(*args)
    return sd.export(f, args, spec=text, strict=way == "strict").module()


def refusal(way: str, f: Any, args: tuple[Any, ...], text: str) -> Any:
    """Returns the one finding."""
    with pytest.raises(sd.ShapeError) as caught:
        made(way, f, args, text)
    (finding,) = caught.value.diagnostics
    assert finding.code == "unsupported-by-torch"
    return finding


@WAYS
def test_a_dataclass_is_refused_until_it_is_registered(way: str) -> None:
    @dataclass
    class Batch:
        x: Any
        n: int

    text = "def f(batch: Batch(x: Tensor[C], n: Scalar[C])):\n    where C <= 8"
    finding = refusal(way, lambda batch: batch.x * batch.n, (Batch(ones(3), 3),), text)
    assert "cannot take `batch`: its class" in finding.message
    assert "Batch is not registered as a pytree" in finding.message
    assert "torch.export.register_dataclass(" in finding.helps[0]
    torch.export.register_dataclass(Batch, serialized_type_name=f"tests.Batch.{way}")
    program = made(way, lambda batch: batch.x * batch.n, (Batch(ones(3), 3),), text)
    assert torch.equal(program(Batch(ones(4), 4)), torch.full((4,), 4.0))


@WAYS
def test_an_object_that_is_returned_is_refused(way: str) -> None:
    class Result:
        def __init__(self, x: torch.Tensor) -> None:
            self.x = x

    finding = refusal(way, lambda x: Result(x * 2), (ones(3),), "def f(x: Tensor[C]): ...")
    assert "cannot return an object of class Result" in finding.message
    assert "register_pytree_node(Result" in finding.helps[0]


@WAYS
def test_any_class_and_inside_a_container(way: str) -> None:
    class Holder:
        def __init__(self, x: torch.Tensor) -> None:
            self.x = x

    text = 'def f(items: {"k": [object(x: Tensor[C])]}): ...'
    finding = refusal(way, lambda items: items["k"][0].x * 2, ({"k": [Holder(ones(3))]},), text)
    assert '`items["k"][0]`' in finding.message
    assert "register_pytree_node(" in finding.helps[0]
    assert "flatten_with_keys_fn" in finding.helps[0]
    pytree.register_pytree_node(
        Holder,
        lambda holder: ([holder.x], None),
        lambda values, _: Holder(*values),
        serialized_type_name=f"tests.Holder.{way}",
        flatten_with_keys_fn=lambda holder: ([(pytree.GetAttrKey("x"), holder.x)], None),
    )
    program = made(way, lambda items: items["k"][0].x * 2, ({"k": [Holder(ones(3))]},), text)
    assert torch.equal(program({"k": [Holder(ones(5))]}), torch.full((5,), 2.0))


@WAYS
def test_a_namedtuple_needs_no_registration(way: str) -> None:
    program = made(way, lambda p: p.a * 2, (Pair(ones(3), ones(2)),), "def f(p: Pair(a: Tensor[A], b: Tensor[B])): ...")
    assert torch.equal(program(Pair(ones(5), ones(1))), torch.full((5,), 2.0))


class Pair(NamedTuple):
    """Two tensors."""

    a: Any
    b: Any


@pytest.mark.parametrize("way", ["non-strict", "strict"])
def test_an_object_that_the_spec_does_not_look_into(way: str) -> None:
    class Config:
        scale = 3.0

    def scaled(x: torch.Tensor, config: Any) -> Any:
        return x * config.scale

    finding = refusal(way, scaled, (ones(3), Config()), "def scaled(x: Tensor[B], config: _): ...")
    assert "cannot take `config`" in finding.message
    assert "functools.partial" in finding.helps[1]
    bound = functools.partial(scaled, config=Config())
    program = made(way, bound, (ones(3),), "def scaled(x: Tensor[B]): ...")
    assert torch.equal(program(ones(5)), torch.full((5,), 3.0))


@WAYS
@pytest.mark.parametrize("environment", [None, ShapeEnv], ids=["without", "with-shape-env"])
def test_fake_tensors(way: str, environment: Any) -> None:
    mode = FakeTensorMode(shape_env=None if environment is None else environment())
    text = "def double(x: Tensor[B]): ..."
    with mode:
        finding = refusal(way, lambda x: x * 2, (ones(3),), text)
        fake = ones(3)
    assert "cannot take fake tensors: torch would pin every size to the example's" in finding.message
    assert "fake tensors" in refusal(way, lambda x: x * 2, (fake,), text).message
    real = ones(3)
    with mode:
        finding = refusal(way, lambda x: x * 2, (real,), text)
    assert finding.helps == (f"call {'make_fx' if way == 'make_fx' else 'export'} outside of the mode",)


@WAYS
def test_fake_parameters_are_fine(way: str) -> None:
    with FakeTensorMode():
        linear = torch.nn.Linear(3, 3)
    if way == "make_fx":
        graph = sd.make_fx(linear, "def f(input: Tensor[B, 3]): ...")(ones(2, 3))
        sizes = [node.meta["val"].shape[0] for node in graph.graph.nodes if node.op == "placeholder"][:1]
    else:
        program = sd.export(linear, (ones(2, 3),), spec="def f(input: Tensor[B, 3]): ...", strict=way == "strict")
        sizes = [node.meta["val"].shape[0] for node in program.graph.nodes if node.name == "input"]
        sizes = sizes or [node.meta["val"].shape[0] for node in program.graph.nodes if node.name == "input_1"]
    assert [type(size) for size in sizes] == [torch.SymInt]
