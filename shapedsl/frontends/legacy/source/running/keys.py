"""What a dict knows its keys by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values import Callable, Constant, DimValue, Sequence, Tensor

if TYPE_CHECKING:
    from ..values import Value


def key_of(value: Value) -> tuple[object] | None:
    """Returns what a dict knows a value by, in a tuple; None if that is not known, or it is no key."""
    if isinstance(value, Constant):
        return (value.value,)
    if isinstance(value, Sequence) and value.kind == "tuple":
        parts = [key_of(item) for item in value.items]
        return None if any(part is None for part in parts) else (tuple(part[0] for part in parts if part),)
    is_itself = isinstance(value, (DimValue, Tensor)) or (isinstance(value, Callable) and value.kind != "object")
    return (value,) if is_itself else None  # another may be equal to what it likes


__all__ = ["key_of"]
