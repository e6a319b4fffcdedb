"""Classes of a file that annotations name → their fields, inherited ones too; other classes say nothing.

As at run time, a TypedDict has keys; dataclasses and named tuples have attributes.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import libcst as cst

from ...surface.symbols import Symbol
from ..annotated.fields import Field, FieldClass
from .bindings import statements
from .known import foreign
from .meanings import Meaning, body_scope
from .places import declared_shape_vars
from .scope import Defined, TypeParam, parameters_of

if TYPE_CHECKING:
    from .interpret import Interpreter

_DEEPEST: Final = 40  # classes that inherit from each other
_VARIABLES: Final = ("TypeVar", "TypeVarTuple", "ParamSpec", "IntVar")


class Late(str):
    """The text of an annotation that is interpreted when it is read: a class may name itself.

    Attributes:
        node: The annotation.
        interpreter: Interprets it.
    """

    __slots__ = ("interpreter", "node")
    node: cst.BaseExpression
    interpreter: Interpreter

    @classmethod
    def of(cls, node: cst.BaseExpression, interpreter: Interpreter) -> Late:
        """Returns the text of ``node``."""
        late = cls(cst.Module([]).code_for_node(node))
        late.node, late.interpreter = node, interpreter
        return late

    def value(self) -> Any:
        """Returns what the annotation stands for."""
        return self.interpreter.value(self.node)


class TypeVar(Symbol):
    """A type parameter; its reader knows it by the name of its class, and sizes can be made of it."""

    __slots__ = ("__bound__", "__constraints__", "__name__")

    def __init__(self, name: str, text: str | None = None) -> None:
        super().__init__(text or name)
        self.__name__ = name
        self.__bound__: Late | None = None
        self.__constraints__: tuple[Late, ...] = ()

    def bind(self, bound: cst.BaseExpression | None, around: Interpreter) -> TypeVar:
        """Returns it with what stands behind its colon: what every argument is, or a tuple of what it may be."""
        if isinstance(bound, cst.Tuple):
            self.__constraints__ = tuple(Late.of(element.value, around) for element in bound.elements)
        elif bound is not None:
            self.__bound__ = Late.of(bound, around)
        return self


class TypeVarTuple(TypeVar):
    """``*Ts``."""

    __slots__ = ()


def parameter(name: str, kind: str) -> TypeVar:
    """Returns the type parameter called ``name``, a ``TypeVar`` or a ``TypeVarTuple``."""
    return TypeVarTuple(name, f"*{name}") if kind == "TypeVarTuple" else TypeVar(name)


class TypeAliasType:
    """An alias with parameters; its reader knows it by the name of its class."""

    def __init__(self, name: str, value: Late, params: tuple[object, ...]) -> None:
        self.__name__ = name
        self.__value__ = value
        self.__type_params__ = params

    def __getitem__(self, items: Any) -> Any:
        """Returns the alias with arguments."""
        return types.GenericAlias(cast("type", self), items)

    def __repr__(self) -> str:
        return self.__name__


class GenericClass(FieldClass):
    """A class by its fields, with its type parameters."""

    __type_params__: tuple[object, ...] = ()

    def __getitem__(self, items: Any) -> Any:
        """Returns the class with arguments."""
        return types.GenericAlias(cast("type", self), items)

    def __repr__(self) -> str:
        return self.name

    def __call__(self) -> None:
        """Is there because 3.10's ``typing`` takes for a type what can be called."""


class _Generic:
    """A generic base class, by its type parameters."""

    def __init__(self, parameters: tuple[object, ...]) -> None:
        self.__type_params__ = parameters


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a class is for those who read annotations.

    Attributes:
        keyed: Whether its fields are keys.
        own: Whether what its own body annotates are fields; of an undecorated child of a dataclass they are not.
    """

    keyed: bool
    own: bool = True


def of_definition(node: cst.ClassDef, around: Interpreter) -> Any:
    """Returns a class by its fields, if it is a TypedDict, NamedTuple or dataclass; else one of which nothing is known.

    Args:
        node: The class.
        around: Interprets what stands where the class stands.
    """
    if node in around.classes:
        return around.classes[node]
    kind = _kind(node, around, 0)
    if kind is None:
        made = around.classes[node] = foreign(node.name.value, *_foreign_bases(node, around))
        return made
    fields: dict[str, Field] = {}
    declared = [text for text in map(declared_shape_vars, node.decorators) if text is not None]
    found = GenericClass(node.name.value, kind.keyed, fields, (lambda: ", ".join(declared)) if declared else _none)
    object.__setattr__(found, "__type_params__", _parameters(node, around))  # frozen, and it may be its own parameter
    around.classes[node] = found
    fields.update(_fields(node, around, 0))
    return found


def _parameters(node: cst.ClassDef, around: Interpreter) -> tuple[object, ...]:
    """Returns the type parameters of a class: ``class Batch[T]``, ``class Batch(Generic[T])``."""
    own = around.parameters(node)
    if own is not None:
        return own
    if node.type_parameters is not None:
        rows = parameters_of(node.type_parameters).values()
        return tuple(parameter(row.name, row.kind) for row in rows if isinstance(row, TypeParam))
    subscripted = [base.value for base in node.bases if isinstance(base.value, cst.Subscript)]
    named = [(around.qualified(each.value) or "").rpartition(".")[2] for each in subscripted]
    listed = [each for each, name in zip(subscripted, named, strict=True) if name in ("Generic", "Protocol")]
    found: dict[str, object] = {}  # without `Generic[…]`, in the order in which the bases mention them
    for each in listed or subscripted:
        for row in _variables(each.slice, around):
            found.setdefault(row.__name__, row)
    return tuple(found.values())


def _variables(node: cst.CSTNode | Sequence[cst.CSTNode], around: Interpreter) -> Iterator[TypeVar]:
    """Yields the type parameters that an expression names, from left to right."""
    if isinstance(node, cst.Name):
        value = around.quietly(node)
        if isinstance(value, TypeVar):
            yield value
    elif not isinstance(node, cst.Attribute):
        for child in node.children if isinstance(node, cst.CSTNode) else node:
            yield from _variables(child, around)


def _none() -> str | None:
    return None


def _kind(node: cst.ClassDef, around: Interpreter, depth: int, seen: set[int] | None = None) -> _Kind | None:
    seen = set() if seen is None else seen  # a class may be among its own bases, and several times
    if depth > _DEEPEST or id(node) in seen:
        return None
    seen.add(id(node))
    for decorator in node.decorators:
        called = decorator.decorator
        name = around.qualified(called.func if isinstance(called, cst.Call) else called) or ""
        if name in ("dataclasses.dataclass", "pydantic.dataclasses.dataclass"):
            return _Kind(False)
    for base in node.bases:
        name = around.qualified(_head(base.value)) or ""
        if name.rpartition(".")[2] == "TypedDict":
            return _Kind(True)
        if name in ("typing.NamedTuple", "typing_extensions.NamedTuple"):
            return _Kind(False)
        inherited = _base(base.value, around)
        kind = None if inherited is None else _kind(*inherited, depth + 1, seen)
        if kind is not None:
            return _Kind(kind.keyed, own=kind.keyed)
    return None


def _base(node: cst.BaseExpression, around: Interpreter) -> tuple[cst.ClassDef, Interpreter] | None:
    """Returns a base class that a file defines, with the interpreter of what stands around it."""
    found = around.meaning(_head(node))
    if isinstance(found, Meaning) and isinstance(found.binding, Defined):
        return found.binding.node, around.inside(found.scope, found.file)
    return None


def _arguments(base: cst.BaseExpression, around: Interpreter) -> tuple[object, ...]:
    """Returns what a base class is given for its type parameters."""
    own = around.arguments(base)
    if own is not None:
        return own
    items = base.slice if isinstance(base, cst.Subscript) else ()
    found: list[object] = []
    for node in [item.slice.value for item in items if isinstance(item.slice, cst.Index)]:
        value = around.quietly(node)
        is_none = isinstance(node, cst.Name) and node.value == "None"
        found.append(Any if value is None and not is_none else value)
    return tuple(found)


def _head(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.value if isinstance(node, cst.Subscript) else node


def _foreign_bases(node: cst.ClassDef, around: Interpreter) -> Iterator[type]:
    """Yields the base class that matters: whether it is a tensor."""
    for base in node.bases:
        if around.qualified(_head(base.value)) == "torch.Tensor":
            yield foreign("torch.Tensor")
            return


def _fields(
    node: cst.ClassDef, around: Interpreter, depth: int, known: dict[int, dict[str, Field]] | None = None
) -> dict[str, Field]:
    """Returns the fields of a class by name, inherited ones first."""
    known = {} if known is None else known
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = {}  # while it is read: it may be among its own bases
    kind = _kind(node, around, depth)
    if kind is None or depth > _DEEPEST:
        return {}
    fields: dict[str, Field] = {}
    scope = body_scope(node, around.scope)
    for base in reversed(node.bases):
        inherited = _base(base.value, around)
        if inherited is not None:
            way = _Generic(_parameters(*inherited)), _arguments(base.value, around.inside(scope, around.file))
            for name, field in _fields(*inherited, depth + 1, known).items():
                fields[name] = replace(field, through=(way, *field.through))
    total = next((arg.value for arg in node.keywords if arg.keyword is not None and arg.keyword.value == "total"), None)
    required = not (isinstance(total, cst.Name) and total.value == "False")
    inner = around.inside(scope, around.file)
    for name, annotation in _annotated(node):
        if (kind.own or name in fields) and not _is_no_field(annotation, inner):
            fields[name] = field_of(annotation, inner, required)
    known[id(node)] = fields
    return fields


def _annotated(node: cst.ClassDef) -> Iterator[tuple[str, cst.BaseExpression]]:
    for statement in statements(node.body.body):
        if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
            yield statement.target.value, statement.annotation.annotation


def _is_no_field(annotation: cst.BaseExpression, inner: Interpreter) -> bool:
    """Whether a dataclass takes an annotation for something else: an ``InitVar``, or the mark ``KW_ONLY``."""
    if isinstance(annotation, cst.SimpleString) and isinstance(annotation.evaluated_value, str):
        return annotation.evaluated_value.lstrip().partition("[")[0].rpartition(".")[2] in ("InitVar", "KW_ONLY")
    return inner.qualified(_head(annotation)) in ("dataclasses.InitVar", "dataclasses.KW_ONLY")


def field_of(annotation: cst.BaseExpression, inner: Interpreter, required: bool = True) -> Field:
    """Returns a field whose annotation is interpreted when it is read."""
    return Field(Late.of(annotation, inner), inner, partial(inner.source_of, annotation), required)


# --------------------------------------------------------------------------- made by calls


def of_call(name: str, node: cst.Call, interpreter: Interpreter) -> Any:
    """Returns what a call of a function of `typing` makes, in a tuple; None if it makes no type.

    Args:
        name: The function's name, without its module.
        node: The call.
        interpreter: Interprets its arguments.
    """
    args = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
    keywords = {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
    if name == "dict" and not args:
        return ({key: interpreter.value(value) for key, value in keywords.items()},)
    title = args[0].evaluated_value if args and isinstance(args[0], cst.SimpleString) else None
    if not isinstance(title, str):
        return None
    if name in _VARIABLES:
        bounds = cst.Tuple([cst.Element(arg) for arg in args[1:]]) if len(args) > 1 else keywords.get("bound")
        return (parameter(title, name).bind(bounds, interpreter),)
    if name in ("NewType", "TypeAliasType"):
        value = args[1] if len(args) > 1 else keywords.get("value")
        if value is None:
            return None
        params: object = interpreter.quietly(keywords["type_params"]) if "type_params" in keywords else ()
        if isinstance(params, tuple) and params:
            return (TypeAliasType(title, Late.of(value, interpreter), cast("tuple[object, ...]", params)),)
        return (interpreter.value(value),)
    makers: dict[str, Callable[[], Iterable[tuple[str, cst.BaseExpression]]]] = {
        "TypedDict": lambda: _pairs(args[1:2], keywords),
        "NamedTuple": lambda: _pairs(args[1:2], keywords),
        "namedtuple": lambda: (),
    }
    if name not in makers:
        return None
    if node in interpreter.classes:
        return (interpreter.classes[node],)
    total = keywords.pop("total", None)
    required = not (isinstance(total, cst.Name) and total.value == "False")
    fields: dict[str, Field] = {}
    made = interpreter.classes[node] = GenericClass(title, name == "TypedDict", fields)
    fields.update({key: field_of(value, interpreter, required) for key, value in makers[name]()})
    return (made,)


def _pairs(
    args: list[cst.BaseExpression], keywords: dict[str, cst.BaseExpression]
) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yields names and types of ``{"a": T}``, ``[("a", T)]`` or ``a=T``."""
    rows: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []
    match args:
        case [cst.Dict(elements=elements)]:
            rows = [(each.key, each.value) for each in elements if isinstance(each, cst.DictElement)]
        case [cst.List(elements=elements) | cst.Tuple(elements=elements)]:
            tuples = [each.value for each in elements if isinstance(each.value, (cst.Tuple, cst.List))]
            rows = [(each.elements[0].value, each.elements[1].value) for each in tuples if len(each.elements) == 2]
        case _:
            pass
    for key, value in rows:
        if isinstance(key, cst.SimpleString) and isinstance(key.evaluated_value, str):
            yield key.evaluated_value, value
    yield from keywords.items()


__all__ = ["Late", "field_of", "of_call", "of_definition"]
