"""IR ↔ JSON. One table says which fields a node has and what stands in each; both directions read it.

A node is an object whose ``"node"`` names its class; fields at their default are left out, spans
and secondary notes too. Numbers stay Python ints, so sizes beyond 2**53 need a reader that keeps them.
"""

# What a JSON document holds is unknown until it has been looked at, which is all that this module does.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from typing import Any, Final

from . import alternatives, constraints, dims, paths, specs, types
from .operators import COMPARISONS, OPERATORS, Comparison, Operator

FORMAT: Final = "shapedsl-ir"
VERSION: Final = 1
_MAX_DEPTH: Final = 400
_INT64_MAX: Final = 2**63 - 1


class MalformedJsonError(ValueError):
    """The text is not an IR document; the message says where (a JSON path) and what was expected."""


@dataclass(frozen=True, slots=True)
class _Codec:
    """What stands in a field: how it is written, and how it is read (with the JSON path, for messages)."""

    encode: Callable[[Any], object]
    decode: Callable[[object, str], Any]


def _plain(*types: type) -> _Codec:
    def decode(value: object, path: str) -> object:
        if type(value) not in types:  # exactly: a bool is no int
            raise MalformedJsonError(f"{path}: expected {' or '.join(t.__name__ for t in types)}, got {value!r:.60}")
        return value

    return _Codec(lambda value: value, decode)


def _name(pattern: Callable[[str], bool], what: str) -> _Codec:
    def decode(value: object, path: str) -> object:
        if not isinstance(value, str) or not pattern(value):
            raise MalformedJsonError(f"{path}: expected {what}, got {value!r:.60}")
        return value

    return _Codec(str, decode)


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def _row(table: dict[str, Any]) -> _Codec:
    def decode(value: object, path: str) -> object:
        if not isinstance(value, str) or value not in table:
            raise MalformedJsonError(f"{path}: expected one of {', '.join(table)}, got {value!r:.60}")
        return table[value]

    def encode(row: Operator | Comparison) -> str:
        return row.name

    return _Codec(encode, decode)


def _choice(*words: str) -> _Codec:
    return _Codec(str, _row({word: word for word in words}).decode)


def _enum(kind: type[Enum]) -> _Codec:
    members = {member.value: member for member in kind}

    def decode(value: object, path: str) -> object:
        if not isinstance(value, str) or value not in members:
            raise MalformedJsonError(f"{path}: expected one of {', '.join(members)}, got {value!r:.60}")
        return members[value]

    return _Codec(lambda member: member.value, decode)


def _list(item: _Codec) -> _Codec:
    def decode(value: object, path: str) -> object:
        if not isinstance(value, list):
            raise MalformedJsonError(f"{path}: expected a list, got {value!r:.60}")
        return tuple(item.decode(element, f"{path}[{i}]") for i, element in enumerate(value))

    return _Codec(lambda values: [item.encode(value) for value in values], decode)


def _pair(first: _Codec, second: _Codec) -> _Codec:
    def decode(value: object, path: str) -> object:
        if not isinstance(value, list) or len(value) != 2:
            raise MalformedJsonError(f"{path}: expected a pair, got {value!r:.60}")
        return first.decode(value[0], f"{path}[0]"), second.decode(value[1], f"{path}[1]")

    return _Codec(lambda pair: [first.encode(pair[0]), second.encode(pair[1])], decode)


def _optional(inner: _Codec) -> _Codec:
    return _Codec(
        lambda value: None if value is None else inner.encode(value),
        lambda value, path: None if value is None else inner.decode(value, path),
    )


def _either(plain: _Codec, otherwise: _Codec, is_plain: Callable[[object], bool]) -> _Codec:
    return _Codec(
        lambda value: (plain if is_plain(value) else otherwise).encode(value),
        lambda value, path: (plain if is_plain(value) else otherwise).decode(value, path),
    )


def _node(*allowed: str) -> _Codec:
    def encode(value: Any) -> object:
        name = type(value).__name__
        document: dict[str, object] = {"node": name}
        defaults = _DEFAULTS[name]
        for field, codec in _NODES[name].items():
            content = getattr(value, field)
            if field not in defaults or defaults[field] != content or type(defaults[field]) is not type(content):
                document[field] = codec.encode(content)
        return document

    def decode(value: object, path: str) -> object:
        if path.count(".") > _MAX_DEPTH:
            raise MalformedJsonError(f"{path[:60]}…: nested too deeply")
        if not isinstance(value, dict) or value.get("node") not in allowed:
            raise MalformedJsonError(f"{path}: expected a node ({', '.join(allowed)}), got {value!r:.60}")
        name = value["node"]
        rows, defaults = _NODES[name], _DEFAULTS[name]
        unknown = [key for key in value if key != "node" and key not in rows]
        missing = [field for field in rows if field not in value and field not in defaults]
        if unknown or missing:
            problem = f"unknown field {unknown[0]!r}" if unknown else f"no field {missing[0]!r}"
            raise MalformedJsonError(f"{path}: {name} has {problem}")
        node = _CLASSES[name](
            **{field: codec.decode(value[field], f"{path}.{field}") for field, codec in rows.items() if field in value}
        )
        if isinstance(node, dims.Apply) and len(node.args) != (node.op.arity or max(1, len(node.args))):
            raise MalformedJsonError(
                f"{path}.args: `{node.op.name}` takes {node.op.arity or 'some'}, got {len(node.args)}"
            )
        return node

    return _Codec(encode, decode)


def _int64() -> _Codec:
    plain = _plain(int)

    def decode(value: object, path: str) -> object:
        if abs(plain.decode(value, path)) > _INT64_MAX:
            raise MalformedJsonError(f"{path}: the number is beyond int64")
        return value

    return _Codec(int, decode)


_INT, _STR, _BOOL = _int64(), _plain(str), _plain(bool)
_NUMBER = _plain(int, float)
_NAME = _name(_is_name, "a name")
_PARAM = _name(str.isidentifier, "a parameter's name")
_DOTTED = _name(lambda text: all(part.isidentifier() for part in text.split(".")), "a dotted name")
_SIZE = _node("Const", "Var", "Apply", "Variadic")
_DIM = _node("Const", "Var", "Apply", "Variadic", "Static", "Ellipsis", "Fresh")
_PREDICATE = _node("Compare", "And", "Or", "Not")
_TYPE = _node(
    "TensorType", "ScalarType", "SequenceType", "MappingType", "ObjectType", "OptionalType", "AnyType", "NoneType"
)
_KEY = _plain(str, int)
_CONSTRAINTS = _list(_node("Constraint"))


def _is_scalar(value: object) -> bool:
    return isinstance(value, (bool, int, float))


_FILL = _either(
    _plain(bool, int, float),
    _either(_list(_NUMBER), _node("Edge", "Const", "Var", "Apply"), lambda value: isinstance(value, (tuple, list))),
    _is_scalar,
)

_NODES: Final[dict[str, dict[str, _Codec]]] = {
    "Const": {"value": _INT},
    "Var": {"name": _NAME},
    "Apply": {"op": _row(OPERATORS), "args": _list(_SIZE)},
    "Variadic": {"name": _NAME},
    "Static": {},
    "Ellipsis": {},
    "Fresh": {"name": _optional(_NAME)},
    "Compare": {"op": _row(COMPARISONS), "left": _SIZE, "right": _SIZE},
    "And": {"args": _list(_PREDICATE)},
    "Or": {"args": _list(_PREDICATE)},
    "Not": {"arg": _PREDICATE},
    "Dtype": {"name": _NAME, "variable": _optional(_NAME)},
    "TensorType": {"dims": _optional(_list(_DIM)), "dtype": _optional(_node("Dtype"))},
    "ScalarType": {"size": _optional(_SIZE)},
    "SequenceType": {
        "kind": _choice("list", "tuple"),
        "items": _list(_TYPE),
        "rest": _enum(types.Rest),
        "times": _optional(_SIZE),
    },
    "MappingType": {"entries": _list(_pair(_KEY, _TYPE))},
    "ObjectType": {"fields": _list(_pair(_PARAM, _TYPE)), "name": _DOTTED},
    "OptionalType": {"inner": _TYPE},
    "AnyType": {},
    "NoneType": {},
    "Param": {"name": _PARAM, "type": _TYPE, "kind": _enum(specs.ParamKind), "default": _BOOL},
    "Variable": {
        "name": _NAME,
        "kind": _enum(specs.VariableKind),
        "variadic": _BOOL,
        "hint": _optional(_INT),
        "declared": _BOOL,
    },
    "Constraint": {
        "predicate": _PREDICATE,
        "message": _optional(_STR),
        "origin": _enum(constraints.Origin),
        "text": _STR,
    },
    "Attribute": {"name": _PARAM},
    "Item": {"key": _KEY},
    "Path": {"root": _PARAM, "steps": _list(_node("Attribute", "Item"))},
    "Edge": {},
    "Pad": {"path": _node("Path"), "fill": _FILL, "axis": _optional(_INT)},
    "Bucket": {
        "variable": _NAME,
        "members": _optional(_list(_INT)),
        "modulus": _optional(_INT),
        "residue": _INT,
        "shared": _BOOL,
        "position": _either(_STR, _SIZE, lambda value: isinstance(value, str)),
        "pads": _optional(_list(_node("Pad"))),
        "reason": _optional(_NAME),
    },
    "Drop": {"path": _node("Path"), "keep": _BOOL},
    "Alternative": {
        "keyword": _choice("case", "otherwise", "bucket"),
        "name": _optional(_NAME),
        "constraints": _CONSTRAINTS,
        "mode": _enum(alternatives.Mode),
        "hints": _list(_pair(_NAME, _INT)),
        "buckets": _list(_node("Bucket")),
        "drops": _list(_node("Drop")),
    },
    "Values": {"path": _node("Path"), "low": _SIZE, "high": _SIZE, "sorted": _BOOL},
    "Signature": {
        "name": _DOTTED,
        "params": _list(_node("Param")),
        "returns": _optional(_TYPE),
        "variables": _list(_node("Variable")),
        "constraints": _CONSTRAINTS,
        "alternatives": _list(_node("Alternative")),
        "values": _list(_node("Values")),
        "ranks": _list(_pair(_NAME, _INT)),
        "drops": _list(_node("Drop")),
        "index": _INT,
        "receiver": _optional(_PARAM),
        "doc": _optional(_STR),
    },
    "Module": {"signatures": _list(_node("Signature"))},
}

_MODULES: Final = (dims, types, constraints, paths, alternatives, specs)
_CLASSES: Final[dict[str, Any]] = {
    name: next(getattr(module, name) for module in _MODULES if hasattr(module, name)) for name in _NODES
}
_DEFAULTS: Final[dict[str, dict[str, object]]] = {
    name: {field.name: field.default for field in fields(cls) if field.default is not MISSING}
    for name, cls in _CLASSES.items()
}
_DOCUMENT = _node("Signature", "Module")


def to_json(node: specs.Signature | specs.Module) -> str:
    """Returns ``node`` as a JSON document, indented by two spaces."""
    return json.dumps({"format": FORMAT, "version": VERSION, "ir": _DOCUMENT.encode(node)}, indent=2)


def from_json(text: str) -> specs.Signature | specs.Module:
    """Returns the node that `to_json` wrote.

    Raises:
        MalformedJsonError: ``text`` is not such a document.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedJsonError(f"not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise MalformedJsonError(f'expected an object with "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        raise MalformedJsonError(f"version {document.get('version')!r:.20} is not known; this reader knows {VERSION}")
    node: specs.Signature | specs.Module = _DOCUMENT.decode(document.get("ir"), "ir")
    return node
