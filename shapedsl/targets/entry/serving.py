"""What serving needs of torch: whether a call changed what it was given, and what a new process must forget."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree


def versions_of(target: Callable[..., Any], values: Sequence[Any]) -> tuple[int, ...]:
    """Returns numbers that differ once one of the tensors of a call was changed in place.

    Args:
        target: What is called; of a module or a bound method the parameters and buffers count too.
        values: All arguments.
    """
    return tuple(tensor._version for tensor in _tensors(target, values) if not tensor.is_inference())


def _tensors(target: Callable[..., Any], values: Sequence[Any]) -> Iterator[torch.Tensor]:
    yield from _of(pytree.tree_leaves(list(values)))
    owner: object = getattr(target, "__self__", target)
    for module in (owner, *values):
        if isinstance(module, torch.nn.Module):
            yield from _of(module.parameters())
            yield from _of(module.buffers())


def _of(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    # a class of the user's may know no version
    return (value for value in values if type(value) in (torch.Tensor, torch.nn.Parameter))


def is_transformed() -> bool:
    """Returns whether this call is part of ``vmap``, ``torch.func.grad`` or the like, or under a FakeTensorMode or one like it.

    torch cannot compile there, which says nothing of other calls.
    """
    functorch: Any = getattr(torch._C, "_functorch")  # noqa: B009 - it is in no stub
    return bool(torch._C._len_torch_dispatch_stack()) or functorch.peek_interpreter_stack() is not None


def is_refusal(error: Exception) -> bool:
    """Returns whether an error says that torch could not compile, rather than what a graph or a function raised."""
    from torch._dynamo.exc import FailOnRecompileLimitHit, TorchDynamoException

    return isinstance(error, (TorchDynamoException, FailOnRecompileLimitHit))


@contextmanager
def kept(target: Callable[..., Any], values: Sequence[Any] = ()) -> Generator[None]:
    """Puts the buffers of modules back when the block ends: statistics that made inputs would change.

    Args:
        target: What is called in the block.
        values: Arguments that are always given.
    """
    owner: object = getattr(target, "__self__", target)
    modules = [module for module in (owner, *values) if isinstance(module, torch.nn.Module)]
    buffers = [(buffer, buffer.detach().clone()) for module in modules for buffer in module.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, before in buffers:
                if not torch.equal(buffer, before):
                    buffer.copy_(before)


def as_now(run: Callable[[], None]) -> Callable[[], None]:
    """Returns ``run`` for another thread, under this one's modes of autograd."""
    grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    def same() -> None:
        with torch.inference_mode(inference), torch.set_grad_enabled(grad):
            run()

    return same


def device_of(target: Callable[..., Any], values: Sequence[Any] = ()) -> torch.device | None:
    """Returns the device of a module's parameters; None for torch's default.

    Args:
        target: What is called.
        values: Arguments that are always given.
    """
    owner: object = getattr(target, "__self__", target)
    for module in (owner, *values):
        if isinstance(module, torch.nn.Module):
            for tensor in (*module.parameters(), *module.buffers()):
                return tensor.device
    return None


def _forget_compiling() -> None:
    """Opens torch's lock of compilations: who held it when the process was forked lives on in the parent alone."""
    from torch._dynamo import convert_frame

    renew: Any = getattr(convert_frame.compile_lock, "_at_fork_reinit", None)
    if renew is not None:
        renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_compiling)

__all__ = ["as_now", "device_of", "is_refusal", "is_transformed", "kept", "versions_of"]
