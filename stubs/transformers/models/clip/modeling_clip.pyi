"""``CLIPModel``, ``CLIPTextModel`` and ``CLIPVisionModel``.

Attention by sdpa asks whether a text has more than one token, and the text's position table ends at
``max_position_embeddings``. Images have the size that their position table is made for.
"""

from dataclasses import dataclass
from typing import Any
from typing import Literal as L

from shapedsl import shapes
from shapedsl.dims import B, N, S
from shapedsl.dtypes import floating, int64

@dataclass
class TextOutput:
    last_hidden_state: floating[L["B, S, hidden_size"]]
    pooler_output: floating[L["B, hidden_size"]]

@dataclass
class VisionOutput:
    last_hidden_state: floating[L["B, (image_size // patch_size) ** 2 + 1, hidden_size"]]
    pooler_output: floating[L["B, hidden_size"]]

@dataclass
class CLIPOutput:
    logits_per_image: floating[N, B]
    logits_per_text: floating[B, N]
    text_embeds: floating[L["B, projection_dim"]]
    image_embeds: floating[L["N, projection_dim"]]

@shapes("const vocab_size, hidden_size, max_position_embeddings = _")
class CLIPTextModel:
    return_dict: L[True]

    @shapes("""
    where B >= 1, 2 <= S, S <= max_position_embeddings
    values input_ids in [0, vocab_size - 1]
    values attention_mask in [0, 1]
    values position_ids in [0, max_position_embeddings - 1]
    """)
    def forward(
        self,
        input_ids: int64[B, S],
        attention_mask: int64[B, S] | None = None,
        position_ids: int64[None, S] | None = None,
        **kwargs: Any,
    ) -> TextOutput: ...

@shapes("""
const num_channels, image_size, hidden_size = _
const patch_size in [1, inf] = _
""")
class CLIPVisionModel:
    return_dict: L[True]

    @shapes("where B >= 1")
    def forward(
        self, pixel_values: floating[L["B, num_channels, image_size, image_size"]], **kwargs: Any
    ) -> VisionOutput: ...

@shapes("""
const projection_dim = _
const config_text_config_vocab_size, config_text_config_max_position_embeddings = _
const config_vision_config_num_channels, config_vision_config_image_size = _
let channels = config_vision_config_num_channels
let side = config_vision_config_image_size
""")
class CLIPModel:
    return_dict: L[True]

    @shapes("""
    "B texts and N images, each with each"
    where B >= 1, N >= 1, 2 <= S, S <= config_text_config_max_position_embeddings
    values input_ids in [0, config_text_config_vocab_size - 1]
    values attention_mask in [0, 1]
    values position_ids in [0, config_text_config_max_position_embeddings - 1]
    """)
    def forward(
        self,
        input_ids: int64[B, S],
        pixel_values: floating[L["N, channels, side, side"]],
        attention_mask: int64[B, S] | None = None,
        position_ids: int64[None, S] | None = None,
        **kwargs: Any,
    ) -> CLIPOutput: ...
