"""What a compiled graph returns, with its symbolic sizes, nested as the function returns it.

The graph knows the sizes of its outputs, one after the other. How the function nests them, what it returns of its
arguments, and what is a constant, stands in the bytecode that torch made around the graph. So that bytecode is run
once, on a call that the graph takes, and each flat output is found again by its identity.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Collection, Mapping, Sequence
from types import FunctionType
from typing import Any

from ...ir import Attribute, Const, Size, Var
from ...ir.expanded import Leaf
from ..lines import user_line
from ..symbolic import Unreadable, read_size
from .cached import Graph
from .granted import granted_sizes
from .model import Data, Output

Call = tuple[Sequence[Any], Mapping[str, Any]]


def returned(
    graph: Graph,
    function: FunctionType,
    symbols: Mapping[str, Size],
    leaves: Mapping[str, Leaf],
    call: Call | None,
) -> tuple[object, list[Data]]:
    """Returns the tree of a graph's outputs, None if it cannot be told, and the sizes in it that data decides.

    Args:
        graph: The graph.
        function: Whose code it stands for.
        symbols: torch's name of a size → what it stands for.
        leaves: What the spec says of the arguments, by torch's source.
        call: A call of ``function`` that the graph takes. It is run.
    """
    if call is None or graph.module is None or graph.name is None or graph.broken:
        return None, []
    bound = bound_by(function, call)
    if bound is None:
        return None, []
    reader = _Outputs(graph, symbols)
    kept: list[object] = []

    def recorded(*args: Any) -> Any:
        outputs = made(*args)
        kept[:] = [_Int(each) if type(each) is int else each for each in outputs]
        return type(outputs)(kept) if isinstance(outputs, list) else tuple(kept)

    made = function.__globals__[graph.name]
    scope = {**function.__globals__, graph.name: recorded}
    again = FunctionType(graph.entry.code, scope, function.__name__, function.__defaults__, function.__closure__)
    again.__kwdefaults__ = function.__kwdefaults__
    result = again(*call[0], **call[1])
    known = {id(each): output for each, output in zip(kept, reader.outputs, strict=False)}
    inputs = _inputs(bound, leaves)
    ints = {value for leaf in leaves.values() if leaf.scalar and type(value := _at(bound, leaf)) is int}
    return _tree(result, known, inputs, ints), list(reader.data.values())


class _Int(int):
    """An int with an identity of its own."""


def bound_by(function: FunctionType, call: Call) -> dict[str, Any] | None:
    """Returns the local variables with which ``function`` begins, those of its closure among them."""
    try:
        bound = inspect.signature(function, follow_wrapped=False).bind(*call[0], **call[1])
    except TypeError:
        return None
    bound.apply_defaults()
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    return {**{name: cell.cell_contents for name, cell in cells.items()}, **bound.arguments}


def _inputs(bound: Mapping[str, Any], leaves: Mapping[str, Leaf]) -> dict[int, Output]:
    """Returns the tensors of a call, by identity, as outputs: a function may return an argument as it is."""
    found: dict[int, Output] = {}
    for leaf in leaves.values():
        value = _at(bound, leaf)
        dtype = getattr(value, "dtype", None)
        if dtype is not None:
            sizes = tuple(Var(leaf.place(axis)) for axis in range(len(leaf.dims)))
            texts = tuple(size.name for size in sizes)
            found[id(value)] = Output("tensor", sizes, texts, str(dtype).removeprefix("torch."))
    return found


def _at(bound: Mapping[str, Any], leaf: Leaf) -> Any:
    """Returns what a call has at a leaf; None if it has nothing there."""
    value: Any = bound.get(leaf.path.root)
    try:
        for step in leaf.path.steps:
            value = getattr(value, step.name) if isinstance(step, Attribute) else value[step.key]
    except (LookupError, AttributeError, TypeError):
        return None
    return value


def _tree(value: Any, known: Mapping[int, Output], inputs: Mapping[int, Output], ints: Collection[int]) -> object:
    """Returns a result with an `Output` in place of each leaf.

    Args:
        value: The result.
        known: What the graph returned, by identity.
        inputs: What it was given, likewise.
        ints: Which numbers may be arguments as they are.
    """
    from torch.utils import _pytree as pytree

    def leaf(each: Any) -> object:
        if id(each) in known:
            return known[id(each)]
        if id(each) in inputs:
            return inputs[id(each)]
        if each is None or isinstance(each, (bool, float, str)) or (type(each) is int and each not in ints):
            return Output("constant", value=each)
        if type(each) is int:
            return Output("int", (None,), (str(each),))
        if dataclasses.is_dataclass(each) and not isinstance(each, type):
            whole = copy.copy(each)
            for field in dataclasses.fields(each):
                object.__setattr__(whole, field.name, _tree(getattr(each, field.name), known, inputs, ints))
            return whole
        return Output("other")

    return pytree.tree_map(leaf, value)


class _Outputs:
    """The flat outputs of a graph.

    Attributes:
        data: The sizes that data decides.
    """

    def __init__(self, graph: Graph, symbols: Mapping[str, Size]) -> None:
        self.symbols = symbols
        self.data: dict[str, Data] = {}
        self.granted = granted_sizes(graph.module.graph, "example_value")
        (node,) = [each for each in graph.module.graph.nodes if each.op == "output"]
        (found,) = node.args
        self.outputs = [self._output(each) for each in found]

    def _output(self, node: Any) -> Output:
        if not hasattr(node, "op"):
            return Output("constant", value=node)
        value = node.meta.get("example_value")
        line = user_line(node.meta.get("stack_trace") or "")
        granted = tuple(self._size(size) for size in self.granted.get(node, ()))
        if hasattr(value, "shape"):
            sizes = tuple(self._size(size) for size in value.shape)
            texts = tuple(map(str, value.shape))
            dtype = str(value.dtype).removeprefix("torch.")
            return Output("tensor", sizes, texts, dtype, line=line, granted=granted)
        if type(value).__name__ == "SymInt" or type(value) is int:
            return Output("int", (self._size(value),), (str(value),), line=line, granted=granted)
        return Output("other", line=line)

    def _size(self, size: Any) -> Size | None:
        if isinstance(size, int):
            return Const(int(size))
        try:
            return read_size(size.node.expr, lambda name: self._lookup(name, size))
        except Unreadable:
            return None

    def _lookup(self, name: str, size: Any) -> Size:
        if name in self.symbols:
            return self.symbols[name]
        if name not in self.data:
            ranges: Mapping[Any, Any] = getattr(size.node.shape_env, "var_to_range", None) or {}
            bounds = next((found for key, found in ranges.items() if str(key) == name), None)
            low, high = (None, None) if bounds is None else (bounds.lower, bounds.upper)
            self.data[name] = Data(
                name,
                int(low) if low is not None and low.is_Integer else None,
                int(high) if high is not None and high.is_Integer else None,
            )
        return Var(name)


__all__ = ["bound_by", "returned"]
