"""Take the slots out of a result again, by what the return type claims.

Before::

    def f(x: Tensor[B, S]) -> (Tensor[B, S + 1], Out(h: Tensor[B], pooled: Tensor[B, 8])):
        bucket S in {64} pad x with 0
        drop return[1].pooled

After, for S = 40 padded to 64::

    return[0]            41 of 65 columns
    return[1].h          as it is: its type does not name S
    return[1].pooled     None

A container keeps its class. What the type does not speak of is left alone, and so is all below ``keep``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, cast

import torch

from ...diagnostics import Diagnostic, Severity
from ...ir import (
    Attribute,
    Dim,
    Drop,
    Ellipsis,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    Path,
    Rest,
    ScalarType,
    SequenceType,
    Size,
    Step,
    TensorType,
    Type,
    Variadic,
)
from ...ir.padding import mentions
from ...ir.write_sizes import write_dim
from ...runtime.slots import PaddingError, wrong_pad
from .containers import part
from .geometry import Geometry

# What Python does with a result: `fn(output, sizes)`, with the caller's sizes and the padded ones as `S_pad`.
Unpad: TypeAlias = Callable[[Any, Mapping[str, int]], Any]


class Result(Protocol):
    """What is known of a call when its result is cropped."""

    geometry: Geometry

    def passed(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Returns the caller's tensor, if ``tensor`` is what was passed for it."""
        ...

    def owned(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns ``tensor``, or a copy of it if it lies in memory that is used again."""
        ...

    def replaced(self, value: Any, parts: Mapping[Step, tuple[Any, Any]]) -> Any:
        """Returns ``value`` with parts in it, before and after slots were taken out; the caller's, where it is that."""
        ...


Node: TypeAlias = "Callable[[Any, Result, Place], Any]"
Place: TypeAlias = "tuple[Step, ...]"


def cropper(
    returns: Type | None, drops: Sequence[Drop], unpad: Mapping[str, Unpad], variables: Sequence[str]
) -> Node | None:
    """Returns what crops a result, at ``()``; None where it stays as it is.

    Args:
        returns: The claimed type.
        drops: ``drop`` and ``keep`` lines.
        unpad: Path text → function.
        variables: The sizes that are padded.
    """
    actions: dict[tuple[Step, ...], Node] = {drop.path.steps: _keep if drop.keep else _drop for drop in drops}
    actions.update((parse_path(text).steps, _called(function)) for text, function in unpad.items())
    actions = {_counted(steps, returns): action for steps, action in actions.items()}
    return _Maker(frozenset(variables), actions).node(returns, ())


_STEP: Final = re.compile(r"""\.([^\W\d]\w*)|\[(-?\d+)\]|\["([^"]*)"\]|\['([^']*)'\]""")


def parse_path(text: str) -> Path:
    """Returns the path into a result that ``text`` is: ``return[1]``, ``return.logits``, ``return["k"]``.

    Raises:
        ValueError: It is none.
    """
    steps: list[Step] = []
    at = len("return")
    while text.startswith("return") and at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            break
        name, index, *keys = found.groups()
        steps.append(Attribute(name) if name else Item(int(index) if index else next(k for k in keys if k is not None)))
        at = found.end()
    if not text.startswith("return") or at < len(text):
        raise ValueError(f"no path into a result: {text!r}; write 'return', 'return[1]', 'return.logits'")
    return Path("return", tuple(steps))


def _counted(steps: tuple[Step, ...], type_: Type | None) -> tuple[Step, ...]:
    """Returns ``steps`` with indices that count from the end of a known length counted from its beginning."""
    made: list[Step] = []
    for step in steps:
        type_ = type_.inner if isinstance(type_, OptionalType) else type_
        below: Type | None = None
        match type_, step:
            case SequenceType(items=items, rest=rest, times=None), Item(key=int(key)) if rest is not Rest.REPEAT:
                if -len(items) <= key < len(items) and (key >= 0 or rest is Rest.NONE):
                    step, below = Item(key % len(items)), items[key]
            case SequenceType(items=(item,)), Item():
                below = item
            case MappingType(entries=entries), Item(key=key):
                below = dict(entries).get(key)
            case ObjectType(fields=fields), Attribute(name=name):
                below = dict(fields).get(name)
            case _:
                pass
        made.append(step)
        type_ = below
    return tuple(made)


class _Maker:
    """Makes the functions that crop; None where there is nothing to do."""

    def __init__(self, variables: frozenset[str], actions: Mapping[tuple[Step, ...], Node]) -> None:
        self.variables = variables
        self.actions = actions

    def node(self, type_: Type | None, steps: tuple[Step, ...]) -> Node | None:
        action = self.actions.get(steps)
        if action is not None:
            return action
        match type_:
            case OptionalType(inner=inner):
                found = self.node(inner, steps)
                return None if found is None else _optional(found)
            case TensorType(dims=dims):
                node = self._tensor(dims or ())
            case ScalarType(size=size) if size is not None and self._grows(size):
                node = _scalar(size)
            case SequenceType():
                return self._sequence(type_, steps)
            case MappingType(entries=entries):
                return self._parts({Item(key): each for key, each in entries}, steps, "a mapping", Mapping)
            case ObjectType(fields=fields):
                return self._parts({Attribute(name): each for name, each in fields}, steps, "", object)
            case _:
                node = None
        return node if node is not None else self._parts({}, steps, "", object)

    def _grows(self, dim: Dim) -> bool:
        return any(mentions(dim, variable) for variable in self.variables)

    def _tensor(self, dims: Sequence[Dim]) -> Node | None:
        opened = next((at for at, dim in enumerate(dims) if isinstance(dim, (Ellipsis, Variadic))), None)
        axes = tuple(
            (at if opened is None or at < opened else at - len(dims), cast("Size", dim))
            for at, dim in enumerate(dims)
            if self._grows(dim)
        )
        return _tensor(axes, len(dims), opened is not None) if axes else None

    def _below(self, steps: tuple[Step, ...]) -> dict[Step, None]:
        """Returns the first steps of deeper actions."""
        depth = len(steps)
        return dict.fromkeys(path[depth] for path in self.actions if len(path) > depth and path[:depth] == steps)

    def _parts(self, types: Mapping[Step, Type], steps: tuple[Step, ...], noun: str, kind: type) -> Node | None:
        nodes: dict[Step, Node] = {}
        for step in (*types, *(each for each in self._below(steps) if each not in types)):
            found = self.node(types.get(step), (*steps, step))
            if found is not None:
                nodes[step] = found
        return _parts(nodes, noun, kind) if nodes else None

    def _sequence(self, type_: SequenceType, steps: tuple[Step, ...]) -> Node | None:
        repeated = type_.rest is Rest.REPEAT or type_.times is not None
        items = [self.node(item, (*steps, Item(at))) for at, item in enumerate(type_.items)]
        below = [step.key for step in self._below(steps) if isinstance(step, Item) and isinstance(step.key, int)]
        if not below and not any(items):
            return None
        # in a repeat, what is said of one index is not said of the others: no index is "any"
        plain = [self.node(item, (*steps, Item("any"))) for item in type_.items] if repeated else items
        singled = {
            key: self.node(
                type_.items[key % len(type_.items)] if repeated or -len(items) <= key < len(items) else None,
                (*steps, Item(key)),
            )
            for key in below
        }
        return _sequence(plain, singled, None if repeated or type_.rest is not Rest.NONE else len(items), repeated)


# ---------------------------------------------------------------------------------------- the functions


def _keep(value: Any, result: Result, place: Place) -> Any:
    del result, place
    return value


def _drop(value: Any, result: Result, place: Place) -> None:
    del value, result, place


def _called(function: Unpad) -> Node:
    def node(value: Any, result: Result, place: Place) -> Any:
        sizes = result.geometry.sizes
        try:
            return function(value, sizes)
        except Exception as error:
            shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
            raise wrong_pad(
                f"`unpad` of `{_path(place)}` raised {type(error).__name__}: {error}",
                f"its sizes were {shown}; correct it, or write `drop` or `keep` with this path",
            ) from error

    return node


def _optional(inner: Node) -> Node:
    def node(value: Any, result: Result, place: Place) -> Any:
        return None if value is None else inner(value, result, place)

    return node


def _scalar(size: Size) -> Node:
    def node(value: Any, result: Result, place: Place) -> Any:
        expected = result.geometry.padded(size)
        if value != expected:
            raise mismatch(
                f"`{_path(place)}` is {value!r}, and not `{write_dim(size)}`, which is {expected} of padded sizes"
            )
        return result.geometry.before(size)

    return node


def _tensor(axes: tuple[tuple[int, Size], ...], rank: int, opened: bool) -> Node:
    def node(value: Any, result: Result, place: Place) -> Any:
        if not isinstance(value, torch.Tensor):
            raise mismatch(f"`{_path(place)}` is a {type(value).__name__}, and not a tensor as the return type claims")
        if value.dim() < rank - 1 if opened else value.dim() != rank:
            raise mismatch(f"`{_path(place)}` has {value.dim()} dims, and not {rank} as the return type claims")
        own = result.passed(value)
        if own is not None:
            return own
        made = value
        geometry = result.geometry
        grown = geometry.results.get(node)
        if grown is None:
            path = _path(place)
            grown = geometry.results[node] = [(at, dim, geometry.axis(dim, at, path)) for at, dim in axes]
        for at, dim, axis in grown:
            if value.shape[at] != axis.size:
                raise mismatch(
                    f"axis {at} of `{_path(place)}` has {value.shape[at]}, and not {axis.size}: `{write_dim(dim)}` of the padded sizes"
                )
            if axis.insertions:
                made = _without_slots(made, at, axis.real)
        return result.owned(made)

    return node


def _without_slots(tensor: torch.Tensor, axis: int, real: Sequence[tuple[int, int, int]]) -> torch.Tensor:
    if not real:
        return tensor.narrow(axis, 0, 0)
    pieces = [tensor.narrow(axis, start, length) for start, _, length in real]
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, axis)


def _parts(nodes: Mapping[Step, Node], noun: str, kind: type) -> Node:
    def node(value: Any, result: Result, place: Place) -> Any:
        if not isinstance(value, kind):
            raise mismatch(f"`{_path(place)}` is a {type(value).__name__}, and not {noun} as the return type claims")
        parts: dict[Step, tuple[Any, Any]] = {}
        for step, inner in nodes.items():
            at = (*place, step)
            try:
                before = part(value, (step,))
            except (AttributeError, IndexError, KeyError, TypeError):
                raise mismatch(f"there is no `{_path(at)}` in what the callable returned") from None
            parts[step] = before, inner(before, result, at)
        return result.replaced(value, parts)

    return node


def _sequence(
    items: Sequence[Node | None], singled: Mapping[int, Node | None], length: int | None, repeated: bool
) -> Node:
    def node(value: Any, result: Result, place: Place) -> Any:
        if not isinstance(value, (list, tuple)):
            raise mismatch(
                f"`{_path(place)}` is a {type(value).__name__}, and not a sequence as the return type claims"
            )
        values = cast("Sequence[Any]", value)
        if len(values) < len(items) if length is None and not repeated else length not in (None, len(values)):
            raise mismatch(f"`{_path(place)}` has {len(values)} items, and not {len(items)} as the return type claims")
        nodes = {at: each for at in range(len(values)) if (each := _item(at)) is not None}
        for key, inner in singled.items():
            if not -len(values) <= key < len(values):
                raise mismatch(f"there is no `{_path((*place, Item(key)))}` in what the callable returned")
            nodes.pop(key % len(values), None)
            if inner is not None:
                nodes[key % len(values)] = inner
        parts: dict[Step, tuple[Any, Any]] = {}
        for at, inner in nodes.items():
            step = Item(at)
            parts[step] = values[at], inner(values[at], result, (*place, step))
        return result.replaced(value, parts)

    def _item(at: int) -> Node | None:
        if repeated:
            return items[at % len(items)] if items else None
        return items[at] if at < len(items) else None

    return node


def _path(place: Place) -> Path:
    return Path("return", place)


def mismatch(message: str) -> PaddingError:
    """Returns the error of a result that is not what its type claims."""
    help_ = "correct the return type, or write `drop` or `keep` with this path"
    return PaddingError([Diagnostic("return-mismatch", Severity.ERROR, message, helps=(help_,))])


__all__ = ["Result", "Unpad", "cropper", "parse_path"]
