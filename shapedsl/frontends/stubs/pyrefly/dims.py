"""Shapes and sizes of Pyrefly's dialect → dims of the IR: what stands in ``Tensor[[…]]`` and ``Int[…]``.

==============================  ==============================================
``[N + 1, 2 * K]``              ``N + 1, 2 * K``
``[*S, K]``, ``S`` alone        ``*S, K``, ``*S``
``[*Elements[S]]``              ``*S``
``[B, int]``, ``[B, Any]``      ``B, _``: a size of which nothing is said
``tuple[int, ...]``, ``Any``    no dims: a tensor of unknown rank
``[*IntTuple, C]``              ``..., C``; ``[*tuple[int, ...], C]`` too
``f(S, 2)``                     what the shape function gives, see `calls`
==============================  ==============================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NoReturn, TypeGuard, cast

import libcst as cst

from ....ir import Apply, Const, Dim, Ellipsis, Size, Static, Var, Variadic
from ....ir.operators import operator_named
from ....ir.write_sizes import write_dim
from ..tree import NoExpressionError, parse_expression
from .calls import evaluated
from .names import Alias, Class, Given, Kind, Names, Parameter

_SIGNS: Final[dict[type[cst.CSTNode], str]] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
}
_UNSAID: Final = frozenset({"Any", "int", "Int", "object"})  # as a size
_LISTS: Final = frozenset({"IntTupleOrList", "IntListLiteral"})


class NotReadError(Exception):
    """A shape or a size that is not read; the text says why."""


class Dims:
    """Reads the shapes of one annotation.

    Attributes:
        names: The names that stand around it.
    """

    def __init__(self, names: Names, unsaid: Callable[[cst.CSTNode, str], None]) -> None:
        """Args:
        names: The names around the annotation.
        unsaid: Is told where one size of a shape is not read, and why.
        """
        self.names = names
        self._unsaid = unsaid

    def shape(self, node: cst.BaseExpression) -> tuple[Dim, ...] | None:
        """Returns the dims of a shape; None if the stub says nothing of it.

        Raises:
            NotReadError: It is none, or its shape function gives none.
        """
        match node:
            case cst.List(elements=elements) | cst.Tuple(elements=elements):
                return self._listed(elements)
            case cst.Call():
                return self._as_shape(node, self.call(node))
            case cst.Subscript(value=head, slice=items):
                return self._subscripted(node, head, items)
            case cst.SimpleString():
                raise NotReadError(f"{node.value} is text where a shape stands")
            case _:
                return self._named(node)

    def size(self, node: cst.BaseExpression) -> Dim:
        """Returns one dim; `Static` if the stub says nothing of it.

        Raises:
            NotReadError: It is none.
        """
        match node:
            case cst.Integer():
                return Const(node.evaluated_value)
            case cst.BinaryOperation(left=left, operator=sign, right=right) if type(sign) in _SIGNS:
                return _applied(_SIGNS[type(sign)], self.size(left), self.size(right))
            case cst.UnaryOperation(operator=cst.Minus(), expression=operand):
                inner = self.size(operand)
                return Const(-inner.value) if isinstance(inner, Const) else _applied("-", inner)
            case cst.Call():
                found = self.call(node)
                if isinstance(found, (Const, Var, Apply, Static)):
                    return self._safe(node, found)
                if isinstance(found, int) and not isinstance(found, bool):
                    return Const(found)
                raise NotReadError(f"`{code(node)}` gives no size")
            case cst.Subscript(value=head, slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]) if (
                self.names.marker(head) in ("Int", "IntVar")
            ):
                return self.size(inner)
            case cst.SimpleString():  # `[B, "N"]`
                quoted = unquoted(node)
                return self._named_size(node) if quoted is node else self.size(quoted)
            case _:
                return self._named_size(node)

    # ------------------------------------------------------------------------------ shapes

    def _listed(self, elements: Iterable[cst.BaseElement]) -> tuple[Dim, ...]:
        dims: list[Dim] = []
        for element in elements:
            if isinstance(element, cst.StarredElement):
                dims += self._splat(element.value)
                continue
            try:
                dims.append(self.size(element.value))
            except NotReadError as error:
                self._unsaid(element.value, f"{error}; the size is `_`")
                dims.append(Static())
        return tuple(dims)

    def _splat(self, node: cst.BaseExpression) -> tuple[Dim, ...]:
        if isinstance(node, cst.Subscript) and self.names.marker(node.value) == "Elements":
            inner = [item.slice.value for item in node.slice if isinstance(item.slice, cst.Index)]
            if len(inner) == 1:
                node = inner[0]
        dims = self.shape(node)
        return (Ellipsis(),) if dims is None else dims

    def _subscripted(
        self, node: cst.Subscript, head: cst.BaseExpression, items: Iterable[cst.SubscriptElement]
    ) -> tuple[Dim, ...] | None:
        marker = self.names.marker(head)
        elements = list(_elements(items))
        if marker == "IntTuple":
            return self._listed(elements)
        if marker is None and last_name(head) in ("tuple", "Tuple"):
            if len(elements) == 2 and isinstance(elements[1].value, cst.Ellipsis):
                return None if last_name(elements[0].value) in _UNSAID else self._no_shape(node)
            return self._listed(elements)
        if marker in _LISTS or marker == "Elements":
            inner = [element.value for element in elements]
            if len(inner) == 1:
                return self.shape(inner[0])
        return self._no_shape(node)

    def _no_shape(self, node: cst.BaseExpression) -> NoReturn:
        raise NotReadError(f"`{code(node)}` is no shape")

    def _named(self, node: cst.BaseExpression) -> tuple[Dim, ...] | None:
        match self.names.meaning(node):
            case Parameter(name=name, kind=Kind.SHAPE):
                return (Variadic(name),)
            case Parameter(name=name, kind=Kind.SIZE | Kind.INT):
                raise NotReadError(f"`{name}` is one size where a shape stands")
            case Parameter(name=name, kind=Kind.FOREIGN as kind):
                raise NotReadError(f"`{name}` is {kind.value}")
            case Given(node=inner, names=names):
                return Dims(names, self._unsaid).shape(inner)
            case Alias(value=inner, names=names):
                return Dims(names, self._unsaid).shape(inner)
            case _:
                pass
        if self.names.marker(node) == "IntTuple" or last_name(node) == "Any":
            return None
        raise NotReadError(f"`{code(node)}` is no shape")

    def _as_shape(self, node: cst.Call, found: Any) -> tuple[Dim, ...]:
        if is_shape(found):
            return tuple([self._safe(node, dim) for dim in found])
        raise NotReadError(f"`{code(node)}` gives no shape")

    def _safe(self, node: cst.Call, dim: Dim) -> Dim:
        """Returns a dim that a shape function gave; `Static` if it divides by what may be 0."""
        if not _may_fail(dim):
            return dim
        self._unsaid(node, f"`{write_dim(dim)}` divides by what may be 0, for all that the stub says; the size is `_`")
        return Static()

    # ------------------------------------------------------------------------------- sizes

    def _named_size(self, node: cst.BaseExpression) -> Dim:
        match self.names.meaning(node):
            case Parameter(name=name, kind=Kind.SIZE | Kind.INT):
                return Var(name)
            case Parameter(name=name, kind=Kind.MAYBE_INT):
                raise NotReadError(f"`{name}` may be None")
            case Parameter(name=name, kind=Kind.FOREIGN as kind):
                raise NotReadError(f"`{name}` is {kind.value}")
            case Parameter(name=name, kind=kind):
                raise NotReadError(f"`{name}` is {kind.value}, no size")
            case Given(node=inner, names=names):
                return Dims(names, self._unsaid).size(inner)
            case Alias(value=inner, names=names, params=None):
                return Dims(names, self._unsaid).size(inner)
            case _:
                pass
        if self.names.marker(node) == "Int" or last_name(node) in _UNSAID:
            return Static()
        raise NotReadError(f"`{code(node)}` is no size")

    # ------------------------------------------------------------------------------- calls

    def call(self, node: cst.Call) -> Any:
        """Returns what a shape function gives: a dim, dims, or a tuple of these.

        Raises:
            NotReadError: It gives nothing for these arguments.
        """
        from ..shape_functions.answers import Evaluated, Invalid

        if any(arg.keyword is not None or arg.star for arg in node.args):
            raise NotReadError(f"`{code(node)}` has arguments by name")
        args = [self.argument(arg.value) for arg in node.args]
        outcome = evaluated(node.func, args, self.names)
        if isinstance(outcome, Evaluated):
            for note in outcome.notes:
                self._unsaid(node, note)
            return outcome.value
        if isinstance(outcome, Invalid):
            raise NotReadError(f"`{code(node.func)}` refuses what it is called with: {outcome.message}")
        raise NotReadError(f"`{code(node.func)}` is not evaluated: {outcome.reason}")

    def argument(self, node: cst.BaseExpression) -> Any:
        """Returns what an expression is as an argument of a shape function.

        A flag has any value that its parameter may take: what depends on it is not known, whatever its default.
        """
        match node:
            case cst.Integer():
                return node.evaluated_value
            case cst.SimpleString() | cst.ConcatenatedString():
                return node.evaluated_value
            case cst.Name(value="None" | "True" | "False" as word):
                return {"None": None, "True": True, "False": False}[word]
            case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as operand):
                return -operand.evaluated_value
            case cst.Tuple(elements=elements):
                return tuple(self.argument(element.value) for element in elements)
            case cst.List(elements=elements):
                return self._listed(elements)
            case cst.Call():
                return self.call(node)
            case cst.Subscript(value=cst.Name(value="tuple"), slice=items):
                return tuple(self.argument(element.value) for element in _elements(items))
            case cst.Subscript(value=head) if self.names.marker(head) in ("IntTuple", *_LISTS):
                dims = self.shape(node)
                return (Ellipsis(),) if dims is None else dims
            case cst.Subscript() | cst.BinaryOperation() | cst.UnaryOperation():
                return self.size(node)
            case _:
                return self._named_argument(node)

    def _named_argument(self, node: cst.BaseExpression) -> Any:
        from ..shape_functions.values import UNKNOWN

        match self.names.meaning(node):
            case Parameter(name=name, kind=Kind.SIZE | Kind.INT):
                return Var(name)
            case Parameter(name=name, kind=Kind.SHAPE):
                return (Variadic(name),)
            case Parameter(bound=cst.Subscript() as bound, kind=Kind.FLAG):
                return self._literal(bound, UNKNOWN)
            case Parameter():
                return UNKNOWN
            case Given(node=inner, names=names):
                return Dims(names, self._unsaid).argument(inner)
            case Alias(value=inner, names=names, params=None):
                return Dims(names, self._unsaid).argument(inner)
            case Class() | str() | None:
                pass
            case _:
                raise NotReadError(f"`{code(node)}` is no argument of a shape function")
        return (Ellipsis(),) if self.names.marker(node) == "IntTuple" else UNKNOWN

    def _literal(self, bound: cst.Subscript, unknown: Any) -> Any:
        """Returns the one value that ``Flag[Literal[v]]`` may have."""
        match bound.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=cst.Subscript(value=head, slice=[only])))] if (
                last_name(head) == "Literal"
            ):
                return self.argument(only.slice.value) if isinstance(only.slice, cst.Index) else unknown
            case _:
                return unknown


def is_shape(found: object) -> TypeGuard[tuple[Dim, ...]]:
    """Whether a shape function gave one shape."""
    return isinstance(found, tuple) and not any(isinstance(item, tuple) for item in cast("tuple[object, ...]", found))


def are_shapes(found: object) -> TypeGuard[tuple[tuple[Dim, ...], ...]]:
    """Whether a shape function gave several shapes."""
    return isinstance(found, tuple) and all(isinstance(item, tuple) for item in cast("tuple[object, ...]", found))


def _elements(items: Iterable[cst.SubscriptElement]) -> Iterator[cst.BaseElement]:
    """Yields what stands in a subscript's brackets, as the elements of a list."""
    for item in items:
        if not isinstance(item.slice, cst.Index):
            raise NotReadError("a slice stands in a shape")
        yield cst.StarredElement(item.slice.value) if item.slice.star else cst.Element(item.slice.value)


def _applied(sign: str, *operands: Dim) -> Dim:
    """Returns an operator's value; what is made of a size that is not said is not said either."""
    sizes: list[Size] = []
    for operand in operands:
        if not isinstance(operand, (Const, Var, Apply)):
            return Static()
        sizes.append(operand)
    name = "neg" if len(sizes) == 1 else sign
    if sign in ("//", "%"):
        divisor = sizes[1]
        if not isinstance(divisor, Const) or divisor.value == 0:
            raise NotReadError("the divisor may be 0, for all that the stub says")
    if sign == "**" and not (isinstance(sizes[1], Const) and sizes[1].value >= 0):
        raise NotReadError("the exponent is no constant >= 0")
    return Apply(operator_named(name), tuple(sizes))


def _may_fail(dim: Dim) -> bool:
    """Whether a dim divides by what may be 0."""
    pending: list[Dim] = [dim]
    while pending:
        match pending.pop():
            case Apply(op=op, args=args):
                if op.name in ("//", "%", "cdiv") and not (isinstance(args[1], Const) and args[1].value):
                    return True
                pending += args
            case _:
                pass
    return False


def code(node: cst.CSTNode) -> str:
    """Returns the text of a node, on one line."""
    return " ".join(_EMPTY.code_for_node(node).split())


def last_name(node: cst.BaseExpression) -> str:
    """Returns the last part of a dotted name; nothing of other expressions."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
        case _:
            return ""


def unquoted(node: cst.BaseExpression) -> cst.BaseExpression:
    """Returns the expression that stands in quotes; another node, or text that is none, as it is."""
    if not isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        return node
    text = node.evaluated_value
    try:
        return parse_expression(text) if isinstance(text, str) else node
    except NoExpressionError:
        return node


_EMPTY: Final = cst.Module([])

__all__ = ["Dims", "NotReadError", "are_shapes", "code", "is_shape", "last_name", "unquoted"]
