"""Broadcasting of shapes, and the signatures of generalized functions: ``(m,n),(n,p)->(m,p)``.

Aligned dims give a result if their sizes decide it: equal ones give themselves, 1 gives way to anything, and what
meets an int of 2 or more must be 1 or that int, which is the result of every valid call. Two different variables
decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .answers import Refused, Stop
from .logic import equal
from .values import Block, Unknown, Value, has_blocks, text

Shape = tuple[Value, ...]


def broadcast(left: Shape, right: Shape) -> Shape:
    """Returns the shape that two shapes broadcast to.

    Raises:
        Refused: There is none.
        Stop: The sizes do not decide it.
    """
    shared = min(len(left), len(right))
    longer = left if len(left) > shared else right
    # from the right, since what stands in front of blocks that differ is not aligned at all
    aligned = [_aligned(left[-place], right[-place], left, right) for place in range(1, shared + 1)]
    return (*longer[: len(longer) - shared], *reversed(aligned))


def broadcast_all(shapes: Iterable[Shape]) -> Shape:
    """Returns the shape that shapes broadcast to; of none, that of a scalar."""
    result: Shape = ()
    for shape in shapes:
        result = broadcast(result, shape)
    return result


def _aligned(first: Value, second: Value, left: Shape, right: Shape) -> Value:
    if isinstance(first, Block) or isinstance(second, Block):
        if first == second:
            return first
        raise Stop(f"the sizes do not decide how {text(left)} and {text(right)} broadcast")
    return broadcast_sizes(first, second)


def broadcast_sizes(first: Value, second: Value) -> Value:
    """Returns the size that two sizes broadcast to.

    Raises:
        Refused: There is none.
        Stop: The sizes do not decide it.
    """
    for size, other in ((first, second), (second, first)):
        if size == 1 and isinstance(size, int):
            return other
    if equal(first, second) is True:
        return first
    known = [size for size in (first, second) if isinstance(size, int)]
    if len(known) == 2:
        raise Refused(f"sizes {first} and {second} do not broadcast")
    if known:
        return known[0]
    if isinstance(first, Unknown) and isinstance(second, Unknown):
        return Unknown()
    raise Stop(f"the sizes do not decide how {text(first)} and {text(second)} broadcast")


def same_size(first: Value, second: Value, what: str) -> Value:
    """Returns the size of two dims that must be equal.

    Raises:
        Refused: They are not.
        Stop: The sizes do not decide it.
    """
    verdict = equal(first, second)
    if verdict is True:
        return first
    if verdict is False:
        raise Refused(f"{what}: {text(first)} is not {text(second)}")
    raise Stop(verdict.reason)


def gufunc_broadcast(signature: str, shapes: Sequence[Shape]) -> Shape:
    """Returns the shape of a generalized function: the dims in front broadcast, the core dims must agree.

    Args:
        signature: For example ``(m,n),(n)->(m)``; blanks mean nothing.
        shapes: One for each group of core dims.

    Raises:
        Refused: The shapes do not fit.
        Stop: The sizes do not decide it, or the signature is none.
    """
    operands, result = _signature(signature)
    if len(operands) != len(shapes):
        raise Stop(f"`{signature}` is for {len(operands)} shapes, not {len(shapes)}")
    cores: dict[str, Value] = {}
    batches: list[Shape] = []
    for names, shape in zip(operands, shapes, strict=True):
        batch, core = _divide(shape, len(names), signature)
        batches.append(batch)
        for name, size in zip(names, core, strict=True):
            cores[name] = same_size(cores[name], size, f"`{name}` of `{signature}`") if name in cores else size
    missing = [name for name in result if name not in cores]
    if missing:
        raise Stop(f"`{missing[0]}` of `{signature}` stands in no operand")
    return (*broadcast_all(batches), *(cores[name] for name in result))


def _signature(signature: str) -> tuple[list[list[str]], list[str]]:
    left, arrow, right = "".join(signature.split()).partition("->")
    group = r"\((?:\w+(?:,\w+)*)?\)"
    if not arrow or not re.fullmatch(f"{group}(?:,{group})*", left) or not re.fullmatch(group, right):
        raise Stop(f"`{signature}` is no signature")
    operands = [[name for name in names.split(",") if name] for names in re.findall(r"\(([^)]*)\)", left)]
    return operands, [name for name in right[1:-1].split(",") if name]


def _divide(shape: Shape, count: int, signature: str) -> tuple[Shape, Shape]:
    """Returns the dims in front of the last ``count``, and these."""
    core = shape[len(shape) - count :] if count <= len(shape) else shape
    if has_blocks(core):
        raise Stop(f"which dims of {text(shape)} `{signature}` takes is not known")
    if count > len(shape):
        raise Refused(f"`{signature}` needs {count} dims, not {len(shape)}")
    return shape[: len(shape) - count], core
