"""Models over time: a vocoder, and a tagger whose LSTM wants a length of its own for each artifact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.models.real.entry import Call, Entry

torch = pytest.importorskip("torch", reason="models run through torch")


def _own(name: str) -> Callable[[], Any]:
    def make() -> Any:
        from tests.models.real import signal_nets

        torch.manual_seed(0)
        return getattr(signal_nets, name)().eval()

    return make


def _mel(B: int, F: int, off: int = 0) -> Call:
    generator = torch.Generator().manual_seed(100 * B + F)
    mel, source = (torch.randn(B, *shape, generator=generator) for shape in ((8, F), (1, 16 * F + off)))
    return (mel, source), {}


VOCODER = Entry(
    "vocoder",
    "vocoder.shapes",
    _own("Vocoder"),
    _mel,
    sizes={
        "stream": ({"B": 1, "F": 32},),
        "few": (
            {"B": 2, "F": 7},
            {"B": 3, "F": 40},
            {"B": 4, "F": 4},
            {"B": 5, "F": 2},
            {"B": 15, "F": 3},
            {"B": 8, "F": 33},
        ),
        "otherwise": ({"B": 16, "F": 3}, {"B": 20, "F": 33}, {"B": 64, "F": 2}),
    },
    bad=({"B": 0, "F": 5}, {"B": 2, "F": 1}, {"B": 2, "F": 5, "off": 1}),
    lowering="backed",
)


def _sentences(B: int, S: int, dim: int = 2) -> Call:
    generator = torch.Generator().manual_seed(100 * B + S)
    return (torch.randint(50, (B, S, 1)[:dim], generator=generator),), {}


TAGGER = Entry(
    "LSTM tagger",
    "tagger.shapes",
    _own("Tagger"),
    _sentences,
    sizes={
        "bucket S": (
            {"B": 2, "S": 10},
            {"B": 1, "S": 1},
            {"B": 3, "S": 16},
            {"B": 5, "S": 17},
            {"B": 64, "S": 20},
            {"B": 4, "S": 32},
        ),
    },
    members={"bucket S": 2},
    bad=({"B": 0, "S": 5}, {"B": 2, "S": 129}, {"B": 65, "S": 4}, {"B": 2, "S": 5, "dim": 1}),
    exports=False,
    drops=(1,),
    static=("S",),
    dynamo={"allow_rnn": True},
    note="torch unrolls an LSTM: `S` is padded to a few, and `allow_rnn` is set",
)

ENTRIES: tuple[Entry, ...] = (VOCODER, TAGGER)
