"""What the library claims of transformers' models, each tiny, random, and made from a config: nothing is downloaded."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.models.harness import Entry, Sizes

torch = pytest.importorskip("torch", reason="models run through torch")

_WORDS = 50
_SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


def _made(module: str, name: str, **config: Any) -> Any:
    """Returns the model ``name`` of ``transformers.models.<module>`` with random weights, ready to run."""
    package = importlib.import_module(f"transformers.models.{module}")
    kind = getattr(package, name)
    torch.manual_seed(0)
    return kind(kind.config_class(**config)).eval()


@functools.cache
def caches_are_pytrees() -> None:
    """Registers the classes of a cache by their attributes, as docs/transformers.md shows it."""
    from torch.utils import _pytree as pytree
    from transformers.cache_utils import DynamicCache, DynamicLayer

    def register(kind: type, names: tuple[str, ...], make: Callable[..., Any]) -> None:
        if kind in pytree.SUPPORTED_NODES:
            return
        pytree.register_pytree_node(
            kind,
            lambda value: ([getattr(value, name) for name in names], None),
            lambda values, _: make(*values),
            serialized_type_name=f"{kind.__module__}.{kind.__qualname__}",
            flatten_with_keys_fn=lambda value: ([(pytree.GetAttrKey(n), getattr(value, n)) for n in names], None),
        )

    def layer(keys: Any, values: Any) -> Any:
        made: Any = DynamicLayer()  # type: ignore[no-untyped-call]
        made.keys, made.values, made.is_initialized = keys, values, True
        return made

    def cache(layers: list[Any]) -> Any:
        made = DynamicCache()
        made.layers = list(layers)
        return made

    register(DynamicLayer, ("keys", "values"), layer)
    register(DynamicCache, ("layers",), cache)


def _ids(*shape: int) -> Any:
    return torch.randint(3, _WORDS - 2, shape, generator=torch.Generator().manual_seed(sum(shape)))


def _mask(batch: int, length: int) -> Any:
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[:1, 0] = 0  # the first is padded on the left
    return mask


def _positions(length: int, past: int = 0) -> Any:
    return torch.arange(past, past + length)[None]


def _noise(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def _call(**kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), kwargs


# --- BERT


def _bert() -> Any:
    return _made("bert", "BertModel", vocab_size=_WORDS, max_position_embeddings=32, **_SMALL)


BERT_SIZES: tuple[Sizes, ...] = ({"B": 2, "S": 8}, {"B": 1, "S": 2}, {"B": 3, "S": 32}, {"B": 5, "S": 7})
BERT_BAD: tuple[Sizes, ...] = ({"B": 2, "S": 1}, {"B": 2, "S": 33}, {"B": 0, "S": 8})

BERT = (
    Entry(
        "BertModel",
        _bert,
        lambda B, S: _call(
            input_ids=_ids(B, S),
            attention_mask=_mask(B, S),
            token_type_ids=torch.zeros(B, S, dtype=torch.int64),
            position_ids=_positions(S),
        ),
        BERT_SIZES,
        BERT_BAD,
    ),
    Entry("BertModel, ids only", _bert, lambda B, S: ((_ids(B, S),), {}), BERT_SIZES, BERT_BAD),
)


# --- Llama


def _llama(layers: int = 1) -> Any:
    caches_are_pytrees()
    config = {**_SMALL, "num_hidden_layers": layers, "num_attention_heads": 4, "num_key_value_heads": 2}
    return _made("llama", "LlamaForCausalLM", vocab_size=_WORDS, max_position_embeddings=64, **config)


def _two_layers() -> Any:
    return _llama(2)


def _cache(batch: int, past: int) -> Any:
    from transformers import DynamicCache

    return DynamicCache([(_noise(batch, 2, past, 4), _noise(batch, 2, past, 4)) for _ in range(2)])


LLAMA = (
    Entry(
        "LlamaForCausalLM, prefill",
        _llama,
        lambda B, T: _call(input_ids=_ids(B, T), attention_mask=_mask(B, T), position_ids=_positions(T)),
        ({"B": 2, "T": 8}, {"B": 1, "T": 2}, {"B": 3, "T": 40}, {"B": 5, "T": 7}),
        ({"B": 2, "T": 1}, {"B": 0, "T": 8}),
    ),
    Entry(
        "LlamaForCausalLM, prefill without a mask",
        _llama,
        lambda B, T: _call(input_ids=_ids(B, T), use_cache=False),
        ({"B": 2, "T": 8}, {"B": 3, "T": 2}, {"B": 4, "T": 40}, {"B": 5, "T": 7}),
        ({"B": 2, "T": 1}, {"B": 1, "T": 8}),
        "forward@2",
    ),
    Entry(
        "LlamaForCausalLM, prefill of one sequence",
        _llama,
        lambda B, T: _call(input_ids=_ids(B, T), use_cache=False),
        ({"B": 1, "T": 8}, {"B": 1, "T": 2}, {"B": 1, "T": 40}, {"B": 1, "T": 7}),
        ({"B": 1, "T": 1}, {"B": 2, "T": 8}),
        "forward@3",
    ),
    Entry(
        "LlamaForCausalLM, prefill for the last logits",
        _llama,
        lambda B, T, keep=1: _call(
            input_ids=_ids(B, T), attention_mask=_mask(B, T), use_cache=False, logits_to_keep=keep
        ),
        ({"B": 2, "T": 8}, {"B": 1, "T": 2}, {"B": 3, "T": 40}, {"B": 5, "T": 7}),
        ({"B": 2, "T": 1}, {"B": 0, "T": 8}, {"B": 2, "T": 8, "keep": 0}),
        "forward@6",
    ),
    Entry(
        "LlamaForCausalLM, decode with a cache",
        _two_layers,
        lambda B, P, T=1, off=0: _call(
            input_ids=_ids(B, T),
            attention_mask=_mask(B, P + T + off),
            position_ids=_positions(T, P),
            cache=_cache(B, P),
            use_cache=True,
        ),
        ({"B": 2, "P": 8}, {"B": 1, "P": 1}, {"B": 3, "P": 40}, {"B": 5, "P": 7}),
        ({"B": 2, "P": 8, "T": 2}, {"B": 2, "P": 8, "off": 1}),
        "forward@4",
        note="export: once the cache's classes are [registered](transformers.md#caches)",
    ),
    Entry(
        "LlamaForCausalLM, decode a chunk",
        _two_layers,
        lambda B, P, T: _call(input_ids=_ids(B, T), cache=_cache(B, P), use_cache=True),
        ({"B": 2, "P": 8, "T": 3}, {"B": 1, "P": 1, "T": 2}, {"B": 3, "P": 40, "T": 9}, {"B": 5, "P": 7, "T": 7}),
        ({"B": 2, "P": 8, "T": 1},),
        "forward@5",
        note="export: once the cache's classes are [registered](transformers.md#caches)",
    ),
)


# --- Whisper


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
        max_target_positions=30,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=3,
    )


WHISPER = (
    Entry(
        "WhisperModel",
        _whisper,
        lambda B, D, frames=40: _call(
            input_features=_noise(B, 8, frames), decoder_input_ids=_ids(B, D), use_cache=False
        ),
        ({"B": 2, "D": 8}, {"B": 1, "D": 2}, {"B": 3, "D": 30}, {"B": 5, "D": 7}),
        ({"B": 2, "D": 1}, {"B": 2, "D": 31}, {"B": 2, "D": 8, "frames": 42}),
        note="without a cache: `use_cache=False`",
    ),
)


# --- T5


def _t5(name: str = "T5Model") -> Any:
    sizes = {"d_model": 16, "d_kv": 4, "num_heads": 4, "d_ff": 32, "num_layers": 1, "num_decoder_layers": 1}
    return _made("t5", name, vocab_size=_WORDS, decoder_start_token_id=0, **sizes)


def _t5_generates() -> Any:
    return _t5("T5ForConditionalGeneration")


def _t5_call(B: int, S: int, D: int, *, masked: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    mask = {"decoder_attention_mask": torch.ones(B, D, dtype=torch.int64)} if masked else {}
    return _call(
        input_ids=_ids(B, S), attention_mask=_mask(B, S), decoder_input_ids=_ids(B, D), use_cache=False, **mask
    )


_with_mask = functools.partial(_t5_call, masked=True)
_without_mask = functools.partial(_t5_call, masked=False)
T5_BAD: tuple[Sizes, ...] = ({"B": 2, "S": 1, "D": 3}, {"B": 2, "S": 8, "D": 1})

T5 = (
    Entry(
        "T5Model",
        _t5,
        _with_mask,
        ({"B": 2, "S": 8, "D": 3}, {"B": 1, "S": 2, "D": 2}, {"B": 3, "S": 20, "D": 9}, {"B": 5, "S": 7, "D": 7}),
        T5_BAD,
        note="without a cache: `use_cache=False`",
    ),
    Entry(
        "T5Model, without the decoder's mask",
        _t5,
        _without_mask,
        ({"B": 2, "S": 8, "D": 3}, {"B": 3, "S": 2, "D": 2}, {"B": 4, "S": 20, "D": 9}, {"B": 5, "S": 7, "D": 7}),
        (*T5_BAD, {"B": 1, "S": 8, "D": 3}),
        "forward@2",
        note="without a cache: `use_cache=False`",
    ),
    Entry(
        "T5ForConditionalGeneration",
        _t5_generates,
        _with_mask,
        ({"B": 2, "S": 8, "D": 3}, {"B": 1, "S": 2, "D": 2}, {"B": 3, "S": 20, "D": 9}, {"B": 5, "S": 7, "D": 7}),
        T5_BAD,
        note="without a cache: `use_cache=False`",
    ),
)


# --- ViT


def _vit() -> Any:
    return _made("vit", "ViTModel", image_size=32, patch_size=8, **_SMALL)


VIT = (
    Entry(
        "ViTModel",
        _vit,
        lambda B, H=32: _call(pixel_values=_noise(B, 3, H, 32)),
        ({"B": 2}, {"B": 1}, {"B": 3}, {"B": 5}),
        ({"B": 2, "H": 40}, {"B": 0}),
    ),
    Entry(
        "ViTModel, other image sizes",
        _vit,
        lambda B, H, W: _call(pixel_values=_noise(B, 3, H, W), interpolate_pos_encoding=True),
        (
            {"B": 2, "H": 40, "W": 32},
            {"B": 1, "H": 48, "W": 64},
            {"B": 3, "H": 64, "W": 64},
            {"B": 5, "H": 37, "W": 50},
        ),
        ({"B": 2, "H": 32, "W": 32}, {"B": 2, "H": 64, "W": 16}, {"B": 2, "H": 7, "W": 64}),
        "forward@2",
        note="as many patches as in a native image are refused",
    ),
)


# --- CLIP

_TEXT = {"vocab_size": _WORDS, "max_position_embeddings": 20, "bos_token_id": 48, "eos_token_id": 49, "pad_token_id": 1}
_VISION = {"image_size": 32, "patch_size": 8}


def _clip() -> Any:
    text, vision = ({**_SMALL, **sizes, "projection_dim": 8} for sizes in (_TEXT, _VISION))
    return _made("clip", "CLIPModel", text_config=text, vision_config=vision, projection_dim=8)


def _clip_text() -> Any:
    return _made("clip", "CLIPTextModel", **_SMALL, **_TEXT)


def _clip_vision() -> Any:
    return _made("clip", "CLIPVisionModel", **_SMALL, **_VISION)


CLIP = (
    Entry(
        "CLIPModel",
        _clip,
        lambda B, N, S: _call(
            input_ids=_ids(B, S),
            pixel_values=_noise(N, 3, 32, 32),
            attention_mask=torch.ones(B, S, dtype=torch.int64),
        ),
        ({"B": 2, "N": 3, "S": 8}, {"B": 1, "N": 1, "S": 2}, {"B": 3, "N": 3, "S": 20}, {"B": 5, "N": 2, "S": 7}),
        ({"B": 2, "N": 3, "S": 1}, {"B": 2, "N": 3, "S": 21}),
    ),
    Entry(
        "CLIPTextModel",
        _clip_text,
        lambda B, S: _call(
            input_ids=_ids(B, S),
            attention_mask=torch.ones(B, S, dtype=torch.int64),
            position_ids=_positions(S),
        ),
        ({"B": 2, "S": 8}, {"B": 1, "S": 2}, {"B": 3, "S": 20}, {"B": 5, "S": 7}),
        ({"B": 2, "S": 1}, {"B": 2, "S": 21}),
    ),
    Entry(
        "CLIPVisionModel",
        _clip_vision,
        lambda B, H=32: _call(pixel_values=_noise(B, 3, H, 32)),
        ({"B": 2}, {"B": 1}, {"B": 3}, {"B": 5}),
        ({"B": 2, "H": 40}, {"B": 0}),
    ),
)

ENTRIES: tuple[Entry, ...] = (*BERT, *LLAMA, *WHISPER, *T5, *VIT, *CLIP)
