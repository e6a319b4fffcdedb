"""The functions generated for one spec, and their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .. import pipeline
from ..ir import Signature
from ..ir.dtypes import DTYPES, FAMILIES
from ..runtime.bind import binder
from ..runtime.check import check_code, checker, unchecked
from ..runtime.tensors import Tensors
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


def code_text(signature: Signature) -> str:
    """Returns the check as text; torch is not loaded. Without a newline at the end.

    Where a call's structure is open it is two functions: the one in front, and one that it chooses among others.

    Raises:
        ShapeError: A variable cannot be computed from the inputs.
    """
    parts: list[str] = []
    shown = check_code(signature, _NAMES, solve=pipeline.solve)
    for at, function in enumerate(shown):
        if len(shown) > 1:
            told = "chosen at each call by" if at == 0 else "one that is chosen, for a call where"
            parts += [f"# {told} {_listed(function.at)}"]
        parts.append(function.text)
    return "\n".join(parts).rstrip("\n")


class Tensor:
    """Stands for torch's class in text."""


_NAMES: Final = Tensors(
    Tensor,
    {name: frozenset((name,)) for name in DTYPES} | {name: frozenset((name, "and others")) for name in FAMILIES},
    modes=lambda: 0,
)


def _listed(parts: Sequence[str]) -> str:
    """Returns ``a, b and c``."""
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])


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


__all__ = ["bound_in_trace", "code_text", "generated", "traced_as", "unchecked_in_trace"]
