"""Nets of ours that serve language: a decoder with a cache of pairs, a mixture of experts, adapters by the sequence."""

from __future__ import annotations

import math
from typing import TypeAlias

import torch
from torch import Tensor, nn

Cache: TypeAlias = "list[tuple[Tensor, Tensor]]"


class _Layer(nn.Module):
    """Attention with fewer heads of keys than of queries, behind a cache."""

    def __init__(self, width: int, heads: int, queries: int, head: int) -> None:
        super().__init__()
        self.heads, self.queries, self.head = heads, queries, head
        self.norm = nn.LayerNorm(width)
        self.ask = nn.Linear(width, queries * head)
        self.key = nn.Linear(width, heads * head)
        self.value = nn.Linear(width, heads * head)
        self.out = nn.Linear(queries * head, width)

    def forward(self, x: Tensor, mask: Tensor, past: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        batch, length, _ = x.shape
        normed = self.norm(x)
        ask = self.ask(normed).view(batch, length, self.queries, self.head).transpose(1, 2)
        key = self.key(normed).view(batch, length, self.heads, self.head).transpose(1, 2)
        value = self.value(normed).view(batch, length, self.heads, self.head).transpose(1, 2)
        key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
        seen = nn.functional.scaled_dot_product_attention(ask, key, value, attn_mask=mask, enable_gqa=True)
        return x + self.out(seen.transpose(1, 2).reshape(batch, length, -1)), (key, value)


class KvLM(nn.Module):
    """Logits of the next tokens, and the cache with these behind it."""

    def __init__(self, vocab: int, layers: int, heads: int, head: int, width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(_Layer(width, heads, 2 * heads, head) for _ in range(layers))
        self.out = nn.Linear(width, vocab)

    def forward(self, ids: Tensor, mask: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        past = cache[0][0].shape[2]
        grown: Cache = []
        x = self.embed(ids)
        places = torch.arange(past, past + ids.shape[1], device=ids.device)
        x = x + torch.sin(places[:, None] / math.e ** torch.arange(x.shape[2], device=ids.device))
        for layer, pair in zip(self.layers, cache, strict=True):
            x, pair = layer(x, mask, pair)
            grown.append(pair)
        return self.out(x), grown


class Mixture(nn.Module):
    """Each token through the two experts that its router likes most, weighted; and how many tokens each expert got."""

    def __init__(self, width: int, experts: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(experts)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.reshape(-1, x.shape[-1])
        weights, chosen = self.router(tokens).softmax(-1).topk(2)
        total = torch.zeros_like(tokens)
        load: list[Tensor] = []
        for number, expert in enumerate(self.experts):
            row, place = torch.where(chosen == number)  # how many is known to the data only
            total = total.index_add(0, row, expert(tokens[row]) * weights[row, place, None])
            load.append((chosen == number).sum())
        return total.reshape(x.shape), torch.stack(load)


class MultiLora(nn.Module):
    """A linear layer, plus the adapter of each sequence."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.base = nn.Linear(width, out)

    def forward(self, x: Tensor, which: Tensor, down: Tensor, up: Tensor) -> Tensor:
        base: Tensor = self.base(x)
        return base + torch.bmm(torch.bmm(x, down[which]), up[which])


__all__ = ["KvLM", "Mixture", "MultiLora"]
