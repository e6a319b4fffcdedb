"""One value of several, after branches in which a name or a box held these: which of them are the same, and a `Fork`.

Before::

    b = Dim("b") if wide else Dim("c")

After: ``b`` is a `Fork` of two; had both branches made the same of the same nodes, it would be that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ..values import (
    Callable,
    Collection,
    Constant,
    Dict,
    DimValue,
    Fork,
    HintValue,
    Imported,
    Sequence,
    Tensor,
    Unknown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import libcst as cst

    from ..values import Value
    from .heap import Content, Held

MOST_OPTIONS: Final = 16


def joined_held(values: list[Held], node: cst.CSTNode) -> Held:
    """Returns what a key holds after branches in which it held these."""
    if isinstance(values[0], tuple):
        boxes = cast("list[tuple[list[Content], Unknown | None, bool]]", values)
        lost = next((box[1] for box in boxes if box[1] is not None), None)
        many = any(box[2] for box in boxes)
        contents: list[Content] = []
        for content in (content for box in boxes for content in box[0]):
            if not any(same_content(content, other) for other in contents):
                contents.append(content)
        if lost is None and len(contents) > MOST_OPTIONS:
            lost = Unknown("it is built in too many branches", node)
        return contents, lost, many
    return joined(cast("list[Value]", values), node)


def joined(values: Iterable[Value], node: cst.CSTNode) -> Value:
    """Returns one of several values: itself if they are the same, else a `Fork`."""
    options: list[Value] = []
    seen: set[int] = set()
    for value in values:
        for each in value.options if isinstance(value, Fork) else [value]:
            if id(each) in seen:
                continue
            seen.add(id(each))
            if not any(same(each, other) for other in options):
                options.append(each)
            if len(options) > MOST_OPTIONS:
                return Unknown("there are too many branches", node)
    return options[0] if len(options) == 1 else Fork(options, node)


def same(one: Value, other: Value) -> bool:
    """Whether two values are one, and made by the same nodes."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Constant):
        other = cast("Constant", other)
        return one.node is other.node and type(one.value) is type(other.value) and one.value == other.value
    if isinstance(one, (DimValue, HintValue, Tensor)):
        return all(_equal(getattr(one, name), getattr(other, name)) for name in one.__slots__)
    if isinstance(one, Imported):
        return one.name == cast("Imported", other).name
    if isinstance(one, Unknown):
        return one.code == cast("Unknown", other).code
    if isinstance(one, (Dict, Sequence, Collection)):
        return same_content(one, cast("Content", other))
    if isinstance(one, Callable):
        other = cast("Callable", other)
        if (one.kind, one.attributes) != (other.kind, other.attributes) or one.node is not other.node:
            return False
        if one.inner is not None and other.inner is not None:
            return one.around is other.around and same(one.inner, other.inner)
        return one.around is other.around and one.inner is other.inner
    return False


def same_content(one: Content, other: Content) -> bool:
    """Whether two contents hold the same."""
    if one is other:
        return True
    if type(one) is not type(other) or one.node is not other.node:
        return False
    if isinstance(one, Collection):
        found = cast("Collection", other).entries
        return len(one.entries) == len(found) and all(
            a[2] is b[2] and same(a[0], b[0]) and same(a[1], b[1]) for a, b in zip(one.entries, found, strict=False)
        )
    if len(one.steps) != len(cast("Dict", other).steps) or any(
        a is not b for a, b in zip(one.steps, cast("Dict", other).steps, strict=False)
    ):
        return False
    if isinstance(one, Sequence):
        items = cast("Sequence", other).items
        return len(one.items) == len(items) and all(same(a, b) for a, b in zip(one.items, items, strict=False))
    entries = cast("Dict", other).entries
    return list(one.entries) == list(entries) and all(
        type(a) is type(b) and same(one.entries[a][0], entries[b][0]) and same(one.entries[a][1], entries[b][1])
        for a, b in zip(one.entries, entries, strict=False)
    )


def _equal(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, (int, str, tuple)) and one == other)


__all__ = ["MOST_OPTIONS", "joined", "joined_held", "same"]
