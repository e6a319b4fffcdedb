"""``torch.nn.MultiheadAttention``.

Its specs differ in layout (``batch_first``), and in the batch. All lengths are at least 2: inductor asks whether one is 1.
A batch of one is a number, in specs of its own (``forward@10``, ``forward@11``): where it is only one of the sizes that a
batch may have, what inductor computes without weights and with gradients is wrong on CPU. Where query, key and value are
one tensor, their lengths are one size too. A mask of three dims has a matrix for each head. Two masks have one dtype.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import Tensor, shapes
from shapedsl.dims import B, K, Q

@shapes("const embed_dim, kdim, vdim, num_heads, batch_first = _")
class MultiheadAttention:
    @overload
    @shapes("""
    "no masks"
    where batch_first == 1, B >= 2, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["B, Q, embed_dim"]],
        key: Tensor[L["B, K, kdim"]],
        value: Tensor[L["B, K, vdim"]],
        key_padding_mask: None = None,
        need_weights: bool = True,
        attn_mask: None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["B, Q, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "masks"
    where batch_first == 1, B >= 2, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["B, Q, embed_dim"]],
        key: Tensor[L["B, K, kdim"]],
        value: Tensor[L["B, K, vdim"]],
        key_padding_mask: Tensor[B, K] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[Q, K] | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["B, Q, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "a mask for each head"
    where batch_first == 1, B >= 2, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["B, Q, embed_dim"]],
        key: Tensor[L["B, K, kdim"]],
        value: Tensor[L["B, K, vdim"]],
        key_padding_mask: Tensor[B, K] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[L["B * num_heads, Q, K"]] = ...,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["B, Q, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "self-attention, masks"
    where batch_first == 1, B >= 2, Q >= 2
    """)
    def forward(
        self,
        query: Tensor[L["B, Q, embed_dim"]],
        key: Tensor[L["B, Q, kdim"]],
        value: Tensor[L["B, Q, vdim"]],
        key_padding_mask: Tensor[B, Q] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[Q, Q] | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["B, Q, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "no masks"
    where batch_first == 0, B >= 2, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["Q, B, embed_dim"]],
        key: Tensor[L["K, B, kdim"]],
        value: Tensor[L["K, B, vdim"]],
        key_padding_mask: None = None,
        need_weights: bool = True,
        attn_mask: None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["Q, B, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "masks"
    where batch_first == 0, B >= 2, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["Q, B, embed_dim"]],
        key: Tensor[L["K, B, kdim"]],
        value: Tensor[L["K, B, vdim"]],
        key_padding_mask: Tensor[B, K] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[Q, K] | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["Q, B, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "a mask for each head"
    where batch_first == 0, B >= 2, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["Q, B, embed_dim"]],
        key: Tensor[L["K, B, kdim"]],
        value: Tensor[L["K, B, vdim"]],
        key_padding_mask: Tensor[B, K] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[L["B * num_heads, Q, K"]] = ...,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["Q, B, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "self-attention, masks"
    where batch_first == 0, B >= 2, Q >= 2
    """)
    def forward(
        self,
        query: Tensor[L["Q, B, embed_dim"]],
        key: Tensor[L["Q, B, kdim"]],
        value: Tensor[L["Q, B, vdim"]],
        key_padding_mask: Tensor[B, Q] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[Q, Q] | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["Q, B, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "unbatched"
    where Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["Q, embed_dim"]],
        key: Tensor[L["K, kdim"]],
        value: Tensor[L["K, vdim"]],
        key_padding_mask: Tensor[K] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[Q, K] | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["Q, embed_dim"]], Tensor | None]: ...
    @overload
    @shapes("""
    "one sequence"
    where batch_first == 1, B == 1, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["B, Q, embed_dim"]],
        key: Tensor[L["B, K, kdim"]],
        value: Tensor[L["B, K, vdim"]],
        key_padding_mask: Tensor[B, K] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[Q, K] | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["B, Q, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
    @overload
    @shapes("""
    "one sequence"
    where batch_first == 0, B == 1, Q >= 2, K >= 2
    """)
    def forward(
        self,
        query: Tensor[L["Q, B, embed_dim"]],
        key: Tensor[L["K, B, kdim"]],
        value: Tensor[L["K, B, vdim"]],
        key_padding_mask: Tensor[B, K] | None = None,
        need_weights: bool = True,
        attn_mask: Tensor[Q, K] | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor[L["Q, B, embed_dim"]], Tensor[L["B, ..."]] | None]: ...
