"""What checks know of torch: its tensors and dtypes."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="asks torch for its dtypes")

from torch._subclasses.fake_tensor import FakeTensorMode

from shapedsl.diagnostics import ShapeError
from shapedsl.runtime.bind import binder
from shapedsl.runtime.check import checker
from shapedsl.targets.tensors import torch_tensors
from tests.runtime.fakes import signature


def test_families() -> None:
    dtypes = torch_tensors().dtypes
    assert dtypes["int64"] == {torch.int64}
    assert {torch.float16, torch.bfloat16, torch.float32, torch.float64} <= dtypes["floating"]
    assert dtypes["complexfloating"] >= {torch.complex64, torch.complex128}
    assert {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64} <= dtypes["integral"]
    assert torch.bool not in dtypes["integral"]
    assert torch.bool not in dtypes["number"]
    assert torch.float32 in dtypes["number"]
    assert torch.int64 not in dtypes["floating"]


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("def f(x: int64[B]): ...", torch.int64, torch.int32),
        ("def f(x: floating[B]): ...", torch.bfloat16, torch.complex64),
        ("def f(x: integral[B]): ...", torch.uint8, torch.bool),
        ("def f(x: number[B]): ...", torch.complex64, torch.bool),
    ],
)
def test_dtypes_are_checked(text: str, good: Any, bad: Any) -> None:
    check = checker(signature(text), torch_tensors())
    check(torch.ones(3, dtype=good))
    with pytest.raises(ShapeError) as caught:
        check(torch.ones(3, dtype=bad))
    assert caught.value.code == "dtype-mismatch"
    assert str(bad).removeprefix("torch.") in caught.value.diagnostics[0].message


def test_every_kind_of_tensor_has_sizes() -> None:
    bind = binder(signature("def f(x: Tensor[B, D]): ..."), torch_tensors())
    assert bind(torch.nn.Parameter(torch.ones(2, 3))) == {"B": 2, "D": 3}
    assert bind(torch.ones(2, 3, device="meta")) == {"B": 2, "D": 3}
    with FakeTensorMode():
        assert bind(torch.ones(2, 3)) == {"B": 2, "D": 3}
    with pytest.raises(ShapeError, match="expected a tensor"):
        bind([[1, 2], [3, 4]])
