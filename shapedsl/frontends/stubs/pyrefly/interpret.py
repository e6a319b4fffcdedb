"""Annotations in Pyrefly's dialect → the objects that our own spellings give; the package says which."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import libcst as cst

from ....diagnostics import Source
from ....ir import Dim
from ....ir.write_sizes import write_dim
from ....surface.forms import Form, Scalar, Tensor
from ....surface.symbols import Symbol
from ...annotated.fields import FieldClass
from ..classes import parameter as make_parameter
from ..interpret import Interpreter, UninterpretedError
from ..known import foreign
from ..scope import Scope
from .dims import Dims, NotReadError, are_shapes, code, last_name
from .names import MODULE, Alias, Class, Given, Kind, Names, Parameter, members
from .speaking import DEEPEST, tensor_of

if TYPE_CHECKING:
    from ..files import File

_NOT_MINE: Final = object()
_STATIC: Final = foreign("shape_extensions.Static")  # says nothing of shapes
_UNIONS: Final = frozenset(
    f"{module}.{name}" for module in ("typing", "typing_extensions") for name in ("Union", "Optional")
)
_MOST: Final = 20_000  # expressions in one function, those of aliases counted wherever they stand


class PyreflyInterpreter(Interpreter):
    """Interprets annotations in which the dialect may stand."""

    def __init__(
        self,
        names: Names,
        source_of: Callable[[cst.CSTNode, str], Source],
        unsaid: Callable[[cst.CSTNode, str], None],
        own: Form | None = None,
        file: File | None = None,
        depth: int = 0,
    ) -> None:
        """Args:
        names: The names around the annotation.
        source_of: Makes the source of a text that stands in a node.
        unsaid: Is told what of an annotation is not read, and why.
        own: What ``Self`` is, in a tensor class.
        file: The file, whose neighbors are looked at.
        depth: How deep the expression stands in others.
        """
        super().__init__(names.scope, source_of, file, depth)
        self._nesting = depth
        self.names = names
        self._unsaid = unsaid
        self._own = own
        self._dims = Dims(names, unsaid)

    def inside(self, scope: Scope, file: File | None) -> Interpreter:
        """Returns an interpreter for an expression that stands elsewhere in the file, such as a field of a class."""
        if self._nesting >= DEEPEST or (file is not None and file is not self.file):
            return super().inside(scope, file)
        names = Names(scope, self.names.files)
        return PyreflyInterpreter(names, self.source_of, self._unsaid, None, file, self._nesting + 1)

    def value(self, node: cst.BaseExpression) -> Any:
        """Returns what an expression stands for, in the dialect or else in Python."""
        steps = self.names.files.step()
        if steps == _MOST:
            self._unsaid(
                node, f"the function stands for more than {_MOST} types, aliases looked through; the rest is not read"
            )
        try:
            said = _STATIC if steps >= _MOST else self._said(node)
        except NotReadError as error:
            self._unsaid(node, str(error))
            return _STATIC
        return super().value(node) if said is _NOT_MINE else said

    def _said(self, node: cst.BaseExpression) -> Any:
        match node:
            case cst.Name() | cst.Attribute():
                return self._of_name(node)
            case cst.Subscript():
                return self._of_subscript(node)
            case cst.BinaryOperation(operator=cst.BitOr()):
                return self._of_union(node)
            case cst.StarredElement(value=shape):  # `*sizes: *Sizes`
                return self.value(shape)
            case _:
                return _NOT_MINE

    def _other(self, names: Names) -> PyreflyInterpreter:
        return PyreflyInterpreter(names, self.source_of, self._unsaid, self._own, self.file, self._nesting)

    # ------------------------------------------------------------------------------- names

    def _of_name(self, node: cst.Name | cst.Attribute) -> Any:
        if self.names.is_tensor(node):
            return Tensor
        match self.names.marker(node):
            case None:
                pass
            case "Int":
                return Scalar
            case _:
                return _STATIC
        match self.names.meaning(node):
            case Parameter() as parameter:
                return self._of_parameter(node, parameter)
            case Given(node=inner, names=names):
                return self._other(names).value(inner)
            case Alias(value=value, params=params, names=names) if names.depth < DEEPEST:
                return self._other(_filled(names, params, (), self.names)).value(value)
            case Class(node=definition, names=names) if names.depth < DEEPEST:
                return self._of_fields(node, definition, names, ())
            case "typing.Self" | "typing_extensions.Self" if self._own is not None:
                return self._own
            case str() as name if name.startswith(f"{MODULE}."):
                return _STATIC  # of another version
            case _:
                return _NOT_MINE

    def _of_parameter(self, node: cst.BaseExpression, parameter: Parameter) -> Any:
        match parameter.kind:
            case Kind.SIZE | Kind.INT:
                return Scalar[Symbol(parameter.name)]
            case Kind.MAYBE_INT:
                return typing.Optional[Scalar[Symbol(parameter.name)]]  # noqa: UP045  # objects, not classes
            case Kind.SHAPE | Kind.SHAPES:
                raise NotReadError(
                    f"`{parameter.name}` is {parameter.kind.value} as a value: ints, and nothing tells how many"
                )
            case Kind.INDEX:
                raise NotReadError(f"`{parameter.name}` is an index, which the language has no type for")
            case Kind.FOREIGN:
                raise NotReadError(f"`{parameter.name}` is {parameter.kind.value}")
            case Kind.OTHER if isinstance(node, cst.Name):  # of a class, it may stand for a tensor
                return make_parameter(parameter.name, "TypeVar")
            case Kind.FLAG | Kind.OTHER:
                return _STATIC if isinstance(node, cst.Name) else _NOT_MINE

    # --------------------------------------------------------------------------- subscripts

    def _of_subscript(self, node: cst.Subscript) -> Any:
        head = node.value
        items = [item.slice.value for item in node.slice if isinstance(item.slice, cst.Index)]
        if len(items) != len(node.slice):
            return _NOT_MINE
        if self.names.is_tensor(head):
            return self._of_tensor(node, items)
        marker = self.names.marker(head)
        if marker is not None:
            return self._of_marker(node, marker, items)
        if last_name(head) == "Unpack" and len(items) == 1:
            return self._of_unpack(items[0])
        if self.names.qualified(head) in _UNIONS:
            optional = (cst.Name("None"),) if last_name(head) == "Optional" else ()
            return self._joined(node, [member for item in items for member in members(item)] + [*optional])
        match self.names.meaning(head):
            case Alias(value=value, params=params, names=names) if params is not None and names.depth < DEEPEST:
                return self._other(_filled(names, params, items, self.names)).value(value)
            case Class(node=definition, names=names) if names.depth < DEEPEST:
                return self._of_class(node, definition, names, items)
            case str() as name if name.startswith(f"{MODULE}."):
                return _STATIC
            case _:
                return _NOT_MINE

    def _of_tensor(self, node: cst.Subscript, items: Sequence[cst.BaseExpression]) -> Any:
        if len(items) != 1 or self._is_no_shape(items[0]):
            self._unsaid(
                node, f"`{code(node)}` is not how Pyrefly 1.4 writes a shape, `Tensor[[…]]`; the tensor is of any shape"
            )
            return Tensor
        return self._form(self._dims.shape, items[0])

    def _is_no_shape(self, node: cst.BaseExpression) -> bool:
        found = self.names.meaning(node)
        return isinstance(found, Parameter) and found.kind is not Kind.SHAPE

    def _form(self, shape: Callable[[cst.BaseExpression], tuple[Dim, ...] | None], node: cst.BaseExpression) -> Form:
        """Returns ``Tensor[…]``; bare, with a note, if the shape is not read."""
        try:
            return tensor_of(shape(node))
        except NotReadError as error:
            self._unsaid(node, f"{error}; the tensor is of any shape")
            return Tensor

    def _of_marker(self, node: cst.Subscript, marker: str, items: Sequence[cst.BaseExpression]) -> Any:
        match marker:
            case "Int" if len(items) == 1:
                try:
                    size = self._dims.size(items[0])
                except NotReadError as error:
                    raise NotReadError(f"{error}; it is any int") from None
                return Scalar[Symbol(write_dim(size))]
            case "IntTuple" | "IntTupleOrList" | "IntListLiteral":
                return self._of_ints(node)
            case "MapIntTuples" if len(items) == 2:
                return self._of_map(items[0], items[1])
            case "Shaped" if len(items) == 2:
                return typing.Annotated[self.value(items[0]), self.value(items[1])]
            case "RegularNestedList":
                raise NotReadError(f"`{code(node)}` is nested lists, whose lengths the language has no type for")
            case _:
                return _STATIC

    def _of_ints(self, node: cst.Subscript) -> Any:
        dims = self._dims.shape(node)
        if dims is None:
            return _STATIC
        texts = [write_dim(dim) for dim in dims]
        if any(text.startswith(("*", "...")) for text in texts):
            raise NotReadError(f"`{code(node)}` is ints, and nothing tells how many")
        return tuple[tuple(Scalar[Symbol(text)] for text in texts)]  # type: ignore[misc]  # objects, not classes

    # ------------------------------------------------------------------------------ several

    def _of_map(self, function: cst.BaseExpression, source: cst.BaseExpression) -> Any:
        """Reads ``MapIntTuples[lambda S: Tensor[S], shapes]``: a tuple of tensors if the shapes are known."""
        match function:
            case cst.Lambda(
                params=cst.Parameters(params=[cst.Param(name=cst.Name(value=name))]),
                body=cst.Subscript(
                    value=head, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=used)))]
                ),
            ) if name == used and self.names.is_tensor(head):
                pass
            case _:
                raise NotReadError(f"`{code(function)}` makes no tensors")
        try:
            shapes = self._shapes(source)
        except NotReadError as error:
            self._unsaid(source, f"{error}; the tensors are of any shape")
            return typing.List[Tensor]  # type: ignore[valid-type]  # noqa: UP006  # an object, no class
        return tuple[tuple(map(tensor_of, shapes))]  # type: ignore[misc]

    def _shapes(self, source: cst.BaseExpression) -> Sequence[tuple[Dim, ...] | None]:
        match source:
            case cst.Subscript(value=cst.Name(value="tuple"), slice=items):
                return [self._dims.shape(item.slice.value) for item in items if isinstance(item.slice, cst.Index)]
            case cst.Call():
                found = self._dims.call(source)
                if are_shapes(found):
                    return found
                raise NotReadError(f"`{code(source)}` gives no shapes")
            case _:
                raise NotReadError(f"`{code(source)}` is any number of shapes")

    def _of_unpack(self, node: cst.BaseExpression) -> Any:
        """Reads ``*args: Unpack[MapIntTuples[…]]``: of each argument is said what is said of all."""
        if isinstance(node, cst.Subscript) and self.names.marker(node.value) == "MapIntTuples":
            self._unsaid(node, f"`{code(node)}` is any number of shapes; the tensors are of any shape")
            return Tensor
        return _NOT_MINE

    def _of_class(
        self, node: cst.Subscript, definition: cst.ClassDef, names: Names, items: Sequence[cst.BaseExpression]
    ) -> Any:
        """Reads a class with shapes for parameters: a tuple of tensors by what it derives from."""
        params = names.parameters(definition)
        if not any(row.kind not in (Kind.OTHER, Kind.FLAG) for row in params):
            return _NOT_MINE
        inner = _filled(names, definition.type_parameters, items, self.names)
        for base in definition.bases:
            match base.value:
                case cst.Subscript(value=cst.Name(value="tuple")):
                    return self._other(inner).value(base.value)
                case _:
                    pass
        found = self._of_fields(node.value, definition, names, items)
        if found is _NOT_MINE:
            raise NotReadError(f"`{code(node)}` is no tensor; its shapes are not read")
        return found

    def _of_fields(
        self, head: cst.BaseExpression, definition: cst.ClassDef, names: Names, items: Sequence[cst.BaseExpression]
    ) -> Any:
        """Reads a class with fields; of a size that is not given, as of all in a bare ``State``, nothing is said."""
        found = Interpreter.value(self, head) if names.parameters(definition) else None
        if not isinstance(found, FieldClass):
            return _NOT_MINE
        return types.GenericAlias(cast("type", found), self._given(definition, names, items))

    def parameters(self, node: cst.ClassDef) -> tuple[object, ...] | None:
        """Returns the type parameters of a class, sizes and shapes among them."""
        return tuple(make_parameter(row.name, "TypeVar") for row in self.names.parameters(node)) or None

    def arguments(self, node: cst.BaseExpression) -> tuple[object, ...] | None:
        """Returns what the class ``node`` is given, one for each of its parameters; nothing is known of the others."""
        items: list[cst.BaseExpression] = []
        if isinstance(node, cst.Subscript):
            items = [item.slice.value for item in node.slice if isinstance(item.slice, cst.Index)]
        found = self.names.meaning(node.value if isinstance(node, cst.Subscript) else node)
        return self._given(found.node, found.names, items) or None if isinstance(found, Class) else None

    def _given(self, definition: cst.ClassDef, names: Names, items: Sequence[cst.BaseExpression]) -> tuple[object, ...]:
        rows = names.parameters(definition)
        declared = definition.type_parameters
        if declared is not None and len(declared.params) != len(rows) and items:
            self._unsaid(items[0], f"`{definition.name.value}` has type parameters of several kinds; none is read")
            items = ()
        filled = [Given(item, self.names) for item in items[: len(rows)]]
        filled += [Given(cst.Name("Any"), names)] * (len(rows) - len(filled))
        given = {row.name: each for row, each in zip(rows, filled, strict=True)}
        inner = names.within(names.scope, given, definition)
        return tuple(self._filled_in(row, inner, given[row.name].node) for row in rows)

    def _filled_in(self, row: Parameter, inner: Names, at: cst.CSTNode) -> object:
        dims = Dims(inner, self._unsaid)
        try:
            match row.kind:
                case Kind.SHAPE:
                    shape = dims.shape(cst.Name(row.name))
                    return Symbol("..." if shape is None else ", ".join(map(write_dim, shape)))
                case Kind.OTHER:
                    return self._other(inner).value(cst.Name(row.name))
                case _:
                    return Symbol(write_dim(dims.size(cst.Name(row.name))))
        except NotReadError as error:
            self._unsaid(at, f"{error}; what `{row.name}` stands for is not read")
            return Symbol("..." if row.kind is Kind.SHAPE else "_")

    def _of_union(self, node: cst.BinaryOperation) -> Any:
        """Reads ``A | B``; static if shapes stand in one of several members beside None."""
        return self._joined(node, list(members(node)))

    def _joined(self, node: cst.BaseExpression, members: Sequence[cst.BaseExpression]) -> Any:
        rows = [(member, self.value(member)) for member in members]
        several = [part for _, value in rows for part in _flat(value) if part is not None and part is not type(None)]
        if len(several) > 1:
            if any(map(_speaks, several)):
                raise NotReadError(f"`{code(node)}` is one of several types, of which the language has only `T | None`")
            return _STATIC
        try:
            return typing.Union[tuple(value for _, value in rows)]  # noqa: UP007  # objects, not classes
        except TypeError:  # `Callable[[A], B]`, which has no hash
            return _STATIC


def _flat(value: Any) -> Iterable[Any]:
    return typing.get_args(value) if typing.get_origin(value) is typing.Union else (value,)


def _speaks(value: Any) -> bool:
    """Whether a type says something of a shape or a size."""
    if isinstance(value, Form):
        return value.items is not None
    return any(map(_speaks, typing.get_args(value)))


def _filled(
    names: Names, params: cst.TypeParameters | None, items: Sequence[cst.BaseExpression], around: Names
) -> Names:
    """Returns the names in an alias or a class whose type parameters stand for ``items``; for a default, or anything."""
    given: dict[str, Given] = {}
    for index, each in enumerate(() if params is None else params.params):
        default = getattr(each, "default", None)
        if index < len(items):
            given[each.param.name.value] = Given(items[index], around)
        else:
            given[each.param.name.value] = Given(default or cst.Name("Any"), names)
    return names.within(names.scope, given)


__all__ = ["PyreflyInterpreter", "UninterpretedError"]
