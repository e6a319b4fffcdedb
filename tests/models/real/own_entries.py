"""Nets of ours that serve language; see ``own_nets``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.models.real.entry import WHOLE, Call, Entry

torch = pytest.importorskip("torch", reason="models run through torch")

from tests.models.real import own_nets

_WORDS = 50


def _noise(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def _below(most: int, *shape: int) -> Any:
    return torch.randint(0, most, shape, generator=torch.Generator().manual_seed(sum(shape)))


def _kv() -> Any:
    torch.manual_seed(0)
    return own_nets.KvLM(_WORDS, layers=2, heads=2, head=4).eval()


def _kv_call(B: int, P: int, off: int = 0, layers: int = 2) -> Call:
    mask = torch.ones(B, 1, 1, P + 1 + off, dtype=torch.bool)
    mask[:1, ..., : P // 2] = False  # the first is padded on the left
    return (_below(_WORDS, B, 1), mask, [(_noise(B, 2, P, 4), _noise(B, 2, P, 4)) for _ in range(layers)]), {}


def _mixture() -> Any:
    torch.manual_seed(0)
    return own_nets.Mixture(8, 4).eval()


def _mixture_call(B: int, S: int, width: int = 8) -> Call:
    return (_noise(B, S, width),), {}


def _lora() -> Any:
    torch.manual_seed(0)
    return own_nets.MultiLora(8, 6).eval()


def _lora_call(B: int, S: int, K: int, R: int, other: int = 0) -> Call:
    return (_noise(B, S, 8), _below(K, B + other), _noise(K, 8, R), _noise(K, R + other, 6)), {}


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "KvLM",
        "kv_lm.shapes",
        _kv,
        _kv_call,
        sizes={
            "first": ({"B": 3, "P": 0}, {"B": 1, "P": 0}, {"B": 2, "P": 0}),
            "alone": ({"B": 1, "P": 8}, {"B": 1, "P": 1}, {"B": 1, "P": 300}),
            "few": ({"B": 4, "P": 8}, {"B": 2, "P": 1}, {"B": 8, "P": 300}),
            "otherwise": ({"B": 3, "P": 8}, {"B": 16, "P": 1}, {"B": 5, "P": 4}, {"B": 256, "P": 7}),
        },
        bad=({"B": 257, "P": 1}, {"B": 3, "P": 8, "off": 1}, {"B": 3, "P": 8, "layers": 1}),
        consts={"VOCAB": _WORDS, "LAYERS": 2, "HEADS": 2, "HEAD": 4},
        note="the cache is a list of pairs",
    ),
    Entry(
        "Mixture",
        "moe.shapes",
        _mixture,
        _mixture_call,
        sizes={
            WHOLE: (
                {"B": 2, "S": 8},
                {"B": 1, "S": 1},
                {"B": 3, "S": 40},
                {"B": 5, "S": 7},
                {"B": 0, "S": 8},
                {"B": 64, "S": 2},
            )
        },
        bad=({"B": 65, "S": 1}, {"B": 2, "S": 0}, {"B": 2, "S": 4097}, {"B": 2, "S": 8, "width": 9}),
        consts={"WIDTH": 8, "EXPERTS": 4},
        note="how many tokens an expert gets is known to the data only",
        dynamo={"capture_dynamic_output_shape_ops": True},
    ),
    Entry(
        "MultiLora",
        "lora.shapes",
        _lora,
        _lora_call,
        sizes={
            WHOLE: (
                {"B": 2, "S": 8, "K": 3, "R": 4},
                {"B": 1, "S": 1, "K": 1, "R": 16},
                {"B": 3, "S": 40, "K": 2, "R": 8},
                {"B": 5, "S": 7, "K": 5, "R": 64},
                {"B": 7, "S": 7, "K": 7, "R": 12},
                {"B": 128, "S": 2, "K": 512, "R": 4},
            )
        },
        bad=(
            {"B": 2, "S": 8, "K": 3, "R": 5},
            {"B": 2, "S": 8, "K": 3, "R": 68},
            {"B": 2, "S": 8, "K": 3, "R": 4, "other": 4},
        ),
        consts={"IN": 8, "OUT": 6},
    ),
)
