"""Annotations as source → the objects that Python would make of them, for `frontends.annotated` to read.

Nothing is imported or executed: names are looked up in the file's own imports and definitions, and
what well-known names stand for is listed in `known`. An operator is applied to sizes and predicates
only; a call is one of ``where``, ``cdiv`` and those of `typing` that make types.

Before (source)::

    def f(x: Optional[Tensor[B, 2 * D]], y: Annotated[torch.Tensor, "B, D"]) -> Tensor[B]: ...

After (objects)::

    typing.Optional[Form("Tensor", (Symbol("B"), Symbol("2 * D")))], typing.Annotated[…, "B, D"], …
"""

from __future__ import annotations

import operator
import types
import typing
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import libcst as cst
import typing_extensions

from ...diagnostics import Source
from ...surface.forms import Form
from ...surface.symbols import Predicate, Symbol
from ..annotated.namespace import Namespace, Unknown
from . import classes
from .known import foreign, known, where
from .meanings import Meaning, meaning_of, qualified_of
from .scope import Aliased, Defined, Scope, TypeParam, parameters_of
from .tree import NoExpressionError, parse_expression

if TYPE_CHECKING:
    from .files import File

_python: Any = operator  # whose functions have no types to speak of
_BINARY: Final[dict[type[cst.CSTNode], Callable[[Any, Any], Any]]] = {
    cst.Add: _python.add,
    cst.Subtract: _python.sub,
    cst.Multiply: _python.mul,
    cst.FloorDivide: _python.floordiv,
    cst.Divide: _python.truediv,
    cst.Modulo: _python.mod,
    cst.Power: _python.pow,
    cst.BitAnd: _python.and_,
    cst.BitOr: _python.or_,
    cst.BitXor: _python.xor,
    cst.LeftShift: _python.lshift,
    cst.RightShift: _python.rshift,
    cst.LessThan: _python.lt,
    cst.LessThanEqual: _python.le,
    cst.GreaterThan: _python.gt,
    cst.GreaterThanEqual: _python.ge,
    cst.Equal: _python.eq,
    cst.NotEqual: _python.ne,
}
_UNARY: Final[dict[type[cst.CSTNode], Callable[[Any], Any]]] = {
    cst.Plus: _python.pos,
    cst.Minus: _python.neg,
    cst.BitInvert: _python.invert,
}
_SIZED: Final = (Symbol, Predicate, int)
_DEEPEST: Final = 60  # aliases in aliases, expressions in expressions
_MOST: Final = 20_000  # expressions of one function
_LARGEST: Final = 2**64  # a number beyond it is no size


class UninterpretedError(Exception):
    """An expression that stands for no annotation; the text says why."""


class TooMuchError(UninterpretedError):
    """An expression that is too large to be interpreted, whatever it stands for."""


class Interpreter:
    """Interprets the expressions of one file in one scope."""

    def __init__(
        self,
        scope: Scope,
        source_of: Callable[[cst.CSTNode, str], Source],
        file: File | None = None,
        depth: int = 0,
    ) -> None:
        """Args:
        scope: What names mean.
        source_of: Makes the source of a text that stands in a node.
        file: The file, whose neighbors are looked at; None if they are not.
        depth: How deep the expression stands in others.
        """
        self.scope = scope
        self.file = file
        self.source_of = source_of
        self.classes: dict[cst.CSTNode, Any] = {} if file is None else file.classes
        self._depth = depth
        self._spent = [0]  # expressions so far, of this one and those inside: aliases double each other

    @property
    def _source_of(self) -> Callable[[cst.CSTNode, str], Source]:
        return self.source_of

    def inside(self, scope: Scope, file: File | None) -> Interpreter:
        """Returns an interpreter for an expression that stands elsewhere: an alias, a field of a class."""
        if self._depth >= _DEEPEST:
            raise TooMuchError("it is defined by itself, or nests too deep")
        source_of = self.source_of if file is None or file is self.file else file.source_of
        inner = Interpreter(scope, source_of, file, self._depth + 1)
        inner._spent = self._spent
        if file is None:
            inner.classes = self.classes
        return inner

    def parameters(self, node: cst.ClassDef) -> tuple[object, ...] | None:  # noqa: ARG002  # for who overrides it
        """Returns the type parameters of a class, if another notation than Python's says what they are."""
        return None

    def arguments(self, node: cst.BaseExpression) -> tuple[object, ...] | None:  # noqa: ARG002  # the same
        """Returns what a class is given for its type parameters, if another notation than Python's says it."""
        return None

    def evaluate(self, text: str) -> object:
        """Returns what a quoted annotation stands for, as `annotated.namespace.Evaluator` does.

        Raises:
            UninterpretedError: It stands for nothing.
            SyntaxError: It is no expression.
        """
        if isinstance(text, classes.Late):
            return text.value()
        try:
            return self.value(parse_expression(text))
        except NoExpressionError as error:
            raise SyntaxError(str(error)) from None

    def value(self, node: cst.BaseExpression) -> Any:
        """Returns what an expression stands for.

        Raises:
            UninterpretedError: It stands for nothing.
        """
        if self._depth >= _DEEPEST:
            raise TooMuchError("it nests too deep, or is defined by itself")
        self._spent[0] += 1
        if self._spent[0] > _MOST:
            raise TooMuchError("it is too much, with the aliases in it")
        self._depth += 1
        try:
            return self._value(node)
        except (UninterpretedError, RecursionError):
            raise
        except Exception as error:  # what `typing` and the objects of the surface raise where Python would, too
            raise UninterpretedError(str(error)) from None
        finally:
            self._depth -= 1

    def quietly(self, node: cst.BaseExpression) -> Any:
        """Returns what an expression stands for; None if it stands for nothing."""
        try:
            return self.value(node)
        except UninterpretedError:
            return None

    def _value(self, node: cst.CSTNode) -> Any:
        match node:
            case cst.Name() | cst.Attribute():
                return self._name(node)
            case cst.SimpleString() | cst.ConcatenatedString():
                text = node.evaluated_value
                if isinstance(text, str):
                    return text
                raise UninterpretedError("bytes and f-strings stand in no annotation")
            case cst.Integer():
                return self._number(node.evaluated_value)
            case cst.Ellipsis():
                return ...
            case cst.Subscript():
                return self._subscript(node)
            case cst.BinaryOperation():
                return self._binary(node.left, node.operator, node.right)
            case cst.Comparison(comparisons=[first, *more]):
                compared = self._binary(node.left, first.operator, first.comparator)
                if more:
                    bool(compared)  # Python asks for its truth, and a predicate says what to write
                    raise UninterpretedError("a chain stands in no annotation")
                return compared
            case cst.BooleanOperation(left=left):
                bool(self.value(left))  # the same
                raise UninterpretedError("`and` and `or` join no sizes")
            case cst.UnaryOperation():
                return self._unary(node)
            case cst.Tuple() | cst.List() | cst.Set():
                items = [self._starred(element) for element in node.elements]
                return tuple(items) if isinstance(node, cst.Tuple) else items
            case cst.Dict():
                return {self.value(e.key): self.value(e.value) for e in node.elements if isinstance(e, cst.DictElement)}
            case cst.StarredElement(value=value):
                return unpacked(self.value(value))
            case cst.Call():
                return self._call(node)
            case _:
                raise UninterpretedError(f"{_words(type(node).__name__)} stands in no annotation")

    # ------------------------------------------------------------------------------- names

    def meaning(self, node: cst.BaseExpression) -> Meaning | str | None:
        """Returns the definition of a name, or its dotted name if it comes from outside; None if nobody knows it."""
        return meaning_of(node, self.scope, self.file)

    def qualified(self, node: cst.BaseExpression) -> str | None:
        """Returns the dotted name of what a name finally stands for; None if the file defines it, or nobody."""
        return qualified_of(node, self.scope, self.file)

    def _name(self, node: cst.Name | cst.Attribute) -> Any:
        if isinstance(node, cst.Name) and node.value in _CONSTANTS:
            return _CONSTANTS[node.value]
        match self.meaning(node):
            case Meaning(binding=Aliased(value=value, params=params), scope=scope, file=file) if params is not None:
                inner = self.inside(scope.inside(parameters_of(params)), file)
                rows = [
                    classes.parameter(row.name, row.kind)
                    for row in parameters_of(params).values()
                    if isinstance(row, TypeParam)
                ]
                name = node.value if isinstance(node, cst.Name) else node.attr.value
                return classes.TypeAliasType(name, classes.Late.of(value, inner), tuple(rows))
            case Meaning(binding=Aliased(value=value), scope=scope, file=file):
                return self.inside(scope, file).value(value)
            case Meaning(binding=Defined(node=definition), scope=scope, file=file):
                return classes.of_definition(definition, self.inside(scope, file))
            case Meaning(binding=TypeParam(name=name, kind=kind, bound=bound), scope=scope, file=file):
                return classes.parameter(name, kind).bind(bound, self.inside(scope, file))
            case Meaning(binding=binding):
                return foreign(getattr(binding, "name", "object"))
            case str() as qualified:
                return known(qualified)
            case None:
                pass
        if isinstance(node, cst.Name):
            return Namespace()[node.value] if not node.value.startswith("__") else foreign(node.value)
        base = self.value(node.value)
        return (
            getattr(base, node.attr.value) if isinstance(base, Unknown) else foreign(cst.Module([]).code_for_node(node))
        )

    # --------------------------------------------------------------------------- compounds

    def _subscript(self, node: cst.Subscript) -> Any:
        items: list[Any] = []
        starred = False
        for element in node.slice:
            if not isinstance(element.slice, cst.Index):
                raise UninterpretedError("a slice stands in no annotation")
            item = self.value(element.slice.value)
            starred = starred or element.slice.star is not None
            items.append(unpacked(item) if element.slice.star else item)
        several = len(items) > 1 or starred or isinstance(node.slice[-1].comma, cst.Comma)
        key = tuple(items) if several else items[0]
        return self.subscribed(self.value(node.value), key)

    def subscribed(self, base: Any, key: Any) -> Any:
        """Returns ``base[key]``, as `typing` makes it of types."""
        if base is typing.Optional or base is typing.Union:
            members: list[Any] = [*key] if type(key) is tuple else [key]
            return union([*members, None] if base is typing.Optional else members)
        if base is typing.Literal or isinstance(base, Form):
            return base[key]
        if base is _TORCH_TENSOR:
            raise UninterpretedError("`torch.Tensor` takes no dims: import `Tensor` from shapedsl")
        if getattr(base, "_name", None) == "Unpack" and isinstance(key, Symbol):
            return unpacked(key)
        try:
            return base[key]
        except TypeError:
            parts: list[Any] = [*key] if type(key) is tuple else []
            if base is typing.Annotated and len(parts) > 1:
                return SimpleNamespace(__origin__=parts[0], __metadata__=tuple(parts[1:]))
            if isinstance(base, type) or not hasattr(base, "_name"):
                raise
            return types.GenericAlias(base, key)  # typing is stricter than its readers, on 3.10 above all

    def _starred(self, element: cst.BaseElement) -> Any:
        item = self.value(element.value)
        return unpacked(item) if isinstance(element, cst.StarredElement) else item

    def _binary(self, left: cst.BaseExpression, sign: cst.CSTNode, right: cst.BaseExpression) -> Any:
        a, b = self.value(left), self.value(right)
        sized = isinstance(a, _SIZED) and isinstance(b, _SIZED) and not isinstance(a, Unknown)
        if isinstance(sign, cst.BitOr) and not sized:
            return union((a, b))
        apply = _BINARY.get(type(sign))
        if apply is None or not isinstance(a, _SIZED) or not isinstance(b, _SIZED):
            raise UninterpretedError("an operator stands between sizes only")
        if isinstance(sign, cst.Power) and isinstance(a, int) and isinstance(b, int) and abs(b) > 64:
            raise UninterpretedError("this number is no size")
        return self._number(apply(a, b))

    def _number(self, value: Any) -> Any:
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise UninterpretedError("this number is no size")
        return value

    def _unary(self, node: cst.UnaryOperation) -> Any:
        value = self.value(node.expression)
        if isinstance(node.operator, cst.Not):
            return not value  # of a predicate, a TypeError that says what to write
        apply = _UNARY.get(type(node.operator))
        if apply is None or not isinstance(value, _SIZED):
            raise UninterpretedError("an operator stands before sizes only")
        return apply(value)

    def _call(self, node: cst.Call) -> Any:
        qualified = self.qualified(node.func) or ""
        module, _, name = qualified.rpartition(".")
        if module in ("typing", "typing_extensions", "collections", "shape_extensions", "builtins"):
            made = classes.of_call(name, node, self)
            if made is not None:
                return made[0]
        function = self.value(node.func)
        args = [self.value(arg.value) for arg in node.args if arg.keyword is None and arg.star != "**"]
        args = [unpacked(value) if arg.star else value for arg, value in zip(node.args, args, strict=False)]
        if function is where or isinstance(function, Symbol):
            return function(*args)
        raise UninterpretedError("a call stands in no annotation")


def union(members: Iterable[Any]) -> Any:
    """Returns ``A | B``, flat; what typing refuses to join too, such as a class known by its fields on 3.10."""
    flat: list[Any] = []
    for member in members:
        inner = typing.get_args(member) if typing.get_origin(member) in _UNIONS else (member,)
        for each in inner:
            each = type(None) if each is None else each
            if not any(each is other or (type(each) is type(other) and repr(each) == repr(other)) for other in flat):
                flat.append(each)
    return flat[0] if len(flat) == 1 else types.GenericAlias(cast("type", typing.Union), tuple(flat))


def unpacked(item: Any) -> Any:
    """Returns ``*item``: the variadic of a size, ``Unpack[…]`` of a tuple; of another type what it is."""
    if typing.get_origin(item) is tuple:
        return typing_extensions.Unpack[item]
    return Symbol(f"*{item.text}") if isinstance(item, Symbol) and not item.text.startswith("*") else item


def _words(name: str) -> str:
    """Returns what a message calls a node."""
    return _CALLED.get(name, "an expression of this kind")


_CALLED: Final = {
    "IfExp": "an `if` expression",
    "Lambda": "a lambda",
    "Float": "a float",
    "Imaginary": "a complex number",
    "FormattedString": "an f-string",
    "ListComp": "a comprehension",
    "SetComp": "a comprehension",
    "DictComp": "a comprehension",
    "GeneratorExp": "a comprehension",
    "NamedExpr": "an assignment",
    "Await": "an `await`",
    "Yield": "a `yield`",
}
_UNIONS: Final = (typing.Union, types.UnionType)
_CONSTANTS: Final = {"None": None, "True": True, "False": False}
_TORCH_TENSOR: Final = foreign("torch.Tensor")

__all__ = ["Interpreter", "TooMuchError", "UninterpretedError", "union", "unpacked"]
