"""The inputs of a graph: which parameter each is, and what the graph was made for.

Before (``ep.module()``)::

    placeholders  x: FakeTensor(u0, 4)  past_0: FakeTensor(u0,)  n: u1        in_spec  ((*, [*]), {"n": *})

After::

    Input("x", "x", …)   Input("past[0]", "past[0]", …)   Input("n", "n", …)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import Attribute, Item, ParamKind, Path, Signature
from ...ir.expanded import Expanded, Leaf
from ..flat import by_parameter, markers, positions


@dataclass(frozen=True, slots=True)
class Input:
    """One flat input.

    Attributes:
        path: As messages write it: ``past[0]``.
        source: As torch's guards write it: ``past[0]``, ``batch['x']``.
        node: Its placeholder.
        value: A fake tensor, a SymInt, or a constant.
        leaf: What the spec says of it; None where it says nothing.
    """

    path: Path
    source: str
    node: Any
    value: Any
    leaf: Leaf | None = None

    @property
    def scalar(self) -> bool:
        """Whether it is an int, symbolic or not."""
        return is_int(self.value)

    def sizes(self) -> list[Any]:
        """Returns its sizes: of a tensor one an axis, of an int itself."""
        if hasattr(self.value, "shape"):
            return list(self.value.shape)
        return [self.value] if self.scalar else []

    def place(self, axis: int) -> str:
        """Returns how messages name the size on ``axis``."""
        return str(self.path) if self.scalar else f"{self.path}.shape[{axis}]"

    def source_at(self, axis: int) -> str:
        """Returns how torch's guards name it."""
        return self.source if self.scalar else f"{self.source}.size()[{axis}]"


def is_int(value: Any) -> bool:
    """Returns whether ``value`` is an int, symbolic or not; a bool is none."""
    return not isinstance(value, bool) and (isinstance(value, int) or type(value).__name__ == "SymInt")


def number_of(size: Any) -> int | None:
    """Returns a size that is a number, also one that torch keeps as a symbol; None for a dynamic one."""
    known: int | None = int(size) if isinstance(size, int) else size.node.maybe_as_int()
    return known


class Inputs:
    """The inputs of one graph.

    Attributes:
        arguments: By parameter of the signature, in the structure that the graph was made for. A tensor is a
            `Placeholder`, an int one, and whatever else is itself.
    """

    def __init__(self, graph: Any, signature: Signature) -> None:
        """Args:
        graph: A GraphModule with fake or symbolic values; of a program ``program.module()``.
        signature: The spec, whose parameters are looked for.
        """
        from torch.utils import _pytree as pytree

        nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
        info = getattr(graph.graph._codegen, "pytree_info", None)
        if info is None:
            info = _Flat([], pytree.tree_structure(tuple(range(len(nodes)))))
        self._marked, roots = _by_name(info, graph, signature)
        count = info.in_spec.num_leaves
        if len(nodes) < count:
            raise _not_matching("it has fewer placeholders than its arguments have leaves")
        self._flat = list(_flat(nodes[:count], roots))
        values = [_stand_in(each.value, each.node) for each in self._flat]
        self.arguments: dict[str, Any] = {
            name: pytree.tree_map(lambda marker: values[marker.position], tree) for name, tree in self._marked.items()
        }

    def of(self, expanded: Expanded) -> list[Input]:
        """Returns the inputs, each with what ``expanded`` says of it."""
        leaves = positions(self._marked, expanded.leaves)
        found: list[Input] = []
        for at, each in enumerate(self._flat):
            leaf = leaves.get(at)
            found.append(each if leaf is None else replace(each, path=leaf.path, leaf=leaf))
        return found


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Stands for a tensor: `expand` looks at its rank only."""

    shape: tuple[Any, ...]


def is_placeholder(value: object) -> bool:
    """Returns whether ``value`` stands for a tensor."""
    return isinstance(value, Placeholder)


@dataclass(frozen=True, slots=True)
class _Flat:
    """What a graph without nested arguments would say of them."""

    orig_args: list[str]
    in_spec: Any


def _stand_in(value: Any, node: Any) -> Any:
    if hasattr(value, "shape"):
        return Placeholder(tuple(value.shape))
    if type(value).__name__ == "SymInt":
        return 0  # any int: which one is no matter of structure
    if value is None and "val" not in node.meta and "tensor_meta" not in node.meta and node.users:
        raise _not_matching(f"nothing is known of its input `{node.name}`")
    return value


def _by_name(info: Any, graph: Any, signature: Signature) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """Returns the tree of markers of each parameter, and the roots of torch's sources, each with its tree."""
    tree: Any = markers(info.in_spec)
    names: list[str] = list(info.orig_args)
    parameters = getattr(graph.graph._codegen, "parameters", None)
    if parameters is not None:  # ours: one tree for each parameter that was passed, and `()`
        trees = dict(zip([each.name for each in parameters], tree, strict=False))
        return trees, list(trees.items())
    if _is_call(info.in_spec):
        args, kwargs = tree
    else:
        args, kwargs = tuple(tree), {}
    if not names or len(names) < len(args):
        names = [param.name for param in signature.params if param.kind is not ParamKind.KEYWORD_ONLY]
        names += [f"arg{at}" for at in range(len(names), len(args))]
    roots = [*zip(names, args, strict=False), *kwargs.items()]
    return by_parameter(args, kwargs, names, signature), roots


def _is_call(spec: Any) -> bool:
    """Returns whether a TreeSpec is that of ``(args, kwargs)``."""
    if spec.type is not tuple or spec.num_children != 2:
        return False
    args, kwargs = spec.children()
    return args.type is tuple and kwargs.type is dict and all(isinstance(key, str) for key in kwargs.context)


def _flat(nodes: list[Any], roots: list[tuple[str, Any]]) -> Iterator[Input]:
    from torch.utils import _pytree as pytree

    found: dict[int, tuple[Path, str]] = {}
    for root, tree in roots:
        for keys, marker in pytree.tree_flatten_with_path(tree)[0]:
            if hasattr(marker, "position"):
                found[marker.position] = (Path(root, tuple(_step(key) for key in keys)), root + pytree.keystr(keys))
    for at, node in enumerate(nodes):
        path, source = found.get(at, (Path(str(node.target)), str(node.target)))
        value = node.meta.get("val", node.meta.get("tensor_meta"))
        yield Input(path, source, node, value)


def _step(key: Any) -> Attribute | Item:
    if hasattr(key, "name"):
        return Attribute(key.name)
    found = getattr(key, "key", getattr(key, "idx", None))
    return Item(found if isinstance(found, (int, str)) else str(found))


def _not_matching(why: str) -> ShapeError:
    message = f"this graph cannot be verified: {why}"
    helps = ("trace it with fake or symbolic tensors: torch.export.export, or make_fx(tracing_mode='fake')",)
    return ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, message, helps=helps)])


__all__ = ["Input", "Inputs", "Placeholder", "is_int", "is_placeholder", "number_of"]
