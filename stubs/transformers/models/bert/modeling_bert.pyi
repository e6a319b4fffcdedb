"""``BertModel``, as an encoder.

Attention by sdpa asks whether there is more than one token, and the position table ends at
``max_position_embeddings``. A program of one token (``S == 1``) is another one.
"""

from dataclasses import dataclass
from typing import Any
from typing import Literal as L

from shapedsl import shapes
from shapedsl.dims import B, S
from shapedsl.dtypes import floating, int64

@dataclass
class BaseModelOutputWithPoolingAndCrossAttentions:
    last_hidden_state: floating[L["B, S, hidden_size"]]
    pooler_output: floating[L["B, hidden_size"]] | None

@shapes("const vocab_size, type_vocab_size, hidden_size, max_position_embeddings, is_decoder = _")
class BertModel:
    return_dict: L[True]

    @shapes("""
    where is_decoder == 0
    where B >= 1, 2 <= S, S <= max_position_embeddings
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    values token_type_ids in [0, type_vocab_size - 1]
    values position_ids in [0, max_position_embeddings - 1]
    """)
    def forward(
        self,
        input_ids: int64[B, S],
        attention_mask: int64[B, S] | None = None,
        token_type_ids: int64[B, S] | None = None,
        position_ids: int64[None, S] | None = None,
        **kwargs: Any,
    ) -> BaseModelOutputWithPoolingAndCrossAttentions: ...
