"""Nets over time: a vocoder, and a tagger with an LSTM."""

# Modules in a list are called, and torch does not say what they return.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Vocoder(nn.Module):
    """Frames of a mel spectrogram, and an excitation, become sound: 16 samples a frame."""

    def __init__(self, mels: int = 8, width: int = 8) -> None:
        super().__init__()
        self.first = nn.Conv1d(mels, width, 7, padding=3)
        self.up = nn.ModuleList([nn.ConvTranspose1d(width, width, 8, stride=4, padding=2) for _ in range(2)])
        self.source = nn.Conv1d(1, width, 7, padding=3)
        self.near = nn.ModuleList([nn.Conv1d(width, width, 3, padding=far, dilation=far) for far in (1, 3)])
        self.last = nn.Conv1d(width, 1, 7, padding=3)

    def forward(self, mel: Tensor, source: Tensor) -> Tensor:
        x = self.first(mel)
        for up in self.up:
            x = up(functional.leaky_relu(x, 0.1))
        x = x + self.source(source)
        for conv in self.near:
            x = x + conv(functional.leaky_relu(x, 0.1))
        return torch.tanh(self.last(functional.leaky_relu(x, 0.1)))


class Tagger(nn.Module):
    """Scores of tags for each word of a sentence, and the state behind its end."""

    def __init__(self, words: int = 50, size: int = 8, hidden: int = 12, tags: int = 5) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, size)
        self.lstm = nn.LSTM(size, hidden, batch_first=True)
        self.head = nn.Linear(hidden, tags)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        out, (last, _) = self.lstm(self.embed(ids))
        return self.head(out), last[0]
