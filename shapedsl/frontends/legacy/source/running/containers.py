"""Python's functions of containers that are followed: what makes one of others, iterates it, copies it or counts it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final, cast

from ..values import Callable, Collection, Constant, Dict, DimValue, HintValue, Sequence, Tensor, Unknown
from .heap import Box, copied
from .keys import key_of

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..values import Value
    from .machine import Machine

_ITERATOR: Final = "iterator"
_LONGEST: Final = 4_096


def dict_of(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `dict(…)` returns; None if that is not known."""
    from .methods import LostError, merge

    made = Dict({}, node, is_whole=False)
    if len(given) > 1:
        return None
    for value in given:
        try:
            merge(machine, made, value)
        except LostError as error:
            machine.escape([*given, *named.values()], node)
            return Unknown(str(error), node)
    for key, value in named.items():
        made.entries[key] = (
            made.entries[key][0] if key in made.entries else Constant(key, node),
            machine.settled(value),
        )
    made.is_whole = not given
    return machine.box(made)


def list_of(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `list(…)` returns; None if that is not known."""
    items = _items(machine, given, named)
    if items is None:
        machine.escape(given, node)
        return None
    return machine.box(Sequence("list", items, node, is_whole=False))


def tuple_of(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `tuple(…)` returns; None if that is not known."""
    items = _items(machine, given, named)
    if items is None:
        machine.escape(given, node)
        return None
    return Sequence("tuple", items, node, is_whole=False)


def _items(machine: Machine, given: list[Value], named: dict[str, Value]) -> list[Value] | None:
    if named or len(given) > 1:
        return None
    found = machine.items(given[0]) if given else []
    return None if found is None else [machine.settled(each) for each in found]


def iterator_of(
    make: Function[[list[list[Value]], cst.Call], list[Value] | None],
) -> Function[[Machine, cst.Call, list[Value], dict[str, Value]], Value | None]:
    """Returns what calls a function that gives an iterator, each made anew from what its sources hold."""

    def run(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
        def again() -> list[Value] | None:
            found = [machine.items_now(each) for each in given]
            every = [each for each in found if each is not None]
            return make(every, node) if len(every) == len(found) else None

        items = None if named else again()
        if items is None:
            machine.escape(given, node)
            return None
        return Sequence("tuple", items, node, class_name=_ITERATOR, again=again)

    return run


def zipped(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:
    """Returns what `zip(…)` returns; None if that is not known."""
    return [Sequence("tuple", list(each), node) for each in zip(*lists, strict=False)]


def chained(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:  # noqa: ARG001 - one of a table's
    """Returns what `itertools.chain(…)` returns; None if that is not known."""
    return [each for items in lists for each in items]


def backwards(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:  # noqa: ARG001 - one of a table's
    """Returns what `reversed(…)` returns; None if that is not known."""
    return lists[0][::-1] if len(lists) == 1 else None


def product_of(lists: list[list[Value]], node: cst.Call) -> list[Value] | None:
    """Returns what `itertools.product(…)` returns; None if that is not known."""
    if math.prod(len(each) for each in lists) > _LONGEST:
        return None
    return [Sequence("tuple", list(each), node) for each in itertools.product(*lists)]


def enumerated(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `enumerate(…)` returns; None if that is not known."""
    start = named.get("start", given[1] if len(given) > 1 else Constant(0, node))
    first = start.value if isinstance(start, Constant) and isinstance(start.value, int) else None

    def again() -> list[Value] | None:
        items = machine.items_now(given[0]) if given and first is not None else None
        if items is None or first is None:
            return None
        return [Sequence("tuple", [Constant(first + at, node), each], node) for at, each in enumerate(items)]

    pairs = again()
    if pairs is None:
        machine.escape(given, node)
        return None
    return Sequence("tuple", pairs, node, class_name=_ITERATOR, again=again)


def range_of(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001 - one of a table's
    """Returns what `range(…)` returns; None if that is not known."""
    numbers = [each.value for each in given if isinstance(each, Constant) and isinstance(each.value, int)]
    if named or len(numbers) != len(given) or not numbers or len(numbers) > 3:
        return None
    try:
        found = range(*numbers)
        if len(found) > _LONGEST:
            return None
    except (ValueError, OverflowError):
        return None
    return Sequence("tuple", [Constant(each, node) for each in found], node, is_whole=False, class_name="range")


def _value_of(constant: Constant) -> Any:
    """Returns what a constant is; whether it can be compared, comparing says."""
    return constant.value


def sorted_list(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `sorted(…)` returns; None if that is not known."""
    items = machine.items(given[0]) if len(given) == 1 and not named else None
    if items is None or not all(isinstance(each, Constant) for each in items):
        machine.escape(given, node)
        return None
    try:
        order = sorted((each for each in items if isinstance(each, Constant)), key=_value_of)
    except TypeError:
        return None
    return machine.box(Sequence("list", list(order), node, is_whole=False))


def from_keys(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `dict.fromkeys(…)` returns; None if that is not known."""
    items = machine.items(given[0]) if given and not named else None
    if items is None or len(given) > 2:
        machine.escape(given, node)
        return None
    made = Dict({}, node, is_whole=False)
    for item in items:
        key = key_of(item)
        if key is None:
            machine.escape(given, node)
            return None
        made.entries[key[0]] = (item, given[1] if len(given) > 1 else Constant(None, node))
    return machine.box(made)


def mapped(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `map(…)` returns; None if that is not known."""
    from ..observe import Argument
    from .calls import call_function, known_or_none

    if len(given) != 2 or named:
        return None
    items = machine.items(given[1])
    if items is None:
        return None
    results: list[Value] = []
    for item in items:
        args = [Argument(None, "", item, node.args[1])]
        if isinstance(given[0], Callable) and given[0].kind == "function" and given[0].around is not None:
            if machine.effects(given[0]):
                return None  # it is run when the iterator is used, if ever
            results.append(machine.settled(call_function(machine, node, given[0], args)))
        else:
            found = known_or_none(machine, node, given[0], args)
            if found is None:
                return None
            results.append(machine.settled(found))
        if not machine.live:
            return Unknown("this raises", node)
    return Sequence("tuple", results, node, class_name=_ITERATOR)


def copy_of(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001 - one of a table's
    """Returns what `copy.copy(…)` returns; None if that is not known."""
    if len(given) != 1 or named or not isinstance(given[0], Box):
        return given[0] if len(given) == 1 and isinstance(given[0], (Constant, Sequence, DimValue, HintValue)) else None
    return cast("Value", _copied(machine, given[0], {}, deep=False))


def deep_copy_of(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:
    """Returns what `copy.deepcopy(…)` returns; None if that is not known."""
    if not given or named:
        return None
    if isinstance(given[0], (Box, Sequence, Constant, DimValue, HintValue)):
        try:
            return cast("Value", _copied(machine, given[0], {}, deep=True))
        except RecursionError:
            return None
    return Tensor(given[0].sizes, node) if isinstance(given[0], Tensor) else None


def _copied(machine: Machine, value: Any, memo: dict[int, Any], *, deep: bool) -> Any:
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, Box):
        made = Box([copied(content) for content in value.contents], value.node, value.lost)
        memo[id(value)] = made
        for content in made.contents if deep else ():
            if isinstance(content, Dict):
                content.entries = {
                    key: (name, _copied(machine, each, memo, deep=True))
                    for key, (name, each) in content.entries.items()
                }
            elif isinstance(content, Sequence):
                content.items = [_copied(machine, each, memo, deep=True) for each in content.items]
        for content in made.contents:
            if isinstance(content, (Dict, Sequence)):
                content.is_whole = False
        return made
    if isinstance(value, Sequence) and deep:
        items = [_copied(machine, each, memo, deep=True) for each in value.items]
        return Sequence(
            value.kind, items, value.node, is_whole=value.is_whole, fields=value.fields, class_name=value.class_name
        )
    if isinstance(value, (Callable, Unknown, Collection)) and deep:
        return Unknown("a copy of this is not followed", value.node)
    return value


def length(machine: Machine, node: cst.Call, given: list[Value], named: dict[str, Value]) -> Value | None:  # noqa: ARG001 - one of a table's
    """Returns what `len(…)` returns; None if that is not known."""
    if len(given) != 1:
        return None
    value = given[0]
    if isinstance(value, Box) and value.lost is None and len(value.contents) > 1:
        return None
    if isinstance(value, Constant) and isinstance(value.value, (str, bytes)):
        return Constant(len(value.value), node)
    if isinstance(value, Tensor) and value.sizes and value.sizes[0] is not None:
        return Constant(value.sizes[0], node)
    items = machine.items(value)
    return None if items is None else Constant(len(items), node)


__all__ = [
    "backwards",
    "chained",
    "copy_of",
    "deep_copy_of",
    "dict_of",
    "enumerated",
    "from_keys",
    "iterator_of",
    "length",
    "list_of",
    "mapped",
    "product_of",
    "range_of",
    "sorted_list",
    "tuple_of",
    "zipped",
]
