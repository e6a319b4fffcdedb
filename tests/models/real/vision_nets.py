"""Nets of convolutions, written as people write them: a U-Net, a detector, a step of latent diffusion."""

# Modules in a list are called, and torch does not say what they return.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Block(nn.Sequential):
    """Two convolutions, each normalized over groups of channels."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        for number, channels in enumerate((inputs, outputs)):
            self.add_module(f"conv{number}", nn.Conv2d(channels, outputs, 3, padding=1))
            self.add_module(f"norm{number}", nn.GroupNorm(2, outputs))
            self.add_module(f"act{number}", nn.SiLU())


class UNet(nn.Module):
    """Three levels of halving and doubling, with skips between them."""

    def __init__(self, channels: int = 3, width: int = 8) -> None:
        super().__init__()
        widths = (width, 2 * width, 4 * width)
        self.down = nn.ModuleList([Block(*pair) for pair in zip((channels, *widths), widths, strict=False)])
        self.middle = Block(4 * width, 8 * width)
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * size, size, 2, stride=2) for size in reversed(widths)])
        self.merge = nn.ModuleList([Block(2 * size, size) for size in reversed(widths)])
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips: list[Tensor] = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = functional.max_pool2d(x, 2)
        x = self.middle(x)
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([up(x), skips.pop()], 1))
        out: Tensor = self.head(x)
        return out


class Detector(nn.Module):
    """A head without anchors over two levels, of strides 4 and 8; boxes are in pixels."""

    def __init__(self, width: int = 16, classes: int = 3) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=4, padding=1)
        self.next = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.classes = nn.Conv2d(width, classes, 3, padding=1)
        self.sides = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        fine = functional.relu(self.stem(images))
        levels = ((fine, 4), (functional.relu(self.next(fine)), 8))
        scores = [self.classes(level).flatten(2).transpose(1, 2) for level, _ in levels]
        boxes = [self.boxes(level, stride) for level, stride in levels]
        return {"scores": torch.cat(scores, 1), "boxes": torch.cat(boxes, 1)}

    def boxes(self, level: Tensor, stride: int) -> Tensor:
        height, width = level.shape[-2:]
        down = (torch.arange(height, device=level.device) + 0.5) * stride
        right = (torch.arange(width, device=level.device) + 0.5) * stride
        centers = torch.stack([right.expand(height, width), down[:, None].expand(height, width)], -1).flatten(0, 1)
        near, far = (functional.softplus(self.sides(level)).flatten(2).transpose(1, 2) * stride).chunk(2, -1)
        return torch.cat([centers - near, centers + far], -1)


class Denoiser(nn.Module):
    """A transformer over latents in patches of 2 x 2; text is beside them, and each has a time step."""

    waves: Tensor

    def __init__(self, channels: int = 4, size: int = 16, text: int = 12) -> None:
        super().__init__()
        self.patch = nn.Linear(4 * channels, size)
        self.text = nn.Linear(text, size)
        self.time = nn.Sequential(nn.Linear(size, size), nn.SiLU(), nn.Linear(size, 2 * size))
        self.norm = nn.LayerNorm(size)
        self.own = nn.MultiheadAttention(size, 2, batch_first=True)
        self.cross = nn.MultiheadAttention(size, 2, batch_first=True)
        self.out = nn.Linear(size, 4 * channels)
        self.register_buffer("waves", torch.exp(-torch.arange(size // 2) / 4.0))

    def forward(self, latents: Tensor, steps: Tensor, text: Tensor) -> Tensor:
        batch, channels, height, width = latents.shape
        x = latents.view(batch, channels, height // 2, 2, width // 2, 2)
        x = self.patch(x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2))
        angles = steps[:, None] * self.waves
        shift, scale = self.time(torch.cat([angles.sin(), angles.cos()], -1))[:, None].chunk(2, -1)
        x = self.norm(x) * (1 + scale) + shift
        x = x + self.own(x, x, x, need_weights=False)[0]
        words = self.text(text)
        x = x + self.cross(x, words, words, need_weights=False)[0]
        x = self.out(x).view(batch, height // 2, width // 2, channels, 2, 2).permute(0, 3, 1, 4, 2, 5)
        out: Tensor = x.reshape(batch, channels, height, width)
        return out
