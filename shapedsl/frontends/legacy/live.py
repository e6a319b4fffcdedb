"""Read the objects of a legacy spec: what ``dynamic_shapes=`` takes → the model's tree.

They are known by the names of their classes, so that torch is not imported, and what an older release
made (there a ``Dim`` is a class) is read as well.

Before::

    {"x": {0: Dim("rows", max=64), -1: Dim.AUTO(min=2)}, "w": ((2 * rows + 1, None),)}

After::

    Entries((("x", Entries(((0, Named("rows", None, 64)), (-1, Hinted(AUTO, 2))))),
             ("w", Items("tuple", (Items("tuple", (Derived(Named("rows", None, 64), 2, 1), Unsaid())),)))))
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final, SupportsInt, cast

from .labels import Labels
from .model import Derived, Entries, Hint, Hinted, Items, Named, Pinned, Tree, Unsaid

_HOME: Final = "torch.export.dynamic_shapes"
_TOP: Final = "dynamic_shapes"
_ENDLESS: Final = 2**63 - 1  # torch takes this bound, and any greater one, for none


class NotLegacyError(TypeError):
    """Something in a spec that no legacy spec may hold."""


def is_a(value: object, name: str, home: str = _HOME) -> bool:
    """Whether ``value`` is an object of the class ``name`` of the module ``home``, or of a class derived from it."""
    kinds = type(value).__mro__
    if isinstance(value, type):
        kinds = (*value.__mro__, *kinds)
    return any(kind.__name__ == name and kind.__module__ == home for kind in kinds)


def is_dim(value: object) -> bool:
    """Whether ``value`` is a ``Dim``, a derived one included."""
    return is_a(value, "Dim") or is_a(value, "_Dim")


def is_hint(value: object) -> bool:
    """Whether ``value`` is ``Dim.AUTO``, ``Dim.DYNAMIC`` or ``Dim.STATIC``, bounded or not."""
    return is_a(value, "_DimHint")


def tree_of(value: object, labels: Labels | None = None) -> Tree:
    """Returns ``value`` as a tree of the model.

    Args:
        value: What was given as ``dynamic_shapes=``.
        labels: Takes texts for names of dims, as ``torch.onnx.export`` does; None refuses them.

    Raises:
        NotLegacyError: Something in it may not stand in a legacy spec.
    """
    try:
        return _Reader(labels).tree(value, _TOP)
    except RecursionError:
        raise NotLegacyError(f"`{_TOP}` holds itself") from None


class _Reader:
    def __init__(self, labels: Labels | None) -> None:
        self.labels = labels

    def tree(self, value: Any, place: str) -> Tree:
        if self.labels is not None and _is(value, str) and place != _TOP:
            return self.labels.dim(value, place.removeprefix(_TOP))
        if _is(value, Mapping):
            items = [(_key(key, place), self.tree(each, f"{place}[{key!r}]")) for key, each in value.items()]
            return Entries(tuple(items))
        if _is(value, list, tuple, deque):
            inside = tuple(self.tree(each, f"{place}[{at}]") for at, each in enumerate(value))
            fields: tuple[str, ...] = tuple(getattr(value, "_fields", ()))
            if _is(value, tuple):
                return Items("namedtuple", inside, fields) if fields else Items("tuple", inside)
            return Items("list", inside)
        return _leaf(value, place)


def _leaf(value: Any, place: str) -> Tree:
    if value is None:
        return Unsaid()
    if is_dim(value):
        return _dim(value, place)
    if is_hint(value):
        kind = Hint[getattr(value, "type", value).name]
        return Hinted(kind, _low(getattr(value, "min", None)), _high(getattr(value, "max", None)))
    if _is(value, int) and not _is(value, bool):
        return Pinned(value)
    raise NotLegacyError(f"`{place}` is a {_name(value)}: {_advice(value)}")


def _is(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds)


def _dim(dim: Any, place: str) -> Tree:
    if is_a(dim, "_StaticDim"):
        return Pinned(int(dim.value))
    if not (is_a(dim, "_DerivedDim") or hasattr(dim, "root")):
        return Named(dim.__name__, _low(dim.min), _high(dim.max))
    root = _dim(dim.root, place)
    offset = dim.fn(0)
    factor = dim.fn(1) - offset
    if not isinstance(root, Named) or factor < 1 or any(dim.fn(at) != factor * at + offset for at in (2, 7)):
        raise NotLegacyError(f"`{place}` is `{dim.__name__}`, and torch derives dims by `a*d + b` with a >= 1 only")
    return root if (factor, offset) == (1, 0) else Derived(root, factor, offset)


def _low(bound: Any) -> int | None:
    """Returns a lower bound that says something: none below 1 does."""
    return None if bound is None or bound <= 0 else int(bound)


def _high(bound: Any) -> int | None:
    return None if bound is None or bound >= _ENDLESS else int(bound)


def _key(key: object, place: str) -> str | int:
    if isinstance(key, (str, int)) and not isinstance(key, bool):
        return key
    if is_a(key, "integer", "numpy"):  # equal to the int, and hashed like it: torch takes it for an axis
        return int(cast("SupportsInt", key))
    raise NotLegacyError(f"`{place}` has the key `{key!r}`: a key is text or an int")


def _name(value: object) -> str:
    return value.__name__ if isinstance(value, type) else type(value).__name__


def _advice(value: object) -> str:
    if is_a(value, "ShapesCollection") or is_a(value, "AdditionalInputs"):
        return "it stands for a whole spec, not for a part of one"
    if any(kind.__module__.endswith("fx.experimental.dynamic_spec") for kind in type(value).__mro__):
        return "a ShapesSpec is read by `from_torch`"
    if type(value).__name__ == "ExportedProgram":
        return "a program is read by `from_exported`"
    if isinstance(value, str):
        return "of texts, the JSON of a dump is read"
    return "a dim is a Dim, one of its hints, an int or None"


__all__ = ["NotLegacyError", "is_a", "is_dim", "is_hint", "tree_of"]
