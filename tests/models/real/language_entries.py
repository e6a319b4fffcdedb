"""Language models of transformers, each tiny, random, and made from a config: nothing is downloaded."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.models.real.entry import Call, Entry

torch = pytest.importorskip("torch", reason="models run through torch")

_SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
_WORDS = 50


def _made(module: str, name: str, **config: Any) -> Any:
    """Returns the model ``name`` of ``transformers.models.<module>`` with random weights, ready to run."""
    package = importlib.import_module(f"transformers.models.{module}")
    kind = getattr(package, name)
    torch.manual_seed(0)
    return kind(kind.config_class(**config)).eval()


def _ids(*shape: int) -> Any:
    return torch.randint(3, _WORDS - 2, shape, generator=torch.Generator().manual_seed(sum(shape)))


def _mask(batch: int, length: int) -> Any:
    """Returns a mask whose first row is padded on the left."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[:1, : length // 3] = 0
    return mask


# --- BERT


def _bert() -> Any:
    return _made("bert", "BertModel", vocab_size=_WORDS, max_position_embeddings=512, **_SMALL)


def _bert_call(B: int, S: int, off: int = 0) -> Call:
    types = torch.zeros(B, S, dtype=torch.int64)
    return (), {"input_ids": _ids(B, S), "attention_mask": _mask(B, S + off), "token_type_ids": types}


BERT = Entry(
    "BertModel",
    "bert.shapes",
    _bert,
    _bert_call,
    sizes={
        "one": ({"B": 2, "S": 1}, {"B": 1, "S": 1}, {"B": 7, "S": 1}),
        "otherwise": (
            {"B": 2, "S": 8},
            {"B": 1, "S": 2},
            {"B": 3, "S": 512},
            {"B": 5, "S": 7},
            {"B": 128, "S": 3},
            {"B": 9, "S": 9},
        ),
    },
    bad=({"B": 2, "S": 513}, {"B": 0, "S": 8}, {"B": 129, "S": 2}, {"B": 2, "S": 8, "off": 1}),
    consts={"VOCAB": _WORDS, "WIDTH": 16},
    cures=("S >= 2",),
)

ENTRIES: tuple[Entry, ...] = (BERT,)
