"""Expressions: what each is, run in Python's order.

One function a kind of node, and a table of them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ..values import (
    Constant,
    Dict,
    Fork,
    Imported,
    Made,
    Member,
    Relation,
    Sequence,
    Unknown,
)
from .arithmetic import binary, compare, truth, unary
from .attributes import attribute_of, item_of
from .comprehensions import comprehension
from .heap import Box, because
from .joining import MOST_OPTIONS
from .keys import key_of
from .names import children
from .texts import formatted, unescaped

if TYPE_CHECKING:
    from collections.abc import Callable as Function

    import libcst as cst

    from ..values import Value
    from .heap import Delta
    from .machine import Machine


def evaluate(machine: Machine, node: cst.BaseExpression) -> Value:
    """Returns what an expression is here."""
    machine.steps += 1
    run = _KINDS.get(type(node).__name__)
    if run is not None:
        return run(machine, node)
    for child in children(node):  # what it holds is run all the same
        evaluate(machine, child)  # type: ignore[arg-type]
    return Unknown("this expression is not followed", node)


def _name(machine: Machine, node: cst.Name) -> Value:
    constant = _CONSTANTS.get(node.value, machine)
    return machine.lookup(node.value, node) if constant is machine else Constant(constant, node)


def _integer(machine: Machine, node: cst.Integer) -> Value:  # noqa: ARG001
    try:
        return Constant(int(node.value.replace("_", ""), 0), node)
    except ValueError:  # more digits than Python reads
        return Unknown("this number is too long", node)


def _literal(machine: Machine, node: cst.BaseExpression) -> Value:  # noqa: ARG001
    try:
        return Constant(ast.literal_eval(node.value.replace("\n", "\n")), node)  # type: ignore[attr-defined]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return Unknown("this literal is not read", node)


def _concatenated(machine: Machine, node: cst.ConcatenatedString) -> Value:
    left, right = evaluate(machine, node.left), evaluate(machine, node.right)
    return binary(machine, node, "Add", left, right)


def _formatted(machine: Machine, node: cst.FormattedString) -> Value:
    import libcst as cst

    texts: list[str] = [""]  # one for each value that it may be
    unknown: Value | None = None
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            text = unescaped(part.value, raw="r" in node.prefix.lower())
            texts = [each + text for each in texts]
            continue
        assert isinstance(part, cst.FormattedStringExpression)
        value = evaluate(machine, part.expression)
        spec = ""
        for each in part.format_spec or ():
            if isinstance(each, cst.FormattedStringText):
                spec += each.value
            else:
                assert isinstance(each, cst.FormattedStringExpression)
                evaluate(machine, each.expression)
                value = Unknown("the format is computed", node)
        found = [formatted(option, part.conversion or "", spec) for option in options_of(value)]
        if part.equal is not None or None in found or len(found) * len(texts) > MOST_OPTIONS:
            unknown = unknown or because(value, node, "part of this string is not known")
        else:
            texts = [text + each for text in texts for each in found if each is not None]
    return unknown or machine.joined([Constant(text, node) for text in texts], node)


def elements(machine: Machine, nodes: list[cst.BaseElement]) -> list[Value] | Unknown:
    """Returns the items of a display; `Unknown` if something unpacked in it is not known."""
    import libcst as cst

    items: list[Value] = []
    unknown: Unknown | None = None
    for element in nodes:
        value = evaluate(machine, element.value)
        if not isinstance(element, cst.StarredElement):
            items.append(machine.settled(value))
            continue
        found = machine.items(value)
        if found is None:
            unknown = Unknown("what is unpacked here is not known", element)
            machine.escape([value], element)
        else:
            items.extend(machine.settled(each) for each in found)
    if unknown is not None:
        machine.escape(items, unknown.node, reason="it is part of a list that is not known")
        return unknown
    return items


def _is_whole(nodes: list[cst.BaseElement]) -> bool:
    import libcst as cst

    return not any(isinstance(each, cst.StarredElement) for each in nodes)


def _tuple(machine: Machine, node: cst.Tuple) -> Value:
    items = elements(machine, list(node.elements))
    if isinstance(items, Unknown):
        return items
    return Sequence("tuple", items, node, is_whole=_is_whole(list(node.elements)))


def _list(machine: Machine, node: cst.List) -> Value:
    items = elements(machine, list(node.elements))
    if isinstance(items, Unknown):
        return items
    return machine.box(Sequence("list", items, node, is_whole=_is_whole(list(node.elements))))


def _set(machine: Machine, node: cst.Set) -> Value:
    items = elements(machine, list(node.elements))
    machine.state.blur(items if isinstance(items, list) else [])
    return Unknown("a set is not followed", node)


def _dict(machine: Machine, node: cst.Dict) -> Value:
    import libcst as cst

    made = Dict({}, node)
    unknown: Unknown | None = None
    held: list[Value] = []
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key = evaluate(machine, element.key)
            value = machine.settled(evaluate(machine, element.value))
            held.append(value)
            hashed = key_of(key)
            if hashed is None:
                unknown = unknown or Unknown("a key of this dict is not known", element.key)
                continue
            if hashed[0] in made.entries:
                made.is_whole = False
            _set_entry(made, hashed[0], key, value)
            continue
        made.is_whole = False
        value = evaluate(machine, element.value)
        content = machine.content(value)
        if isinstance(content, Dict):
            held.extend(each for _, each in content.entries.values())
            for hashed_key, (key, each) in content.entries.items():
                _set_entry(made, hashed_key, key, each)
        else:
            unknown = unknown or (
                value if isinstance(value, Unknown) else Unknown("what is merged here is not known", element)
            )
            machine.escape([value], element)
    if unknown is not None:
        machine.escape(held, node)
        return unknown
    return machine.box(made)


def _set_entry(made: Dict, hashed: object, key: Value, value: Value) -> None:
    made.entries[hashed] = (made.entries[hashed][0] if hashed in made.entries else key, value)


def _conditional(machine: Machine, node: cst.IfExp) -> Value:
    known = truth(machine, evaluate(machine, node.test))
    return choose(machine, node, known, [node.body, node.orelse])


def choose(machine: Machine, node: cst.CSTNode, known: bool | None, nodes: list[cst.BaseExpression]) -> Value:
    """Returns the first of two expressions if a test holds, the second if not, either if that is not known."""
    if known is not None:
        return evaluate(machine, nodes[0 if known else 1])
    results: list[Value] = []
    deltas: list[Delta] = []
    for each in nodes:
        machine.state.push()
        machine.live = True
        value = machine.settled(evaluate(machine, each))
        delta = machine.state.pop()
        if machine.live:
            results.append(value)
            deltas.append(delta)
    machine.live = bool(results)
    if not results:
        return Unknown("this does not return", node)
    machine.state.join(deltas, node)
    return machine.joined(results, node)


def _boolean(machine: Machine, node: cst.BooleanOperation) -> Value:
    left = machine.settled(evaluate(machine, node.left))
    is_and = type(node.operator).__name__ == "And"
    known = truth(machine, left)
    if known is not None:
        return evaluate(machine, node.right) if known is is_and else left
    machine.state.push()
    right = machine.settled(evaluate(machine, node.right))
    live, machine.live = machine.live, True
    delta = machine.state.pop()
    if not live:
        machine.live = True
    if any(isinstance(each, (Box, Sequence, Unknown)) for each in options_of(right)) and any(
        isinstance(each, (Box, Sequence)) for each in (*options_of(left), *options_of(right))
    ):  # which object it is decides more than a value
        machine.state.join([{}, delta] if live else [{}], node)
        machine.state.blur([left, right])
        return Unknown(f"`{machine.tree.code(node)}` chooses by what is true", node)
    kept = [each for each in options_of(left) if truth(machine, each) is not is_and]
    if not live:
        return machine.joined(kept, node) if kept else left
    machine.state.join([{}, delta], node)
    return machine.joined([*kept, right], node)


def options_of(value: Value) -> list[Value]:
    """Returns the values that one may be."""
    return value.options if isinstance(value, Fork) else [value]


def _binary(machine: Machine, node: cst.BinaryOperation) -> Value:
    left = evaluate(machine, node.left)
    right = evaluate(machine, node.right)
    return binary(machine, node, type(node.operator).__name__, left, right)


def _unary(machine: Machine, node: cst.UnaryOperation) -> Value:
    return unary(machine, node, type(node.operator).__name__, evaluate(machine, node.expression))


def _comparison(machine: Machine, node: cst.Comparison) -> Value:
    left = evaluate(machine, node.left)
    results: list[bool | None] = []
    for part in node.comparisons:
        right = evaluate(machine, part.comparator)
        if isinstance(left, (Made, Member)) or isinstance(right, (Made, Member)):
            if len(node.comparisons) == 1 and type(part.operator).__name__ in _SIGNS:
                return Relation(left, _SIGNS[type(part.operator).__name__], right, node)
            results.append(None)
            left = right
            continue
        results.append(compare(machine, type(part.operator).__name__, left, right))
        left = right
    if any(each is False for each in results):
        return Constant(False, node)
    return Unknown("this comparison is not known", node) if None in results else Constant(True, node)


_SIGNS = {
    "LessThan": "<",
    "LessThanEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanEqual": ">=",
    "Equal": "==",
    "NotEqual": "!=",
}


def _attribute(machine: Machine, node: cst.Attribute) -> Value:
    return attribute_of(machine, node, evaluate(machine, node.value), node.attr.value)


def _subscript(machine: Machine, node: cst.Subscript) -> Value:
    value = evaluate(machine, node.value)
    index = index_of(machine, node)
    if isinstance(value, Imported) and value.name == "sys.modules" and not isinstance(index, Constant):
        machine.forget_all(Unknown("`sys.modules` may change it", node))  # this module, most likely
    return item_of(machine, node, value, index)


def index_of(machine: Machine, node: cst.Subscript) -> Value:
    """Returns what stands in a subscript's brackets."""
    import libcst as cst

    parts: list[Value] = []
    for element in node.slice:
        if isinstance(element.slice, cst.Slice):
            ends = (element.slice.lower, element.slice.upper, element.slice.step)
            bounds: list[Value] = [Constant(None, node) if each is None else evaluate(machine, each) for each in ends]
            parts.append(Sequence("tuple", bounds, element, class_name="slice"))
        elif isinstance(element.slice, cst.Index):
            parts.append(evaluate(machine, element.slice.value))
    if len(parts) == 1 and not isinstance(node.slice[0].comma, cst.Comma):
        return parts[0]
    return Sequence("tuple", parts, node)


def _lambda(machine: Machine, node: cst.Lambda) -> Value:
    return machine.function(node, "<lambda>")


def _walrus(machine: Machine, node: cst.NamedExpr) -> Value:
    from .statements import assign

    value = machine.settled(evaluate(machine, node.value))
    with machine.inside(machine.walrus_scope()):
        assign(machine, node.target, value, node)
    return value


def _call(machine: Machine, node: cst.Call) -> Value:
    from .calls import call

    return call(machine, node)


def _ellipsis(_: Machine, node: cst.Ellipsis) -> Value:
    return Constant(..., node)


def _await(machine: Machine, node: cst.Await) -> Value:
    evaluate(machine, node.expression)
    machine.unknown_call([], node)
    return Unknown("what is awaited is not known", node)


def _yield(machine: Machine, node: cst.Yield) -> Value:
    import libcst as cst

    if isinstance(node.value, cst.From):
        machine.escape([evaluate(machine, node.value.item)], node)
    elif node.value is not None:
        machine.escape([evaluate(machine, node.value)], node)
    machine.unknown_call([], node)
    return Unknown("what is sent here is not known", node)


_CONSTANTS = {"None": None, "True": True, "False": False}
_KINDS: dict[str, Function[..., Value]] = {
    "Name": _name,
    "Integer": _integer,
    "Float": _literal,
    "Imaginary": _literal,
    "SimpleString": _literal,
    "ConcatenatedString": _concatenated,
    "FormattedString": _formatted,
    "Ellipsis": _ellipsis,
    "Tuple": _tuple,
    "List": _list,
    "Set": _set,
    "Dict": _dict,
    "IfExp": _conditional,
    "BooleanOperation": _boolean,
    "BinaryOperation": _binary,
    "UnaryOperation": _unary,
    "Comparison": _comparison,
    "Attribute": _attribute,
    "Subscript": _subscript,
    "Lambda": _lambda,
    "NamedExpr": _walrus,
    "Call": _call,
    "Await": _await,
    "Yield": _yield,
    "ListComp": comprehension,
    "SetComp": comprehension,
    "DictComp": comprehension,
    "GeneratorExp": comprehension,
}

__all__ = ["choose", "elements", "evaluate", "index_of", "options_of"]
