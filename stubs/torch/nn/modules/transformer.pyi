"""Layers of ``torch.nn.Transformer``.

Their specs differ in layout, which is the attention's (``batch_first``), in what torch must know in order to trace, and in
the batch. A batch of one is a number, in specs of its own: where it is only one of the sizes that a batch may have, what
inductor computes with gradients is wrong on CPU. Where other excluded sizes are needed (one query), compile the layer a
second time for these alone.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import Tensor, shapes
from shapedsl.dims import B, D, S, T

@shapes("""
const self_attn_embed_dim, self_attn_num_heads, self_attn_batch_first = _
let D = self_attn_embed_dim
""")
class TransformerEncoderLayer:
    @overload
    @shapes("""
    "no masks"
    where self_attn_batch_first == 1, B >= 2, S >= 1
    """)
    def forward(
        self,
        src: Tensor[B, S, D],
        src_mask: None = None,
        src_key_padding_mask: None = None,
        is_causal: bool = False,
    ) -> Tensor[B, S, D]: ...
    @overload
    @shapes("""
    "a mask"
    where self_attn_batch_first == 1, B >= 2, S >= 1
    """)
    def forward(
        self,
        src: Tensor[B, S, D],
        src_mask: Tensor[S, S],
        src_key_padding_mask: None = None,
        is_causal: bool = False,
    ) -> Tensor[B, S, D]: ...
    @overload
    @shapes("""
    "padding, and maybe a mask"
    where self_attn_batch_first == 1, B >= 2, S >= 2
    """)
    def forward(
        self,
        src: Tensor[B, S, D],
        src_mask: Tensor[S, S] | None = None,
        src_key_padding_mask: Tensor[B, S] = ...,
        is_causal: bool = False,
    ) -> Tensor[B, S, D]: ...
    @overload
    @shapes("""
    "a mask for each head"
    where self_attn_batch_first == 1, B >= 2, S >= 2
    """)
    def forward(
        self,
        src: Tensor[B, S, D],
        src_mask: Tensor[L["B * self_attn_num_heads, S, S"]],
        src_key_padding_mask: Tensor[B, S] | None = None,
        is_causal: bool = False,
    ) -> Tensor[B, S, D]: ...
    @overload
    @shapes("""
    "no masks"
    where self_attn_batch_first == 0, B >= 2, S >= 1
    """)
    def forward(
        self,
        src: Tensor[S, B, D],
        src_mask: None = None,
        src_key_padding_mask: None = None,
        is_causal: bool = False,
    ) -> Tensor[S, B, D]: ...
    @overload
    @shapes("""
    "a mask"
    where self_attn_batch_first == 0, B >= 2, S >= 1
    """)
    def forward(
        self,
        src: Tensor[S, B, D],
        src_mask: Tensor[S, S],
        src_key_padding_mask: None = None,
        is_causal: bool = False,
    ) -> Tensor[S, B, D]: ...
    @overload
    @shapes("""
    "padding, and maybe a mask"
    where self_attn_batch_first == 0, B >= 2, S >= 2
    """)
    def forward(
        self,
        src: Tensor[S, B, D],
        src_mask: Tensor[S, S] | None = None,
        src_key_padding_mask: Tensor[B, S] = ...,
        is_causal: bool = False,
    ) -> Tensor[S, B, D]: ...
    @overload
    @shapes("""
    "a mask for each head"
    where self_attn_batch_first == 0, B >= 2, S >= 2
    """)
    def forward(
        self,
        src: Tensor[S, B, D],
        src_mask: Tensor[L["B * self_attn_num_heads, S, S"]],
        src_key_padding_mask: Tensor[B, S] | None = None,
        is_causal: bool = False,
    ) -> Tensor[S, B, D]: ...
    @overload
    @shapes("""
    "unbatched"
    where S >= 2
    """)
    def forward(
        self,
        src: Tensor[S, D],
        src_mask: Tensor[S, S] | None = None,
        src_key_padding_mask: Tensor[S] | None = None,
        is_causal: bool = False,
    ) -> Tensor[S, D]: ...
    @overload
    @shapes("""
    "one sequence, no masks"
    where self_attn_batch_first == 1, B == 1, S >= 1
    """)
    def forward(
        self,
        src: Tensor[B, S, D],
        src_mask: None = None,
        src_key_padding_mask: None = None,
        is_causal: bool = False,
    ) -> Tensor[B, S, D]: ...
    @overload
    @shapes("""
    "one sequence, masks"
    where self_attn_batch_first == 1, B == 1, S >= 2
    """)
    def forward(
        self,
        src: Tensor[B, S, D],
        src_mask: Tensor[S, S] | None = None,
        src_key_padding_mask: Tensor[B, S] | None = None,
        is_causal: bool = False,
    ) -> Tensor[B, S, D]: ...
    @overload
    @shapes("""
    "one sequence, no masks"
    where self_attn_batch_first == 0, B == 1, S >= 1
    """)
    def forward(
        self,
        src: Tensor[S, B, D],
        src_mask: None = None,
        src_key_padding_mask: None = None,
        is_causal: bool = False,
    ) -> Tensor[S, B, D]: ...
    @overload
    @shapes("""
    "one sequence, masks"
    where self_attn_batch_first == 0, B == 1, S >= 2
    """)
    def forward(
        self,
        src: Tensor[S, B, D],
        src_mask: Tensor[S, S] | None = None,
        src_key_padding_mask: Tensor[B, S] | None = None,
        is_causal: bool = False,
    ) -> Tensor[S, B, D]: ...

@shapes("""
const self_attn_embed_dim, self_attn_batch_first = _
let D = self_attn_embed_dim
""")
class TransformerDecoderLayer:
    @overload
    @shapes("""
    "no masks"
    where self_attn_batch_first == 1, B >= 2, T >= 1, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[B, T, D],
        memory: Tensor[B, S, D],
        tgt_mask: None = None,
        memory_mask: None = None,
        tgt_key_padding_mask: None = None,
        memory_key_padding_mask: None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[B, T, D]: ...
    @overload
    @shapes("""
    "a mask of the target"
    where self_attn_batch_first == 1, B >= 2, T >= 1, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[B, T, D],
        memory: Tensor[B, S, D],
        tgt_mask: Tensor[T, T],
        memory_mask: None = None,
        tgt_key_padding_mask: None = None,
        memory_key_padding_mask: None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[B, T, D]: ...
    @overload
    @shapes("""
    "any masks"
    where self_attn_batch_first == 1, B >= 2, T >= 2, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[B, T, D],
        memory: Tensor[B, S, D],
        tgt_mask: Tensor[T, T] | None = None,
        memory_mask: Tensor[T, S] | None = None,
        tgt_key_padding_mask: Tensor[B, T] | None = None,
        memory_key_padding_mask: Tensor[B, S] | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[B, T, D]: ...
    @overload
    @shapes("""
    "no masks"
    where self_attn_batch_first == 0, B >= 2, T >= 1, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[T, B, D],
        memory: Tensor[S, B, D],
        tgt_mask: None = None,
        memory_mask: None = None,
        tgt_key_padding_mask: None = None,
        memory_key_padding_mask: None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[T, B, D]: ...
    @overload
    @shapes("""
    "a mask of the target"
    where self_attn_batch_first == 0, B >= 2, T >= 1, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[T, B, D],
        memory: Tensor[S, B, D],
        tgt_mask: Tensor[T, T],
        memory_mask: None = None,
        tgt_key_padding_mask: None = None,
        memory_key_padding_mask: None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[T, B, D]: ...
    @overload
    @shapes("""
    "any masks"
    where self_attn_batch_first == 0, B >= 2, T >= 2, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[T, B, D],
        memory: Tensor[S, B, D],
        tgt_mask: Tensor[T, T] | None = None,
        memory_mask: Tensor[T, S] | None = None,
        tgt_key_padding_mask: Tensor[B, T] | None = None,
        memory_key_padding_mask: Tensor[B, S] | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[T, B, D]: ...
    @overload
    @shapes("""
    "unbatched"
    where T >= 2, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[T, D],
        memory: Tensor[S, D],
        tgt_mask: Tensor[T, T] | None = None,
        memory_mask: Tensor[T, S] | None = None,
        tgt_key_padding_mask: Tensor[T] | None = None,
        memory_key_padding_mask: Tensor[S] | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[T, D]: ...
    @overload
    @shapes("""
    "one sequence, no masks"
    where self_attn_batch_first == 1, B == 1, T >= 1, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[B, T, D],
        memory: Tensor[B, S, D],
        tgt_mask: None = None,
        memory_mask: None = None,
        tgt_key_padding_mask: None = None,
        memory_key_padding_mask: None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[B, T, D]: ...
    @overload
    @shapes("""
    "one sequence, no masks"
    where self_attn_batch_first == 0, B == 1, T >= 1, S >= 1
    """)
    def forward(
        self,
        tgt: Tensor[T, B, D],
        memory: Tensor[S, B, D],
        tgt_mask: None = None,
        memory_mask: None = None,
        tgt_key_padding_mask: None = None,
        memory_key_padding_mask: None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor[T, B, D]: ...
