"""The annotations of functions and classes as Python keeps them: objects where it evaluated them, else text."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from ...diagnostics import Source
from .namespace import Evaluator, of_class
from .places import ClassPlaces


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a class, unread.

    Attributes:
        annotation: An object, or text.
        namespace: What text is evaluated in.
        source: Makes the source of a text that stands in the annotation.
        required: Whether a key must be there, where the annotation says neither ``Required`` nor ``NotRequired``.
    """

    annotation: object
    namespace: Evaluator
    source: Callable[[str], Source]
    required: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class FieldClass:
    """A class by its fields, as annotations name it: what a reader of source text makes of a class.

    Attributes:
        name: The class's name.
        keyed: Whether the fields are keys of a dict (a ``TypedDict``), else attributes.
        fields: By name; may be filled in later, for a class may contain itself.
        shape_vars: Returns the names that Pyrefly's decorator of the class declares, as text; None without it.
    """

    name: str
    keyed: bool
    fields: dict[str, Field]
    shape_vars: Callable[[], str | None] = lambda: None


def field_class(cls: type) -> FieldClass | None:
    """Returns a class by its fields; None if it has none."""
    fields = fields_of(cls)
    if fields is None:
        return None
    keyed = hasattr(cls, "__total__")
    # where annotations are text, Python goes by the class's own `total`
    optional = getattr(cls, "__optional_keys__", ()) if keyed else ()
    found = {
        name: Field(annotation, of_class(owner), partial(ClassPlaces(owner).field, name), name not in optional)
        for name, (owner, annotation) in fields.items()
    }
    return FieldClass(cls.__name__, keyed, found, ClassPlaces(cls).shape_vars)


def fields_of(cls: type) -> Mapping[str, tuple[type, object]] | None:
    """Returns the fields of a class with the class that declares each; None if it has no fields."""
    typed_dict = hasattr(cls, "__total__") and hasattr(cls, "__required_keys__")
    names = _attributes(cls)
    if not typed_dict and names is None:
        return None
    found: dict[str, tuple[type, object]] = {}
    for owner in reversed(cls.__mro__):
        for name, annotation in annotations_of(owner).items():
            if typed_dict or name in (names or ()):
                found[name] = owner, annotation
    return found


def _attributes(cls: type) -> Collection[str] | None:
    """Returns the fields of a dataclass or named tuple; what is an ``InitVar`` or ``ClassVar`` is none."""
    if hasattr(cls, "__dataclass_fields__"):
        try:
            return [field.name for field in dataclasses.fields(cls)]
        except (AttributeError, TypeError):  # something else under that name
            return None
    names: object = getattr(cls, "_fields", None)
    return cast("tuple[str, ...]", names) if isinstance(names, (tuple, list)) else None


def annotations_of(target: Any) -> Mapping[str, object]:
    """Returns the annotations of a function or class itself, unevaluated where Python kept them so.

    On 3.14 they are evaluated here. Where a name is missing, only what it stands in is a forward reference; where one
    raises something else, all of them are text, and each is evaluated by itself.
    """
    if sys.version_info >= (3, 14):
        import annotationlib

        formats = annotationlib.Format
        for each in (formats.VALUE, formats.FORWARDREF):
            try:
                return annotationlib.get_annotations(target, format=each)
            except Exception:  # whatever the user's expression raises
                continue
        return annotationlib.get_annotations(target, format=formats.STRING)
    try:
        return inspect.get_annotations(target)
    except (TypeError, ValueError):  # somebody's class has something else under that name
        return {}


__all__ = ["Field", "FieldClass", "annotations_of", "field_class", "fields_of"]
