"""Call what was made of an exported program with the arguments it was made for, and refuse others.

After, for a program of ``f(x: Tensor[B, 4], k)`` exported at a float32 tensor and 2::

    x is of another dtype, on another device, not (any, 4), or k is not 2: `no-program`
    x is not contiguous: a copy that is goes in, and what the program wrote to it is copied back
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ...diagnostics import ShapeError
from .program_inputs import ConstantInput, Input, IntInput, TensorInput, dtype_name, no_program

MOST_SHOWN = 4  # arguments that a message tells of


class Runner:
    """Calls what was made of a program, with the arguments it was made for."""

    def __init__(
        self,
        run: Callable[[list[Any]], Any],
        in_spec: pytree.TreeSpec,
        inputs: Sequence[Input],
        label: str,
        names: Sequence[str],
        *,
        trains: bool = True,
    ) -> None:
        """Args:
        run: Takes the flat arguments.
        in_spec: How they are nested.
        inputs: What each of them is.
        label: What messages call the program.
        names: Of the parameters that may be passed by position.
        trains: Whether gradients flow through it.

        Raises:
            ValueError: ``inputs`` are none of ``in_spec``.
        """
        self._run = run
        self._in_spec = in_spec
        self._inputs = tuple(inputs)
        self._label = label
        self._names = names
        self._trains = trains
        self._flatten = flattener(in_spec)
        if in_spec.num_leaves != len(self._inputs):
            raise ValueError(f"{len(self._inputs)} inputs are described, and there are {in_spec.num_leaves}")
        self._dtypes = {each.dtype: _dtype(each.dtype) for each in self._inputs if isinstance(each, TensorInput)}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Returns what the program returns.

        Raises:
            ShapeError: ``no-program``: it was not made for such arguments.
        """
        try:
            flat = self._flatten(args, kwargs)
        except (ValueError, KeyError):
            raise self._refused(["arguments are nested in another way, or keys are missing"]) from None
        copies: list[tuple[torch.Tensor, torch.Tensor, int, bool]] = []
        for at, wanted in enumerate(self._inputs):
            value = flat[at]
            if not self._fits(value, wanted):
                raise self._refused(list(self._differences(flat)))
            if isinstance(wanted, TensorInput):
                if not self._trains and value.requires_grad and torch.is_grad_enabled():
                    notes = [f"{self._place(at)} requires gradients, which a package does not compute"]
                    raise self._refused(notes, "call it under `torch.no_grad()`, or save the program, `aot=False`")
                if not value.is_contiguous():  # as in the example
                    copy = flat[at] = value.contiguous()
                    copies.append((value, copy, copy._version, wanted.written))
        result = self._run(flat)
        for original, copy, version, written in copies:
            if written or copy._version != version:
                with torch.no_grad():
                    original.copy_(copy)
        return result

    def _fits(self, value: Any, wanted: Input) -> bool:
        if type(wanted) is TensorInput:
            if not isinstance(value, torch.Tensor):
                return False
            shape = wanted.shape
            return (
                value.dtype is self._dtypes[wanted.dtype]
                and value.device.type == wanted.device
                and value.layout is torch.strided
                and len(shape) == value.dim()
                and all(want is None or want == size for want, size in zip(shape, value.shape, strict=True))
            )
        if isinstance(wanted, ConstantInput):
            constant = wanted.value
            return type(value) is type(constant) and bool(
                value == constant or (value != value and constant != constant)
            )
        return type(value) is int

    def _differences(self, flat: Sequence[Any]) -> Iterator[str]:
        for at, (value, wanted) in enumerate(zip(flat, self._inputs, strict=True)):
            if not self._fits(value, wanted):
                yield f"{self._place(at)} is {_described(value)}, and was {_meant(wanted)}"

    def _place(self, at: int) -> str:
        """Returns what the user calls a flat argument."""
        leaves = pytree.tree_flatten_with_path(self._in_spec.unflatten(range(len(self._inputs))))[0]
        (first, second, *rest), _ = leaves[at]
        name = getattr(second, "key", None)
        if getattr(first, "idx", 1) == 0:
            position: int = getattr(second, "idx", 0)
            name = self._names[position] if position < len(self._names) else f"argument {position + 1}"
        return f"`{name}{pytree.keystr(tuple(rest))}`"

    def _refused(self, differences: Sequence[str], help_: str = "export with an example like this call") -> ShapeError:
        message = f"`{self._label}` was exported for other arguments"
        return no_program(message, differences[:MOST_SHOWN], (help_,))


def flattener(in_spec: pytree.TreeSpec) -> Callable[[tuple[Any, ...], Mapping[str, Any]], list[Any]]:
    """Returns what makes a list of the arguments of a call, in the order of ``in_spec``; dicts go by key.

    It raises ValueError or KeyError for a call that is nested in another way.
    """
    positional, named = in_spec.children()
    if any(not each.is_leaf() for each in (*positional.children(), *named.children())):
        return _nested(in_spec)
    count, keys = positional.num_children, tuple(named.context or ())

    def flatten(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        if len(args) != count or len(kwargs) != len(keys):
            raise ValueError
        return [*args, *[kwargs[key] for key in keys]]

    return flatten


def _nested(in_spec: pytree.TreeSpec) -> Callable[[tuple[Any, ...], Mapping[str, Any]], list[Any]]:
    def flatten(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        try:
            found: list[Any] = in_spec.flatten_up_to((args, kwargs))
        except ValueError:
            # a tuple for a list is as good
            found = in_spec.flatten_up_to(_alike((args, kwargs), in_spec))
        return found

    return flatten


def _alike(value: Any, spec: pytree.TreeSpec) -> Any:
    """Returns ``value`` with lists and tuples as ``spec`` has them."""
    if isinstance(value, (list, tuple)) and spec.type in (list, tuple) and len(value) == spec.num_children:
        return spec.type([_alike(item, below) for item, below in zip(value, spec.children(), strict=True)])
    if isinstance(value, dict) and spec.type is dict and value.keys() == set(spec.context):
        return {key: _alike(value[key], below) for key, below in zip(spec.context, spec.children(), strict=True)}
    return value


def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"there is no dtype {name!r:.40}")
    return found


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        layout = "" if value.layout is torch.strided else f" {str(value.layout).removeprefix('torch.')}"
        return f"{dtype_name(value.dtype)}{layout} of shape {tuple(value.shape)} on {value.device.type}"
    return f"{value!r:.40}" if isinstance(value, (bool, int, float, str)) or value is None else type(value).__name__


def _meant(wanted: Input) -> str:
    match wanted:
        case TensorInput():
            shape = ", ".join("any" if size is None else str(size) for size in wanted.shape)
            return f"{wanted.dtype} of shape ({shape}{',' if len(wanted.shape) == 1 else ''}) on {wanted.device}"
        case IntInput():
            return "an int"
        case ConstantInput(value=value):
            return f"{value!r:.40}"


__all__ = ["Runner", "flattener"]
