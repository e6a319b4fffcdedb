"""Methods of dicts, lists, strings and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from ..values import Constant, Dict, Fork, Sequence, Tensor, Unknown
from .heap import Box, copied, within
from .joining import MOST_OPTIONS
from .keys import key_of

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..observe import Argument
    from ..values import Callable, Value
    from .heap import Content
    from .machine import Machine

METHODS: Final[dict[str, frozenset[str]]] = {
    "dict": frozenset(["get", "setdefault", "update", "items", "keys", "values", "pop", "popitem", "copy", "clear"]),
    "list": frozenset(
        ["append", "extend", "insert", "pop", "remove", "clear", "copy", "reverse", "index", "count", "sort"]
    ),
    "tuple": frozenset(("index", "count")),
    "namedtuple": frozenset(("_asdict", "_replace", "index", "count")),
    "str": frozenset(
        [
            "format",
            "join",
            "upper",
            "lower",
            "replace",
            "split",
            "strip",
            "lstrip",
            "rstrip",
            "startswith",
            "endswith",
            "removeprefix",
            "removesuffix",
            "title",
            "capitalize",
            "zfill",
            "isidentifier",
            "isdigit",
        ]
    ),
}


def call_method(machine: Machine, node: cst.Call, callee: Callable, args: list[Argument]) -> Value:
    """Returns what a method of a built-in object returns."""
    from .calls import spread_args
    from .tensors import call_tensor_method

    receiver = callee.inner
    kind, _, name = callee.name.partition(".")
    spread = spread_args(machine, args)
    values = [each.value for each in args]
    if isinstance(receiver, Fork):  # the callee was found before its object was forked
        spread = None
    if kind == "Module" and receiver is not None:  # the module itself
        machine.tell_callables(args, node)
        return receiver
    if isinstance(receiver, Tensor):
        return call_tensor_method(machine, node, receiver, name, spread)
    if spread is None or receiver is None:
        machine.unknown_call([*values, *([receiver] if receiver is not None else [])], node)
        return Unknown("the arguments of this call are not known", node)
    if isinstance(receiver, Constant):
        return _of_string(machine, node, receiver, name, *spread)
    if isinstance(receiver, Sequence):
        return _of_tuple(machine, node, receiver, name, *spread)
    assert isinstance(receiver, Box)
    if receiver.lost is not None:
        machine.escape(values, node)
        return Unknown(receiver.lost.reason, node)
    result = change(machine, receiver, node, lambda content: _on(machine, receiver, content, name, spread, node))
    if receiver.lost is not None or receiver in machine.state.escaped:
        machine.escape(values, node)
    return result


class LostError(Exception):
    """A change that is not followed; the text says why."""


class ForkError(Exception):
    """A view of a dict that may be one of several."""


class RaisedError(Exception):
    """A change that raises in the program."""


def change(machine: Machine, box: Box, step: cst.CSTNode, work: Function[[Content], Value]) -> Value:
    """Changes each content of a box, and returns what that gives.

    Args:
        machine: The machine.
        box: What changes; where it stands for several objects, it may also stay as it was.
        step: What changes it.
        work: Changes one content in place.
    """
    machine.state.touch(box)
    before = [copied(content) for content in box.contents] if box.is_many else []
    after: list[Content] = []
    results: list[Value] = []
    for content in box.contents:
        try:
            results.append(work(content))
        except LostError as error:
            machine.escape([box], step, reason=str(error))
            return Unknown(str(error), step)
        except RaisedError:
            continue
        except ForkError:
            machine.state.blur(within(content))
            results.append(Unknown("what this dict holds may be one of several", step))
        after.append(content)
    if not results:
        machine.live = bool(before)
        return Unknown("this raises", step)
    box.contents = [*before, *after]
    if len(box.contents) > MOST_OPTIONS:
        machine.escape([box], step, reason="it is built in too many branches")
    return machine.joined(results, step)


def _on(
    machine: Machine,
    box: Box,
    content: Content,
    name: str,
    spread: tuple[list[Value], dict[str, Value]],
    node: cst.CSTNode,
) -> Value:
    given = [machine.settled(each) for each in spread[0]]
    named = {key: machine.settled(value) for key, value in spread[1].items()}
    if isinstance(content, Dict):
        return _on_dict(machine, box, content, name, spread[0] if name == "update" else given, named, node)
    if isinstance(content, Sequence):
        return _on_list(machine, content, name, spread[0] if name == "extend" else given, named, node)
    raise LostError("this method is not followed")


def _on_dict(
    machine: Machine, box: Box, content: Dict, name: str, given: list[Value], named: dict[str, Value], node: cst.CSTNode
) -> Value:
    none = Constant(None, node)
    if name in ("get", "setdefault", "pop"):
        key = key_of(given[0]) if given and not named else None
        if key is None:
            if name == "get":
                machine.state.blur([*given, *within(content)])
                return Unknown("which key this reads is not known", node)
            raise LostError("a key that is changed is not known")
        entry = content.entries.get(key[0])
        default = given[1] if len(given) > 1 else none
        if name == "get":
            return default if entry is None else entry[1]
        if name == "setdefault":
            if entry is not None:
                return entry[1]
            content.steps.append(node)
            content.entries[key[0]] = (given[0], default)
            return default
        if entry is None and len(given) < 2:
            raise RaisedError
        if entry is not None:
            content.steps.append(node)
            del content.entries[key[0]]
        return default if entry is None else entry[1]
    if name == "update":
        if len(given) > 1:
            raise RaisedError
        content.steps.append(node)
        for value in given:
            merge(machine, content, value)
        for text, value in named.items():
            _put(content, text, Constant(text, node), value)
        return none
    if given or named:
        raise LostError("this method is not followed")
    if name == "keys":
        return _view(machine, box, lambda held: [key for key, _ in held.entries.values()], node)
    if name == "values":
        return _view(machine, box, lambda held: [value for _, value in held.entries.values()], node)
    if name == "items":
        return _view(
            machine, box, lambda held: [Sequence("tuple", list(pair), node) for pair in held.entries.values()], node
        )
    if name == "copy":
        return machine.box(Dict(dict(content.entries), node, is_whole=False))
    if name == "clear":
        content.steps.append(node)
        content.entries.clear()
        return none
    if name == "popitem" and content.entries:
        content.steps.append(node)
        _, pair = content.entries.popitem()
        return Sequence("tuple", list(pair), node)
    raise LostError("this method is not followed")


def _view(machine: Machine, box: Box, show: Function[[Dict], list[Value]], node: cst.CSTNode) -> Value:
    """Returns ``spec.items()``, which shows what the dict holds when it is iterated."""

    def again() -> list[Value] | None:
        content = machine.content(box)
        return show(content) if isinstance(content, Dict) else None

    items = again()
    if items is None:
        raise ForkError
    return Sequence("tuple", items, node, class_name="iterator", again=again)


def _put(content: Dict, hashed: object, key: Value, value: Value) -> None:
    content.entries[hashed] = (content.entries[hashed][0] if hashed in content.entries else key, value)


def merge(machine: Machine, content: Dict, value: Value) -> None:
    """Does what ``content.update(value)`` does."""
    other = machine.content(value)
    if isinstance(other, Dict):
        for each_key, (key, each) in other.entries.items():
            _put(content, each_key, key, each)
        return
    items = machine.items(value)
    if items is None:
        machine.escape([value], content.node)
        raise LostError(value.reason if isinstance(value, Unknown) else "what is merged into it is not known")
    for item in items:
        pair = machine.items(item)
        hashed = key_of(pair[0]) if pair is not None and len(pair) == 2 else None
        if pair is None or hashed is None:
            raise LostError("what is merged into it is not known")
        _put(content, hashed[0], pair[0], pair[1])


def _on_list(
    machine: Machine, content: Sequence, name: str, given: list[Value], named: dict[str, Value], node: cst.CSTNode
) -> Value:
    none = Constant(None, node)
    if named:
        raise LostError("this method is not followed")
    if name == "append" and len(given) == 1:
        content.items.append(given[0])
    elif name == "extend" and len(given) == 1:
        items = machine.items(given[0])
        if items is None:
            machine.escape(given, node)
            raise LostError("what is added to it is not known")
        content.items.extend(machine.settled(each) for each in items)
    elif name in ("insert", "pop"):
        at = given[0] if given else Constant(-1, node)
        if (
            not isinstance(at, Constant)
            or not isinstance(at.value, int)
            or len(given) != (2 if name == "insert" else len(given))
        ):
            raise LostError("where it is changed is not known")
        if name == "insert":
            content.items.insert(at.value, given[1])
        else:
            if not -len(content.items) <= at.value < len(content.items):
                raise RaisedError
            content.steps.append(node)
            return content.items.pop(at.value)
    elif name == "clear" and not given:
        content.items.clear()
    elif name == "reverse" and not given:
        content.items.reverse()
    elif name == "copy" and not given:
        return machine.box(Sequence("list", list(content.items), node, is_whole=False))
    elif name in ("index", "count"):
        return Unknown("this method is not followed", node)
    else:
        raise LostError("this method is not followed")
    content.steps.append(node)
    return none


def extend(machine: Machine, before: Value | Box, kind: str, value: Value, step: cst.CSTNode) -> None:
    """Does what ``|=`` does to a dict, and ``+=`` to a list."""
    assert isinstance(before, Box)
    if before.lost is not None:
        machine.escape([value], step)
        return

    def work(content: Content) -> Value:
        if isinstance(content, Dict) and kind == "BitOr":
            content.steps.append(step)
            merge(machine, content, value)
        elif isinstance(content, Sequence) and kind == "Add":
            items = machine.items(value)
            if items is None:
                raise LostError(value.reason if isinstance(value, Unknown) else "what is added to it is not known")
            content.steps.append(step)
            content.items.extend(machine.settled(each) for each in items)
        else:
            raise LostError("it is changed in a way that is not followed")
        return Constant(None, step)

    change(machine, before, step, work)
    if before.lost is not None or before in machine.state.escaped:
        machine.escape([value], step)


# --------------------------------------------------------------------------- strings and tuples


def _of_string(
    machine: Machine, node: cst.Call, text: Constant, name: str, given: list[Value], named: dict[str, Value]
) -> Value:
    values: list[object] = []
    for each in given:
        items = machine.items(each) if name == "join" else None
        if items is not None:
            if not all(isinstance(item, Constant) for item in items):
                return Unknown("part of this string is not known", node)
            values.append([item.value for item in items if isinstance(item, Constant)])
        elif isinstance(each, Constant):
            values.append(each.value)
        elif isinstance(each, Sequence) and all(isinstance(item, Constant) for item in each.items):
            values.append(tuple(item.value for item in each.items if isinstance(item, Constant)))
        else:
            return Unknown("part of this string is not known", node)
    if not all(isinstance(each, Constant) for each in named.values()):
        return Unknown("part of this string is not known", node)
    keywords = {key: value.value for key, value in named.items() if isinstance(value, Constant)}
    if len(str(text.value)) > 4096 or (
        name == "format" and "{:" in str(text.value).replace(" ", "") and len(str(text.value)) > 200
    ):
        return Unknown("this string is too long", node)
    if name == "zfill" and not (values and isinstance(values[0], int) and values[0] < 1000):
        return Unknown("this string is too long", node)
    try:
        result: Any = getattr(text.value, name)(*values, **keywords)
    except Exception:  # what the program raises here
        return Unknown("this raises", node)
    if isinstance(result, list):
        several = cast("list[object]", result)
        return machine.box(Sequence("list", [Constant(each, node) for each in several], node, is_whole=False))
    return Constant(result, node)


def _of_tuple(
    machine: Machine, node: cst.Call, value: Sequence, name: str, given: list[Value], named: dict[str, Value]
) -> Value:
    if name == "_replace" and not given and set(named) <= set(value.fields):
        items = [named.get(field, item) for field, item in zip(value.fields, value.items, strict=False)]
        return Sequence("namedtuple", items, node, fields=value.fields, class_name=value.class_name, is_whole=False)
    if name == "_asdict" and not given and not named:
        entries: dict[object, tuple[Value, Value]] = {
            field: (Constant(field, node), item) for field, item in zip(value.fields, value.items, strict=False)
        }
        return machine.box(Dict(entries, node, is_whole=False))
    return Unknown("this method is not followed", node)


__all__ = ["METHODS", "LostError", "call_method", "change", "extend", "merge"]
