"""A compiled module is a module: torch's own wrapper, with a checked function in place of its context.

``state_dict`` names, ``train``/``eval``, ``deepcopy``, pickle, ``.to`` and attribute access are torch's
own. A closure over the module would go on running the original's weights after ``deepcopy``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

import torch
from torch._dynamo.eval_frame import OptimizedModule


class SpecModule(OptimizedModule):
    """A module compiled under its spec. ``dynamo_ctx`` is the recipe: picklable, unlike what it makes."""

    def __init__(self, module: torch.nn.Module, recipe: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Args:
        module: The module; its parameters stay where they are.
        recipe: Makes the checked function of a module.
        """
        super().__init__(module, recipe)  # type: ignore[arg-type]

    def _initialize(self) -> None:
        # the module is called with its hooks inside the graph, as a user's function would call it
        self.forward = self.dynamo_ctx(self._orig_mod)
        if inspect.getattr_static(self._orig_mod, "_initialize_hook", None) is not None:
            self._forward = self.forward  # a lazy module makes its parameters first
            self.forward = self._call_lazy_check

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Calls the module. torch's own wrapper is marked to be skipped, so an outer fullgraph compile would fail."""
        return torch.nn.Module.__call__(self, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name != "lowering":  # the function's, unless the module has such an attribute
                raise
            return getattr(self.__dict__.get("_forward", self.forward), name)

    # torch passes on `len` alone; special methods are not found by attribute access
    def __getitem__(self, key: Any) -> Any:
        """Returns what the module holds under ``key``: an item of a Sequential, a ModuleList, a ModuleDict."""
        held: Any = self._orig_mod
        return held[key]

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the module's items.

        Raises:
            TypeError: It has none.
        """
        held: Any = self._orig_mod
        return iter(held)

    def __contains__(self, item: object) -> bool:
        """Returns whether the module holds ``item``, as the module itself understands it."""
        held: Any = self._orig_mod
        return item in held


class ServedModule(SpecModule):
    """A module served by several artifacts. What its function offers is offered by the module, too."""

    def __getattr__(self, name: str) -> Any:
        if name in OFFERED:
            front = self.__dict__.get("_served")
            if front is not None:
                return getattr(front, name)
        return super().__getattr__(name)

    def _initialize(self) -> None:
        super()._initialize()
        inner: Any = self.__dict__.get("_forward", self.forward)
        self.__dict__["_served"] = inner

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        state.pop("_served", None)  # made anew
        return state


OFFERED: Final = frozenset(
    {"warm", "stats", "explain", "check_padding", "verify", "free_buffers", "spec", "dispatcher", "lowering"}
)


def served_module(module: Any, recipe: Callable[[Callable[..., Any]], Callable[..., Any]]) -> ServedModule:
    """Returns ``module`` behind what ``recipe`` makes of it."""
    return ServedModule(module, recipe)


def is_module(target: object) -> bool:
    """Returns whether ``target`` is a module of torch's."""
    return isinstance(target, torch.nn.Module)
