"""Classes of a file that annotations name → their fields, inherited ones too; other classes say nothing.

As at run time, a TypedDict has keys; dataclasses and named tuples have attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import libcst as cst

from ...surface.symbols import Symbol
from ..annotated.fields import Field, FieldClass
from .bindings import statements
from .known import foreign
from .meanings import Meaning, body_scope
from .places import declared_shape_vars
from .scope import Defined

if TYPE_CHECKING:
    from .interpret import Interpreter

_DEEPEST: Final = 40  # classes that inherit from each other
_VARIABLES: Final = ("TypeVar", "TypeVarTuple", "ParamSpec", "IntVar")


class Late(str):
    """The text of an annotation that is interpreted when it is read: a class may name itself.

    Attributes:
        node: The annotation.
    """

    __slots__ = ("node",)
    node: cst.BaseExpression

    @classmethod
    def of(cls, node: cst.BaseExpression) -> Late:
        """Returns the text of ``node``."""
        late = cls(cst.Module([]).code_for_node(node))
        late.node = node
        return late


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
    found = FieldClass(node.name.value, kind.keyed, fields, (lambda: ", ".join(declared)) if declared else _none)
    around.classes[node] = found
    fields.update(_fields(node, around, 0))
    return found


def _none() -> str | None:
    return None


def _kind(node: cst.ClassDef, around: Interpreter, depth: int) -> _Kind | None:
    if depth > _DEEPEST:
        return None
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
        kind = None if inherited is None else _kind(*inherited, depth + 1)
        if kind is not None:
            return _Kind(kind.keyed, own=kind.keyed)
    return None


def _base(node: cst.BaseExpression, around: Interpreter) -> tuple[cst.ClassDef, Interpreter] | None:
    """Returns a base class that a file defines, with the interpreter of what stands around it."""
    found = around.meaning(_head(node))
    if isinstance(found, Meaning) and isinstance(found.binding, Defined):
        return found.binding.node, around.inside(found.scope, found.file)
    return None


def _head(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.value if isinstance(node, cst.Subscript) else node


def _foreign_bases(node: cst.ClassDef, around: Interpreter) -> Iterator[type]:
    """Yields the base class that matters: whether it is a tensor."""
    for base in node.bases:
        if around.qualified(_head(base.value)) == "torch.Tensor":
            yield foreign("torch.Tensor")
            return


def _fields(node: cst.ClassDef, around: Interpreter, depth: int) -> dict[str, Field]:
    """Returns the fields of a class by name, inherited ones first."""
    kind = _kind(node, around, depth)
    if kind is None or depth > _DEEPEST:
        return {}
    fields: dict[str, Field] = {}
    for base in reversed(node.bases):
        inherited = _base(base.value, around)
        if inherited is not None:
            fields.update(_fields(*inherited, depth + 1))
    total = next((arg.value for arg in node.keywords if arg.keyword is not None and arg.keyword.value == "total"), None)
    required = not (isinstance(total, cst.Name) and total.value == "False")
    inner = around.inside(body_scope(node, around.scope), around.file)
    for name, annotation in _annotated(node):
        if (kind.own or name in fields) and not _is_no_field(annotation, inner):
            fields[name] = field_of(annotation, inner, required)
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
    return Field(Late.of(annotation), inner, partial(inner.source_of, annotation), required)


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
        return (Symbol(f"*{title}" if name == "TypeVarTuple" else title),)
    if name in ("NewType", "TypeAliasType"):
        value = args[1] if len(args) > 1 else keywords.get("value")
        return None if value is None else (interpreter.value(value),)
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
    made = interpreter.classes[node] = FieldClass(title, name == "TypedDict", fields)
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
