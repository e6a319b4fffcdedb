"""``torch.nn.Embedding`` and ``torch.nn.EmbeddingBag``.

torch takes int32 and int64 indices, so there is a spec for each. `EmbeddingBag` takes one row a bag, or all bags in one
run and where each begins; it takes weights where it sums.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import shapes
from shapedsl.dims import B, N
from shapedsl.dtypes import floating, int32, int64

@shapes("const num_embeddings, embedding_dim = _")
class Embedding:
    @overload
    @shapes("values input in [0, num_embeddings - 1]")
    def forward(self, input: int64[L["*batch"]]) -> floating[L["*batch, embedding_dim"]]: ...
    @overload
    @shapes("values input in [0, num_embeddings - 1]")
    def forward(self, input: int32[L["*batch"]]) -> floating[L["*batch, embedding_dim"]]: ...

@shapes("const num_embeddings, embedding_dim, include_last_offset, mode_is_sum = _")
class EmbeddingBag:
    @overload
    @shapes("""
    "one row a bag"
    where mode_is_sum == 0, N >= 1
    values input in [0, num_embeddings - 1]
    """)
    def forward(
        self,
        input: int64[B, N],
        offsets: None = None,
        per_sample_weights: None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "bags of any lengths, one after another"
    where mode_is_sum == 0
    values input in [0, num_embeddings - 1]
    values offsets sorted from 0 to N
    """)
    def forward(
        self,
        input: int64[N],
        offsets: int64[L["B + include_last_offset"]],
        per_sample_weights: None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "one row a bag, maybe weighted"
    where mode_is_sum == 1, N >= 1
    values input in [0, num_embeddings - 1]
    """)
    def forward(
        self,
        input: int64[B, N],
        offsets: None = None,
        per_sample_weights: floating[B, N] | None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "bags of any lengths, one after another, maybe weighted"
    where mode_is_sum == 1
    values input in [0, num_embeddings - 1]
    values offsets sorted from 0 to N
    """)
    def forward(
        self,
        input: int64[N],
        offsets: int64[L["B + include_last_offset"]],
        per_sample_weights: floating[N] | None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "one row a bag"
    where mode_is_sum == 0, N >= 1
    values input in [0, num_embeddings - 1]
    """)
    def forward(
        self,
        input: int32[B, N],
        offsets: None = None,
        per_sample_weights: None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "bags of any lengths, one after another"
    where mode_is_sum == 0
    values input in [0, num_embeddings - 1]
    values offsets sorted from 0 to N
    """)
    def forward(
        self,
        input: int32[N],
        offsets: int32[L["B + include_last_offset"]],
        per_sample_weights: None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "one row a bag, maybe weighted"
    where mode_is_sum == 1, N >= 1
    values input in [0, num_embeddings - 1]
    """)
    def forward(
        self,
        input: int32[B, N],
        offsets: None = None,
        per_sample_weights: floating[B, N] | None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "bags of any lengths, one after another, maybe weighted"
    where mode_is_sum == 1
    values input in [0, num_embeddings - 1]
    values offsets sorted from 0 to N
    """)
    def forward(
        self,
        input: int32[N],
        offsets: int32[L["B + include_last_offset"]],
        per_sample_weights: floating[N] | None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
