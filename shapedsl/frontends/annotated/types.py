"""One annotation → one type of the IR.

What an annotation says that the language does not know (``int``, ``nn.Module``, ``torch.Tensor``
without metadata) is `AnyType`: static, whatever it is. The containers are read by the shape of
`typing`'s objects, so that `typing`, `typing_extensions` and builtins give the same.

Before::

    Annotated[torch.Tensor, "B, D", torch.int64] | None

After::

    OptionalType(TensorType((Var("B"), Var("D")), Dtype("int64")))
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

from ...diagnostics import Report, Severity, Source
from ...ir import AnyType, Const, MappingType, NoneType, ObjectType, OptionalType, Rest, SequenceType, Type
from ...surface.forms import Form, forward_text
from ...surface.symbols import Predicate, Symbol
from ..dialects.jaxtyping import hint_of, is_tree
from ..dialects.uses import Uses
from .fields import FieldClass, field_class, has_fields, is_alias, is_fields, is_read_by_name, unpacked
from .leaves import ANY, INT, UNIONS, LeafReader, is_int, is_none, is_optional, is_self, is_silent, name_of
from .namespace import Evaluator, Unknown
from .parameters import bind
from .unify import unify

# Wrappers that say nothing of shapes; what they wrap does.
_TRANSPARENT = {"Required", "NotRequired", "ReadOnly", "Final", "Unpack"}
# Of these a field is told whether it is a key that may be missing, and whether it is a field at all.
_QUALIFIERS = {"Required", "NotRequired", "ClassVar"}
_LISTS = {"list", "List", "Sequence", "MutableSequence", "Iterable", "Collection"}
_TUPLES = {"tuple", "Tuple"}
_DEEPEST = 40  # containers in containers


class TypeReader(LeafReader):
    """Reads the annotations of one parameter, or of the return value."""

    def __init__(
        self,
        namespace: Evaluator,
        source: Callable[[str], Source],
        report: Report,
        *,
        plain_strings: bool,
        uses: Uses | None = None,
        shape_vars: Callable[[], str | None] = lambda: None,
        owner: object = None,
    ) -> None:
        """Args:
        namespace: What strings are evaluated in.
        source: Makes the source of an annotation's text, with its file and line.
        report: Receives what is wrong.
        plain_strings: Whether plain strings in ``Annotated`` are dims, else prose.
        uses: Receives what dims of other notations say; the callable's.
        shape_vars: Returns the names that Pyrefly's decorator declares, as text; None without it.
        owner: The class, or `FieldClass`, that ``Self`` means.
        """
        super().__init__(namespace, source, report, plain_strings, Uses() if uses is None else uses, shape_vars)
        self._owner = owner
        self.unpacked = False  # whether `*` or `Unpack` stood somewhere: of `*args`, it is the whole that was read
        self._depth = 0
        self._qualifiers: set[str] = set()  # of the field being read
        self._open: list[object] = []  # classes being read: one may contain itself
        self._within: list[tuple[object, object]] = []  # what is being read, and what its parameters stand for
        self._circular: set[int] = set()  # those of them that contain themselves

    def read(self, annotation: Any) -> Type:
        """Returns the type that ``annotation`` means; `AnyType` where it is wrong or says nothing of shapes."""
        if self._depth == _DEEPEST:
            self._contains_itself()
            return AnyType()
        if any(each is annotation and arguments is self._arguments for each, arguments in self._within):
            self._circular.add(id(annotation))  # an alias, through its name: `Json = list["Json"] | int`
            return AnyType()
        before = len(self._within)
        if not is_read_by_name(annotation):
            self._within.append((annotation, self._arguments))
        self._depth += 1
        try:
            result = self._read(annotation)
        finally:
            self._depth -= 1
            del self._within[before:]
        if id(annotation) in self._circular:
            self._circular.discard(id(annotation))
            if not is_silent(result):
                self._contains_itself()
        return result

    def _contains_itself(self) -> None:
        message = "this annotation contains itself, or nests too deep"
        self._report.warning("unresolved-annotation", message, at=self._whole(""))

    def _read(self, annotation: Any) -> Type:
        if isinstance(annotation, str):
            return self._late(annotation)
        if isinstance(annotation, Form):
            return self._form(annotation)
        if annotation is None or annotation is types.NoneType:
            return NoneType()
        # until 3.11 a generic alias of such a class says that it is one
        if is_fields(annotation):
            return self._fields(annotation, annotation)
        if is_self(annotation):
            return self._self()
        if isinstance(annotation, Unknown):
            return self._unknown(annotation.shown, subscripted=annotation.shown.endswith("]"))
        if type(annotation).__name__ in ("TypeVar", "TypeVarTuple"):
            return self._parameter(annotation)
        if isinstance(annotation, (Symbol, Predicate)):
            return self._size(annotation)
        hint = hint_of(annotation)
        if hint is not None:
            return self._hint(hint)
        if isinstance(annotation, type):  # the attributes by which the others are known, a class has for its instances
            return self._generic(annotation)
        forward = forward_text(annotation)
        if forward is not None:
            return self._late(forward)
        if hasattr(annotation, "__metadata__") and hasattr(annotation, "__origin__"):
            return self._annotated(annotation.__origin__, annotation.__metadata__)
        if is_alias(annotation):
            return self._alias(annotation)
        if hasattr(annotation, "__supertype__"):  # a NewType
            return self.read(annotation.__supertype__)
        return self._generic(annotation)

    # --------------------------------------------------------------------------- Annotated

    def _annotated(self, base: object, metadata: tuple[object, ...]) -> Type:
        """Reads ``Annotated[base, *metadata]``: each piece of metadata says something of the same value."""
        report, self._report = self._report, Report()
        result = self.read(base)
        told, self._report = self._report, report
        optional = isinstance(result, OptionalType) or is_optional(base)
        found = [self._metadata(item, base) for item in metadata]
        for diagnostic in told:
            # of a type that is missing at run time, the metadata says what there is to say
            if diagnostic.code != "unresolved-annotation" or all(said is None or type(said) is int for said in found):
                report.add(diagnostic)
        for said in found:
            if isinstance(said, int):
                result = self._repeat(result, said)
            elif said is not None:
                result = unify(result, said, self._report, self.equalities, "the annotation")
        if optional and not isinstance(result, (OptionalType, AnyType)):
            result = OptionalType(result)
        return result

    def _repeat(self, result: Type, length: int) -> Type:
        """Returns ``result`` with a length: what ``Annotated[list[T], 32]`` says."""
        match result:
            case OptionalType(inner=inner):
                return replace(result, inner=self._repeat(inner, length))
            case SequenceType(rest=Rest.REPEAT) if length >= 0:
                return replace(result, rest=Rest.NONE, times=Const(length))
            case SequenceType(rest=Rest.NONE, times=None, items=items):
                if len(items) != length:
                    self._report.error(
                        "conflicting-sources",
                        f"the length is {length}, and the items are {len(items)}",
                        at=self._whole(str(length)),
                        help="leave the length out: the items are listed",
                    )
            case AnyType():
                pass  # somebody else's number
            case _:
                self._report.warning(
                    "ignored-metadata",
                    f"`{length}` is no length" if length < 0 else f"`{length}` is a length, and this is no list",
                    at=self._whole(str(length)),
                    help="a length stands beside a list, `Annotated[list[T], 32]`",
                )
        return result

    # -------------------------------------------------------------------------- containers

    def _alias(self, annotation: Any) -> Type:
        try:
            value = annotation.__value__
        except NameError as error:
            return self._unknown(error.name or str(annotation), subscripted=False)
        return self.read(value)

    def _generic(self, annotation: Any) -> Type:
        if annotation is typing.Any:
            return ANY
        if annotation is int:
            return INT
        if is_tree(annotation):
            self._unread(annotation, (annotation.leaftype,))
            return AnyType()
        origin = typing.get_origin(annotation)
        arguments = typing.get_args(annotation)
        name = getattr(origin, "__name__", None) or getattr(origin, "_name", None) or ""
        if name in UNIONS:
            return self._union(arguments)
        if name in _QUALIFIERS:
            self._qualifiers.add(name)
            if name == "ClassVar":
                return AnyType()
        if name in _TRANSPARENT and arguments:
            self.unpacked = self.unpacked or name == "Unpack"
            return self.read(arguments[0])
        self.unpacked = self.unpacked or getattr(annotation, "__unpacked__", False) is True
        if name in _TUPLES and origin is not None:
            if arguments in ((), ((),)):  # tuple[()], the latter on 3.10
                return SequenceType("tuple", ())
            if len(arguments) == 2 and arguments[1] is ...:
                return _sequence("tuple", [self.read(arguments[0])], Rest.REPEAT)
            return self._tuple(annotation, arguments)
        if name in _LISTS and arguments:
            return _sequence("list", [self.read(arguments[0])], Rest.REPEAT)
        if is_alias(origin) or has_fields(origin):
            return self._with(origin, arguments)
        if origin is None and isinstance(annotation, type):  # on 3.10 dict[str, int] is one too
            return self._class(annotation)
        if isinstance(annotation, (dict, list, tuple)):
            return self._literal(cast("Any", annotation))
        if origin is not None and arguments and name not in ("type", "Type"):  # a class itself has no shapes
            self._unread(annotation, arguments)
        return AnyType()

    def _tuple(self, annotation: object, arguments: tuple[object, ...]) -> Type:
        """Reads ``tuple[T, *tuple[U, V]]``; any number of items among others is nothing that the language has."""
        items: list[object] = []
        for argument in arguments:
            inner = unpacked(argument)
            if inner is None:
                items.append(argument)
            elif len(inner) == 2 and inner[1] is ...:
                if len(arguments) == 1:
                    return _sequence("tuple", [self.read(inner[0])], Rest.REPEAT)
                self._unread(annotation, (*items, inner[0]))
                return AnyType()
            else:
                items += inner
        return _sequence("tuple", [self.read(item) for item in items], Rest.NONE)

    def _literal(self, annotation: dict[Any, object] | list[object] | tuple[object, ...]) -> Type:
        """Reads ``{"a": Tensor[B]}``, ``[T, U]`` and ``(T, U)`` as a file does; no type checker knows them."""
        if isinstance(annotation, dict):
            entries = [(key, self.read(value)) for key, value in annotation.items() if type(key) in (str, int)]
            said = [(key, type_) for key, type_ in entries if not is_silent(type_)]
            return MappingType(tuple(said)) if said else AnyType()
        kind = "list" if isinstance(annotation, list) else "tuple"
        return _sequence(kind, [self.read(item) for item in annotation], Rest.NONE)

    def _with(self, generic: Any, arguments: tuple[object, ...]) -> Type:
        """Reads an alias or class whose parameters have ``arguments``: ``Pair[B]``, ``Batch[Tensor[B]]``."""
        outer, self._arguments = self._arguments, bind(generic, arguments, self._arguments)
        try:
            return self.read(generic)
        finally:
            self._arguments = outer

    def _parameter(self, parameter: Any) -> Type:
        """Reads what a type parameter stands for: its argument, else what every argument is."""
        name: str = parameter.__name__
        inner = self._arguments
        if inner is None or len(inner.values.get(name, ())) != 1:
            return self._bound(parameter)
        self._arguments = inner.outer
        try:
            return self.read(inner.values[name][0])
        finally:
            self._arguments = inner

    def _bound(self, parameter: Any) -> Type:
        """Reads ``def f[T: Tensor[B]](x: T)``; of ``[T: (Tensor[B], Tensor[D])]`` it is told that it is not read."""
        try:
            bound: object = getattr(parameter, "__bound__", None)
            constraints: tuple[object, ...] = getattr(parameter, "__constraints__", ())
        except NameError as error:  # since 3.12 they are evaluated here
            return self._unknown(error.name or parameter.__name__, subscripted=False)
        if constraints:
            self._unread(parameter, constraints, help="write one spec for each type")
        return AnyType() if bound is None else self.read(bound)

    def _unread(
        self,
        annotation: object,
        arguments: tuple[object, ...],
        help: str = "name the keys or attributes: a TypedDict, a dataclass or a NamedTuple",
    ) -> None:
        """Warns where shapes stand inside a type that has no place for them, as in ``dict[str, Tensor[B]]``."""
        inner = TypeReader(self._namespace, self._source, Report(), plain_strings=self._plain_strings)
        inner._depth, inner._within, inner._open = self._depth, list(self._within), self._open
        inner._arguments = self._arguments
        for argument in arguments:
            inner.read(argument)
        if inner.spoken:
            self._report.warning(
                "ignored-metadata",
                f"the shapes inside `{name_of(annotation)}` are not read",
                at=self._whole(name_of(annotation)),
                help=help,
            )

    def _union(self, members: Iterable[object]) -> Type:
        members = list(members)
        rest = [member for member in members if not is_none(member)]
        read = [self.read(member) for member in rest]
        if len(rest) == 1:
            if is_silent(read[0]) or isinstance(read[0], OptionalType) or len(members) == 1:
                return read[0]
            return OptionalType(read[0])
        if not all(map(is_silent, read)):
            shown = " | ".join(name_of(member) for member in members)
            self._report.emit(
                Severity.WARNING if self._uses.lenient else Severity.ERROR,
                "unsupported-union",
                f"`{shown}`: only `T | None` is a union",
                at=self._whole(shown),
                help="write one spec for each type, or `Any`",
            )
        return AnyType()

    def _self(self) -> Type:
        """Returns the class by its fields; inside of its own fields it is static."""
        if self._open:
            return AnyType()
        if isinstance(self._owner, FieldClass):
            return self._fields(self._owner, self._owner)
        return self._class(self._owner) if isinstance(self._owner, type) else AnyType()

    def _class(self, cls: type) -> Type:
        fields = field_class(cls)
        return AnyType() if fields is None else self._fields(cls, fields)

    def _fields(self, cls: object, fields: FieldClass) -> Type:
        """Reads a class by the annotations of its fields: TypedDict, dataclass, NamedTuple.

        A key that may be missing is a ``T | None``: that a missing one is absent, as None is.
        """
        if any(cls is open_ for open_ in self._open):
            return AnyType()
        outer = self._namespace, self._source, self._shape_vars
        qualifiers, arguments = self._qualifiers, self._arguments
        self._open.append(cls)
        self._shape_vars = fields.shape_vars
        said: list[tuple[str, Type]] = []
        for name, field in fields.fields.items():
            self._namespace, self._source = field.namespace, field.source
            self._qualifiers, self._arguments = set(), arguments
            for generic, given in field.through:
                self._arguments = bind(generic, given, self._arguments)
            type_ = self.read(field.annotation)
            if is_silent(type_) or "ClassVar" in self._qualifiers:
                continue
            required = "Required" in self._qualifiers or (field.required and "NotRequired" not in self._qualifiers)
            if fields.keyed and not required and not isinstance(type_, (AnyType, NoneType, OptionalType)):
                type_ = OptionalType(type_)
            said.append((name, type_))
        self._open.pop()
        self._namespace, self._source, self._shape_vars = outer
        self._qualifiers, self._arguments = qualifiers, arguments
        if fields.fields and not said:
            return AnyType()
        return MappingType(tuple(said)) if fields.keyed else ObjectType(tuple(said), fields.name)


def _sequence(kind: str, items: list[Type], rest: Rest) -> Type:
    # a list of anything has no length that an entry point would need to know
    if all(map(is_silent, items)) or (rest is Rest.REPEAT and isinstance(items[0], AnyType)):
        return AnyType()
    return SequenceType(kind, tuple(items), rest)


__all__ = ["TypeReader", "is_int", "is_self", "is_silent"]
