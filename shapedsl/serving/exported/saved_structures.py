"""The structure of a call as JSON, so that a file can say for which structures it has artifacts.

After, for ``f(x: Tensor[*batch, D], mask: Tensor[D] | None, kvs: [Tensor[D], ...])``::

    {"x": 3, "mask": null, "kvs": [2, [1, 1]]}     ranks, None-ness, lengths
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...diagnostics import Report
from ...ir.expanded import Expanded
from ...runtime.code import Code
from ...runtime.select import Selector
from ...runtime.skeleton import StandIn, skeleton, stand_in
from ...runtime.solve import at_structure

if TYPE_CHECKING:
    from ..dispatch.dispatcher import Dispatcher


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


def structure_from_json(dispatcher: Dispatcher, found: Mapping[str, Any]) -> Expanded:
    """Returns the signature of a callable at a structure.

    Args:
        dispatcher: Of the callable.
        found: From `structure_as_json`.

    Raises:
        ValueError: It is no structure of the signature.
        ShapeError: The signature does not allow it.
    """
    selector: Selector = dispatcher.selector
    types = {param.name: param.type for param in selector.listed}
    if not found.keys() <= types.keys():
        raise ValueError("it has other parameters than the spec")
    try:
        arguments = {name: stand_in(types[name], each) for name, each in found.items()}
    except (TypeError, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None
    report = Report()
    tensors = replace(dispatcher.tensors, kind=StandIn)
    expanded = at_structure(selector.signature, arguments, tensors, report, selector.solve)
    report.raise_errors()
    if expanded is None:
        raise ValueError("it does not fit the spec")
    return expanded


__all__ = ["structure_as_json", "structure_from_json"]
