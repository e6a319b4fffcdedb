"""Operators on what is known: numbers, strings, dims, lists, dicts."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

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
from .heap import UNBOUND, Box, because
from .joining import MOST_OPTIONS
from .keys import key_of

if TYPE_CHECKING:
    from collections.abc import Callable as Function
    from typing import Any

    import libcst as cst

    from ..values import Value
    from .machine import Machine

_LONGEST: Final = 4_096  # items of a list, characters of a string
_LARGEST: Final = 2**80
_PYTHON: Final[Any] = operator  # on any values: what they cannot do is caught
_OPERATORS: Final[dict[str, Function[[Any, Any], Any]]] = {
    "Add": _PYTHON.add,
    "Subtract": _PYTHON.sub,
    "Multiply": _PYTHON.mul,
    "FloorDivide": _PYTHON.floordiv,
    "Divide": _PYTHON.truediv,
    "Modulo": _PYTHON.mod,
    "Power": _PYTHON.pow,
    "LeftShift": _PYTHON.lshift,
    "RightShift": _PYTHON.rshift,
    "BitAnd": _PYTHON.and_,
    "BitOr": _PYTHON.or_,
    "BitXor": _PYTHON.xor,
}


def binary(machine: Machine, node: cst.CSTNode, kind: str, left: Value, right: Value) -> Value:
    """Returns ``left`` and ``right`` joined by an operator."""
    if isinstance(left, Fork) or isinstance(right, Fork):
        lefts = left.options if isinstance(left, Fork) else [left]
        rights = right.options if isinstance(right, Fork) else [right]
        if len(lefts) * len(rights) > MOST_OPTIONS:
            machine.state.blur([left, right])
            return Unknown("there are too many branches", node)
        return machine.joined([_binary(machine, node, kind, one, two) for one in lefts for two in rights], node)
    return _binary(machine, node, kind, left, right)


def _binary(machine: Machine, node: cst.CSTNode, kind: str, left: Value, right: Value) -> Value:
    if isinstance(left, DimValue) or isinstance(right, DimValue):
        return _derived(node, kind, left, right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _constant(node, kind, left.value, right.value)
    if isinstance(left, Constant) and isinstance(left.value, str) and kind == "Modulo" and isinstance(right, Sequence):
        plain = tuple(each.value for each in right.items if isinstance(each, Constant))
        return (
            _constant(node, kind, left.value, plain)
            if len(plain) == len(right.items)
            else Unknown("part of this string is not known", node)
        )
    one, two = machine.content(left), machine.content(right)
    if isinstance(one, Dict) and isinstance(two, Dict) and kind == "BitOr":
        merged = dict(one.entries)
        for key, (name, value) in two.entries.items():
            merged[key] = (merged[key][0] if key in merged else name, value)
        return machine.box(Dict(merged, node, is_whole=False))
    if isinstance(one, Sequence) and isinstance(two, Sequence) and kind == "Add":
        if _is_plain(one) and _is_plain(two) and _kind(one) == _kind(two):
            return _sequence(machine, one, [*one.items, *two.items], node)
        machine.state.blur([left, right])
        return Unknown("this sum is not known", node)
    for many, times in ((one, right), (two, left)):
        if isinstance(many, Sequence) and kind == "Multiply" and _is_plain(many):
            if not isinstance(times, Constant) or not isinstance(times.value, int):
                machine.state.blur([many])
                return because(times, node, "how often this is repeated is not known")
            if times.value * len(many.items) > _LONGEST:
                machine.state.blur([many])
                return Unknown("this is too long", node)
            return _sequence(machine, many, many.items * times.value, node)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _elementwise(node, left, right)
    for value in (left, right):
        if isinstance(value, Unknown):
            machine.escape([left, right], node)
            return value
    if any(isinstance(each, Callable) and each.kind == "object" for each in (left, right)):
        machine.unknown_call([left, right], node)  # its own operators
    machine.escape([left, right], node)
    return Unknown("this operation is not followed", node)


def _is_plain(value: Sequence) -> bool:
    return value.class_name in ("", "view") or value.kind == "namedtuple"


def _kind(value: Sequence) -> str:
    return "list" if value.kind == "list" else "tuple"


def _sequence(machine: Machine, like: Sequence, items: list[Value], node: cst.CSTNode) -> Value:
    if like.kind == "list":
        return machine.box(Sequence("list", list(items), node, is_whole=False))
    return Sequence("tuple", list(items), node, is_whole=False)


def _derived(node: cst.CSTNode, kind: str, left: Value, right: Value) -> Value:
    """Returns a dim that is computed from another: only what torch can compute."""
    dim, other = (left, right) if isinstance(left, DimValue) else (right, left)
    if not isinstance(dim, DimValue) or not isinstance(other, Constant) or type(other.value) is not int:
        return because(other, node, "a dim can be computed with ints only")
    number = other.value
    if kind == "Add":
        return replace(dim, offset=dim.offset + number, node=node)
    if kind == "Subtract" and dim is left:
        return replace(dim, offset=dim.offset - number, node=node)
    if kind == "Multiply" and number > 0:
        return replace(dim, factor=dim.factor * number, offset=dim.offset * number, node=node)
    return Unknown("torch computes no such dim", node, cure="torch adds, subtracts and multiplies by ints above 0 only")


def _constant(node: cst.CSTNode, kind: str, left: Any, right: Any) -> Value:
    try:
        if kind == "Power" and not (abs(left) <= 10 and abs(right) <= 70) and abs(right) > 12:
            return Unknown("this number is too large", node)
        if kind == "LeftShift" and right > 100:
            return Unknown("this number is too large", node)
        if kind == "Multiply" and isinstance(left, (str, bytes)) != isinstance(right, (str, bytes)):
            text, times = (left, right) if isinstance(left, (str, bytes)) else (right, left)
            if times * len(text) > _LONGEST:
                return Unknown("this is too long", node)
        if kind == "Modulo" and isinstance(left, (str, bytes)) and len(left) > 200:
            return Unknown("this is too long", node)
        result = _OPERATORS[kind](left, right)
    except Exception:  # what the program raises here
        return Unknown("this raises", node)
    if isinstance(result, int) and abs(result) > _LARGEST:
        return Unknown("this number is too large", node)
    if isinstance(result, (str, bytes)) and len(result) > _LONGEST:
        return Unknown("this is too long", node)
    return Constant(result, node) if isinstance(result, (int, str, float, bytes)) else Unknown("not followed", node)


def _elementwise(node: cst.CSTNode, left: Value, right: Value) -> Value:
    """Returns a tensor that a number, or a tensor of equal rank, leaves its sizes."""
    one, two = (left, right) if isinstance(left, Tensor) else (right, left)
    if isinstance(one, Tensor) and isinstance(two, Constant):
        return Tensor(one.sizes, node)
    if isinstance(one, Tensor) and isinstance(two, Tensor) and one.sizes is not None and one.sizes == two.sizes:
        return Tensor(one.sizes, node)
    return Tensor(None, node) if isinstance(two, Tensor) else Unknown("this operation is not followed", node)


def unary(machine: Machine, node: cst.CSTNode, kind: str, value: Value) -> Value:
    """Returns what an operator makes of one value."""
    if kind == "Not":
        known = truth(machine, value)
        return Unknown("this test is not known", node) if known is None else Constant(not known, node)
    if isinstance(value, Fork):
        return machine.joined([unary(machine, node, kind, each) for each in value.options], node)
    if isinstance(value, Constant) and isinstance(value.value, (int, float)):
        if kind == "Minus":
            return Constant(-value.value, node)
        if kind == "Plus":
            return Constant(+value.value, node)
        if kind == "BitInvert" and isinstance(value.value, int):
            return Constant(~value.value, node)
    if isinstance(value, Tensor):
        return Tensor(value.sizes, node)
    return Unknown(value.reason if isinstance(value, Unknown) else "this operation is not followed", node)


def truth(machine: Machine, value: Value) -> bool | None:
    """Returns whether a value is true; None if that is not known."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Fork):
        found = {truth(machine, each) for each in value.options if each is not UNBOUND}
        return found.pop() if len(found) == 1 else None
    if isinstance(value, Box):
        lengths = {bool(getattr(each, "entries", getattr(each, "items", None))) for each in value.contents}
        if value.lost is not None or any(isinstance(each, Collection) for each in value.contents):
            return None
        return lengths.pop() if len(lengths) == 1 else None
    if isinstance(value, Sequence):
        return None if value.class_name == "iterator" else bool(value.items)
    if isinstance(value, (DimValue, HintValue)):
        return True
    if isinstance(value, Callable):
        return True if value.kind in ("function", "class") else None
    return None


def compare(machine: Machine, kind: str, left: Value, right: Value) -> bool | None:
    """Returns whether a comparison holds; None if that is not known."""
    if isinstance(left, Fork) or isinstance(right, Fork):
        lefts = left.options if isinstance(left, Fork) else [left]
        rights = right.options if isinstance(right, Fork) else [right]
        found = {compare(machine, kind, one, two) for one in lefts for two in rights}
        return found.pop() if len(found) == 1 else None
    if kind in ("Is", "IsNot"):
        same = _is(left, right)
        return None if same is None else same is (kind == "Is")
    if kind in ("In", "NotIn"):
        held = _in(machine, left, right)
        return None if held is None else held is (kind == "In")
    if isinstance(left, Constant) and isinstance(right, Constant):
        try:
            return bool(_COMPARISONS[kind](left.value, right.value))
        except (TypeError, KeyError):
            return None
    return None


_COMPARISONS: Final[dict[str, Function[[Any, Any], Any]]] = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "LessThan": operator.lt,
    "LessThanEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEqual": operator.ge,
}


def _is(left: Value, right: Value) -> bool | None:
    """Returns whether two values are one object; None if that is not known."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Constant) and (one.value is None or one.value is ... or isinstance(one.value, bool)):
            if isinstance(other, Constant):
                return one.value is other.value
            return None if isinstance(other, (Unknown, Imported)) else False
    return True if left is right and isinstance(left, (Box, Tensor, DimValue)) and not _is_many(left) else None


def _is_many(value: object) -> bool:
    return not isinstance(value, Box) or value.is_many


def _in(machine: Machine, item: Value, container: Value) -> bool | None:
    content = machine.content(container)
    key = key_of(item)
    if isinstance(item, Constant) and isinstance(container, Constant):
        if isinstance(item.value, str) and isinstance(container.value, str):
            return item.value in container.value
        return None
    if not isinstance(item, Constant) or key is None:
        return None
    if isinstance(content, Dict):
        return key[0] in content.entries
    if isinstance(content, Sequence) and content.class_name != "iterator":
        plain = [each.value for each in content.items if isinstance(each, Constant)]
        return item.value in plain if len(plain) == len(content.items) else None
    return None


__all__ = ["binary", "compare", "truth", "unary"]
