"""What `spec.example` and its kin are given: numpy's ints are sizes, and what is nothing is refused by its name."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="it makes tensors, and torch is not installed")

import torch

import shapedsl as sd

SPEC = sd.loads("""
def f(x: float32[B, S], ids: int64[B], *more: float32[*batch]):
    where 1 <= B <= 8, 1 <= S <= 8
    case one: B == 1
    otherwise
""")["f"]


def test_ints_of_numpy_are_sizes() -> None:
    numpy = pytest.importorskip("numpy", reason="it makes numpy's ints")
    (x, ids), _ = sd.loads("def f(x: float32[B, S], ids: int64[B]): ...")["f"].example(
        B=numpy.int64(2), S=numpy.uint8(3), seed=numpy.int32(1)
    )
    assert x.shape == (2, 3)
    assert ids.shape == (2,)
    (x,), _ = sd.loads("def f(x: float32[*batch]): ...")["f"].example(batch=(numpy.int64(2), 5))
    assert x.shape == (2, 5)
    assert len(SPEC.examples(numpy.int64(3))) == 3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"B": 2.0}, TypeError, "`B` is a size, or several in a tuple, not float"),
        ({"B": True}, TypeError, "`B` is a size, or several in a tuple, not bool"),
        ({"seed": "x"}, TypeError, "seed= is a whole number, not 'x'"),
        ({"most": "x"}, TypeError, "most= is a whole number, not 'x'"),
        ({"most": -1}, ValueError, "most= is a count, not -1"),
        ({"case": 1.0}, TypeError, "case= is a name or a position, not 1.0"),
        ({"case": 5}, IndexError, "`f` has 2 alternatives"),
        ({"like": torch.ones(2)}, TypeError, r"like= is a call, \(args, kwargs\), not Tensor"),
        ({"like": (torch.ones(2), torch.ones(2))}, TypeError, r"like= is a call, \(args, kwargs\), not tuple"),
        ({"objects": 3}, TypeError, "objects= maps names to classes"),
        ({"objects": {"Batch": 3}}, TypeError, r"objects\['Batch'\] is a class, not 3"),
    ],
)
def test_what_is_nothing_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SPEC.example(**options)


def test_sizes_and_counts_are_refused_too() -> None:
    with pytest.raises(TypeError, match="sizes are given by name"):
        SPEC.example(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"n= is a whole number, not 2\.5"):
        SPEC.examples(2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n= is a count, not -1"):
        SPEC.examples(-1)
    assert SPEC.examples(0) == []
