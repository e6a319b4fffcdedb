"""The function that ``shapedsl demo`` compiles, exports and traces, its inputs, and what its graphs hold."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false

Backend: TypeAlias = "Callable[[torch.fx.GraphModule, list[torch.Tensor]], Callable[..., Any]]"


def project(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Multiplies two matrices; of small batches, by a sum of products."""
    if guard_or_false(x.shape[0] < 32):  # true only where the spec implies it
        return (x.unsqueeze(-1) * w).sum(-2)
    return x @ w


def inputs(batch: int, width: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the arguments of `project` for a batch size."""
    generator = torch.Generator().manual_seed(batch)
    return torch.randn(batch, width, generator=generator), torch.randn(width, width, generator=generator)


def agrees(fn: Callable[..., torch.Tensor], batch: int) -> bool:
    """Returns whether ``fn`` gives what plain matrix multiplication gives for a batch size."""
    x, w = inputs(batch)
    return torch.allclose(fn(x, w), x @ w, atol=1e-3, rtol=1e-3)


def operations(graph: torch.fx.Graph) -> list[str]:
    """Returns the names of the tensor operations of a graph, in order; sizes and assertions are left out."""
    names: list[str] = []
    for node in graph.nodes:
        if node.op == "call_method":
            names.append(str(node.target))
        elif node.op == "call_function" and _is_tensor(node):
            names.append(str(getattr(node.target, "__name__", node.target)).partition(".")[0])
    return names


def _is_tensor(node: torch.fx.Node) -> bool:
    value = node.meta.get("val", node.meta.get("example_value"))
    return isinstance(value, torch.Tensor) or (value is None and node.target in (operator.mul, operator.matmul))


def has_backend(name: str) -> bool:
    """Returns whether torch.compile has a backend of that name."""
    from torch._dynamo import lookup_backend
    from torch._dynamo.exc import InvalidBackend

    try:
        lookup_backend(name)
    except InvalidBackend:
        return False
    return True


def recording(backend: str, seen: list[list[str]], failed: list[str]) -> Backend:
    """Returns a torch.compile backend that keeps what it is given.

    Args:
        backend: The name of the one that compiles. If it cannot here (a header is missing, say), the graph runs as it is.
        seen: Receives the operations of each graph.
        failed: Receives why ``backend`` could not.
    """
    from torch._dynamo import lookup_backend

    compile_graph = lookup_backend(backend)

    def record(module: torch.fx.GraphModule, example_inputs: list[torch.Tensor]) -> Callable[..., Any]:
        seen.append([name for name in operations(module.graph) if name != "size"])
        try:
            compiled: Callable[..., Any] = compile_graph(module, example_inputs)
        except Exception as error:  # whatever a missing compiler or header makes of it
            failed.append((str(error).strip() or type(error).__name__).splitlines()[0])
            return module.forward
        return compiled

    return record


def took_fast_path(names: Iterable[str]) -> bool:
    """Returns whether a graph with these operations sums products instead of multiplying matrices."""
    found = set(names)
    return {"unsqueeze", "mul", "sum"} <= found and found.isdisjoint({"mm", "matmul"})
