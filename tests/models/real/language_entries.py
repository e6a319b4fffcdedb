"""Language models of transformers, each tiny, random, and made from a config: nothing is downloaded."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.models.real.entry import WHOLE, Call, Entry
from tests.models.transformers_entries import caches_are_pytrees

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


def _noise(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


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


# --- Llama


def _llama() -> Any:
    caches_are_pytrees()
    config = {**_SMALL, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    return _made("llama", "LlamaForCausalLM", vocab_size=_WORDS, max_position_embeddings=8192, **config)


def _llama_prefill(B: int, T: int, off: int = 0) -> Call:
    return (), {"input_ids": _ids(B, T), "attention_mask": _mask(B, T + off), "use_cache": False}


def _llama_unmasked(B: int, T: int) -> Call:
    return (), {"input_ids": _ids(B, T), "use_cache": False}


def _llama_decode(B: int, P: int, T: int = 1, off: int = 0) -> Call:
    from transformers import DynamicCache

    cache = DynamicCache([(_noise(B, 2, P, 4), _noise(B, 2, P, 4)) for _ in range(2)])
    mask = _mask(B, P + T + off)
    return (), {"input_ids": _ids(B, T), "attention_mask": mask, "cache": cache, "use_cache": True}


_LLAMA = {"VOCAB": _WORDS, "LAYERS": 2, "HEADS": 2, "HEAD": 4}
LLAMA = (
    Entry(
        "LlamaForCausalLM, prefill",
        "llama.shapes:forward",
        _llama,
        _llama_prefill,
        sizes={
            "token": ({"B": 2, "T": 1}, {"B": 1, "T": 1}, {"B": 7, "T": 1}),
            "otherwise": (
                {"B": 2, "T": 8},
                {"B": 1, "T": 2},
                {"B": 3, "T": 300},
                {"B": 5, "T": 7},
                {"B": 64, "T": 3},
                {"B": 9, "T": 9},
            ),
        },
        bad=({"B": 0, "T": 8}, {"B": 65, "T": 2}, {"B": 1, "T": 8193}, {"B": 2, "T": 8, "off": 1}),
        consts=_LLAMA,
        cures=("T >= 2",),
    ),
    Entry(
        "LlamaForCausalLM, prefill without a mask",
        "llama.shapes:forward@3",
        _llama,
        _llama_unmasked,
        sizes={
            "alone": ({"B": 1, "T": 8}, {"B": 1, "T": 2}, {"B": 1, "T": 300}),
            "otherwise": ({"B": 2, "T": 8}, {"B": 3, "T": 300}, {"B": 5, "T": 7}, {"B": 64, "T": 2}),
        },
        bad=({"B": 0, "T": 8}, {"B": 65, "T": 2}, {"B": 1, "T": 8193}, {"B": 2, "T": 1}),
        consts=_LLAMA,
        cures=("B >= 2", "T >= 2"),
    ),
    Entry(
        "LlamaForCausalLM, decode",
        "llama.shapes:forward@2",
        _llama,
        _llama_decode,
        sizes={
            WHOLE: (
                {"B": 2, "P": 8},
                {"B": 1, "P": 1},
                {"B": 3, "P": 300},
                {"B": 5, "P": 7},
                {"B": 64, "P": 2},
                {"B": 9, "P": 9},
            )
        },
        bad=({"B": 65, "P": 2}, {"B": 2, "P": 8, "T": 2}, {"B": 2, "P": 8, "off": 1}),
        consts=_LLAMA,
        cures=("B >= 1", "P >= 1"),
        changes=True,
        note="behind a `DynamicCache`; export: once [its classes are registered](transformers.md#caches)",
    ),
)


# --- Encoders with decoders


def _whisper() -> Any:
    return _made(
        "whisper",
        "WhisperModel",
        vocab_size=_WORDS,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        num_mel_bins=8,
        max_source_positions=20,
        max_target_positions=448,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=3,
    )


def _whisper_call(B: int, D: int, frames: int = 40) -> Call:
    return (), {"input_features": _noise(B, 8, frames), "decoder_input_ids": _ids(B, D), "use_cache": False}


WHISPER = Entry(
    "WhisperModel",
    "whisper.shapes",
    _whisper,
    _whisper_call,
    sizes={
        "start": ({"B": 2, "D": 1}, {"B": 1, "D": 1}, {"B": 7, "D": 1}),
        "otherwise": (
            {"B": 2, "D": 8},
            {"B": 1, "D": 2},
            {"B": 3, "D": 448},
            {"B": 5, "D": 7},
            {"B": 32, "D": 4},
            {"B": 9, "D": 9},
        ),
    },
    bad=({"B": 2, "D": 449}, {"B": 33, "D": 2}, {"B": 2, "D": 8, "frames": 42}),
    consts={"VOCAB": _WORDS, "WIDTH": 16, "MELS": 8, "FRAMES": 20},
    cures=("D >= 2",),
    note="`use_cache=False`",
)


def _t5() -> Any:
    sizes = {"d_model": 16, "d_kv": 4, "num_heads": 4, "d_ff": 32, "num_layers": 1, "num_decoder_layers": 1}
    return _made("t5", "T5ForConditionalGeneration", vocab_size=_WORDS, decoder_start_token_id=0, **sizes)


def _t5_call(B: int, S: int, D: int, off: int = 0) -> Call:
    return (), {
        "input_ids": _ids(B, S),
        "attention_mask": _mask(B, S + off),
        "decoder_input_ids": _ids(B, D),
        "decoder_attention_mask": torch.ones(B, D, dtype=torch.int64),
        "use_cache": False,
    }


T5 = Entry(
    "T5ForConditionalGeneration",
    "t5.shapes",
    _t5,
    _t5_call,
    sizes={
        "start": ({"B": 2, "S": 8, "D": 1}, {"B": 1, "S": 2, "D": 1}, {"B": 7, "S": 20, "D": 1}),
        "otherwise": (
            {"B": 2, "S": 8, "D": 3},
            {"B": 1, "S": 2, "D": 2},
            {"B": 3, "S": 512, "D": 9},
            {"B": 5, "S": 7, "D": 7},
            {"B": 64, "S": 2, "D": 3},
            {"B": 9, "S": 9, "D": 9},
        ),
    },
    bad=(
        {"B": 2, "S": 1, "D": 3},
        {"B": 2, "S": 513, "D": 3},
        {"B": 2, "S": 8, "D": 513},
        {"B": 65, "S": 2, "D": 2},
        {"B": 2, "S": 8, "D": 3, "off": 1},
    ),
    consts={"VOCAB": _WORDS, "WIDTH": 16},
    cures=("S >= 2", "D >= 2"),
    note="`use_cache=False`",
)


# --- CLIP


def _clip() -> Any:
    special = {"bos_token_id": 48, "eos_token_id": 49, "pad_token_id": 1}
    text = {**_SMALL, **special, "vocab_size": _WORDS, "max_position_embeddings": 77, "projection_dim": 8}
    vision = {**_SMALL, "image_size": 32, "patch_size": 8, "projection_dim": 8}
    return _made("clip", "CLIPModel", text_config=text, vision_config=vision, projection_dim=8)


def _clip_call(B: int, N: int, S: int, side: int = 32) -> Call:
    mask = torch.ones(B, S, dtype=torch.int64)
    return (), {"input_ids": _ids(B, S), "pixel_values": _noise(N, 3, side, side), "attention_mask": mask}


CLIP = Entry(
    "CLIPModel",
    "clip.shapes",
    _clip,
    _clip_call,
    sizes={
        "one": ({"B": 2, "N": 1, "S": 8}, {"B": 5, "N": 1, "S": 2}, {"B": 64, "N": 1, "S": 77}),
        "few": (
            {"B": 2, "N": 3, "S": 8},
            {"B": 3, "N": 3, "S": 77},
            {"B": 5, "N": 2, "S": 7},
            {"B": 9, "N": 9, "S": 9},
        ),
        "otherwise": ({"B": 2, "N": 20, "S": 8}, {"B": 16, "N": 16, "S": 2}, {"B": 3, "N": 64, "S": 3}),
    },
    bad=(
        {"B": 2, "N": 3, "S": 1},
        {"B": 2, "N": 3, "S": 78},
        {"B": 1, "N": 3, "S": 8},
        {"B": 2, "N": 3, "S": 8, "side": 40},
    ),
    consts={"VOCAB": _WORDS, "WIDTH": 8, "SIDE": 32},
    cures=("S >= 2", "S <= 77"),
    narrower="few images have other code than many",
    lowering="backed",
)

ENTRIES: tuple[Entry, ...] = (BERT, *LLAMA, WHISPER, T5, CLIP)
