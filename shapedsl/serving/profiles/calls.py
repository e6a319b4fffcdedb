"""What is remembered of a call: its structure, and its sizes in a row.

Before, of ``f(ids, mask=None, past=[k], n=3)``::

    ids   a tensor, int64, of shape (2, 7)
    past  a list of one tensor, float32, of shape (2, 5, 64)

After::

    structure   {"ids": tensor int64 rank 2, "mask": None, "past": [tensor float32 rank 3], "n": int}
    sizes       (2, 7, 2, 5, 64, 3)

A structure is a nested tuple, so that calls of one structure share it and a call is counted under two keys.
Nothing here knows torch: whoever reads a call says what a tensor is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, TypeAlias, cast

from ...ir import Attribute, Item, Path

# A node: ("tensor", dtype, rank), ("int",), ("none",), ("static", kind), ("list" | "tuple", node, …),
# ("dict", (key, node), …), ("object", class, (field, node), …).
Node: TypeAlias = "tuple[Any, ...]"
INT: Final[Node] = ("int",)
NONE: Final[Node] = ("none",)
MOST_ITEMS: Final = 512  # of one container; a longer one is static
_DEEPEST: Final = 16
_INT64: Final = 2**63


class UnreadableCallError(Exception):
    """A call that has no sizes to remember: one of them is a symbol, as those of nested tensors are."""


class TracedCallError(UnreadableCallError):
    """A call that is part of a trace."""


@dataclass(frozen=True, slots=True)
class Place:
    """A size of a structure.

    Attributes:
        path: The tensor or the int.
        axis: The tensor's axis; None for an int.
    """

    path: Path
    axis: int | None

    def __str__(self) -> str:
        return str(self.path) if self.axis is None else f"{self.path}.shape[{self.axis}]"


class Reader:
    """Reads values: what each type is, is found out once.

    Args:
        is_tensor: Whether a value is a tensor, which has ``shape`` and ``dtype``; None where that cannot be told now.
    """

    def __init__(self, is_tensor: Callable[[object], bool | None]) -> None:
        self._is_tensor = is_tensor
        self._kinds: dict[Any, str] = {int: "int", bool: "static", type(None): "none", list: "list", tuple: "tuple"}
        self._kinds[dict] = "dict"
        self._dtypes: dict[object, str] = {}
        self._fields: dict[Any, tuple[str, ...]] = {}

    def read(self, value: Any, sizes: list[int], depth: int = 0) -> Node:
        """Returns the structure of ``value``, and appends its sizes.

        Raises:
            UnreadableCallError: A size is no plain int.
            TracedCallError: Because the call is part of a trace.
        """
        kind = self._kinds.get(type(value)) or self._kind(value)
        if kind == "tensor":
            shape = value.shape
            for size in shape:
                if type(size) is not int:  # a trace of torch.jit makes tensors of sizes
                    raise TracedCallError if self._is_tensor(size) else UnreadableCallError
            sizes.extend(shape)
            return ("tensor", self._dtypes.get(value.dtype) or self._dtype(value.dtype), len(shape))
        if kind == "int":
            if not -_INT64 <= value < _INT64:
                return ("static", "int")
            sizes.append(value)
            return INT
        if kind == "none":
            return NONE
        if kind == "static" or depth >= _DEEPEST:
            return ("static", type(value).__name__)
        return self._container(kind, value, sizes, depth + 1)

    def _container(self, kind: str, value: Any, sizes: list[int], depth: int) -> Node:
        if kind == "object":
            names = self._fields[type(value)]
            entries = [(name, self.read(getattr(value, name, None), sizes, depth)) for name in names]
            return ("object", type(value).__name__, *entries)
        if len(value) > MOST_ITEMS:
            return ("static", kind)
        if kind == "dict":
            named = cast("dict[object, Any]", value)
            keys = [key for key in named if type(key) is str or type(key) is int]
            return ("dict", *[(key, self.read(named[key], sizes, depth)) for key in keys])
        return (kind, *[self.read(item, sizes, depth) for item in value])

    def _kind(self, value: Any) -> str:
        """Returns what a type not met before is, and remembers it: types are few."""
        cls = cast("Any", type(value))
        is_tensor = self._is_tensor(value)
        if is_tensor is None:
            raise TracedCallError
        if is_tensor:
            kind = "tensor"
        elif isinstance(value, tuple) and hasattr(cls, "_fields"):
            kind, self._fields[cls] = "object", tuple(cls._fields)
        elif is_dataclass(cast("object", value)):
            kind, self._fields[cls] = "object", tuple(field.name for field in fields(cast("Any", value)))
        elif isinstance(value, (list, tuple, dict)):
            kind = "list" if isinstance(value, list) else "dict" if isinstance(value, dict) else "tuple"
        else:
            kind = "static"
        if len(self._kinds) < 10_000:
            self._kinds[cls] = kind
        return kind

    def _dtype(self, dtype: object) -> str:
        name = str(dtype).rpartition(".")[2]
        self._dtypes[dtype] = name
        return name


def count(node: Node) -> int:
    """Returns how many sizes a node has."""
    return sum(1 for _ in places(node, Path("")))


def places(node: Node, path: Path) -> Iterator[Place]:
    """Yields the sizes of ``node`` in the order of `Reader.read`."""
    match node:
        case ("tensor", _, int(rank)):
            for axis in range(rank):
                yield Place(path, axis)
        case ("int",):
            yield Place(path, None)
        case ("list" | "tuple", *items):
            for index, item in enumerate(items):
                yield from places(item, below(path, index))
        case ("dict", *entries):
            for key, item in entries:
                yield from places(item, below(path, key))
        case ("object", _, *entries):
            for key, item in entries:
                yield from places(item, below(path, key, attribute=True))
        case _:
            pass


def tensors(node: Node, path: Path) -> Iterator[tuple[Path, str]]:
    """Yields the path and the dtype of each tensor in ``node``."""
    match node:
        case ("tensor", dtype, _):
            yield path, dtype
        case ("list" | "tuple", *items):
            for index, item in enumerate(items):
                yield from tensors(item, below(path, index))
        case ("dict", *entries):
            for key, item in entries:
                yield from tensors(item, below(path, key))
        case ("object", _, *entries):
            for key, item in entries:
                yield from tensors(item, below(path, key, attribute=True))
        case _:
            pass


def below(path: Path, key: str | int, *, attribute: bool = False) -> Path:
    """Returns the path one step further in."""
    return Path(path.root, (*path.steps, Attribute(str(key)) if attribute else Item(key)))


class FakeTensor:
    """Stands for a tensor where sizes are bound to a spec without one."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype


class _Fields:
    """Stands for an object: what a spec reads of it are attributes."""

    def __init__(self, entries: Mapping[str, object]) -> None:
        self.__dict__.update(entries)


def rebuild(node: Node, sizes: Iterator[int]) -> Any:
    """Returns a value of this structure and of these sizes, its tensors `FakeTensor`s; the inverse of `Reader.read`."""
    match node:
        case ("tensor", dtype, int(rank)):
            return FakeTensor(tuple(next(sizes) for _ in range(rank)), dtype)
        case ("int",):
            return next(sizes)
        case ("list", *items):
            return [rebuild(item, sizes) for item in items]
        case ("tuple", *items):
            return tuple(rebuild(item, sizes) for item in items)
        case ("dict", *entries):
            return {key: rebuild(item, sizes) for key, item in entries}
        case ("object", _, *entries):
            return _Fields({key: rebuild(item, sizes) for key, item in entries})
        case _:
            return None


def to_json(node: Node) -> object:
    """Returns a node as JSON values."""
    match node:
        case ("list" | "tuple" as kind, *items):
            return [kind, *map(to_json, items)]
        case ("dict", *entries):
            return ["dict", *([key, to_json(item)] for key, item in entries)]
        case ("object", name, *entries):
            return ["object", name, *([key, to_json(item)] for key, item in entries)]
        case _:
            return list(node)


def from_json(value: Any, depth: int = 0) -> Node:
    """Returns the node that `to_json` wrote.

    Raises:
        ValueError: It is none.
    """
    if depth > _DEEPEST + 1:
        raise ValueError("a structure is too deep")
    match value:
        case ["tensor", str(dtype), int(rank)] if 0 <= rank <= 1000 and type(rank) is int:
            return ("tensor", dtype, rank)
        case ["int"]:
            return INT
        case ["none"]:
            return NONE
        case ["static", str(kind)]:
            return ("static", kind)
        case ["list" | "tuple" as kind, *items]:
            return (kind, *(from_json(item, depth + 1) for item in items))
        case ["dict", *entries]:
            return ("dict", *(_entry(entry, depth) for entry in entries))
        case ["object", str(name), *entries]:
            return ("object", name, *(_entry(entry, depth) for entry in entries))
        case _:
            raise ValueError(f"no structure is written {str(value)[:60]}")


def _entry(entry: Any, depth: int) -> tuple[str | int, Node]:
    match entry:
        case [str() | int() as key, item]:
            return key, from_json(item, depth + 1)
        case _:
            raise ValueError(f"no entry is written {str(entry)[:60]}")


__all__ = [
    "INT",
    "NONE",
    "FakeTensor",
    "Node",
    "Place",
    "Reader",
    "TracedCallError",
    "UnreadableCallError",
    "below",
    "count",
    "from_json",
    "places",
    "rebuild",
    "tensors",
    "to_json",
]
