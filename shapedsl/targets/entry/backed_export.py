"""``backed`` programs: sizes that torch may look at while it traces, ``Dim.DYNAMIC`` in place of a ShapesSpec.

torch takes each of them for at least 2 and checks nothing of it when the program runs, so a spec that allows 0 or 1
is refused.

Before::

    f(x: Tensor[B, 4])     B in [2, 64]

After::

    torch.export.export(f, (x,), dynamic_shapes=({0: Dim.DYNAMIC(min=2, max=64)},))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.utils import _pytree as pytree

from ...diagnostics import Diagnostic, Severity, ShapeError
from ...ir import Attribute
from ...ir.expanded import Lowered
from ..errors import trace_failure
from .backed import specialized
from .export import as_module
from .forward import Call as Passed
from .parameters import call_signature
from .programs import Call

if TYPE_CHECKING:
    from torch.export import ExportedProgram

LEAST_BACKED: Final = 2


def backed_export(target: Callable[..., Any], call: Call, lowered: Lowered, *, strict: bool) -> ExportedProgram:
    """Returns ``target`` exported with sizes that torch may look at: ``Dim.DYNAMIC`` with their ranges.

    Args:
        target: A function, a module, or anything that can be called.
        call: The example.
        lowered: The spec at its structure.
        strict: torch's own flag.

    Raises:
        ShapeError: ``unsupported-by-torch``: a size below 2, or an int that is one; ``specialized-dim``: torch pins
            a size that the spec leaves open.
    """
    from torch.export import Dim

    args, kwargs = call
    ranges = {variable.name: variable for variable in lowered.variables}
    marks: dict[int, dict[int, Any]] = {}
    leaves = [value for value in pytree.tree_leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
    positions = {id(value): at for at, value in enumerate(leaves)}
    arguments = _bound(target, lowered, call)
    for leaf in lowered.leaves:
        named = [(axis, ranges[name]) for axis, dim in enumerate(leaf.dims) if (name := getattr(dim, "name", None))]
        if not named:
            continue
        for _, variable in named:
            if leaf.scalar or (variable.low or 0) < LEAST_BACKED:
                what = "is an int" if leaf.scalar else f"may be less than {LEAST_BACKED}"
                raise _not_backed(f"`{variable.name}` {what}")
        value: Any = arguments[leaf.path.root]
        for step in leaf.path.steps:
            value = getattr(value, step.name) if isinstance(step, Attribute) else value[step.key]
        marks[positions[id(value)]] = {
            axis: Dim.DYNAMIC(min=variable.low, max=variable.high) for axis, variable in named
        }
    flat, spec = pytree.tree_flatten((args, kwargs))
    found = [marks.get(positions[id(value)]) if isinstance(value, torch.Tensor) else None for value in flat]
    shapes, named_shapes = pytree.tree_unflatten(found, spec)
    module = as_module(target, lowered, Passed(len(args), kwargs))
    try:
        return torch.export.export(
            module, args, kwargs, dynamic_shapes=(*shapes, *named_shapes.values()), strict=strict
        )
    except Exception as error:
        translated = specialized(error) or trace_failure(error, lowered)
        if translated is None:
            raise
        raise translated from error


def _bound(target: Callable[..., Any], lowered: Lowered, call: Call) -> Mapping[str, Any]:
    return call_signature(target, lowered.expanded.signature).bind(*call[0], **call[1]).arguments


def _not_backed(message: str) -> ShapeError:
    helps = (
        f"declare sizes of at least {LEAST_BACKED} there, and leave the others to a `case`; or do without `backed`",
    )
    notes = (f"torch traces backed sizes as if they were at least {LEAST_BACKED}, and checks nothing of it",)
    text = f"{message}, and cannot be exported `backed`"
    return ShapeError([Diagnostic("unsupported-by-torch", Severity.ERROR, text, notes=notes, helps=helps)])


__all__ = ["backed_export"]
