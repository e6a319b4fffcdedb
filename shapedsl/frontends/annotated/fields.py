"""The annotations of functions and classes as Python keeps them: objects where it evaluated them, else text."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any


def fields_of(cls: type) -> Mapping[str, tuple[type, object]] | None:
    """Returns the fields of a class with the class that declares each; None if it has no fields."""
    typed_dict = hasattr(cls, "__total__") and hasattr(cls, "__required_keys__")
    names = getattr(cls, "__dataclass_fields__", None)
    if names is None:
        names = getattr(cls, "_fields", None)
    if not typed_dict and names is None:
        return None
    found: dict[str, tuple[type, object]] = {}
    for owner in reversed(cls.__mro__):
        for name, annotation in annotations_of(owner).items():
            if typed_dict or name in (names or ()):
                found[name] = owner, annotation
    return found


def annotations_of(target: Any) -> Mapping[str, object]:
    """Returns the annotations of a function or class itself, unevaluated where Python kept them so."""
    if sys.version_info >= (3, 14):
        import annotationlib

        try:
            return annotationlib.get_annotations(target)
        except Exception:  # a name is missing, or whatever the user's expression raises: all of them as text
            return annotationlib.get_annotations(target, format=annotationlib.Format.STRING)
    try:
        return inspect.get_annotations(target)
    except (TypeError, ValueError):  # somebody's class has something else under that name
        return {}


__all__ = ["annotations_of", "fields_of"]
