"""The Python function that fx generates for a graph of ours: the target's parameters, and a check.

It is part of the graph (fx calls it a code generator), so that copies of the graph and passes over
it keep it; a forward hook is lost by ``copy.deepcopy``. Another trace runs the graph without the
check: there sizes are no ints, and guards are the other trace's.

fx pickles a graph as the text of its code, and traces that when it is loaded: the check would be lost.
So a checked graph is pickled without it and given it again.

Before (what make_fx leaves)::

    def forward(self, x, rest, _s_nothing):
        x_1, rest_z_1, = fx_pytree.tree_flatten_spec([x, rest, _s_nothing], self._in_spec)

After::

    def forward(self, x, **rest):
        if not (…): _s_graph.values[0]([x, rest], x, **rest)      # not inside another trace
        x_1, rest_z_1, = fx_pytree.tree_flatten_spec([x, rest, ()], self._in_spec)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch.fx import GraphModule
from torch.fx.graph import CodeGen, _PyTreeCodeGen

from ...runtime.code import Code
from ...runtime.parameters import Parameter, header, passed
from ..tracing import traced_test


class _Head(Code):
    """Names that read from one object: fx renames globals that are equal or its own, and hashes all."""

    def __init__(self, taken: Iterable[str]) -> None:
        super().__init__(taken)
        self.values: list[object] = []

    def use(self, value: object, name: str) -> str:
        """Returns the expression under which the function sees ``value``."""
        del name
        self.values.append(value)
        return f"{self.prefix}graph.values[{len(self.values) - 1}]"


class CheckedCodeGen(_PyTreeCodeGen):
    """Generates ``forward`` with ``parameters``, and a call of ``check`` in front.

    Args:
        pytree_info: The graph's own: how arguments are flattened.
        parameters: Those that were passed when the graph was made.
        check: Called with the list of all arguments and then as the graph was called; raises where it refuses.
    """

    def __init__(self, pytree_info: Any, parameters: Sequence[Parameter], check: Callable[..., object]) -> None:
        super().__init__(pytree_info)
        self.check = check
        self.parameters = tuple(parameters)
        head = _Head(parameter.name for parameter in parameters)
        self.names = [parameter.spelled for parameter in parameters]
        self.declared = ", ".join(filter(None, ("self", header(parameters, head))))
        arguments = ", ".join(filter(None, (f"[{', '.join(self.names)}]", passed(parameters))))
        self.call = f"{head.use(check, 'check')}({arguments})"
        self.traced = traced_test(head)
        self.scope_name = f"{head.prefix}graph"
        self.values = head.values

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """Returns the text of the function's head."""
        text = f"def {self._func_name}({self.declared}){maybe_return_annotation}:\n"
        text += f"    if not ({self.traced}): {self.call}"
        if free_vars:
            text += self.gen_var_bindings([*self.names, "()"], free_vars, expanded_def)
        return text

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Returns what the head refers to."""
        return [(self.scope_name, self)]


class CheckedGraph(GraphModule):
    """A graph whose code generator is a `CheckedCodeGen`."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns the flat graph, as torch pickles it, and what makes it a checked one."""
        made: Any = self.graph._codegen
        if not isinstance(made, CheckedCodeGen):
            return super().__reduce__()
        flat = copy.deepcopy(self.graph)
        flat.set_codegen(CodeGen())
        module = GraphModule(self, flat, class_name=type(self).__name__)
        return guard_graph, (module, made.parameters, made.check, made.pytree_info)


def guard_graph(
    graph: GraphModule, parameters: Sequence[Parameter], check: Callable[..., object], pytree_info: Any = None
) -> CheckedGraph:
    """Returns ``graph``, which make_fx made of a generated entry, with the parameters and the check of its target.

    Args:
        graph: From make_fx, or its flat form.
        parameters: Those that were passed.
        check: See `CheckedCodeGen`.
        pytree_info: How arguments are flattened; by default the graph knows.
    """
    made: Any = graph.graph._codegen
    info = made.pytree_info if pytree_info is None else pytree_info
    graph.graph.set_codegen(CheckedCodeGen(info, parameters, check))
    checked = CheckedGraph(graph, graph.graph, class_name=type(graph).__name__)
    checked.meta.update(graph.meta)
    return checked
