"""What torch took for granted while it traced, without a trace of it in the program.

``squeeze`` of a size that torch does not know keeps the size, as if it were never 1; nothing asserts that. At 1 what
runs has one axis less, and what stands downstream of it was traced for another rank.

Before::

    squeeze = aten.squeeze.dim(x, 0);  mul = squeeze * 2;  return (mul,)        # x: FakeTensor(u0), mul: FakeTensor(u0)

After, for ``mul``::

    u0, which must not be 1
"""

from __future__ import annotations

from typing import Any


def granted_sizes(graph: Any, key: str) -> dict[Any, tuple[Any, ...]]:
    """Returns the sizes that each node needs to be other than 1, as torch's symbolic ints; none for most.

    Args:
        graph: Whose nodes.
        key: Under which their fake values are noted: ``val``, ``example_value``.
    """
    found: dict[Any, tuple[Any, ...]] = {}
    for node in graph.nodes:
        sizes = [size for each in node.all_input_nodes for size in found.get(each, ())]
        if _squeezes(node):
            sizes += _squeezed(node, key)
        if sizes:
            found[node] = tuple({str(size): size for size in sizes}.values())
    return found


def _squeezes(node: Any) -> bool:
    if node.op not in ("call_function", "call_method") or not node.args:
        return False
    name = str(getattr(node.target, "__name__", node.target)).partition(".")[0]
    return name in ("squeeze", "squeeze_", "squeeze_copy")


def _squeezed(node: Any, key: str) -> list[Any]:
    """Returns the sizes that a ``squeeze`` is about and that torch does not know."""
    shape = getattr(getattr(node.args[0], "meta", {}).get(key), "shape", ())
    dims = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
    axes = [dims] if isinstance(dims, int) else dims
    if not isinstance(axes, (list, tuple)) or not all(isinstance(axis, int) for axis in axes):
        axes = range(len(shape))
    sizes = [shape[axis] for axis in axes if -len(shape) <= axis < len(shape)]
    return [size for size in sizes if not isinstance(size, int) and size.node.maybe_as_int() is None]


__all__ = ["granted_sizes"]
