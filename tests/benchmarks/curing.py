"""How many traces it takes until a spec has what a program needs: against the one that it takes with the finished spec."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

import shapedsl as sd

from .measure import Row

AIM = 4


def prefill(x: torch.Tensor) -> torch.Tensor:
    """Asks what a decoder without a mask asks."""
    if x.shape[0] != 1:
        x = x * 2
    if x.shape[1] + min(1, x.shape[1]) < 1:
        return x
    return x[:, 0] if x.shape[1] == 1 else x.mean(1)


def rows() -> Iterator[Row]:
    """Yields the traces of each entry point, for a function and for torch's own layers."""
    layers = torch.nn
    conv = layers.Sequential(layers.Conv2d(3, 4, 3), layers.BatchNorm2d(4), layers.ReLU()).eval()
    encoder = layers.TransformerEncoder(
        layers.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1, enable_nested_tensor=False
    ).eval()
    attention = layers.MultiheadAttention(8, 2, batch_first=True).eval()
    cases: list[tuple[str, Any, str]] = [
        ("a prefill without a mask", prefill, "def f(x: float32[B, S, 4]): ...\n"),
        ("convolution and batch norm", conv, "def forward(input: float32[B, 3, H, W]): ...\n"),
        ("a transformer encoder", encoder, "def forward(src: float32[B, S, 8]): ...\n"),
        (
            "cross attention",
            attention,
            "def forward(query: float32[B, Q, 8], key: float32[B, K, 8], value: float32[B, K, 8]): ...\n",
        ),
    ]
    for name, target, spec in cases:
        with torch.no_grad():
            found = sd.cure(target, spec)
        if not found.cured:
            raise RuntimeError(str(found))
        for entry, count in found.traces.items():
            yield Row(f"traces of `sd.cure` by {entry}: {name}", "one trace", count, AIM)
