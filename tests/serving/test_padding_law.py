"""Random buckets: both routes of padding agree with padding step by step, and cropping takes out what was put in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="it runs on tensors, and torch is not installed")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serving.padding_by_hand import padded

DIMS: dict[str, Callable[[int, int], int]] = {
    "3": lambda a, b: 3,
    "A": lambda a, b: a,
    "B": lambda a, b: b,
    "A + B": lambda a, b: a + b,
    "2 * A + 1": lambda a, b: 2 * a + 1,
    "(B + 1) // 2": lambda a, b: (b + 1) // 2,
    "A * B": lambda a, b: a * b,
}
PLACES = ["", "left", "at 1", "at 2"]
FILLS = ["-1", "2.5", "A_pad", "edge"]


def by_steps(
    value: torch.Tensor, dims: list[str], buckets: list[tuple[str, int, str, str]], a: int, b: int
) -> torch.Tensor:
    """Returns ``value`` padded one bucket and one axis after the other."""
    now = {"A": a, "B": b}
    for name, size, place, fill in buckets:
        after = {**now, name: size}
        for axis, dim in enumerate(dims):
            new = DIMS[dim](after["A"], after["B"]) - value.shape[axis]
            if name not in dim or new == 0:
                continue
            at = {"": value.shape[axis], "left": 0}.get(place, int(place[-1:] or 0) if place.startswith("at") else 0)
            shape = list(value.shape)
            shape[axis] = new
            if fill == "edge":
                slots = value.select(axis, max(at - 1, 0)).unsqueeze(axis).expand(shape)
            else:
                numbers = {"A_pad": float(next(n for which, n, _, _ in buckets if which == "A"))}
                slots = torch.full(shape, numbers[fill] if fill in numbers else float(fill))
            pieces = [value.narrow(axis, 0, at), slots, value.narrow(axis, at, value.shape[axis] - at)]
            value = torch.cat(pieces, axis)
        now = after
    return value


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_padding_is_what_its_steps_are(data: st.DataObject) -> None:
    dims = data.draw(st.lists(st.sampled_from(sorted(DIMS)), min_size=1, max_size=3))
    order = data.draw(st.permutations(["A", "B"]))
    a, b = data.draw(st.integers(2, 4)), data.draw(st.integers(3, 5))
    buckets = [
        (
            name,
            (a if name == "A" else b) + data.draw(st.integers(0, 3)),
            data.draw(st.sampled_from(PLACES)),
            data.draw(st.sampled_from(FILLS)),
        )
        for name in order
    ]
    lines = []
    for name, size, place, fill in buckets:
        pads = [f"x with {fill}"] if any(name in dim for dim in dims) else []
        pads += [f"{name.lower()} with 0"]
        lines.append(f"    bucket {name} in {{{size}}} {place} pad ({', '.join(pads)})")
    shape = ", ".join(dims)
    text = f"def f(x: Tensor[{shape}], a: Tensor[A], b: Tensor[B]) -> Tensor[{shape}]:\n" + "\n".join(lines)

    def same(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        seen.append(x.detach().clone())
        return x + 0

    seen: list[torch.Tensor] = []
    x = torch.randn([DIMS[dim](a, b) for dim in dims])
    values: list[Any] = [x, torch.zeros(a), torch.zeros(b)]
    made = padded(text, same, *values)
    made.forget = True
    sizes = {"A": a, "B": b}
    chosen = made.choose(sizes)
    assert chosen is not None
    for value in (x, x.clone().requires_grad_(), x.transpose(0, -1).contiguous().transpose(0, -1), x):
        values[0] = value
        result = made.padder.call(made._run, sizes, chosen, values)
        assert torch.equal(result, x)
    expected = by_steps(x, dims, buckets, a, b)
    assert all(torch.equal(each, expected) for each in seen)
