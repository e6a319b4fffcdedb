"""A backend that runs graphs as they are, and keeps them, with what torch was told of their sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Counting:
    """Pass it as ``backend=``."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []
        self.hints: list[dict[str, int | None]] = []

    def __call__(self, graph: torch.fx.GraphModule, example: list[Any]) -> Callable[..., Any]:
        self.graphs.append(graph)
        self.hints.append(_hints(example))
        return graph.forward

    def __len__(self) -> int:
        return len(self.graphs)


def _hints(example: list[Any]) -> dict[str, int | None]:
    """Returns the optimization hint of each symbol among the sizes of a graph's inputs."""
    found: dict[str, int | None] = {}
    for value in example:
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt):
                env: Any = size.node.shape_env
                found[str(size.node.expr)] = env.var_to_hint_override.get(size.node.expr)
    return found
