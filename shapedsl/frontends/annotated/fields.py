"""The annotations of functions and classes as Python keeps them: objects where it evaluated them, else text."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
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
        through: The generic bases by which the field was inherited, each with its arguments, the nearest first.
    """

    annotation: object
    namespace: Evaluator
    source: Callable[[str], Source]
    required: bool = True
    through: tuple[tuple[Any, tuple[object, ...]], ...] = ()


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
    through = _ways(cls)
    found = {
        name: Field(
            annotation,
            of_class(owner),
            partial(ClassPlaces(owner).field, name),
            name not in optional,
            through.get(owner, ()),
        )
        for name, (owner, annotation) in fields.items()
    }
    return FieldClass(cls.__name__, keyed, found, ClassPlaces(cls).shape_vars)


def fields_of(cls: type) -> Mapping[str, tuple[type, object]] | None:
    """Returns the fields of a class with the class that declares each; None if it has no fields."""
    if _is_typed_dict(cls):
        return _keys(cls)
    names = _attributes(cls)
    if names is None:
        return None
    found: dict[str, tuple[type, object]] = {}
    for owner in reversed(cls.__mro__):
        for name, annotation in annotations_of(owner).items():
            if name in names:
                found[name] = owner, annotation
    return found


def _is_typed_dict(cls: object) -> bool:
    return isinstance(cls, type) and hasattr(cls, "__total__") and hasattr(cls, "__required_keys__")


def _keys(cls: type) -> Mapping[str, tuple[type, object]]:
    """Returns the keys of a TypedDict with the class that declares each: at run time none has another for its base."""
    own = annotations_of(cls)
    declared = {
        name: (owner, annotation)
        for base, _ in _bases(cls)
        if _is_typed_dict(base)
        for name, (owner, annotation) in _keys(base).items()
        if own.get(name) is annotation
    }
    return {name: declared.get(name, (cls, annotation)) for name, annotation in own.items()}


def _bases(cls: type) -> Iterator[tuple[type, tuple[object, ...]]]:
    """Yields the bases of ``cls`` as they were written, each with its arguments."""
    for base in vars(cls).get("__orig_bases__") or cls.__bases__:
        origin = typing.get_origin(base) or base
        if isinstance(origin, type):
            yield origin, typing.get_args(base)


def _ways(cls: type) -> Mapping[type, tuple[tuple[Any, tuple[object, ...]], ...]]:
    """Returns the classes that ``cls`` inherits from, each with the generic bases that lead to it."""
    found: dict[type, tuple[tuple[Any, tuple[object, ...]], ...]] = {cls: ()}
    rest = [cls]
    for sub in rest:
        for base, arguments in _bases(sub):
            if base not in found:
                found[base] = (*found[sub], (base, arguments))
                rest.append(base)
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


def is_alias(annotation: object) -> bool:
    """Whether ``annotation`` is a PEP 695 alias, of `typing` or `typing_extensions`."""
    return type(annotation).__name__ == "TypeAliasType" and hasattr(annotation, "__type_params__")


def unpacked(annotation: object) -> tuple[object, ...] | None:
    """Returns the items of ``*tuple[T, U]`` or ``Unpack[tuple[T, U]]``; None if it is another type."""
    origin, inner = typing.get_origin(annotation), annotation
    if getattr(origin, "_name", None) == "Unpack" or getattr(origin, "__name__", None) == "Unpack":
        (inner,) = typing.get_args(annotation)
    elif not getattr(annotation, "__unpacked__", False):
        return None
    return typing.get_args(inner) if typing.get_origin(inner) is tuple else None


def has_fields(origin: object) -> bool:
    """Whether ``origin`` is a class that annotations read by its fields."""
    return isinstance(origin, FieldClass) or (isinstance(origin, type) and field_class(origin) is not None)


def is_fields(annotation: object) -> bool:
    """Whether ``annotation`` is a class of source text by its fields, without arguments."""
    return isinstance(annotation, FieldClass) and typing.get_origin(annotation) is None


def is_read_by_name(annotation: object) -> bool:
    """Returns whether it is text, or a class; of classes, others keep track."""
    return isinstance(annotation, (str, type, FieldClass))


__all__ = [
    "Field",
    "FieldClass",
    "annotations_of",
    "field_class",
    "fields_of",
    "has_fields",
    "is_alias",
    "is_fields",
    "is_read_by_name",
    "unpacked",
]
