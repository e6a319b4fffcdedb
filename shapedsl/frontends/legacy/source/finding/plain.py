"""Values of a source file as plain Python objects, for readers that take those; and JSON text as values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from ..values import Constant, Dict, Sequence, Unknown, Value
from .refused import not_known, refuse
from .to_model import described

if TYPE_CHECKING:
    import libcst as cst


def plain(value: Value) -> Any:
    """Returns what a value is at run time: a constant, or dicts and lists of them.

    Raises:
        RefusedError: Something in it is none of these, or not known.
    """
    match value:
        case Constant(value=constant):
            return constant
        case Dict(entries=entries):
            return {key: plain(item) for key, (_, item) in entries.items()}
        case Sequence(kind=kind, items=items):
            made = [plain(item) for item in items]
            return made if kind == "list" else tuple(made)
        case Unknown():
            raise not_known(value)
        case _:
            raise refuse(f"{described(value)} is no constant", value.node)


def from_json(text: str, node: cst.CSTNode) -> Value | None:
    """Returns what ``json.loads`` makes of a text, as a value; None if it is no JSON."""
    try:
        return _value(json.loads(text), node)
    except (ValueError, RecursionError):
        return None


def _value(found: Any, node: cst.CSTNode) -> Value:
    if isinstance(found, dict):
        read = cast("dict[str, Any]", found)
        entries: dict[object, tuple[Value, Value]] = {
            key: (Constant(key, node), _value(item, node)) for key, item in read.items()
        }
        return Dict(entries, node, is_whole=False)
    if isinstance(found, list):
        items = [_value(item, node) for item in cast("Any", found)]
        return Sequence("list", items, node, is_whole=False)
    return Constant(found, node)


__all__ = ["from_json", "plain"]
