"""Attributes and items: reading them, and assigning to items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model import Hint
from ..values import (
    Callable,
    Collection,
    Constant,
    Dict,
    DimValue,
    Fork,
    HintValue,
    Imported,
    Made,
    Member,
    Sequence,
    Tensor,
    Unknown,
)
from .classes import attribute
from .heap import Box, copied, within
from .keys import key_of
from .library import CONSTANTS, canonical
from .methods import METHODS
from .tensors import TENSOR_METHODS, tensor_attribute, tensor_item

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value
    from .heap import Content
    from .machine import Machine


def attribute_of(machine: Machine, node: cst.CSTNode, value: Value, name: str) -> Value:
    """Returns an attribute of a value."""
    if isinstance(value, Fork):
        options = [each for each in value.options if not (isinstance(each, Constant) and each.value is None)]
        found = [attribute_of(machine, node, each, name) for each in options]
        return machine.joined(found, node) if found else Unknown(f"`None` has no `{name}`", node)
    if isinstance(value, Imported):
        return imported(machine, f"{value.name}.{name}", node)
    if isinstance(value, Callable):
        return attribute(machine, value, name, node)
    if isinstance(value, (Made, Member)):
        return _limit(value, name, node) or Member(value, name, node)
    if isinstance(value, Tensor):
        found_here = tensor_attribute(value, name, node)
        if found_here is not None:
            return found_here
        return _method(machine, value, "Tensor", name, node) if name in TENSOR_METHODS else _no(name, node)
    if isinstance(value, DimValue):
        return _of_dim(value, name, node)
    if isinstance(value, Sequence) and value.kind == "namedtuple" and name in value.fields:
        return value.items[value.fields.index(name)]
    kind = _kind(value)
    if kind == "ShapesCollection":
        return Member(value, name, node)
    if kind and name in METHODS.get(kind, ()):
        return _method(machine, value, kind, name, node)
    if isinstance(value, Box):
        machine.escape([value], node, reason=f"the use of `.{name}` is not followed")
    if isinstance(value, Unknown):
        return value
    machine.state.blur([value])
    return _no(name, node)


def _limit(value: Value, name: str, node: cst.CSTNode) -> Value | None:
    """Returns ``torch.iinfo(torch.int64).max``; None for another attribute."""
    if not isinstance(value, Made) or value.name != "torch.iinfo" or not value.args or name not in ("min", "max"):
        return None
    kind = value.args[0][1]
    bits = {"torch.int64": 63, "torch.long": 63, "torch.int32": 31, "torch.int": 31}
    power = bits.get(kind.name) if isinstance(kind, Imported) else None
    if power is None:
        return None
    return Constant(2**power - 1 if name == "max" else -(2**power), node)


def _no(name: str, node: cst.CSTNode) -> Unknown:
    return Unknown(f"`.{name}` is not followed", node)


def _kind(value: Value | Box) -> str:
    if isinstance(value, Box):
        if value.lost is not None or not value.contents:
            return ""
        kinds = {_kind_of(content) for content in value.contents}
        return kinds.pop() if len(kinds) == 1 else ""
    if isinstance(value, Constant):
        return "str" if isinstance(value.value, str) else ""
    return _kind_of(value) if isinstance(value, Sequence) else ""


def _kind_of(content: object) -> str:
    if isinstance(content, Sequence):
        return "list" if content.kind == "list" else "namedtuple" if content.kind == "namedtuple" else "tuple"
    return "dict" if isinstance(content, Dict) else "ShapesCollection"


def _method(machine: Machine, value: Value, kind: str, name: str, node: cst.CSTNode) -> Value:  # noqa: ARG001
    return Callable("function", None, f"{kind}.{name}", node, inner=value)


def imported(machine: Machine, name: str, node: cst.CSTNode) -> Value:
    """Returns what another module has by a qualified name."""
    usual = canonical(name)
    if usual in machine.patched:
        return Unknown(f"`{name}` is assigned in this file", node)
    if usual in CONSTANTS:
        return Constant(CONSTANTS[usual], node)
    head, _, last = usual.rpartition(".")
    if head == "torch.export.Dim":
        if last in Hint.__members__:
            return HintValue(Hint[last], node)
        return Unknown(f"`Dim.{last}` is not known", node)
    return Imported(name, node)


def _of_dim(value: DimValue, name: str, node: cst.CSTNode) -> Value:
    is_root = (value.factor, value.offset) == (1, 0)
    if name == "__name__" and is_root:
        return Constant(value.name, node)
    if name == "root" and not is_root:
        return DimValue(value.name, value.low, value.high, value.root, value.root, open=value.open)
    if name in value.open:
        return Unknown(f"`{name}` of this dim is not known", node)
    if name in ("min", "max") and is_root:
        bound = value.low if name == "min" else value.high
        return Constant(bound, node) if bound is not None else Constant(0, node) if name == "min" else _no(name, node)
    return _no(name, node)


# ---------------------------------------------------------------------------------------- items


def item_of(machine: Machine, node: cst.CSTNode, value: Value | Box, index: Value) -> Value:
    """Returns ``value[index]``."""
    if isinstance(index, Fork):
        return machine.joined([item_of(machine, node, value, each) for each in index.options], node)
    if isinstance(value, Fork):
        options = [each for each in value.options if not (isinstance(each, Constant) and each.value is None)]
        return (
            machine.joined([item_of(machine, node, each, index) for each in options], node)
            if options
            else _raises(node)
        )
    if isinstance(value, Box):
        if value.lost is not None:
            return value.lost
        found = [_item(machine, node, content, index) for content in value.contents]
        if any(isinstance(each, Unknown) for each in found):
            machine.state.blur([each for content in value.contents for each in within(content)])
        kept = [each for each in found if each is not None]
        return machine.joined(kept, node) if kept else _raises(node)
    if isinstance(value, Tensor):
        return tensor_item(value, index, node)
    if isinstance(value, Sequence):
        found_item = _item(machine, node, value, index)
        if isinstance(found_item, Unknown):
            machine.state.blur([value])
        return found_item or _raises(node)
    if isinstance(value, Constant) and isinstance(value.value, str) and isinstance(index, Constant):
        try:
            return Constant(value.value[index.value], node)  # type: ignore[index]
        except (TypeError, IndexError):
            return _raises(node)
    if isinstance(value, Unknown):
        return value
    if isinstance(value, (Made, Member)):
        return Member(value, "[]", node)
    if isinstance(value, Callable) and value.kind == "object":
        machine.unknown_call([value, index], node)
    if isinstance(value, (Imported, Callable)):  # a generic: `list[int]`
        return Unknown("a subscript of this is not followed", node)
    return Unknown("this item is not known", node)


def _raises(node: cst.CSTNode) -> Unknown:
    return Unknown("there is no such item", node)


def _item(machine: Machine, node: cst.CSTNode, content: object, index: Value) -> Value | None:
    """Returns an item of one content; None if there is none, so that it raises."""
    if isinstance(content, Dict):
        key = key_of(index)
        if key is None or not _hashable(key[0]):
            return Unknown("which key this reads is not known", node)
        entry = content.entries.get(key[0])
        return None if entry is None else entry[1]
    if isinstance(content, Sequence):
        if content.class_name == "iterator":
            return None
        bounds = slice_of(index)
        if bounds is not None:
            items = content.items[bounds]
            if content.kind == "list":
                return machine.box(Sequence("list", items, node, is_whole=False))
            return Sequence("tuple", items, node, is_whole=False)
        if not isinstance(index, Constant) or not isinstance(index.value, int):
            return Unknown("which item this reads is not known", node)
        inside = -len(content.items) <= index.value < len(content.items)
        return content.items[index.value] if inside else None
    return Unknown("what a collection holds is not read", node)


def slice_of(index: Value) -> slice | None:
    """Returns a slice with known bounds; None for another index."""
    if isinstance(index, Sequence) and index.class_name == "slice":
        bounds = [each.value for each in index.items if isinstance(each, Constant)]
        if len(bounds) == 3 and all(each is None or isinstance(each, int) for each in bounds) and bounds[2] != 0:
            return slice(*bounds)
    return None


def _hashable(key: object) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def set_item(machine: Machine, target: Value | Box, index: Value, value: Value | None, step: cst.CSTNode) -> None:
    """Assigns to an item, or deletes it.

    Args:
        target: What has it.
        index: Which.
        value: The new one; None to delete it.
        step: The statement or call.
    """
    options = target.options if isinstance(target, Fork) else [target]
    boxes = [each for each in options if isinstance(each, Box)]
    if value is not None:
        value = machine.settled(value)
        if len(boxes) < len(options) or any(box in machine.state.escaped or box.lost is not None for box in boxes):
            machine.escape([value, index], step)
    if any(not isinstance(each, (Box, Constant)) for each in options) or any(box.lost is not None for box in boxes):
        _through_unknown(machine, [each for each in options if not isinstance(each, Box)], value, step)
    for box in boxes:
        if box.lost is None:
            _change(machine, box, index, value, step, weak=len(options) > 1 or box.is_many)


def _through_unknown(machine: Machine, holders: list[Value], value: Value | None, step: cst.CSTNode) -> None:
    """Changes what is not known: anything that it may be, or that an object's own `__setitem__` changes."""
    if any(isinstance(each, Callable) for each in holders):
        machine.unknown_call([*holders, *([value] if value is not None else [])], step)
    machine.unknown_store(step)


def _change(machine: Machine, box: Box, index: Value, value: Value | None, step: cst.CSTNode, *, weak: bool) -> None:
    machine.state.touch(box)
    before = [copied(content) for content in box.contents] if weak else []
    after: list[Content] = []
    for content in box.contents:
        reason = _assign(content, index, value, step)
        if reason is True:
            after.append(content)
        elif reason is not False:
            machine.escape([box], step, reason=reason)
            return
    if not after and not before:  # it raises in each case
        machine.live = False
        return
    box.contents = [*before, *after]
    if len(box.contents) > 16:
        machine.escape([box], step, reason="it is built in too many branches")


def _assign(content: object, index: Value, value: Value | None, step: cst.CSTNode) -> str | bool:
    """Assigns to an item of one content. Returns True if that is done, False if it raises, else why it is lost."""
    if isinstance(content, Collection):
        if value is None:
            return "it is changed in a way that is not followed"
        content.entries.append((index, value, step))
        return True
    if isinstance(content, Dict):
        key = key_of(index)
        if key is None or not _hashable(key[0]):
            return index.reason if isinstance(index, Unknown) else "a key that is assigned is not known"
        content.steps.append(step)
        if value is None:
            return content.entries.pop(key[0], None) is not None
        content.entries[key[0]] = (content.entries[key[0]][0] if key[0] in content.entries else index, value)
        return True
    if isinstance(content, Sequence) and content.kind == "list" and isinstance(index, Constant):
        if not isinstance(index.value, int) or not -len(content.items) <= index.value < len(content.items):
            return False
        content.steps.append(step)
        if value is None:
            del content.items[index.value]
        else:
            content.items[index.value] = value
        return True
    return "it is changed in a way that is not followed"


__all__ = ["attribute_of", "imported", "item_of", "set_item", "slice_of"]
