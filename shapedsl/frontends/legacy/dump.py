"""Read what ``torch._export.serde.dynamic_shapes._dump_dynamic_shapes`` wrote: an object, a dict, or JSON text of it.

A dump is read here and not by torch, whose loader rejects the ``"max": null`` that its own dumper writes, and takes
names such as ``S`` or ``N`` for constants of sympy. Derived sizes are strings, and are parsed, never evaluated.

Before::

    {"dynamic_shapes": [["nb", 3], ["2*nb + 1", "_DimHint.STATIC"], null],
     "dims": {"nb": {"min": 1, "max": null, "derived": ["2*nb + 1"]}}}

After::

    LegacySpec("f", (Param("arg0", …), Param("arg1", …), Param("arg2", …)),
        Items("tuple", (Items("tuple", (Named("nb", 1, None), Pinned(3))),
                        Items("tuple", (Derived(Named("nb", 1, None), 2, 1), Hinted(STATIC))), Unsaid())))

Three things are not in a dump: the names of the parameters, the bounds of ``AUTO`` and ``DYNAMIC``, and whether a number was
pinned or a static size of the example. The first two are told; a number is kept.

Source: ``torch/_export/serde/dynamic_shapes.py``.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from ...diagnostics import Report, Span
from ...ir import AnyType, Param
from .model import (
    Derived,
    Entries,
    Hint,
    Hinted,
    Input,
    Items,
    LegacySpec,
    MappingInput,
    Named,
    Pinned,
    SequenceInput,
    TensorInput,
    Tree,
    UnknownInput,
    Unsaid,
)
from .naming import Place
from .notes import choice, remark
from .verdict import Note

_Linear: TypeAlias = "tuple[str | None, int, int]"  # the name, its factor, and what is added

_HINTS: Final = {"AUTO": Hint.AUTO, "DYNAMIC": Hint.DYNAMIC, "STATIC": Hint.STATIC}


def is_dump(value: object) -> bool:
    """Returns whether ``value`` is a dump: torch's object, a dict with its two keys, or text of one."""
    if isinstance(value, str):
        return value.lstrip().startswith("{")
    if isinstance(value, Mapping):
        return set(cast("Mapping[object, object]", value)) == {"dynamic_shapes", "dims"}
    return type(value).__name__ == "DynamicShapesSpec" and hasattr(value, "dims") and hasattr(value, "dynamic_shapes")


def read_dump(
    dump: object,
    report: Report,
    *,
    name: str = "f",
    params: tuple[Param, ...] | None = None,
    inputs: Mapping[str, Input] | None = None,
    receiver: str | None = None,
    span: Span | None = None,
) -> LegacySpec | None:
    """Returns what a dump says.

    Args:
        dump: What `is_dump` accepts.
        report: Receives ``legacy-parameter`` for what is no dump, and ``legacy-names`` for a dim that it does not list,
            ``input-too-large`` for what is nested too deeply.
        name: Of the callable.
        params: Its parameters, if they are known; a dump is in the order in which the inputs were passed.
        inputs: The example's, if there is one.
        receiver: ``self`` for a method.
        span: Of the dump, in source.

    Returns:
        None if an error was reported.
    """
    errors = len(report.errors)
    reader = _Reader(report, span)
    try:
        tree = reader.top(dump)
    except RecursionError:
        report.error("input-too-large", "the dump is nested too deeply", at=span)
        return None
    if len(report.errors) > errors:
        return None
    notes = reader.notes()
    if params is None and isinstance(tree, Items):
        params = tuple(Param(f"arg{at}", AnyType()) for at in range(len(tree.items)))
        if params:
            message = "a dump has no names of parameters: they are counted"
            notes.insert(0, remark(message, [param.name for param in params]))
    if inputs is None and params is not None and isinstance(tree, Items):
        inputs = {param.name: _input(item) for param, item in zip(params, tree.items, strict=False)}
    return LegacySpec(name, params, tree, inputs, receiver, tuple(notes), span=span)


def _input(tree: Tree) -> Input:
    """Returns what a dump tells of an input: a tensor has an entry for each dim, and what is no tensor has none."""
    match tree:
        case Entries(items=entries):
            return MappingInput(tuple((key, _input(item)) for key, item in entries))
        case Items(items=items) if items and not any(isinstance(item, (Entries, Items, Unsaid)) for item in items):
            return TensorInput(len(items))
        case Items(kind="list" | "tuple" as kind, items=items) if items:
            return SequenceInput(kind, tuple(_input(item) for item in items))
        case _:
            return UnknownInput()


class _Reader:
    """Reads one dump."""

    def __init__(self, report: Report, span: Span | None) -> None:
        self._report = report
        self._span = span
        self._dims: dict[str, Named] = {}
        self._numbers: list[str] = []
        self._hints: list[str] = []

    def notes(self) -> list[Note]:
        made: list[Note] = []
        if self._numbers:
            message = "a number in a dump was pinned, or a static size of the example: it is kept"
            made.append(remark(message, self._numbers))
        if self._hints:
            message = "a dump does not hold the bounds of AUTO and DYNAMIC"
            made.append(choice(message, self._hints, "no bounds", ["the bounds that were given"]))
        return made

    def top(self, dump: object) -> Tree:
        if isinstance(dump, (str, bytes, bytearray)):
            try:
                dump = json.loads(dump)
            except (ValueError, RecursionError) as error:
                return self._refuse(f"the text is no JSON: {error}")
        if isinstance(dump, Mapping):
            fields = cast("Mapping[str, object]", dump)
            if set(fields) != {"dynamic_shapes", "dims"}:
                return self._refuse("it has the keys `dynamic_shapes` and `dims`")
            shapes, dims = fields["dynamic_shapes"], fields["dims"]
        else:
            shapes, dims = getattr(dump, "dynamic_shapes", None), getattr(dump, "dims", None)
        if not isinstance(dims, Mapping):
            return self._refuse("`dims` is a dict by name")
        for name, row in cast("Mapping[object, object]", dims).items():
            if not self._dim(name, row):
                return Unsaid()
        if shapes is None:
            return Unsaid()
        if isinstance(shapes, Mapping):  # not what the dumper writes, but what its loader takes
            entries = cast("Mapping[str, object]", shapes).items()
            return Entries(tuple((key, self._tree(value, Place(key, key))) for key, value in entries))
        if not isinstance(shapes, (list, tuple)):
            return self._refuse("`dynamic_shapes` is a list, one entry an input")
        items = cast("Sequence[object]", shapes)
        return Items("tuple", tuple(self._tree(item, Place(f"arg{at}", f"arg{at}")) for at, item in enumerate(items)))

    def _refuse(self, why: str) -> Unsaid:
        self._report.error("legacy-parameter", "this is no dump of dynamic shapes", at=self._span, note=why)
        return Unsaid()

    def _dim(self, name: object, row: object) -> bool:
        """Reads one row of ``dims``; returns whether it is one."""
        if isinstance(row, Mapping):
            fields = cast("Mapping[str, object]", row)
            low, high = fields.get("min"), fields.get("max")
        else:
            low, high = getattr(row, "min", None), getattr(row, "max", None)
        if not isinstance(name, str) or not (low is None or _is_int(low)) or not (_is_int(high) or _is_endless(high)):
            self._refuse(f"the bounds of `{name}` are ints, or null")
            return False
        self._dims[name] = Named(name, cast("int | None", low), cast("int", high) if _is_int(high) else None)
        return True

    # --------------------------------------------------------------------------------------- inputs

    def _tree(self, value: object, place: Place) -> Tree:
        if value is None:
            return Unsaid()
        if isinstance(value, Mapping):
            entries = cast("Mapping[str | int, object]", value).items()
            return Entries(tuple((key, self._tree(item, place.item(key))) for key, item in entries))
        if isinstance(value, (list, tuple)):
            items = cast("Sequence[object]", value)
            if items and all(isinstance(item, (str, int)) for item in items):  # a tensor: one entry a dim
                return Items("tuple", tuple(self._size(item, place.axis(at)) for at, item in enumerate(items)))
            inside = tuple(self._tree(item, place.item(at)) for at, item in enumerate(items))
            return Items("list" if isinstance(value, list) else "tuple", inside)
        return self._size(value, place)

    def _size(self, value: object, place: Place) -> Tree:
        if _is_int(value):
            self._numbers.append(place.text)
            return Pinned(cast("int", value))
        if isinstance(value, str):
            prefix, _, last = value.rpartition(".")
            if prefix and last in _HINTS:
                if last != "STATIC":
                    self._hints.append(place.text)
                return Hinted(_HINTS[last])
            if value in self._dims:
                return self._dims[value]
            found = _linear(value)
            if found is not None and found[0] in self._dims and found[1] >= 1:
                root = self._dims[found[0]]
                return root if found[1:] == (1, 0) else Derived(root, found[1], found[2])
        self._report.error(
            "legacy-names",
            f"`{value}` at `{place.text}` is no size that the dump's `dims` tell of",
            at=self._span,
            note=f"they are {', '.join(f'`{name}`' for name in self._dims) or 'none'}",
        )
        return Unsaid()


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_endless(high: object) -> bool:
    """Returns whether an upper bound is none: null, JSON's infinity, or torch's own."""
    return high is None or high == math.inf or type(high).__name__ in ("Infinity", "IntInfinity")


def _linear(text: str) -> _Linear | None:
    """Returns ``factor * name + offset`` as its parts; None for another expression.

    >>> _linear("2*nb + 1"), _linear("nb - 3"), _linear("2*(nb + 1)"), _linear("nb**2")
    (('nb', 2, 1), ('nb', 1, -3), ('nb', 2, 2), None)
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _part(node)


def _part(node: ast.expr) -> _Linear | None:
    match node:
        case ast.Name(id=name):
            return name, 1, 0
        case ast.Constant(value=value) if _is_int(value):
            return None, 0, cast("int", value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _part(operand)
            return None if inner is None else (inner[0], -inner[1], -inner[2])
        case ast.BinOp(left=left, op=op, right=right):
            one, two = _part(left), _part(right)
            return None if one is None or two is None else next(_combined(one, op, two), None)
        case _:
            return None


def _combined(one: _Linear, op: ast.operator, two: _Linear) -> Iterator[_Linear]:
    """Yields what an operation gives, if it is linear in one name."""
    name = one[0] or two[0]
    if one[0] and two[0] and one[0] != two[0]:
        return
    match op:
        case ast.Add():
            yield name, one[1] + two[1], one[2] + two[2]
        case ast.Sub():
            yield name, one[1] - two[1], one[2] - two[2]
        case ast.Mult() if one[0] is None:
            yield name, one[2] * two[1], one[2] * two[2]
        case ast.Mult() if two[0] is None:
            yield name, two[2] * one[1], two[2] * one[2]
        case _:
            return


__all__ = ["is_dump", "read_dump"]
