"""The structure of a call as JSON, so that a file can say for which structures it has artifacts.

After, for ``f(x: Tensor[*batch, D], mask: Tensor[D] | None, kvs: [Tensor[D], ...])``::

    {"x": 3, "mask": null, "kvs": [2, [1, 1]]}     ranks, None-ness, lengths
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..diagnostics import Report
from ..ir import Signature
from ..ir.expanded import Expanded
from ..runtime.code import Code
from ..runtime.select import Selector
from ..runtime.skeleton import StandIn, skeleton, stand_in
from ..runtime.solve import Solve, at_structure
from ..runtime.tensors import Tensors

if TYPE_CHECKING:
    from .dispatch import Dispatcher

DEEPEST: Final = 64


def structure_as_json(dispatcher: Dispatcher, values: tuple[Any, ...]) -> dict[str, Any]:
    """Returns the structure of a call.

    Args:
        dispatcher: Of the callable.
        values: All arguments, one a parameter.
    """
    selector: Selector = dispatcher.selector
    found: dict[str, Any] = {}
    given = selector.arguments(values)
    for param in selector.listed:
        if param.name in given:
            code = Code(["value"])
            line = f"return {skeleton(param.type, 'value', code)}"
            look = code.function(f"{code.prefix}f(value)", [line], "structure")
            found[param.name] = look(given[param.name])
    as_json: dict[str, Any] = json.loads(json.dumps(found))
    return as_json


def structure_from_json(
    signature: Signature, found: Mapping[str, Any], tensors: Tensors, solve: Solve | None
) -> Expanded:
    """Returns a signature at a structure.

    Args:
        signature: Not expanded.
        found: From `structure_as_json`.
        tensors: What a tensor is.
        solve: Computes variables that cannot be read off.

    Raises:
        ValueError: It is no structure of the signature.
        ShapeError: The signature does not allow it.
    """
    types = {param.name: param.type for param in signature.params}
    if not found.keys() <= types.keys():
        raise ValueError("it has other parameters than the spec")
    try:
        arguments = {name: stand_in(types[name], each) for name, each in found.items()}
    except (TypeError, ValueError, LookupError, RecursionError) as error:
        raise ValueError(str(error)) from None
    report = Report()
    expanded = at_structure(signature, arguments, replace(tensors, kind=StandIn), report, solve)
    report.raise_errors()
    if expanded is None:
        raise ValueError("it does not fit the spec")
    return expanded


__all__ = ["structure_as_json", "structure_from_json"]
