"""``LlamaForCausalLM``: prefill, and decoding with a cache.

Without a mask, the model asks whether there is more than one sequence; with one, and in prefill, whether there is
more than one token. So each of these is a spec:

- ``forward``: prefill with a mask, for any number of sequences.
- ``forward@2``: prefill of at least two sequences without a mask.
- ``forward@3``: prefill of one sequence without a mask.
- ``forward@4``: one more token for each sequence, behind ``P`` that are in the cache.
- ``forward@5``: two or more tokens behind the cache: a prompt in chunks, or a draft to verify.
- ``forward@6``: prefill with a mask, for the logits of the last tokens only (``logits_to_keep=1``); the others give
  those of all tokens.

Rotary positions have no table that ends, so no length is demanded. An exported program returns no cache, unless the
cache's classes are registered as pytrees: pass ``use_cache=False``, or see docs/stub-library.md.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from dataclasses import dataclass
from typing import Any, overload
from typing import Literal as L

from shapedsl import Scalar, shapes
from shapedsl.dims import B, T
from shapedsl.dtypes import floating, int64

@dataclass
class DynamicLayer:
    keys: floating[L["B, num_key_value_heads, P, head_dim"]]
    values: floating[L["B, num_key_value_heads, P, head_dim"]]

@dataclass
class DynamicCache:
    layers: list[DynamicLayer]

@dataclass
class CausalLMOutputWithPast:
    logits: floating[L["B, T, vocab_size"]]

@dataclass
class LastLogits:
    logits: floating[L["B, min(T, kept), vocab_size"]]

@shapes("const vocab_size, num_key_value_heads, head_dim = _")
class LlamaForCausalLM:
    return_dict: L[True]

    @overload
    @shapes("""
    "prefill with a mask"
    where B >= 1, T >= 2
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    """)
    def forward(
        self,
        input_ids: int64[B, T],
        attention_mask: int64[B, T],
        position_ids: int64[None, T] | None = None,
        cache: None = None,
        *,
        use_cache: bool | None = None,
        logits_to_keep: Scalar[L[0]] = 0,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast: ...
    @overload
    @shapes("""
    "prefill of several sequences without a mask"
    where B >= 2, T >= 2
    values input_ids in [0, vocab_size - 1]
    """)
    def forward(
        self,
        input_ids: int64[B, T],
        attention_mask: None = None,
        *,
        cache: None = None,
        use_cache: bool | None = None,
        logits_to_keep: Scalar[L[0]] = 0,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast: ...
    @overload
    @shapes("""
    "prefill of one sequence without a mask"
    where B == 1, T >= 2
    values input_ids in [0, vocab_size - 1]
    """)
    def forward(
        self,
        input_ids: int64[B, T],
        attention_mask: None = None,
        *,
        cache: None = None,
        use_cache: bool | None = None,
        logits_to_keep: Scalar[L[0]] = 0,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast: ...
    @overload
    @shapes("""
    "decode one token with a cache"
    where B >= 1, P >= 1, T == 1
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    """)
    def forward(
        self,
        input_ids: int64[B, T],
        attention_mask: int64[L["B, P + T"]] | None = None,
        position_ids: int64[None, T] | None = None,
        *,
        cache: DynamicCache,
        use_cache: bool | None = None,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast: ...
    @overload
    @shapes("""
    "decode a chunk with a cache"
    where B >= 1, P >= 1, T >= 2
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    """)
    def forward(
        self,
        input_ids: int64[B, T],
        attention_mask: int64[L["B, P + T"]] | None = None,
        position_ids: int64[None, T] | None = None,
        *,
        cache: DynamicCache,
        use_cache: bool | None = None,
        logits_to_keep: Scalar[L[0]] = 0,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast: ...
    @overload
    @shapes("""
    "prefill with a mask, for the last logits"
    const kept in [1, inf] = _
    where B >= 1, T >= 2
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    """)
    def forward(
        self,
        input_ids: int64[B, T],
        attention_mask: int64[B, T],
        position_ids: int64[None, T] | None = None,
        cache: None = None,
        *,
        use_cache: bool | None = None,
        logits_to_keep: Scalar[L["kept"]],
        **kwargs: Any,
    ) -> LastLogits: ...
