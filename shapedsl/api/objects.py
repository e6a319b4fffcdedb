"""What the stub library asks of a live object: its attributes, and why an entry may not be about it.

A user's object may answer anything, or raise: then it has no such attribute.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from ..ir import ParamKind, Signature

_EQUALS: Final = "_is_"
_BY_POSITION: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def inside(target: object, name: str) -> Any:
    """Returns an attribute, an item of a sequence, or its length; None if there is none."""
    if name.isdigit() and isinstance(target, (tuple, list)):
        items = cast("Sequence[object]", target)
        return items[int(name)] if int(name) < len(items) else None
    if name == "len" and hasattr(type(target), "__len__"):
        return len(target)  # type: ignore[arg-type]
    try:
        value: object = getattr(target, name, None)
    except Exception:  # a property may compute, and fail
        return None
    return value


def attribute(target: object, path: str) -> int | None:
    """Returns the int that ``path`` leads to, from ``target``: a bool is 0 or 1; None if there is none.

    Args:
        target: An object.
        path: The name of an attribute. Where there is none of this name, an underscore parts an attribute from what is
            inside it: ``self_attn_embed_dim`` is ``self_attn.embed_dim``, ``kernel_size_0`` the first item of
            ``kernel_size``, and ``layers_len`` the length of ``layers``. Of a text, ``mode_is_sum`` tells whether it
            is ``"sum"``.
    """
    if target is None:
        return None
    value = inside(target, path)
    if isinstance(value, int):
        return int(value)
    if value is not None:
        return None
    name, equals, text = path.rpartition(_EQUALS)
    value = inside(target, name) if equals else None
    if isinstance(value, str):
        return int(value == text)
    for i in range(len(path) - 1, 0, -1):  # the longest attribute first
        if path[i] == "_":
            inner = inside(target, path[:i])
            if inner is not None and not isinstance(inner, int):
                found = attribute(inner, path[i + 1 :])
                if found is not None:
                    return found
    return None


def misfit(
    target: Any,
    base: type[Any],
    method: str,
    signatures: Sequence[Signature],
    literals: Mapping[str, tuple[Any, ...]],
) -> str | None:
    """Returns why an entry is not about an object; None if it is.

    Args:
        target: A class, or an object of one.
        base: The class that the entry describes: ``target``'s or a base of it.
        method: The name of its method.
        signatures: The specs of the method.
        literals: The values of attributes that the entry is about.
    """
    if issubclass(type(target), type):  # `isinstance` would ask the object
        return _overridden(cast("type[Any]", target), base, method, signatures)
    return (
        _overridden(_kind(target), base, method, signatures)
        or _replaced(target, method, signatures)
        or _waiting(target)
        or _other(target, literals)
    )


def _kind(target: Any) -> type[Any]:
    return type(target)  # pyright: ignore[reportUnknownVariableType]


def _overridden(cls: type[Any], base: type[Any], method: str, signatures: Sequence[Signature]) -> str | None:
    """Returns why a subclass's own method is not what the entry describes; None if it is, or there is none."""
    own = inside(cls, method)
    if own is inside(base, method):
        return None
    bound = isinstance(inspect.getattr_static(cls, method, None), (staticmethod, classmethod))
    return _differs(own, f"{cls.__qualname__}.{method}", signatures, skip=0 if bound else 1)


def _replaced(target: Any, method: str, signatures: Sequence[Signature]) -> str | None:
    """Returns why a function that was assigned to the object is not what the entry describes."""
    namespace: Any = inside(target, "__dict__")
    if not isinstance(namespace, dict) or method not in namespace:
        return None
    return _differs(cast("dict[str, Any]", namespace)[method], f"its own `{method}`", signatures, skip=0)


def _differs(own: Callable[..., Any], name: str, signatures: Sequence[Signature], *, skip: int) -> str | None:
    """Returns how a method's parameters differ from those of the specs, so that not every call of theirs fits it."""
    named = name if "`" in name else f"`{name}`"
    if not callable(own):
        return f"{named} is no method"
    try:
        rows = list(inspect.signature(own).parameters.values())[skip:]
    except (TypeError, ValueError):
        return f"{named} has parameters of its own"
    kinds = {row.kind for row in rows}
    if kinds >= set(_VARIADIC):  # a wrapper that hands all over, as far as one can see
        return None
    listed = {param.name for signature in signatures for param in signature.params}
    needed = [row.name for row in rows if row.default is row.empty and row.kind not in _VARIADIC]
    foreign = [each for each in needed if each not in listed]
    names = {row.name for row in rows}
    places = [row.name for row in rows if row.kind in _BY_POSITION]
    for at, param in enumerate(_by_position(signatures[0])):
        if param not in names and (at == 0 or inspect.Parameter.VAR_KEYWORD not in kinds):
            return f"{named} has no parameter `{param}`"
        if at < len(places) and places[at] != param:
            return f"{named} takes `{places[at]}` in the place of `{param}`"
    return f"{named} needs a parameter `{foreign[0]}`" if foreign else None


def _by_position(signature: Signature) -> Iterator[str]:
    """Yields the names of the parameters that a spec takes by position."""
    for param in signature.params:
        if param.kind in (ParamKind.POSITIONAL_ONLY, ParamKind.POSITIONAL_OR_KEYWORD):
            yield param.name


def _waiting(target: Any) -> str | None:
    """Returns that a lazy module has no sizes yet; None if it has."""
    waits = inside(target, "has_uninitialized_params")
    try:
        return "it is lazy: run it once, then it has sizes" if callable(waits) and waits() is True else None
    except Exception:  # another object under that name, that fails when it is called
        return None


def _other(target: Any, literals: Mapping[str, tuple[Any, ...]]) -> str | None:
    """Returns which attribute has a value that the entry is not about; None if none has."""
    for name, values in literals.items():
        value = inside(target, name)
        if value is None:
            value = inside(inside(target, "config"), name)
        if not any(type(value) is type(known) and value == known for known in values):
            known = " or ".join(map(repr, values))
            return f"its `{name}` is {value!r}, not {known}"
    return None


__all__ = ["attribute", "inside", "misfit"]
