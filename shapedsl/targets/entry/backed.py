"""``backed``: the same entry function, compiled with sizes that torch may look at: `mark_dynamic` instead of a ShapesSpec.

torch then guesses from the first call, and guards what it relied on: sizes on the other side of a branch have a graph of
their own. Where it relied on the very size, it says so as an error, because the dim is marked. Ranges, equal sizes and
assumptions are statements of the entry function (`told`): as part of a mark, a range would be a promise that no guard
narrows it, and convolutions need some.

A dim of 0 or 1 is left unmarked, since torch specializes those in any case, and with it what follows from it: under
``y: Tensor[2*B]``, a ``B`` of 1 makes ``y`` 2. Other dims of such a call are marked so that this is no error.

Marks are attributes of the caller's tensors, so they are taken off again when the call ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import torch

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import Var, VariableKind
from ...ir.expanded import Leaf, Lowered
from ...runtime.code import Code
from ...runtime.parameters import Parameter, header

LEAST: Final = 2  # below it torch takes a size for a number


@dataclass(frozen=True)
class Mark:
    """An axis that is dynamic, and of which tensor, by number."""

    tensor: int
    axis: int


def marking(
    run: Callable[..., Any], parameters: Sequence[Parameter], lowered: Lowered, arguments: str
) -> Callable[..., Any]:
    """Returns a function that marks the dims of its arguments, and calls ``run``.

    Args:
        run: Made by torch.compile without a spec.
        parameters: Of both.
        lowered: What is dynamic.
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
    """Returns what to raise where torch pinned a size that the spec leaves open, or None."""
    if type(error).__name__ != "ConstraintViolationError" and "Constraints violated" not in str(error):
        return None
    pinned = [f"{_place(found)} became {found['size']}" for found in _PINNED.finditer(str(error))]
    said = [line.strip(" -") for line in str(error).splitlines() if line.strip().startswith("- ")]
    message = f"torch specialized a size that the spec leaves open{': ' if pinned else ''}{' and '.join(pinned[:3])}"
    notes = () if pinned else tuple(said[:3])
    helps = ("let a `case` have the sizes for which the program differs, or write the number in the spec",)
    return ShapeError([Diagnostic("specialized-dim", Severity.ERROR, message, notes=notes, helps=helps)])


def _place(found: re.Match[str]) -> str:
    parts = re.sub(r"\['(\w+)'\]", r".\1", found["place"]).removeprefix(".")
    return f"`{parts}.shape[{found['axis']}]`"


# as torch's ConstraintViolationError puts it
_PINNED: Final = re.compile(
    r"You marked L(?P<place>\S+?)\.size\(\)\[(?P<axis>\d+)\] as dynamic but your code specialized it to be a constant "
    r"\((?P<size>\d+)\)"
)


class _Marked:
    """Marks tensors while they are passed."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self.marks = marks

    @contextmanager
    def around(self, *tensors: Any) -> Generator[None]:
        kept = [(tensor, _attributes(tensor)) for tensor in tensors]
        sizes = [(tensors[mark.tensor], mark.axis, tensors[mark.tensor].shape[mark.axis]) for mark in self.marks]
        mark = torch._dynamo.mark_dynamic
        if any(size < LEAST for _, _, size in sizes):
            mark = torch._dynamo.maybe_mark_dynamic
        try:
            for tensor, axis, size in sizes:
                if size >= LEAST:
                    mark(tensor, axis)
            yield
        finally:
            for tensor, before in reversed(kept):
                for name in _MADE:
                    tensor.__dict__.pop(name, None)
                tensor.__dict__.update(before)


_MADE: Final = (
    "_dynamo_dynamic_indices",
    "_dynamo_weak_dynamic_indices",
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
    sizes = {variable.name for variable in lowered.variables if variable.kind is not VariableKind.INT}
    if leaf.scalar:
        return
    for axis, dim in enumerate(leaf.dims):
        if isinstance(dim, Var) and dim.name in sizes:
            yield Mark(tensor, axis)


def _value(leaf: Leaf, spelled: dict[str, str], code: Code) -> str:
    value = spelled[leaf.path.root]
    for step in leaf.path.steps:
        value = code.step(value, step)
    return value


__all__ = ["marking", "specialized"]
