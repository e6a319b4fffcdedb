"""``WhisperModel``.

The encoder takes one length of audio, which its position table gives. Attention by sdpa asks whether the decoder has
more than one token. For export pass ``use_cache=False``: a cache among the outputs is no pytree.
"""

from dataclasses import dataclass
from typing import Any
from typing import Literal as L

from shapedsl import shapes
from shapedsl.dims import B, D
from shapedsl.dtypes import floating, int64

@dataclass
class Seq2SeqModelOutput:
    last_hidden_state: floating[L["B, D, d_model"]]
    encoder_last_hidden_state: floating[L["B, max_source_positions, d_model"]]

@shapes("const vocab_size, num_mel_bins, d_model, max_source_positions, max_target_positions = _")
class WhisperModel:
    return_dict: L[True]

    @shapes("""
    where B >= 1, 2 <= D, D <= max_target_positions
    values decoder_input_ids in [0, vocab_size - 1]
    values decoder_attention_mask in [0, 1]
    """)
    def forward(
        self,
        input_features: floating[L["B, num_mel_bins, 2 * max_source_positions"]],
        *,
        decoder_input_ids: int64[B, D],
        decoder_attention_mask: int64[B, D] | None = None,
        use_cache: bool | None = None,
        **kwargs: Any,
    ) -> Seq2SeqModelOutput: ...
