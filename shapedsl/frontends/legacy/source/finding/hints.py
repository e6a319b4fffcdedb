"""What a parameter's annotation says of it, where nothing else does: ``def trace(net: Net, cache: DynamicCache)``.

An annotation is believed for what an input is, and for whose parameters a spec speaks of. It never makes a dim.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ....stubs.tree import NoExpressionError, parse_expression
from ..values import Callable, Fork, Imported, Made, Tensor, Unknown, Value

if TYPE_CHECKING:
    import libcst as cst

    from ..observe import Frame

_TENSORS = frozenset(("torch.Tensor", "torch.nn.Parameter", "torch.LongTensor", "torch.FloatTensor"))


def annotated(value: Value, frame: Frame) -> Value:
    """Returns what the annotation of a parameter says that it is; any other value as it is."""
    import libcst as cst

    if not isinstance(value, Unknown) or not isinstance(value.node, cst.Param) or value.node.annotation is None:
        return value
    return _meant(value.node.annotation.annotation, value, frame)


def _meant(node: cst.BaseExpression, value: Unknown, frame: Frame) -> Value:
    import libcst as cst

    match node:
        case cst.SimpleString():
            try:
                return _meant(parse_expression(str(node.evaluated_value)), value, frame)
            except NoExpressionError:
                return value
        case cst.Name() | cst.Attribute():
            return _object(_value(node, frame), value)
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            others = [each for each in (left, right) if not (isinstance(each, cst.Name) and each.value == "None")]
            return _meant(others[0], value, frame) if len(others) == 1 else value
        case cst.Subscript(value=cst.Name(value="Optional") | cst.Attribute(attr=cst.Name(value="Optional"))):
            inner = node.slice[0].slice
            return _meant(inner.value, value, frame) if isinstance(inner, cst.Index) else value
        case _:
            return value


def _value(node: cst.BaseExpression, frame: Frame) -> Value | None:
    """Returns the value of a dotted name."""
    import libcst as cst

    if isinstance(node, cst.Name):
        return frame.lookup(node.value)
    if isinstance(node, cst.Attribute):
        owner = _value(node.value, frame)
        return Imported(f"{owner.name}.{node.attr.value}", node) if isinstance(owner, Imported) else None
    return None


def _object(found: Value | None, value: Unknown) -> Value:
    match found:
        case Imported(name=name) if name in _TENSORS:
            return Tensor(None, value.node)
        case Imported(name=name):
            return Made(name, None, value.node)
        case Callable(kind="class"):
            return replace(found, kind="object")
        case Fork(options=options) if options:
            return _object(options[0], value) if len({type(each) for each in options}) == 1 else value
        case _:
            return value


__all__ = ["annotated"]
