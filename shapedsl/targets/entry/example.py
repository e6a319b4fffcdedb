"""Make the tensors of an example distinct from each other and from what the target holds.

torch takes one tensor in two places for one input. Strict export refuses it, non-strict export and
make_fx tie the two together, and where both have one size in the spec the program is wrong without
a word: ``x - y`` gives 0 forever, a module that was traced on its own weight adds its input twice.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CellType
from typing import Any, TypeVar

Example = TypeVar("Example")


def distinct(example: Example, target: Callable[..., Any]) -> Example:
    """Returns ``example`` with each tensor cloned that was passed before, or that ``target`` holds.

    Args:
        example: Any nesting of containers that torch's pytree knows.
        target: Its parameters, buffers, attributes, closure, defaults and globals are looked at.
    """
    import torch
    from torch.utils import _pytree as pytree

    seen = {id(tensor) for tensor in _held(target)}

    def once(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in seen:
            return value.detach().clone().requires_grad_(value.requires_grad)
        seen.add(id(value))
        return value

    copied: Example = pytree.tree_map(once, example)
    return copied


def _held(target: Any) -> Iterator[Any]:
    """Yields what ``target`` can reach besides its arguments."""
    import torch

    while isinstance(target, functools.partial):
        yield from (*target.args, *target.keywords.values())
        target = target.func
    owner = getattr(target, "__self__", target)
    if isinstance(owner, torch.nn.Module):
        yield from owner.parameters()
        yield from owner.buffers()
        for module in owner.modules():
            yield from vars(module).values()
    elif hasattr(owner, "__dict__") and not inspect.ismodule(owner):
        yield from vars(owner).values()
    function = inspect.unwrap(getattr(target, "__func__", target))
    if inspect.isfunction(function):
        yield from function.__defaults__ or ()
        yield from (function.__kwdefaults__ or {}).values()
        # an empty cell has no contents to read
        yield from (cell.cell_contents for cell in function.__closure__ or () if cell != CellType())
        for name in function.__code__.co_names:
            yield function.__globals__.get(name)
