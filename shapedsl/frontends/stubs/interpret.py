"""Annotations as source → the objects that Python would make of them, for `frontends.annotated` to read.

Nothing is imported or executed: names are looked up in the file's own imports and definitions, and
what well-known names stand for is listed in `known`. An operator is applied to sizes and predicates
only; a call is one of ``where``, ``cdiv`` and the like.

Before (source)::

    def f(x: Optional[Tensor[B, 2 * D]], y: Annotated[torch.Tensor, "B, D"]) -> Tensor[B]: ...

After (objects)::

    typing.Optional[Form("Tensor", (Symbol("B"), Symbol("2 * D")))], typing.Annotated[…, "B, D"], …
"""

from __future__ import annotations

import operator
import typing
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import libcst as cst

from ...diagnostics import Source
from ...surface.forms import Form
from ...surface.symbols import Predicate, Symbol
from ..annotated.fields import Field, FieldClass
from ..annotated.namespace import Unknown
from .known import foreign, known
from .scope import Aliased, Defined, Imported, Scope, TypeParam

_BINARY: Final[dict[type[cst.CSTNode], Callable[[Any, Any], Any]]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.FloorDivide: operator.floordiv,
    cst.Divide: operator.truediv,
    cst.Modulo: operator.mod,
    cst.Power: operator.pow,
    cst.BitAnd: operator.and_,
    cst.BitOr: operator.or_,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
}
_UNARY: Final[dict[type[cst.CSTNode], Callable[[Any], Any]]] = {
    cst.Minus: operator.neg,
    cst.BitInvert: operator.invert,
}
_DEEPEST = 60  # aliases in aliases


class UninterpretedError(Exception):
    """An expression that stands for no annotation; the text says why."""


class Interpreter:
    """Interprets the expressions of one file in one scope."""

    def __init__(self, scope: Scope, source_of: Callable[[cst.CSTNode, str], Source], depth: int = 0) -> None:
        """Args:
        scope: What names mean.
        source_of: Makes the source of a text that stands in a node.
        depth: How many aliases are being looked through.
        """
        self.scope = scope
        self._source_of = source_of
        self._depth = depth

    def evaluate(self, text: str) -> object:
        """Returns what a quoted annotation stands for, as `annotated.namespace.Evaluator` does.

        Raises:
            UninterpretedError: It stands for nothing.
            SyntaxError: It is no expression.
        """
        text = text.strip()
        try:
            return self.value(cst.parse_expression(text))
        except cst.ParserSyntaxError:
            raise SyntaxError("it is no expression") from None

    def value(self, node: cst.BaseExpression) -> Any:
        """Returns what an expression stands for.

        Raises:
            UninterpretedError: It stands for nothing.
        """
        match node:
            case cst.Name() | cst.Attribute():
                return self._name(node)
            case cst.SimpleString() | cst.ConcatenatedString():
                return node.evaluated_value
            case cst.Integer():
                return node.evaluated_value
            case cst.Ellipsis():
                return ...
            case cst.Subscript():
                return self._subscript(node)
            case cst.BinaryOperation():
                return self._binary(node.left, node.operator, node.right)
            case cst.Comparison(comparisons=[only]):
                return self._binary(node.left, only.operator, only.comparator)
            case cst.UnaryOperation():
                return self._unary(node)
            case cst.Tuple() | cst.List():
                items = tuple([self._starred(element) for element in node.elements])
                return items if isinstance(node, cst.Tuple) else list(items)
            case cst.Dict():
                return {self.value(e.key): self.value(e.value) for e in node.elements if isinstance(e, cst.DictElement)}
            case cst.Call():
                return self._call(node)
            case _:
                raise UninterpretedError(f"`{type(node).__name__}` stands in no annotation")

    # ------------------------------------------------------------------------------- names

    def qualified(self, node: cst.BaseExpression) -> str | None:
        """Returns the dotted name that a name or attribute stands for; None if the file defines it, or nobody."""
        match node:
            case cst.Name(value=name):
                binding = self.scope.find(name)
                if isinstance(binding, Imported):
                    return binding.qualified
                return f"builtins.{name}" if binding is None and name in _BUILTINS else None
            case cst.Attribute(value=value, attr=cst.Name(value=name)):
                base = self.qualified(value)
                return None if base is None else f"{base}.{name}"
            case _:
                return None

    def _name(self, node: cst.Name | cst.Attribute) -> Any:
        if isinstance(node, cst.Name):
            if node.value in ("None", "True", "False"):
                return {"None": None, "True": True, "False": False}[node.value]
            binding = self.scope.find(node.value)
            match binding:
                case Aliased(value=value):
                    return self._alias(node.value, value)
                case Defined(node=definition):
                    return self._class(definition)
                case TypeParam(name=name, kind=kind):
                    return Symbol(f"*{name}" if kind == "TypeVarTuple" else name)
                case _:
                    pass
        qualified = self.qualified(node)
        if qualified is not None:
            return known(qualified)
        if isinstance(node, cst.Name):
            return Unknown(node.value)
        base = self.value(node.value)
        return base if isinstance(base, Unknown) else foreign(cst.Module([]).code_for_node(node))

    def _alias(self, name: str, value: cst.BaseExpression) -> Any:
        if self._depth == _DEEPEST:
            raise UninterpretedError(f"`{name}` is defined by itself")
        inner = Interpreter(self.scope, self._source_of, self._depth + 1)
        return inner.value(value)

    def _class(self, node: cst.ClassDef) -> Any:
        """Returns a class of the file by its fields, if it is a TypedDict, NamedTuple or dataclass; else a foreign one."""
        bases = [self.qualified(base.value) or "" for base in node.bases]
        keyed = any(base.endswith(".TypedDict") for base in bases)
        fielded = (
            keyed
            or any(base.endswith(".NamedTuple") for base in bases)
            or any(
                (self.qualified(d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator) or "").endswith(
                    "dataclass"
                )
                for d in node.decorators
            )
        )
        if not fielded:
            return foreign(node.name.value)
        fields: dict[str, Field] = {}
        for statement in node.body.body:
            for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
                if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                    annotation = small.annotation.annotation
                    source = partial(self._source_of, annotation)
                    fields[small.target.value] = Field(self.value(annotation), self, source)
        return FieldClass(node.name.value, keyed, fields)

    # --------------------------------------------------------------------------- compounds

    def _subscript(self, node: cst.Subscript) -> Any:
        base = self.value(node.value)
        items: list[Any] = []
        for element in node.slice:
            if not isinstance(element.slice, cst.Index):
                raise UninterpretedError("a slice stands in no annotation")
            item = self.value(element.slice.value)
            items.append(_unpacked(item) if element.slice.star else item)
        several = len(items) > 1 or (
            isinstance(node.slice[0].slice, cst.Index) and (node.slice[0].comma != cst.MaybeSentinel.DEFAULT)
        )
        if isinstance(base, Form) and base.items is not None:
            raise UninterpretedError(f"`{base}` has its dims already")
        try:
            return base[tuple(items) if several else items[0]]
        except TypeError as error:
            raise UninterpretedError(str(error)) from None

    def _starred(self, element: cst.BaseElement) -> Any:
        item = self.value(element.value)
        return _unpacked(item) if isinstance(element, cst.StarredElement) else item

    def _binary(self, left: cst.BaseExpression, sign: cst.CSTNode, right: cst.BaseExpression) -> Any:
        a, b = self.value(left), self.value(right)
        sized = (Symbol, Predicate, int)
        if isinstance(sign, cst.BitOr) and not (isinstance(a, sized) and isinstance(b, sized)):
            return typing.Union[a, b]  # noqa: UP007  # objects, not classes
        apply = _BINARY.get(type(sign))
        if apply is None or not isinstance(a, sized) or not isinstance(b, sized):
            raise UninterpretedError("an operator stands between sizes only")
        return apply(a, b)

    def _unary(self, node: cst.UnaryOperation) -> Any:
        value = self.value(node.expression)
        apply = _UNARY.get(type(node.operator))
        if apply is None or not isinstance(value, (Symbol, Predicate, int)):
            raise UninterpretedError("an operator stands before sizes only")
        return apply(value)

    def _call(self, node: cst.Call) -> Any:
        function = self.value(node.func)
        args = [self.value(arg.value) for arg in node.args if arg.keyword is None]
        if isinstance(function, Symbol) or (
            callable(function) and getattr(function, "__module__", "") == known.__module__
        ):
            try:
                return function(*args)
            except TypeError as error:
                raise UninterpretedError(str(error).partition("\n")[0]) from None
        if self.qualified(node.func) in _VARIABLES and args and isinstance(args[0], str):
            return Symbol(f"*{args[0]}" if "Tuple" in (self.qualified(node.func) or "") else args[0])
        raise UninterpretedError("a call stands in no annotation")


def _unpacked(item: Any) -> Any:
    return Symbol(f"*{item.text}") if isinstance(item, Symbol) and not item.text.startswith("*") else item


_BUILTINS: Final = {
    "int",
    "float",
    "bool",
    "str",
    "bytes",
    "complex",
    "tuple",
    "list",
    "dict",
    "set",
    "frozenset",
    "type",
    "object",
    "slice",
}
_VARIABLES: Final = {
    f"{module}.{name}" for module in ("typing", "typing_extensions") for name in ("TypeVar", "TypeVarTuple")
} | {"shape_extensions.IntVar"}

__all__ = ["Interpreter", "UninterpretedError"]
