"""Nets over lists of things: messages in graphs, attention in packed sequences, bags of ids."""

# Modules in a list are called, and torch does not say what they return.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class GraphNet(nn.Module):
    """Two rounds of messages along edges, then a sum for each graph of the batch."""

    def __init__(self, node: int = 8, edge: int = 4, size: int = 16, classes: int = 5) -> None:
        super().__init__()
        self.embed = nn.Linear(node, size)
        self.message = nn.ModuleList([nn.Linear(2 * size + edge, size) for _ in range(2)])
        self.update = nn.ModuleList([nn.Linear(2 * size, size) for _ in range(2)])
        self.whole = nn.Linear(3, size)
        self.head = nn.Linear(size, classes)

    def forward(self, nodes: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor, graphs: Tensor) -> Tensor:
        source, target = edge_index
        x = self.embed(nodes)
        for message, update in zip(self.message, self.update, strict=True):
            sent = functional.relu(message(torch.cat([x[source], x[target], edge_attr], -1)))
            got = torch.zeros_like(x).index_add(0, target, sent)
            x = x + functional.relu(update(torch.cat([x, got], -1)))
        out: Tensor = self.head(self.whole(graphs).index_add(0, batch, x))
        return out


class Jagged(nn.Module):
    """Attention of tokens to those of their own sequence, in a batch that is packed without padding."""

    def __init__(self, size: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)

    def forward(self, values: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(values.shape[0], device=values.device)
        sequence = torch.searchsorted(offsets[1:].contiguous(), places, right=True)
        q, k, v = self.qkv(values).unflatten(1, (3, self.heads, -1)).permute(1, 2, 0, 3)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=sequence[:, None] == sequence)
        tokens = self.out(mixed.transpose(0, 1).flatten(1))
        sums = tokens.new_zeros(offsets.shape[0] - 1, tokens.shape[1]).index_add(0, sequence, tokens)
        return sums, tokens


class Recommender(nn.Module):
    """Numbers and bags of ids, and how they go together."""

    pairs: Tensor

    def __init__(self, dense: int = 4, rows: tuple[int, int] = (20, 30), size: int = 8) -> None:
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(n, size, mode="sum", include_last_offset=True) for n in rows])
        self.dense = nn.Sequential(nn.Linear(dense, size), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(size + 3, 16), nn.ReLU(), nn.Linear(16, 1))
        self.register_buffer("pairs", torch.triu_indices(3, 3, 1))

    def forward(self, dense: Tensor, features: list[dict[str, Tensor]]) -> Tensor:
        x = self.dense(dense)
        bags = [bag(each["values"], each["offsets"]) for bag, each in zip(self.bags, features, strict=True)]
        parts = torch.stack([x, *bags], 1)
        first, second = self.pairs
        together = (parts @ parts.transpose(1, 2))[:, first, second]
        out: Tensor = self.top(torch.cat([x, together], 1))
        return out
