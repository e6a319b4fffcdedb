"""What ``torch.compile`` returned: whose code it compiled, and the spec that it was given.

=====================================  =============================================================
compiled                               torch keeps the graphs at
=====================================  =============================================================
a function, a method                   its code
a module of the user's                 the code of its class's ``forward``
a module of a library                  a wrapper of torch's own, which all such modules share
=====================================  =============================================================
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from .cached import SHARED
from .held import Held


@dataclass(frozen=True, slots=True)
class TorchCompiled:
    """What ``torch.compile`` returned.

    Attributes:
        original: What it was given; a module's ``forward``.
        held: Where its graphs may be, each with what its code is given before the arguments.
        shapes: The ShapesSpec that it was given, or None.
    """

    original: Callable[..., Any]
    held: tuple[tuple[Held, tuple[Any, ...]], ...]
    shapes: Any


def is_torch_compiled(value: object) -> bool:
    """Returns whether ``value`` is what ``torch.compile`` returned."""
    import torch

    dynamo: Any = torch._dynamo
    return isinstance(value, dynamo.eval_frame.OptimizedModule) or bool(getattr(value, "_is_torch_compile", False))


def torch_compiled(value: Any) -> TorchCompiled:
    """Returns whose code torch compiled.

    Args:
        value: What ``torch.compile`` returned.
    """
    module = getattr(value, "_orig_mod", None)
    if module is not None:
        context: Any = value.dynamo_ctx
        original: Any = module.forward
        wrapped = [_closed_over(value.forward, "fn"), type(module).forward]
    else:
        context = _closed_over(value, "self")
        original = value._torchdynamo_orig_callable
        wrapped = [original]
    region = getattr(context, "_isolate_recompiles_id", SHARED)
    found = tuple(_held(each, module, original, SHARED if region is None else region) for each in wrapped)
    pairs = tuple(pair for pair in found if pair is not None)
    return TorchCompiled(original, pairs, getattr(context, "_dynamic_shapes", None))


def _held(wrapped: Any, module: Any, original: Callable[..., Any], region: int) -> tuple[Held, tuple[Any, ...]] | None:
    if inspect.ismethod(wrapped):
        function: Any = wrapped.__func__
        return (Held(function, region=region), (wrapped.__self__,)) if isinstance(function, FunctionType) else None
    if not isinstance(wrapped, FunctionType):
        return None
    if wrapped.__code__.co_varnames[:2] == ("args", "kwargs") and "fn" in wrapped.__code__.co_freevars:
        positions = {name: at for at, name in enumerate(inspect.signature(original).parameters)}
        return Held(wrapped, positions=positions, region=region, chosen=True), ()
    return Held(wrapped, region=region), () if module is None else (module,)


def _closed_over(function: Any, name: str) -> Any:
    """Returns what a function of torch's has in its closure under ``name``, or None."""
    for each, cell in _cells(function):
        if each == name:
            return cell
    return None


def _cells(function: Any) -> Iterator[tuple[str, Any]]:
    code = getattr(function, "__code__", None)
    for name, cell in zip(code.co_freevars if code is not None else (), function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it is empty
            continue


__all__ = ["TorchCompiled", "is_torch_compiled", "torch_compiled"]
