"""``backed``: the same entry function, compiled with sizes that torch may look at: `mark_dynamic` instead of a ShapesSpec.

torch then guesses from the first call, and guards what it relied on; where that is a size, it says so as an error,
because each dim is marked with its range. A dim of 0 or 1 is left unmarked, since torch specializes those in any case:
such calls have graphs of their own.

Marks are attributes of the caller's tensors, so they are taken off again when the call ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import torch

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import Var, VariableKind
from ...ir.expanded import Leaf, Lowered
from ...runtime.code import Code
from ...runtime.parameters import Parameter, header


@dataclass(frozen=True)
class Mark:
    """An axis that is dynamic: of which tensor (by number), in which range."""

    tensor: int
    axis: int
    low: int
    high: int


def marking(
    run: Callable[..., Any], parameters: Sequence[Parameter], lowered: Lowered, arguments: str
) -> Callable[..., Any]:
    """Returns a function that marks the dims of its arguments, and calls ``run``.

    Args:
        run: Made by torch.compile without a spec.
        parameters: Of both.
        lowered: What is dynamic, and within which range.
        arguments: How the function passes them on.
    """
    spelled = {param.name: param.spelled for param in parameters}
    code = Code(spelled.values())
    marks: list[Mark] = []
    tensors: list[str] = []
    for leaf in lowered.leaves:
        found = list(_marks(leaf, len(tensors), lowered))
        if found:
            marks += found
            tensors.append(_value(leaf, spelled, code))
    marked = code.use(_Marked(marks).around, "marked")
    lines = [
        f"with {marked}({', '.join(tensors)}):",
        f"    return {code.use(run, 'run')}({arguments})",
    ]
    return code.function(f"{code.prefix}f({header(parameters, code)})", lines, "backed")


def specialized(error: Exception) -> ShapeError | None:
    """Returns what to raise where torch pinned or narrowed a size that the spec leaves open, or None."""
    if type(error).__name__ != "ConstraintViolationError" and "Constraints violated" not in str(error):
        return None
    said = [line.strip(" -") for line in str(error).splitlines() if line.strip().startswith("- ")]
    message = "torch specialized a size that the spec leaves open"
    helps = ("let a `case` have the sizes for which the program differs",)
    return ShapeError([Diagnostic("specialized-dim", Severity.ERROR, message, notes=tuple(said[:3]), helps=helps)])


class _Marked:
    """Marks tensors while they are passed."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self.marks = marks

    @contextmanager
    def around(self, *tensors: Any) -> Iterator[None]:
        kept = [(tensor, _attributes(tensor)) for tensor in tensors]
        try:
            for mark in self.marks:
                tensor = tensors[mark.tensor]
                if tensor.shape[mark.axis] >= 2:
                    torch._dynamo.mark_dynamic(tensor, mark.axis, min=max(mark.low, 2), max=mark.high)
            yield
        finally:
            for tensor, before in reversed(kept):
                for name in _MADE:
                    tensor.__dict__.pop(name, None)
                tensor.__dict__.update(before)


_LARGEST: Final = sys.maxsize - 1  # torch takes a lower end only together with an upper one

_MADE = (
    "_dynamo_dynamic_indices",
    "_dynamo_dynamic_range",
    "_dynamo_hint_overrides",
    "_specialize_on",
    "_has_dynamo_dim_marking",
)


def _attributes(tensor: Any) -> dict[str, Any]:
    """Returns the marks that a tensor has, as copies."""
    found = {name: tensor.__dict__[name] for name in _MADE if name in tensor.__dict__}
    return {name: value.copy() if hasattr(value, "copy") else value for name, value in found.items()}


def _marks(leaf: Leaf, tensor: int, lowered: Lowered) -> Iterator[Mark]:
    ranges = {v.name: v for v in lowered.variables if v.kind is not VariableKind.INT}
    if leaf.scalar:
        return
    for axis, dim in enumerate(leaf.dims):
        if isinstance(dim, Var) and dim.name in ranges:
            variable = ranges[dim.name]
            yield Mark(tensor, axis, variable.low or 0, _LARGEST if variable.high is None else variable.high)


def _value(leaf: Leaf, spelled: dict[str, str], code: Code) -> str:
    value = spelled[leaf.path.root]
    for step in leaf.path.steps:
        value = code.step(value, step)
    return value


__all__ = ["marking", "specialized"]
