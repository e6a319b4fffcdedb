"""Compare every artifact that there is of one callable: each has a structure, and values of what is static.

Before, of ``f(x: float32[B, D])`` with ``const D = _``, that was called with ``D = 3`` and ``D = 5``::

    [Made(f at (x,), {"D": 3}, "artifact 1"), Made(f at (x,), {"D": 5}, "artifact 2")]

After::

    alternative  sizes         error  relative  in      verdict
    artifact 1   B = 0, D = 3  0      0         return  same
    artifact 2   B = 7, D = 5  1      1         return  wrong
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...diagnostics import Report, ShapeError
from ...ir.expand import expand
from ...ir.expanded import Expanded
from ...runtime.explain import sizes_of
from ...targets.entry.parameters import parameters_of
from ...targets.tensors import torch_tensors
from .calls import Call, Calls
from .sampled import sampled
from .values import SKIPPED, Row, Sampled


@dataclass(frozen=True, slots=True)
class Made:
    """What an artifact was made for.

    Attributes:
        expanded: The spec at its structure.
        sizes: The values of each ``const X = _``.
        label: What messages call it, where there are several.
    """

    expanded: Expanded
    sizes: Mapping[str, int]
    label: str = ""


def distinct(made: Sequence[Made]) -> list[Made]:
    """Returns those that differ in what calls they take."""
    found: dict[str, Made] = {}
    for each in made:
        key = repr((each.expanded.present, each.expanded.structure, sorted(each.sizes.items())))
        found.setdefault(key, each)
    return list(found.values())


def sampled_each(
    label: str,
    target: Callable[..., Any],
    run: Callable[..., Any],
    made: Sequence[Made],
    *,
    n: int | None,
    seed: int,
    grad: bool,
    tolerance: float | None,
    examples: Sequence[Call],
    like: Call | None = None,
) -> Sampled:
    """Returns how ``run`` compares with ``target`` on calls of each of its artifacts; see `sampled`.

    Args:
        label: What messages call it.
        target: The original.
        run: Chooses the artifact.
        made: The artifacts, at least one.
        n: How many calls are drawn for each.
        seed: Of sizes and data.
        grad: Whether gradients are compared, too.
        tolerance: Allowed relative error.
        examples: Calls that are compared as well. What an artifact needs of a call is copied from the first one of them
            that it takes.
        like: A call that the artifact takes, where there is one.

    Raises:
        ShapeError: ``missing-input``: there is no example for the only artifact.
    """
    several = distinct(made)
    found: Sampled | None = None
    for at, each in enumerate(several):
        given = next((call for call in examples if _takes(each, target, call)), None)
        try:
            own = sampled(
                label,
                target,
                run,
                each.expanded,
                n=n,
                seed=seed,
                grad=grad,
                tolerance=tolerance,
                examples=() if at else examples,
                like=given if given is not None else like,
                sizes=each.sizes,
            )
        except ShapeError as error:
            if len(several) == 1 or error.code != "missing-input":
                raise
            own = Sampled(
                label, (Row("", each.sizes, SKIPPED, f"there is no example: {error.diagnostics[0].message}"),)
            )
        if len(several) > 1:
            own = replace(own, rows=tuple(replace(row, label=row.label or each.label) for row in own.rows))
        found = own if found is None else found.and_(own)
    assert found is not None  # there is one
    return found


def _takes(made: Made, target: Callable[..., Any], call: Call) -> bool:
    """Returns whether a call has the structure of an artifact, and its static sizes."""
    signature = made.expanded.signature
    arguments = Calls(parameters_of(target, signature)).after(call).like
    listed = {param.name: arguments[param.name] for param in signature.params if param.name in arguments}
    try:
        own = expand(signature, listed, is_tensor=torch_tensors().is_tensor, report=Report())
        if own is None or (own.present, own.structure) != (made.expanded.present, made.expanded.structure):
            return False
        sizes = sizes_of(own, listed)
    except (ShapeError, AttributeError, IndexError, TypeError, KeyError):  # it is no call of this spec
        return False
    return all(sizes.get(name, size) == size for name, size in made.sizes.items())


__all__ = ["Made", "distinct", "sampled_each"]
