"""A callable that has each of its calls read, and else does what it did.

Inside a trace (torch.compile, export, make_fx, ``torch.fx.symbolic_trace``, ``torch.jit.trace``) sizes are symbols and
nothing is read: dynamo sees one test, which is true there, and the call, so that graphs stay whole.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol

import torch

from .entry.module import SpecModule
from .tracing import is_symbolically_traced, is_traced

_is_dynamo_compiling = torch.compiler.is_dynamo_compiling
_dispatch_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._len_torch_function_stack


class Observer(Protocol):
    """Who reads calls."""

    def read(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns what the call is counted as, or None."""

    def returned(self, call: Any, result: Any) -> None:
        """Counts a call that has returned."""

    def raised(self) -> None:
        """Counts a call that has raised."""


def is_tensor(value: object) -> bool | None:
    """Returns whether a value of a type not met before is a tensor; None while `torch.fx.symbolic_trace` makes proxies."""
    return None if is_symbolically_traced() else isinstance(value, torch.Tensor)


def observed(target: Callable[..., Any], observer: Observer) -> Callable[..., Any]:
    """Returns a function that calls ``target``, with its name and its parameters; a coroutine function for one."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if _is_dynamo_compiling():
            return target(*args, **kwargs)
        # in a trace of torch.jit sizes are tensors, and the observer finds that out
        traced = (_dispatch_modes() or _function_modes()) and is_traced()
        if traced or (read := observer.read(args, kwargs)) is None:
            return target(*args, **kwargs)
        try:
            result = target(*args, **kwargs)
        except BaseException:
            observer.raised()
            raise
        observer.returned(read, result)
        return result

    async def later(*args: Any, **kwargs: Any) -> Any:
        read = observer.read(args, kwargs)
        if read is None:
            return await target(*args, **kwargs)
        try:
            result = await target(*args, **kwargs)
        except BaseException:
            observer.raised()
            raise
        observer.returned(read, result)
        return result

    made = later if inspect.iscoroutinefunction(target) else call
    functools.update_wrapper(made, target)
    # a spec that torch would read off the frame of this wrapper is found on what is wrapped
    made.__dict__.pop("_dynamic_spec", None)
    return made


class Offers(Observer, Protocol):
    """An observer, and what an observed callable offers besides its call."""

    @property
    def save(self) -> Callable[..., None]:
        """Adds the calls since the last save to a file."""
        ...

    @property
    def suggest(self) -> Callable[..., Any]:
        """Returns what the calls so far suggest."""
        ...

    @property
    def profile(self) -> Any:
        """A copy of what this process has seen so far."""


class Recipe:
    """How a module's calls are observed: what `ObservedModule` keeps in place of torch's context."""

    def __init__(self, observer: Offers) -> None:
        self.observer = observer

    def __call__(self, target: Callable[..., Any]) -> Callable[..., Any]:
        """Returns ``target`` observed."""
        return observed(target, self.observer)

    def __deepcopy__(self, memo: object) -> Recipe:
        """Returns itself: the calls of a copy of the module are counted with the others."""
        return self


class ObservedModule(SpecModule):
    """A module whose calls are observed; what it has is the module's own, as torch's own wrapper does it."""

    @property
    def profile(self) -> Any:
        """A copy of what this process has seen so far."""
        return self._observer.profile

    @property
    def save(self) -> Callable[..., None]:
        """Adds the calls since the last save to a file."""
        return self._observer.save

    @property
    def suggest(self) -> Callable[..., Any]:
        """Returns what the calls so far suggest."""
        return self._observer.suggest

    @property
    def _observer(self) -> Offers:
        recipe: Any = self.dynamo_ctx
        found: Offers = recipe.observer
        return found


__all__ = ["ObservedModule", "Observer", "Offers", "Recipe", "is_tensor", "observed"]
