"""The functions generated for one spec, and their text."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .. import pipeline
from ..ir import Signature
from ..runtime.bind import binder
from ..runtime.check import checker, unchecked
from ..targets.tensors import torch_for

if TYPE_CHECKING:
    from .spec import Spec

Function = TypeVar("Function", bound="Callable[..., Any]")

_MAKERS: Final = {"check": checker, "bind": binder}


def generated(signature: Signature, what: str) -> FunctionType:
    """Returns the method ``check`` or ``bind`` of the spec of ``signature``, unbound.

    Raises:
        ShapeError: A variable cannot be computed from the inputs.
        ImportError: torch is not installed or too old.
    """
    tensors = torch_for(f"{'checking' if what == 'check' else 'binding'} inputs")
    made = _MAKERS[what](signature, tensors, solve=pipeline.solve, seek=pipeline.nearest, method=True)
    made.__name__ = what  # by which a bound method is pickled; errors show the qualified name
    made.__doc__ = f"See `Spec.{what}`."
    return made


def bound_in_trace(spec: Spec) -> Callable[..., Any]:
    """Returns what stands for ``spec.bind`` in code that dynamo traces: sizes are read, and nothing is compared."""
    _prepare(spec)
    return spec.traced


def _prepare(spec: Spec) -> None:
    if not hasattr(spec, "traced"):
        made = binder(spec.signature, torch_for("binding inputs"), solve=pipeline.solve)
        spec.traced = vars(made)["_torchdynamo_inline"]


# what `torch.compiler.assume_constant_result` does: dynamo calls it, and does not look inside
vars(_prepare)["_dynamo_marked_constant"] = True


def unchecked_in_trace(spec: Spec) -> Callable[..., None]:
    """Returns what stands for ``spec.check`` in code that dynamo traces: nothing is checked."""
    del spec
    return unchecked


def traced_as(other: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Returns a decorator: dynamo traces ``other`` in place of what is decorated."""

    def mark(function: Function) -> Function:
        vars(function)["_torchdynamo_inline"] = other
        return function

    return mark


__all__ = ["bound_in_trace", "generated", "traced_as", "unchecked_in_trace"]
