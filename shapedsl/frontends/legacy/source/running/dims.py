"""Calls of ``Dim``, ``dims`` and the hints, as torch 2.14 takes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ...model import Hint
from ..values import Constant, DimValue, Fork, HintValue, Imported, Made, Member, Sequence, Unknown

if TYPE_CHECKING:
    import libcst as cst

    from ..values import Value

_NO_BOUND: Final = 2**63 - 1


def call_dim(node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value:
    """Returns what ``Dim(name, min=…, max=…)`` makes."""
    named = dict(named)
    if "name" in named and not given:
        given = [named.pop("name")]
    if len(given) != 1 or named.keys() - {"min", "max"}:
        return Unknown("torch takes no such arguments of `Dim`", node, cure="`Dim` takes a name, `min=` and `max=`")
    return _dim(node, given[0], named)


def call_dims(node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value:
    """Returns what ``dims("a", "b", min=…, max=…)`` makes."""
    if named.keys() - {"min", "max"}:
        return Unknown("torch takes no such arguments of `dims`", node, cure="`dims` takes names, `min=` and `max=`")
    return Sequence("tuple", [_dim(node, each, named) for each in given], node)


def _dim(node: cst.Call, name: Value, named: dict[str, Value]) -> Value:
    if not isinstance(name, Constant):
        if isinstance(name, Unknown):
            return name
        return Unknown("the name of this dim may be one of several", node)
    if not isinstance(name.value, str) or not name.value.isidentifier():
        return Unknown("the name of a dim must be an identifier", node, "legacy-names", "give it a Python identifier")
    open_, closed = _parted(named)
    bounds = _bounds(node, [], closed)
    if isinstance(bounds, Unknown):
        return bounds
    return DimValue(name.value, *bounds, node, node, open=open_)


def _parted(named: dict[str, Value]) -> tuple[tuple[str, ...], dict[str, Value]]:
    """Returns which bounds are not known, and the others."""
    open_ = tuple(bound for bound in ("min", "max") if bound in named and _is_open(named[bound]))
    return open_, {bound: value for bound, value in named.items() if bound not in open_}


def _is_open(bound: Value) -> bool:
    """Returns whether a bound may be any that torch takes: it is not known, and nothing says that it is wrong."""
    if isinstance(bound, Fork):
        return all(isinstance(option, Constant) or _is_open(option) for option in bound.options)
    if isinstance(bound, Unknown):
        return not bound.cure
    return isinstance(bound, (Imported, Made, Member))


def call_hint(node: cst.Call, hint: HintValue, given: list[Value], named: dict[str, Value]) -> Value:
    """Returns what ``Dim.AUTO(min=…, max=…)`` makes."""
    if not hint.is_factory or len(given) > 2 or named.keys() - {"min", "max"}:
        return Unknown("torch takes no such arguments of a hint", node, cure="a hint takes `min=` and `max=`")
    # The range of a static size is dropped, and with it would go what evaluates it.
    open_, closed = _parted(named) if hint.kind is not Hint.STATIC else ((), named)
    bounds = _bounds(node, given, closed)
    if isinstance(bounds, Unknown):
        return bounds
    return HintValue(hint.kind, node, *bounds, is_factory=False, open=open_)


def _bounds(node: cst.Call, given: list[Value], named: dict[str, Value]) -> tuple[int | None, int | None] | Unknown:
    """Returns stated bounds, inclusive; None for one that is not stated."""
    bounds: list[int | None] = []
    for position, name in enumerate(("min", "max")):
        value = named.get(name, given[position] if len(given) > position else None)
        if value is None:
            bounds.append(None)
            continue
        if not isinstance(value, Constant):
            if isinstance(value, Unknown):
                return value
            return Unknown("this bound may be one of several", node)
        number = value.value
        if isinstance(number, float) and number.is_integer():
            number = int(number)
        if number is None or (name == "max" and (number == math.inf or (_is_int(number) and number >= _NO_BOUND))):  # type: ignore[operator]
            bounds.append(None)
        elif _is_int(number):
            bounds.append(int(number))  # type: ignore[call-overload]
        else:
            return Unknown(f"`{name}` is no int", node, "legacy-bounds", "a bound is an int or None")
    return bounds[0], bounds[1]


def _is_int(value: object) -> bool:
    return isinstance(value, int)


__all__ = ["call_dim", "call_dims", "call_hint"]
