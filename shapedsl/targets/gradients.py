"""Gradients of a call: of what its results add up to, weighted by fixed random numbers.

After, for a linear layer called with ``x``::

    gradient of x         a tensor of the shape of x
    gradient of weight    …

Weights, since a plain sum hides what moves numbers from one place of a result to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import torch
from torch.utils import _pytree as pytree

from ..ir import Path
from .differences import Difference, tensors_differ, tensors_in

COARSER: Final = 10.0  # sums over all rows: how much more rounding may do than to results


def with_gradients(
    call: Callable[[], Any], arguments: Mapping[str, Any], parameters: Mapping[str, torch.Tensor]
) -> tuple[Any, dict[str, torch.Tensor]]:
    """Returns the result of ``call``, and the gradients by name; what has no influence has zeros.

    Args:
        call: Runs with ``arguments``.
        arguments: By name; their floating tensors are leaves, and are asked for gradients here.
        parameters: Of a module, by name.

    Raises:
        RuntimeError: The result has no gradients.
    """
    leaves = dict(_leaves(arguments))
    for leaf in leaves.values():
        leaf.requires_grad_()
    wanted = {**leaves, **parameters}
    result = call()
    total = _total(result)
    if total is None:
        return result, {}
    if not total.requires_grad:
        if wanted:
            raise RuntimeError("its results have no gradients")
        return result, {}
    zeros = True  # of what has no influence
    found = torch.autograd.grad(total, list(wanted.values()), allow_unused=True, materialize_grads=zeros)
    return result, {f"gradient of {name}": grad.detach().clone() for name, grad in zip(wanted, found, strict=True)}


def gradients_differ(
    reference: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor], called: str
) -> Iterator[Difference]:
    """Yields how gradients differ.

    Args:
        reference: Those that are right.
        other: Those that should agree.
        called: What messages call the other run.
    """
    for name, one in reference.items():
        found = tensors_differ(name, one, other.get(name, torch.zeros_like(one)), called=called)
        yield Difference(
            found.path, found.error, found.absolute, found.tolerance * COARSER, found.count, found.what, found.finite
        )


def ask_alike(value: Any, like: Any) -> None:
    """Asks for gradients of what they are asked of in ``like``: torch compiles other code for it.

    Args:
        value: Tensors in containers.
        like: The same containers.
    """
    flat, _ = pytree.tree_flatten_with_path(like)
    asked = {pytree.keystr(keys) for keys, each in flat if isinstance(each, torch.Tensor) and each.requires_grad}
    if asked:
        for keys, each in pytree.tree_flatten_with_path(value)[0]:
            if pytree.keystr(keys) in asked and isinstance(each, torch.Tensor) and each.is_floating_point():
                each.requires_grad_()


def _leaves(arguments: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    met: set[int] = set()
    for name, argument in arguments.items():
        for path, value in tensors_in(argument, Path(name)):
            if id(value) not in met and value.is_leaf and _is_smooth(value):
                met.add(id(value))
                yield str(path), value


def _is_smooth(value: torch.Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def _total(result: Any) -> torch.Tensor | None:
    """Returns the weighted sum of all floating results; None where there are none."""
    generator = torch.Generator("cpu").manual_seed(0)
    total: torch.Tensor | None = None
    for _, value in tensors_in(result, Path("return")):
        if not _is_smooth(value):
            continue
        weights = torch.randn(value.shape, generator=generator).to(value.device, torch.float64)
        numbers = torch.view_as_real(value).sum(-1) if value.is_complex() else value
        part = (numbers.to(torch.float64) * weights).sum()
        total = part if total is None else total + part
    return total


__all__ = ["COARSER", "ask_alike", "gradients_differ", "with_gradients"]
