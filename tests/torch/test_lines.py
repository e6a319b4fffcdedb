"""A finding names the line of the user's code that needs it: of plain functions too, and never a wrong one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="exporting needs torch")

import torch

import shapedsl as sd

ones = torch.ones
WEIGHT = ones(3, 4)


def add(x: Any, y: Any) -> Any:
    z = x * 2
    return z + y  # here: add


def view(x: Any) -> Any:
    y = x + 1
    return y.view(-1, 4)  # here: view


def reshape(x: Any, n: int) -> Any:
    y = x * 4
    return y.view(n, 2)  # here: reshape


def pin(x: Any) -> Any:
    y = x + ones(4)  # here: pin
    return y * 4


def shift(x: Any, by: int) -> Any:
    y = x * 4
    return y + ones(by)  # here: shift


def linear(x: Any) -> Any:
    return torch.nn.functional.linear(x, WEIGHT)  # here: linear


def index(x: Any) -> Any:
    y = x * 5
    return y[5]  # here: index


def narrow(x: Any) -> Any:
    y = x * 6
    return y.narrow(0, 2, 4)  # here: narrow


def concatenate(x: Any, y: Any) -> Any:
    return torch.cat([x, y], 1)  # here: concatenate


class Twice(torch.nn.Module):
    """Calls another module."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return self.linear(x)  # here: Twice


ONE = "def f(x: Tensor[A]): ..."
CASES: list[tuple[Callable[..., Any], str, tuple[Any, ...], str]] = [
    (add, "def f(x: Tensor[A], y: Tensor[B]): ...", (ones(4), ones(4)), "A == B"),
    (view, ONE, (ones(8),), "A % 4 == 0"),
    (reshape, "int n in [0, inf]\ndef f(x: Tensor[A], n: Scalar[n]): ...", (ones(8), 4), "A == 2 * n"),
    (pin, ONE, (ones(4),), "A == 4"),
    (linear, "def f(x: Tensor[_, A]): ...", (ones(2, 4),), "A == 4"),
    (index, ONE, (ones(8),), "A >= 6"),
    (narrow, ONE, (ones(8),), "A >= 6"),
    (concatenate, "def f(x: Tensor[A, _], y: Tensor[B, _]): ...", (ones(2, 3), ones(2, 4)), "A == B"),
    (Twice(), "def f(x: Tensor[_, A]): ...", (ones(2, 4),), "A == 4"),
]


def notes(target: Any, args: tuple[Any, ...], text: str, strict: bool) -> tuple[str, str]:
    with pytest.raises(sd.ShapeError) as caught:
        sd.export(target, args, spec=text, strict=strict)
    finding = caught.value.diagnostics[0]
    return finding.message, next((note for note in finding.notes if note.startswith("needed by")), "")


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize(("target", "text", "args", "needed"), CASES, ids=[needed for *_, needed in CASES])
def test_the_line_is_found(target: Any, text: str, args: tuple[Any, ...], needed: str, strict: bool) -> None:
    message, note = notes(target, args, text, strict)
    assert f"`{needed}`" in message
    assert "test_lines.py:" in note
    assert note.endswith(f"# here: {getattr(target, '__name__', type(target).__name__)}"), note


@pytest.mark.parametrize("kind", ["partial", "method", "object", "wrapped"])
def test_behind_other_callables(kind: str) -> None:
    class Holder:
        def pinned(self, x: Any) -> Any:
            return x + ones(4)  # here

        def __call__(self, x: Any) -> Any:
            return x + ones(4)  # here, in the object

    @functools.wraps(pin)
    def wrapper(x: Any) -> Any:
        return pin(x)

    target = {
        "partial": functools.partial(shift, by=4),
        "method": Holder().pinned,
        "object": Holder(),
        "wrapped": wrapper,
    }[kind]
    _, note = notes(target, (ones(4),), ONE, False)
    assert "# here" in note


def test_a_condition_that_was_stated_by_the_program_has_none() -> None:
    def checked(x: Any) -> Any:
        torch._check(x.shape[0] >= 6)
        return x * 5 + x[:2].sum()

    message, note = notes(checked, (ones(8),), ONE, False)
    assert "A >= 6" in message
    assert not note


def test_torch_forgets_the_function_again() -> None:
    from torch.fx import proxy

    before = set(proxy._STACK_TRACE_ANCHORS)
    notes(pin, (ones(4),), ONE, False)
    assert before == proxy._STACK_TRACE_ANCHORS
