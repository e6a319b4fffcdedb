"""Arguments of which the structure alone is known: what a spec is expanded at, in order to verify an artifact.

Before (a call, or a spec at one structure)::

    x=torch.ones(4, 3), bag=Bag(y=torch.ones(5))        x: Tensor[B, 3], bag: Bag(y: Tensor[N])

After::

    x=Placeholder(shape=(4, 3)), bag.y=Placeholder(shape=(5,))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

from torch.utils import _pytree as pytree

from ...ir import MappingType, ObjectType, ScalarType, SequenceType, TensorType, Type
from ...ir.expanded import Expanded
from .inputs import Placeholder

Call = tuple[Sequence[Any], Mapping[str, Any]]


def stand_ins(at: Expanded) -> dict[str, Any]:
    """Returns arguments of the structure of ``at``, by parameter: tensors stand for their ranks."""
    return {param.name: _stand_in(param.type) for param in at.signature.params if param.name in at.present}


def _stand_in(type_: Type) -> Any:
    match type_:
        case TensorType(dims=dims):
            return Placeholder((0,) * len(dims or ()))
        case ScalarType():
            return 0
        case SequenceType(kind=kind, items=items):
            values = [_stand_in(item) for item in items]
            return tuple(values) if kind == "tuple" else values
        case MappingType(entries=entries):
            return {key: _stand_in(item) for key, item in entries}
        case ObjectType(fields=fields):
            return SimpleNamespace(**{name: _stand_in(item) for name, item in fields})
        case _:
            return None


def arguments_seen(original: Callable[..., Any], call: Call) -> dict[str, Any]:
    """Returns a call by parameter, in which tensors stand for their ranks."""
    signature = inspect.signature(original)
    found: dict[str, Any] = {}
    for name, value in signature.bind(*call[0], **call[1]).arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            value = list(cast("tuple[object, ...]", value))
        found[name] = pytree.tree_map(_seen, value)
    return found


def _seen(value: Any) -> Any:
    """Returns what stands for a leaf of the arguments: a tensor's rank, a number itself, an object by its attributes."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return Placeholder(tuple(value.shape))
    return value if value is None or isinstance(value, (bool, int, float, str)) else _Object(value)


class _Object:
    """An object that torch does not take apart, seen through its attributes."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getattr__(self, name: str) -> Any:
        return _seen(getattr(self._value, name))


__all__ = ["arguments_seen", "stand_ins"]
