"""Find the line of the user's code that makes a program need something of its inputs' sizes.

torch drops the stacks of its assertions, and a size that was pinned or merged has none. What is left
are the stacks of the operations, so the line is that of the first operation that clearly does it:

==================  ============================================================================
needed              by the first operation that
==================  ============================================================================
``A == B``          has operands that bring all the symbols together, and no one that has them all
``A % 4 == 0``      gives a size ``A // 4``
``A == 4``          has an operand of size ``A``, and another one of size 4 or a shape argument 4
``A >= 6``          has an operand of size ``A`` and is told an index 5, or a start and a length that add up to 6
==================  ============================================================================

A wrong line is worse than none: whatever else is needed gets none.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..ir import Apply, Compare, Const, Predicate


class Lines:
    """The lines of one program."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def find(self, names: set[str], predicate: Predicate) -> str | None:
        """Returns the line that needs ``predicate``, or None where that cannot be told.

        Args:
            names: torch's symbols in it, before they were replaced by what was learned of them.
            predicate: In its plain form, see `program.plain`.
        """
        for node, operands in self._operations if names else ():
            if _relates(node, operands, names, predicate):
                return user_line(node.meta["stack_trace"])
        return None

    def maker(self, name: str) -> str | None:
        """Returns the line of the first operation that gives a size which has the symbol ``name``, or None."""
        for node, operands in self._operations:
            if name in _value_names(node) and not any(name in operand for operand in operands):
                return user_line(node.meta["stack_trace"])
        return None

    @functools.cached_property
    def _operations(self) -> list[tuple[Any, list[set[str]]]]:
        """The user's operations, with the symbols in each operand: the first question pays for all of them."""
        values = {node: _value_names(node) for node in self._graph.nodes}
        found: list[tuple[Any, list[set[str]]]] = []
        for node in self._graph.nodes:
            trace = node.meta.get("stack_trace") or ""
            if (
                node.op in ("call_function", "call_method")
                and user_line(trace)
                and "insert_deferred_runtime_asserts" not in trace
            ):
                found.append((node, [values[operand] for operand in node.all_input_nodes]))
        return found


def user_line(trace: str) -> str | None:
    """Returns the innermost line of the user's in a stack trace: ``net.py:12, in forward: return x + y``."""
    import torch

    library = str(Path(torch.__file__).parent)
    frames = re.findall(r'File "([^"]+)", line (\d+), in (\S+)\n\s*([^\n]*)', trace)
    frames = [frame for frame in frames if not frame[0].startswith("<")]  # generated, or typed in
    if not frames:
        return None
    users = [frame for frame in frames if not frame[0].startswith(library)]
    file, line, function, text = (users or frames)[-1]
    return f"{file}:{line}, in {function}: {text.strip()}"


def names_in(*expressions: Any) -> set[str]:
    """Returns the names of the symbols in sympy expressions."""
    return {symbol.name for expression in expressions for symbol in expression.free_symbols}


def _relates(node: Any, operands: list[set[str]], names: set[str], predicate: Predicate) -> bool:
    if len(names) > 1:
        return names <= set().union(*operands) and not any(names <= operand for operand in operands)
    (name,) = names
    match predicate:
        case Compare(left=Apply(op=op, args=(_, Const(value=divisor)))) if op.name == "%":
            quotients = (f"{name}//{divisor}", f"FloorDiv({name}, {divisor})")
            return any(text in str(_shape(node)) for text in quotients)
        case Compare(op=op, right=Const(value=value)) if op.name == "==":
            others = [
                operand
                for operand, found in zip(node.all_input_nodes, operands, strict=True)
                if name not in found and _has_size(operand, value)
            ]
            listed = any(isinstance(arg, (list, tuple)) and value in arg for arg in node.args)
            return any(name in operand for operand in operands) and bool(others or listed)
        case Compare(op=op, right=Const(value=value)) if op.name == ">=":
            told = list(_ints(node))[1:]  # the first one is the axis
            reached = value in [index + 1 for index in told] or (len(told) == 2 and sum(told) == value)
            return reached and any(name in operand for operand in operands)
        case _:
            return False


def _ints(node: Any) -> Iterator[int]:
    """Yields the arguments that are indices, by the operation's schema: a factor, as in ``x * 5``, is none."""
    schema = getattr(node.target, "_schema", None)
    for argument, value in zip(schema.arguments if schema is not None else (), node.args, strict=False):
        if argument.type.kind() == "IntType" and isinstance(value, int):
            yield value


def _shape(node: Any) -> tuple[Any, ...]:
    """Returns the sizes of a node's value; of a symbolic number, itself."""
    value = node.meta.get("val", node.meta.get("example_value"))  # dynamo's graphs have examples
    return (value,) if hasattr(value, "node") else tuple(getattr(value, "shape", ()))


def _value_names(node: Any) -> set[str]:
    symbolic: list[Any] = [size for size in _shape(node) if hasattr(size, "node")]
    return names_in(*(size.node._expr for size in symbolic))


def _has_size(node: Any, value: int) -> bool:
    return any(not hasattr(size, "node") and size == value for size in _shape(node))
