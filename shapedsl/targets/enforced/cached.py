"""What torch holds for a function that it compiled: the guards of each graph, and the graph with its symbols.

A compiled function is a list of cache entries, one a graph. An entry has guards, which choose it, and bytecode, which
calls what the backend made of the graph; that is found through the names of the bytecode, and the graph of dynamo
behind it, whatever the backend was. Its assertions are run by the backend, and its placeholders know the ShapeEnv.

Before (torch's texts)::

    TENSOR_MATCH: check_tensor(L['x'], Tensor, …, torch.float32, device=None, requires_grad=False, size=[None, 4], …)
    LAMBDA_GUARD: 3 <= L['x'].size()[0] <= 64  # return x[1:] + y  # net.py:7 in f

After::

    Graph.tensors    L['x'] → ("float32", (None, 4))
    Graph.conditions "3 <= L['x'].size()[0] <= 64"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

_GUARD: Final = re.compile(r"^[|\s]*\+- (?P<kind>[A-Z_]+): (?P<text>.*)$", re.MULTILINE)
_TENSOR: Final = re.compile(
    r"check_tensor\((?P<source>.+?), (?P<class>[\w.]+), DispatchKeySet\(.*?\), torch\.(?P<dtype>\w+), .*?size=\[(?P<sizes>[^]]*)\]"
)
SHARED: Final = -1  # torch's number of what is not isolated
_COMPILED: Final = "__compiled_fn_"
_RESUMED: Final = "__resume_at_"


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph of a compiled function.

    Attributes:
        entry: torch's cache entry.
        tensors: The tensors that it was made for: by source, the dtype and the sizes, None for one that is open.
        conditions: What else chooses it, each text with a comment that names a line: of sizes and of values.
        module: dynamo's graph; None where the backend did not keep it.
        name: Of what the bytecode calls.
        broken: Whether it ends where the function goes on.
    """

    entry: Any
    tensors: Mapping[str, tuple[str, tuple[int | None, ...]]]
    conditions: tuple[tuple[str, str], ...]
    module: Any
    name: str | None
    broken: bool

    @property
    def environment(self) -> Any:
        """The ShapeEnv, or None."""
        for node in self.module.graph.nodes if self.module is not None else ():
            value = node.meta.get("example_value") if node.op == "placeholder" else None
            mode = getattr(value, "fake_mode", None)
            if mode is not None and mode.shape_env is not None:
                return mode.shape_env
            environment = getattr(getattr(value, "node", None), "shape_env", None)
            if environment is not None:
                return environment
        return None


def cached(code: CodeType, scope: Mapping[str, Any], region: int = SHARED) -> list[Graph]:
    """Returns the graphs that torch holds for a function, the oldest first.

    Args:
        code: Of the function.
        scope: Its globals.
        region: torch's number of what was compiled with ``isolate_recompiles``.
    """
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list, _get_cache_entries_for_region

    entries = _debug_get_cache_entry_list(code) if region == SHARED else _get_cache_entries_for_region(code, region)
    found: list[Graph] = []
    for entry in reversed(entries):  # torch tries the newest first
        tensors: dict[str, tuple[str, tuple[int | None, ...]]] = {}
        conditions: list[tuple[str, str]] = []
        for kind, text in _guards(entry):
            if match := _TENSOR.match(text) if kind == "TENSOR_MATCH" else None:
                sizes = tuple(
                    int(size) if size.strip().isdigit() else None for size in match["sizes"].split(",") if size.strip()
                )
                tensors[match["source"]] = match["dtype"], sizes
            elif "L[" in text and kind != "TENSOR_MATCH":
                condition, _, comment = text.partition("  # ")
                conditions.append((condition.strip(), comment.strip()))
        names = entry.code.co_names
        name = next((each for each in names if each.startswith(_COMPILED)), None)
        module = None if name is None else _graph_behind(scope.get(name))
        broken = any(each.startswith(_RESUMED) for each in names)
        found.append(Graph(entry, tensors, tuple(conditions), module, name, broken))
    return found


def _guards(entry: Any) -> Iterator[tuple[str, str]]:
    """Yields the kinds of guards and their texts: printed, they are all there, whatever holds them."""
    for match in _GUARD.finditer(str(entry.guard_manager)):
        yield match["kind"], match["text"]


def _graph_behind(made: Any) -> Any:
    """Returns dynamo's graph behind what a backend made of it, or None.

    Backends wrap it in functions and closures; torch keeps the graph for its own messages.
    """
    import torch

    pending, seen = [made], set[int]()
    while pending and len(seen) < _MOST_SEEN:
        each = pending.pop(0)
        if id(each) in seen or each is None:
            continue
        seen.add(id(each))
        if isinstance(each, torch.fx.GraphModule):
            if any("example_value" in node.meta for node in each.graph.nodes if node.op == "placeholder"):
                return each
            continue
        held = [getattr(each, "__self__", None), *(getattr(each, "__dict__", None) or {}).values()]
        for cell in getattr(each, "__closure__", None) or ():
            try:
                held.append(cell.cell_contents)
            except ValueError:  # it is empty
                continue
        pending += [value for value in held if callable(value)]
    return None


_MOST_SEEN: Final = 500

__all__ = ["SHARED", "Graph", "cached"]
