"""A tree of Python files as a company has them: most never heard of export, a tenth exports several models.

The same seed gives the same tree, and a small tree has the same mixture as a large one.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

_HEAD: Final = '''\
"""Module {i}: {purpose}."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

log = logging.getLogger(__name__)
'''

# What fills files: code that has nothing to do with specs.
_FILLERS: Final = (
    '''

@dataclass
class Settings{i}:
    """Options of a run."""

    width: int = {n}
    depth: int = {m}
    dropout: float = 0.1
    name: str = "run-{i}"

    def scaled(self, factor: float) -> "Settings{i}":
        """Returns the settings of a wider model."""
        if factor <= 0:
            raise ValueError(f"factor is {{factor}}, and must be positive")
        return Settings{i}(int(self.width * factor), self.depth, self.dropout, f"{{self.name}}-x{{factor:g}}")
''',
    '''

class Block{i}(nn.Module):
    """Attention and a feed-forward layer, each with its norm."""

    def __init__(self, width: int, heads: int = {h}) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, {m} * width), nn.GELU(), nn.Linear({m} * width, width))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(mixed)
        return x + self.mlp(x)
''',
    '''

def batches{i}(rows: list[dict[str, object]], size: int = {n}) -> Iterator[list[dict[str, object]]]:
    """Yields rows in batches, the last of which may be smaller."""
    batch: list[dict[str, object]] = []
    for row in rows:
        try:
            batch.append({{key: value for key, value in row.items() if value is not None}})
        except AttributeError:
            log.warning("row %r is skipped", row)
            continue
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
''',
    '''

def train{i}(model: nn.Module, data: list[torch.Tensor], steps: int = {n}) -> float:
    """Returns the mean loss of the last steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses: list[float] = []
    for step in range(steps):
        sample = data[step % len(data)]
        with torch.autocast("cpu", enabled=step > {m}):
            loss = model(sample).float().square().mean()
        loss.backward()
        if step % 4 == 3:  # accumulate
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
        if step % 100 == 0:
            log.info("step %d: %.4f", step, losses[-1])
    return sum(losses[-10:]) / max(1, len(losses[-10:]))
''',
)

# Call sites, each with what it needs; `kept` ones are among them, as in real trees.
_SITES: Final = (
    '''

def export_encoder{i}(model: Block{b}) -> object:
    """Exports with a dynamic batch and length."""
    batch = Dim("batch", min=1, max={n})
    length = Dim("length", min=2, max=512)  # the position table ends there
    args = (torch.randn(2, 16, {w}),)
    return export(model, args, dynamic_shapes={{"x": {{0: batch, 1: length}}, "mask": None}})
''',
    """

rows{i} = Dim("rows{i}", max={n})


class Scale{i}(nn.Module):
    def forward(self, a, w):
        return a.sum(1) * w


scaled{i} = torch.export.export(
    Scale{i}(),
    (torch.randn(4, 3), torch.randn(4)),
    dynamic_shapes={{
        "a": {{0: rows{i}}},
        "w": {{0: rows{i}}},  # one weight a row
    }},
)
""",
    """

def export_pair{i}() -> object:
    half = Dim("half", min=2, max={n})

    class Pair(nn.Module):
        def forward(self, x, y, *, flag=True):
            return x[::2] + y if flag else y

    return torch.export.export(
        Pair(), (torch.randn(8, 4), torch.randn(4, 4)), dynamic_shapes=({{0: 2 * half}}, {{0: half}}), strict=False
    )
""",
    '''

def export_layers{i}(model, count={m}):
    """One entry a layer."""
    s = Dim("s", max={n})
    shapes = {{}}
    for name in ("tokens", "mask", "positions"):
        shapes[name] = {{1: s}}
    shapes["cache"] = [{{2: s}} for _ in range({m})]
    shapes.update({{"labels": None}})
    return export(model, tuple(torch.zeros(1, 8, dtype=torch.long) for _ in range(count)), dynamic_shapes=shapes)
''',
    """

def to_onnx{i}(model: nn.Module, path: str) -> None:
    torch.onnx.export(
        model,
        (torch.randn(1, 3, 224, 224),),
        path,
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={{"image": {{0: "batch", 2: "height", 3: "width"}}, "logits": {{0: "batch"}}}},
        opset_version={m} + 10,
    )
""",
    """

def auto{i}(model: nn.Module, x: torch.Tensor) -> object:
    shapes = {{"x": [Dim.AUTO, Dim.DYNAMIC(max={n}), Dim.STATIC]}}
    return torch.export.export(model, (x,), dynamic_shapes=shapes)
""",
)

# Mentions specs, and uses none: the word alone must not cost much.
_MENTIONS: Final = '''

def describe{i}(program: object) -> str:
    """Returns what a program says of its dynamic_shapes."""
    options = {{"dynamic_shapes": None, "strict": False}}
    return f"{{program}} with {{options['dynamic_shapes']}}"
'''


def text(index: int, seed: int = 0) -> str:
    """Returns a file of the tree: of ten, one has several call sites, one has one, one mentions them."""
    random = Random(seed * 1_000_003 + index)
    kind = index % 10
    parts = [_HEAD.format(i=index, purpose=random.choice(("training", "serving", "data", "layers", "evaluation")))]
    if kind in (3, 7):
        parts.append("from torch.export import Dim, export\n")
    sites = {3: random.randint(2, 6), 7: 1}.get(kind, 0)
    fillers = random.randint(3, 9)
    blocks = [_FILLERS[1].format(i=0, m=4, h=8)]
    blocks += [
        random.choice(_FILLERS).format(i=at, n=random.choice((16, 64, 100)), m=random.randint(2, 6), h=8)
        for at in range(1, fillers)
    ]
    blocks += [
        random.choice(_SITES).format(i=at, b=0, n=random.choice((64, 256, 1024)), m=random.randint(2, 6), w=64)
        for at in range(sites)
    ]
    if kind == 5:
        blocks.append(_MENTIONS.format(i=index))
    head, *rest = blocks
    random.shuffle(rest)
    return "".join([*parts, head, *rest])


def write_tree(folder: Path, count: int, seed: int = 0) -> None:
    """Writes ``count`` files, fifty a folder."""
    for index in range(count):
        path = folder / f"package_{index // 50:03}" / f"module_{index:05}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(index, seed), encoding="utf-8")


__all__ = ["text", "write_tree"]
