"""``T5Model`` and ``T5ForConditionalGeneration``.

Attention by sdpa asks whether there is more than one token on either side. Without a mask for the decoder, it also
asks whether there is more than one sequence. So there are two specs:

- ``forward``: with both masks.
- ``forward@2``: without the decoder's, for at least two sequences.

For export pass ``use_cache=False``: a cache among the outputs is no pytree.
"""

from dataclasses import dataclass
from typing import Any, overload
from typing import Literal as L

from shapedsl import shapes
from shapedsl.dims import B, D, S
from shapedsl.dtypes import floating, int64

@dataclass
class Seq2SeqModelOutput:
    last_hidden_state: floating[L["B, D, d_model"]]
    encoder_last_hidden_state: floating[L["B, S, d_model"]]

@dataclass
class Seq2SeqLMOutput:
    logits: floating[L["B, D, vocab_size"]]
    encoder_last_hidden_state: floating[L["B, S, d_model"]]

@shapes("""
const vocab_size, d_model = _
where S >= 2, D >= 2
""")
class T5Model:
    return_dict: L[True]

    @overload
    @shapes("""
    "with both masks"
    where B >= 1
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    values decoder_input_ids in [0, vocab_size - 1]
    values decoder_attention_mask in [0, 1]
    """)
    def forward(
        self,
        input_ids: int64[B, S],
        attention_mask: int64[B, S] | None = None,
        *,
        decoder_input_ids: int64[B, D],
        decoder_attention_mask: int64[B, D],
        use_cache: bool | None = None,
        **kwargs: Any,
    ) -> Seq2SeqModelOutput: ...
    @overload
    @shapes("""
    "without the decoder's mask"
    where B >= 2
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    values decoder_input_ids in [0, vocab_size - 1]
    """)
    def forward(
        self,
        input_ids: int64[B, S],
        attention_mask: int64[B, S] | None = None,
        *,
        decoder_input_ids: int64[B, D],
        decoder_attention_mask: None = None,
        use_cache: bool | None = None,
        **kwargs: Any,
    ) -> Seq2SeqModelOutput: ...

@shapes("""
const vocab_size, d_model = _
where S >= 2, D >= 2
""")
class T5ForConditionalGeneration:
    return_dict: L[True]

    @overload
    @shapes("""
    "with both masks"
    where B >= 1
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    values decoder_input_ids in [0, vocab_size - 1]
    values decoder_attention_mask in [0, 1]
    """)
    def forward(
        self,
        input_ids: int64[B, S],
        attention_mask: int64[B, S] | None = None,
        *,
        decoder_input_ids: int64[B, D],
        decoder_attention_mask: int64[B, D],
        use_cache: bool | None = None,
        **kwargs: Any,
    ) -> Seq2SeqLMOutput: ...
    @overload
    @shapes("""
    "without the decoder's mask"
    where B >= 2
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    values decoder_input_ids in [0, vocab_size - 1]
    """)
    def forward(
        self,
        input_ids: int64[B, S],
        attention_mask: int64[B, S] | None = None,
        *,
        decoder_input_ids: int64[B, D],
        decoder_attention_mask: None = None,
        use_cache: bool | None = None,
        **kwargs: Any,
    ) -> Seq2SeqLMOutput: ...
