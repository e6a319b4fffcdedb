"""Functions so small that one sees whether padding is safe: ``x`` is padded with 0, and ``m`` shows what is real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="padding needs torch")

import shapedsl as sd

LOWEST = -1e30
SAFE: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "masked sum": ("float32[B]", lambda x, m: (x * m).sum(1)),
    "masked mean": ("float32[B]", lambda x, m: (x * m).sum(1) / m.sum(1).clamp(min=1)),
    "masked maximum": ("float32[B]", lambda x, m: x.masked_fill(m == 0, LOWEST).amax(1)),
    "masked softmax": ("float32[B, S]", lambda x, m: x.masked_fill(m == 0, LOWEST).softmax(1)),
    "masked best": ("int64[B]", lambda x, m: x.masked_fill(m == 0, LOWEST).argmax(1)),
    "masked products": ("float32[B, S]", lambda x, m: (x[:, :, None] * x[:, None, :] * m[:, None, :]).sum(2)),
    "count": ("int64[B]", lambda x, m: (m > 0).sum(1)),
    "sums so far": ("float32[B, S]", lambda x, m: x.cumsum(1)),
    "first": ("float32[B]", lambda x, m: x[:, 0]),
    "difference": ("float32[B, S]", lambda x, m: x - torch.cat([x[:, :1], x[:, :-1]], 1)),
}
UNSAFE: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "sum": ("float32[B]", lambda x, m: x.sum(1)),
    "tiny sum": ("float32[B]", lambda x, m: 1e-5 * x.sum(1)),
    "mean, beside large numbers": (
        "float32[B, S]",
        lambda x, m: x * 0 + 1e6 * (torch.arange(x.shape[0]) == 0)[:, None] + x.mean(1, keepdim=True),
    ),
    "product": ("float32[B]", lambda x, m: x.prod(1)),
    "norm": ("float32[B, S]", lambda x, m: x / x.norm(dim=1, keepdim=True)),
    "median": ("float32[B]", lambda x, m: x.median(1).values),
    "softmax": ("float32[B, S]", lambda x, m: x.softmax(1)),
    "centered": ("float32[B, S]", lambda x, m: x - x.mean(1, keepdim=True)),
    "rounded": ("float32[B, S]", lambda x, m: (x / x.abs().amax()).round()),
    "sorted": ("float32[B, S]", lambda x, m: x.sort(1).values),
    "sums from here": ("float32[B, S]", lambda x, m: x.flip(1).cumsum(1).flip(1)),
    "shifted": ("float32[B, S]", lambda x, m: torch.roll(x, 1, 1)),
    "last": ("float32[B]", lambda x, m: x[:, -1]),
    "length": ("float32[B]", lambda x, m: torch.full((x.shape[0],), float(x.shape[1]))),
    "any": ("bool[B]", lambda x, m: (x > 2).any(1)),
}
SPEC = """
def f(x: float32[B, S], m: int64[B, S]) -> RESULT:
    where 1 <= B <= 4, 1 <= S <= 16
    values m in [0, 1]
    bucket S in {8, 16} pad x with 0, m with 0 REASON
"""


def spec(result: str, reason: str) -> str:
    return SPEC.replace("RESULT", result).replace("REASON", reason)


@pytest.mark.parametrize("name", SAFE)
def test_safe(name: str) -> None:
    result, fn = SAFE[name]
    assert sd.check_padding(fn, spec(result, "as masked"), n=4).passed


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe(name: str) -> None:
    result, fn = UNSAFE[name]
    for reason in ("as masked", ""):
        with pytest.raises(sd.ShapeError, match="unsafe-padding"):
            sd.check_padding(fn, spec(result, reason), n=4)
