"""Small models of our own, one for each way in which padding is safe or is not."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

VOCAB = 32
WIDTH = 16
LOWEST = torch.finfo(torch.float32).min


class Attention(nn.Module):
    """Two heads; ``hidden`` is added to the scores."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Any, hidden: Any = None) -> Any:
        B, S, width = x.shape
        q, k, v = self.qkv(x).view(B, S, 3, 2, width // 2).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / (width // 2) ** 0.5
        if hidden is not None:
            scores = scores + hidden
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, S, width))


class Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.position = nn.Embedding(64, WIDTH)
        self.layers = nn.ModuleList(Attention() for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids: Any, mask: Any) -> Any:
        hidden = torch.where(mask[:, None, None, :] > 0, 0.0, LOWEST)
        x = self.embed(ids) + self.position.weight[: ids.shape[1]]
        for layer in self.layers:
            x = self.norm(x + layer(x, hidden))
        return x, x[:, 0].tanh()


class Causal(nn.Module):
    """A causal language model without a mask argument; its positions are counted from the first slot."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.position = nn.Embedding(64, WIDTH)
        self.layers = nn.ModuleList(Attention() for _ in range(2))

    def forward(self, ids: Any) -> Any:
        S = ids.shape[1]
        later = torch.ones(S, S, dtype=torch.bool).triu(1)
        hidden = torch.zeros(S, S).masked_fill(later, float("-inf"))
        x = self.embed(ids) + self.position.weight[:S]
        for layer in self.layers:
            x = x + layer(x, hidden)
        return x @ self.embed.weight.T


class Step(nn.Module):
    """One token of a decoder: its key and its value go behind those of the cache."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, ids: Any, mask: Any, k: Any, v: Any) -> Any:
        B = ids.shape[0]
        q, new_k, new_v = self.qkv(self.embed(ids)).view(B, 1, 3, 2, WIDTH // 2).permute(2, 0, 3, 1, 4)
        k, v = torch.cat([k, new_k], 2), torch.cat([v, new_v], 2)
        scores = (q @ k.transpose(-1, -2)).masked_fill(~mask, LOWEST)
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, 1, WIDTH), k, v


class Convolutions(nn.Module):
    def __init__(self, norm: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8) if norm else nn.Identity()
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, x: Any) -> Any:
        return self.last(nn.functional.relu(self.second(nn.functional.relu(self.norm(self.first(x))))))


class Normed(nn.Module):
    """A pointwise convolution and a BatchNorm."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 1)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x: Any) -> Any:
        return nn.functional.relu(self.norm(self.conv(x)))


class Vit(nn.Module):
    """Patches of 4 x 4, and attention over all of them; ``K`` classes."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, WIDTH, 4, stride=4)
        self.layer = Attention()
        self.head = nn.Linear(WIDTH, 5)

    def forward(self, x: Any) -> Any:
        tokens = self.patch(x).flatten(2).transpose(1, 2)
        return self.head((tokens + self.layer(tokens)).mean(1))


class Graph(nn.Module):
    """Sums of what neighbors send, then a mean over the nodes of each graph."""

    def __init__(self, features: int = 4) -> None:
        super().__init__()
        self.send = nn.Linear(features + 2, 8)
        self.take = nn.Linear(features + 8, 8)

    def forward(self, x: Any, edges: Any, attributes: Any, batch: Any, graphs: Any) -> Any:
        N, G = x.shape[0], graphs.shape[0]
        sent = self.send(torch.cat([x[edges[0]], attributes], 1)).relu()
        got = torch.zeros(N, 8).index_add(0, edges[1], sent)
        nodes = self.take(torch.cat([x, got], 1)).relu()
        sums = torch.zeros(G, 8).index_add(0, batch, nodes)
        counts = torch.zeros(G).index_add(0, batch, torch.ones(N))
        return sums / counts.clamp(min=1)[:, None]


class Jagged(nn.Module):
    """Segments of one long sequence: attention within each, and the mean of each."""

    def forward(self, values: Any, offsets: Any) -> Any:
        T, B = values.shape[0], offsets.shape[0] - 1
        segment = torch.bucketize(torch.arange(T), offsets[1:], right=True)
        same = segment[:, None] == segment[None, :]
        scores = (values @ values.T).masked_fill(~same, LOWEST)
        mixed = scores.softmax(-1) @ values
        lengths = (offsets[1:] - offsets[:-1]).clamp(min=1)[:, None]
        sums = torch.zeros(B + 1, values.shape[1]).index_add(0, segment, mixed)[:B]
        return sums / lengths, mixed


class Bags(nn.Module):
    """The mean of each segment, by where it starts; the last one ends with the values."""

    def forward(self, values: Any, starts: Any) -> Any:
        ends = torch.cat([starts[1:], torch.tensor([values.shape[0]])])
        total = torch.cat([torch.zeros(1, values.shape[1]), values.cumsum(0)])
        return (total[ends] - total[starts]) / (ends - starts).clamp(min=1)[:, None]


class Quantized(nn.Module):
    """Dynamic quantization with one scale for the whole tensor."""

    def forward(self, x: Any) -> Any:
        scale = x.abs().amax().clamp(min=1e-6) / 127
        return (x / scale).round() * scale


class Recurrent(nn.Module):
    def __init__(self, bidirectional: bool = False) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 8, batch_first=True, bidirectional=bidirectional)

    def forward(self, x: Any) -> Any:
        out, (last, _) = self.lstm(x)
        return out, last
