"""Put other parts into containers without changing the caller's: copies of the same class.

Before and after, a padded ``S``::

    caches = [(k, v), (k2, v2)]       [(k padded, v padded), (k2 padded, v2 padded)], a new list of new tuples
    Batch(x, 3)                       a copy of it with another x
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

from ...ir import Attribute, Item, Path, Step
from ...runtime.slots import wrong_pad

# Step -> the parts below it, or a part's number.
Tree = dict[Step, "Tree | int"]


def tree_of(paths: Sequence[tuple[Path, int]]) -> dict[str, Tree | int]:
    """Returns parts by parameter: a number where the argument itself is one."""
    roots: dict[str, Tree | int] = {}
    for path, number in paths:
        if not path.steps:
            roots[path.root] = number
            continue
        at = cast("Tree", roots.setdefault(path.root, {}))
        for step in path.steps[:-1]:
            at = cast("Tree", at.setdefault(step, {}))
        at[path.steps[-1]] = number
    return roots


def part(value: Any, steps: Sequence[Step]) -> Any:
    """Returns what is at ``steps`` of ``value``."""
    for step in steps:
        value = getattr(value, step.name) if isinstance(step, Attribute) else value[step.key]
    return value


def replaced(value: Any, parts: Mapping[Step, Any]) -> Any:
    """Returns a copy of ``value``, of the same class, with ``parts`` in it.

    Args:
        value: A sequence, a mapping or an object.
        parts: By the step that leads there.
    """
    names = {step.name: each for step, each in parts.items() if isinstance(step, Attribute)}
    items = {step.key: each for step, each in parts.items() if isinstance(step, Item)}
    if isinstance(value, tuple):
        fields = getattr(type(value), "_fields", ())
        values = [*value]
        for key, each in [*((fields.index(name), each) for name, each in names.items()), *items.items()]:
            values[cast("int", key)] = each
        make = getattr(type(value), "_make", type(value))
        try:
            return make(values)
        except TypeError as error:
            name = type(value).__qualname__
            raise wrong_pad(f"a {name} cannot be made of its items: {error}", "use a tuple or a NamedTuple") from None
    read_only = isinstance(value, Mapping) and not hasattr(value, "__setitem__")
    made: Any = dict(cast("Mapping[Any, Any]", value)) if read_only else copy.copy(value)
    for key, each in items.items():
        made[key] = each
    for name, each in names.items():
        _set(made, name, each)
    return MappingProxyType(made) if isinstance(value, MappingProxyType) else made


def _set(holder: Any, name: str, value: Any) -> None:
    try:
        setattr(holder, name, value)
    except (AttributeError, TypeError):  # frozen
        object.__setattr__(holder, name, value)
    if value is None and isinstance(holder, dict) and holder.get(name) is not None:
        # a dict of its attributes, in which None is none (`ModelOutput`)
        kind: Any = OrderedDict if isinstance(holder, OrderedDict) else dict
        kind.__delitem__(holder, name)  # its own may refuse


class Copied:
    """A container that the callee gets in place of the caller's.

    Attributes:
        original: The caller's.
        made: The copy.
    """

    __slots__ = ("_content", "_new", "_parts", "_path", "made", "original")

    def __init__(self, original: Any, made: Any, parts: frozenset[object], path: str) -> None:
        self.original = original
        self.made = made
        self._parts = parts
        self._path = path
        self._content = dict(_content(made))
        self._new: dict[object, tuple[Any, Any]] = {}

    def is_result(self, parts: Mapping[Step, tuple[Any, Any]]) -> bool:
        """Returns whether the caller's container is what the copy is as a result, once it is taken back.

        Args:
            parts: What the copy holds, before and after slots were taken out.
        """
        new: dict[object, tuple[Any, Any]] = {}
        for step, (before, after) in parts.items():
            key = step if isinstance(step, Attribute) else step.key
            if key in self._content and self._content[key] is before:
                if part(self.original, (step,)) is not after:
                    return False
            else:
                new[key] = before, after
        if new and isinstance(self.original, tuple):
            return False
        self._new.update(new)
        return True

    def take_back(self, own: Callable[[Any], Any] | None) -> None:
        """Puts what the callee put into the copy into the caller's container.

        Args:
            own: Returns the caller's object for what was passed for it, where nothing was padded.

        Raises:
            ShapeError: ``wrong-pad``: it replaced what was padded, and does not return that; or it removed something.
        """
        now = dict(_content(self.made))
        changed = [key for key, each in now.items() if key not in self._content or self._content[key] is not each]
        removed = [key for key in self._content if key not in now]
        if own is None:
            unknown = [key for key in changed if key in self._parts and self._new.get(key, _NOTHING)[0] is not now[key]]
            if removed or unknown:
                message = f"the callee replaces or removes what `{self._path}` holds, and that is padded"
                help_ = "return it and say so in the return type, or leave this argument out of the bucket"
                raise wrong_pad(message, help_)
        for key in reversed(removed):
            if isinstance(key, Attribute):
                delattr(self.original, key.name)
            else:
                del self.original[key]
        for key in changed:
            before, after = self._new.get(key, _NOTHING)
            value = after if before is now[key] else now[key] if own is None else own(now[key])
            if isinstance(self.original, list):
                index = cast("int", key)
                self.original[index : index + 1] = [value]
            elif isinstance(key, Attribute):
                _set(self.original, key.name, value)
            else:
                self.original[key] = value


_NOTHING: Final = (object(), None)


def _content(value: Any) -> Iterator[tuple[object, Any]]:
    """Yields what a container holds; attributes by an `Attribute`."""
    if isinstance(value, tuple):
        return
    if isinstance(value, Mapping):
        yield from cast("Mapping[object, Any]", value).items()
    elif isinstance(value, list):
        yield from enumerate(value)
    for name, each in getattr(value, "__dict__", {}).items():
        yield Attribute(name), each


__all__ = ["Copied", "Tree", "part", "replaced", "tree_of"]
