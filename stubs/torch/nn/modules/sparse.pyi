"""``torch.nn.Embedding`` and ``torch.nn.EmbeddingBag``.

torch takes int32 and int64 indices. `EmbeddingBag` takes one row a bag, or all bags in one run and where each begins.
"""

# Dims tell overloads apart, and checkers see none.
# mypy: disable-error-code="overload-cannot-match"
# pyright: reportOverlappingOverload=false

from typing import Literal as L
from typing import overload

from shapedsl import shapes
from shapedsl.dims import B, N
from shapedsl.dtypes import floating, integral

@shapes("const num_embeddings, embedding_dim = _")
class Embedding:
    @shapes("values input in [0, num_embeddings - 1]")
    def forward(self, input: integral[L["*batch"]]) -> floating[L["*batch, embedding_dim"]]: ...

@shapes("const num_embeddings, embedding_dim, include_last_offset = _")
class EmbeddingBag:
    @overload
    @shapes("""
    "one row a bag"
    where N >= 1
    values input in [0, num_embeddings - 1]
    """)
    def forward(
        self,
        input: integral[B, N],
        offsets: None = None,
        per_sample_weights: floating[B, N] | None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
    @overload
    @shapes("""
    "bags of any lengths, one after another"
    values input in [0, num_embeddings - 1]
    values offsets sorted from 0 to N
    """)
    def forward(
        self,
        input: integral[N],
        offsets: integral[L["B + include_last_offset"]],
        per_sample_weights: floating[N] | None = None,
    ) -> floating[L["B, embedding_dim"]]: ...
