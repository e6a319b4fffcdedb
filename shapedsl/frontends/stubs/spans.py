"""Where each node of a tree stands: in the text, found by writing the tree out, and in which other node.

libcst has metadata providers for both; they make an object and a generator for each node, or visit each of them twice, and
take several times as long as the parser. Here offsets are code points, and a span is a pair.
"""

from __future__ import annotations

from dataclasses import fields
from types import TracebackType
from typing import TYPE_CHECKING, Final

from libcst._nodes.internal import CodegenState

from .nodes import IS_NODE

if TYPE_CHECKING:
    import libcst as cst

_FIELDS: Final[dict[type, tuple[str, ...]]] = {}  # of each kind of node


class _Syntactic:
    """Notes the span of a node without the blanks that it owns, when its code has been written."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self, state: _Spans, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state = state
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = self.state.position

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        found = self.state.found
        start = self.start if self.start_node is None else found[self.start_node][0]
        end = self.state.position if self.end_node is None else found[self.end_node][1]
        found[self.node] = (start, end)


class _Spans(CodegenState):
    """Counts what is written, and notes where each node begins and ends."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.tokens.append("")  # an empty list would look like an empty file
        self.position = 0
        self.found: dict[cst.CSTNode, tuple[int, int]] = {}
        self._starts: list[int] = []

    def add_indent_tokens(self) -> None:
        self.position += sum(map(len, self.indent_tokens))

    def add_token(self, value: str) -> None:
        self.position += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:  # noqa: ARG002  # what the writer calls
        self._starts.append(self.position)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        if node not in self.found:
            self.found[node] = (start, self.position)

    def record_syntactic_position(  # type: ignore[override]  # what it returns is used by `with` alone
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Syntactic:
        return _Syntactic(self, node, start_node, end_node)


def spans_of(module: cst.Module) -> dict[cst.CSTNode, tuple[int, int]]:
    """Returns the offsets of every node, in code points, half-open, without the blanks around it.

    A byte-order mark is not counted.
    """
    state = _Spans(module)
    module._codegen(state)  # pyright: ignore[reportPrivateUsage]  # as its providers do
    return state.found


def parents_of(module: cst.Module) -> dict[cst.CSTNode, cst.CSTNode]:
    """Returns what each node stands in; the module itself is left out."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    is_node = IS_NODE
    todo: list[cst.CSTNode] = [module]
    while todo:
        node = todo.pop()
        kind = type(node)
        names = _FIELDS.get(kind)
        if names is None:
            names = _FIELDS[kind] = tuple(field.name for field in fields(kind))
        for name in names:
            value = getattr(node, name)
            if is_node[type(value)]:
                found[value] = node
                todo.append(value)
            elif type(value) in (list, tuple):
                for each in value:
                    if is_node[type(each)]:
                        found[each] = node
                        todo.append(each)
    return found


__all__ = ["parents_of", "spans_of"]
