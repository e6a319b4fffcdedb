"""Read the example of a legacy spec, and the callable it is for: arguments → the model's inputs.

What a dict of a spec means is told by the input at its place. torch's pytree decides what is taken apart:
plain containers and namedtuples always, an object if its class is registered.

Before::

    Net(), args=(x, [y, z]), kwargs={"scale": 2}

After::

    params   x, ys, scale
    inputs   {"x": TensorInput(2, (4, 3)), "ys": SequenceInput("list", (TensorInput(1, (4,)), …)), "scale": IntInput(2)}
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from ...ir import AnyType, Param, ParamKind, quote
from ..annotated.callables import unwrap
from .live import is_a
from .marks import Marked, marks_of
from .model import (
    Entries,
    Input,
    IntInput,
    Items,
    MappingInput,
    ObjectInput,
    OtherInput,
    SequenceInput,
    TensorInput,
    Tree,
    Unsaid,
)

Read = TypeVar("Read")


class Torch(Protocol):
    """What must be asked of torch."""

    def is_tensor(self, value: object) -> bool:
        """Whether ``value`` is a tensor."""
        ...

    def children(self, value: object) -> Sequence[tuple[str | None, object]] | None:
        """Returns what an object of a registered class holds, each with its attribute; None where it is a leaf."""
        ...


@dataclass(frozen=True, slots=True)
class Example:
    """A call.

    Attributes:
        args: Positional arguments.
        kwargs: Keyword arguments.
    """

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Target:
    """A callable.

    Attributes:
        name: Dotted: ``Net.forward``.
        params: In order, their types ``_``; None where Python does not know them.
        receiver: ``self`` for a method.
        is_known: Whether there is one; else its parameters are made up after the example.
    """

    name: str = "f"
    params: tuple[Param, ...] | None = None
    receiver: str | None = None
    is_known: bool = True

    @property
    def signature(self) -> inspect.Signature:
        """The parameters as Python's own object."""
        empty = inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(
                    param.name, getattr(inspect.Parameter, param.kind.name), default=None if param.default else empty
                )
                for param in self.params or ()
            ]
        )

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments by parameter, as torch's legacy export binds them: omitted defaults are left out.

        Raises:
            TypeError: The call does not fit the parameters.
        """
        if not self.is_known:
            return {**dict(zip((param.name for param in self.params or ()), args, strict=False)), **kwargs}
        return dict(self.signature.bind(*args, **kwargs).arguments)


def target_of(fn: Callable[..., Any] | None, example: Example | None) -> Target:
    """Returns what is known of ``fn``; without one, parameters after the arguments: ``arg0``, ``arg1``, keywords.

    Args:
        fn: A function, method, module or its class, partial, callable object, exported program, or
            what ``torch.compile`` made of one.
        example: A call of it.
    """
    made_up = None if example is None else _made_up(example)
    fn = getattr(fn, "_orig_mod", fn)
    if is_a(fn, "ExportedProgram", "torch.export.exported_program"):
        program: Any = fn
        fn = program.module()
    if fn is None:
        return Target(params=made_up, is_known=False)
    raw = unwrap(fn)
    if raw is not None:
        found = [Param(p.name, AnyType(), p.kind, p.default) for p in raw[0].parameters if p.name != raw[0].receiver]
        return Target(raw[0].name, tuple(found), raw[0].receiver)
    name = str(getattr(fn, "__name__", type(fn).__name__))
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):  # a builtin
        return Target(name, made_up, is_known=False)
    kept = [Param(p.name, AnyType(), ParamKind[p.kind.name], p.default is not p.empty) for p in parameters]
    return Target(name, tuple(kept))


def _made_up(example: Example) -> tuple[Param, ...]:
    found = [Param(f"arg{at}", AnyType()) for at in range(len(example.args))]
    return (*found, *(Param(name, AnyType(), ParamKind.KEYWORD_ONLY) for name in example.kwargs))


@dataclass(slots=True)
class Reader:
    """Reads values.

    Attributes:
        torch: What a tensor is, and what is registered.
        within: The containers that are being read, by their ids.
    """

    torch: Torch
    within: set[int] = field(default_factory=set[int])

    def input(self, value: Any) -> Input:
        """Returns what ``value`` is."""
        if self.torch.is_tensor(value):
            return TensorInput(len(value.shape), tuple(_size(size) for size in value.shape))
        if is_a(value, "_IntWrapper"):
            return IntInput(value.val)
        if isinstance(value, int) and not isinstance(value, bool):
            return IntInput(value)
        inputs = self._each(value, "", lambda child, _: self.input(child))
        if inputs is None:
            return OtherInput(type(value).__name__)
        if _is_mapping(value):
            return MappingInput(tuple((key, each) for key, each in inputs if isinstance(key, (str, int))))
        if _is_sequence(value):
            return SequenceInput("tuple" if type(value) is tuple else "list", tuple(each for _, each in inputs))
        fields = tuple((key if isinstance(key, str) else None, each) for key, each in inputs)
        return ObjectInput(type(value).__name__, fields, _is_namedtuple(value))

    def marked(self, value: Any, place: str) -> list[Marked]:
        """Returns each tensor in ``value`` that carries marks."""
        if self.torch.is_tensor(value):
            marks = marks_of(value)
            return [Marked(place, marks, len(value.shape))] if marks else []
        return [marked for _, inner in self._each(value, place, self.marked) or () for marked in inner]

    def tree(self, value: Any, place: str, dims: Mapping[str, Entries]) -> Tree:
        """Returns the legacy spec that has ``dims`` at the tensors in ``value``, by their places."""
        if self.torch.is_tensor(value):
            return dims.get(place, Unsaid())
        trees = self._each(value, place, lambda child, at: self.tree(child, at, dims))
        if trees is None or all(isinstance(tree, Unsaid) for _, tree in trees):
            return Unsaid()
        if _is_mapping(value):
            return Entries(tuple((key, tree) for key, tree in trees if isinstance(key, (str, int))))
        items = tuple(tree for _, tree in trees)
        if _is_namedtuple(value):
            return Items("namedtuple", items, tuple(value._fields))
        return Items("tuple" if type(value) is tuple else "list", items)

    def _each(self, value: Any, place: str, read: Callable[[Any, str], Read]) -> list[tuple[object, Read]] | None:
        """Returns what ``read`` says of each thing in ``value``, with its key or attribute; None for a leaf."""
        children = self._children(value)
        if children is None or id(value) in self.within:  # a container may hold itself
            return None
        self.within.add(id(value))
        found = [(key, read(child, _below(value, place, key, at))) for at, (key, child) in enumerate(children)]
        self.within.remove(id(value))
        return found

    def _children(self, value: Any) -> Sequence[tuple[object, object]] | None:
        if _is_mapping(value):
            return list(value.items())
        if _is_sequence(value):
            return [(at, value[at]) for at in range(len(value))]
        if _is_namedtuple(value):
            return list(zip(value._fields, value, strict=True))
        if _is_deque(value):
            return [(None, value[at]) for at in range(len(value))]  # taken apart by torch, and out of a spec's reach
        return self.torch.children(value)


_SEQUENCES: Final = (list, tuple)


def _is_mapping(value: object) -> bool:
    kind = type(value)  # a subclass is taken apart only if it is registered
    return kind is dict or (kind.__module__ == "collections" and kind.__name__ in ("OrderedDict", "defaultdict"))


def _is_sequence(value: object) -> bool:
    return type(value) in _SEQUENCES


def _is_deque(value: object) -> bool:
    return type(value) is deque


def _is_namedtuple(value: object) -> bool:
    return hasattr(value, "_fields") and isinstance(value, tuple)


def _below(value: object, place: str, key: object, at: int) -> str:
    if _is_mapping(value) or _is_sequence(value):
        return f"{place}[{quote(key) if isinstance(key, str) else repr(key)}]"
    return f"{place}[{at}]" if key is None else f"{place}.{key}"


def _size(size: Any) -> int | None:
    return size if isinstance(size, int) else None  # a SymInt of a tensor that is being traced


__all__ = ["Example", "Reader", "Target", "Torch", "target_of"]
