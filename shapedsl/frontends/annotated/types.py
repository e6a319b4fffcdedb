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
from typing import Any

from ...diagnostics import Report, Severity, Source
from ...ir import (
    AnyType,
    Apply,
    Const,
    Dtype,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Rest,
    ScalarType,
    SequenceType,
    Static,
    TensorType,
    Type,
    Var,
)
from ...surface.facts import Predicates
from ...surface.forms import Form, shown, spell
from ..dialects.families import dtype_of
from ..dialects.jaxtyping import Hint, hint_of, is_foreign, is_tree, read_dims
from ..dialects.shaped import declared_runs, is_bracketed, is_other, read_shaped
from ..dialects.uses import Uses
from ..text.fragments import parse_dims
from ..text.parse import parse
from ..text.syntax import Labeled
from .equalities import Equality
from .fields import FieldClass, field_class
from .namespace import Evaluator, Unknown
from .unify import unify

# Wrappers that say nothing of shapes; what they wrap does.
_TRANSPARENT = {"Required", "NotRequired", "ReadOnly", "Final", "Unpack"}
# Of these a field is told whether it is a key that may be missing, and whether it is a field at all.
_QUALIFIERS = {"Required", "NotRequired", "ClassVar"}
_LISTS = {"list", "List", "Sequence", "MutableSequence", "Iterable", "Collection"}
_TUPLES = {"tuple", "Tuple"}
_UNIONS = {"Union", "UnionType", "Optional"}
# `typing.Any`, written out, says "static" as `_` does; other foreign types say nothing, and a
# container of nothing but those is none of ours.
_ANY = AnyType()
# `int`, which says nothing of shapes either, unless a dim names the parameter's value: jaxtyping's `{n}`.
_INT = AnyType()
_DEEPEST = 40  # containers in containers


class TypeReader:
    """Reads the annotations of one parameter, or of the return value.

    Attributes:
        wheres: What ``where(…)`` among the metadata said, in order.
        equalities: From dims for which two pieces of metadata have different expressions.
        spoken: Whether anything was said of shapes.
    """

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
        self._namespace = namespace
        self._source = source
        self._report = report
        self._plain_strings = plain_strings
        self._uses = Uses() if uses is None else uses
        self._shape_vars = shape_vars
        self._owner = owner
        self._depth = 0
        self._qualifiers: set[str] = set()  # of the field being read
        self._open: list[object] = []  # classes being read: one may contain itself
        self.wheres: list[Labeled] = []
        self.equalities: list[Equality] = []
        self.spoken = False

    def read(self, annotation: Any) -> Type:
        """Returns the type that ``annotation`` means; `AnyType` where it is wrong or says nothing of shapes."""
        if self._depth == _DEEPEST:  # an alias that contains itself
            message = "this annotation contains itself, or nests too deep"
            self._report.warning("unresolved-annotation", message, at=self._whole(""))
            return AnyType()
        self._depth += 1
        try:
            return self._read(annotation)
        finally:
            self._depth -= 1

    def _read(self, annotation: Any) -> Type:
        if isinstance(annotation, str):
            return self._late(annotation)
        if isinstance(annotation, Form):
            return self._form(annotation)
        if annotation is None or annotation is types.NoneType:
            return NoneType()
        if isinstance(annotation, FieldClass):
            return self._fields(annotation, annotation)
        if is_self(annotation):
            return self._self()
        if isinstance(annotation, Unknown):
            return self._unknown(annotation.shown, subscripted=annotation.shown.endswith("]"))
        hint = hint_of(annotation)
        if hint is not None:
            return self._hint(hint)
        if hasattr(annotation, "__forward_arg__"):
            return self._late(annotation.__forward_arg__)
        if hasattr(annotation, "__metadata__") and hasattr(annotation, "__origin__"):
            return self._annotated(annotation.__origin__, annotation.__metadata__)
        if type(annotation).__name__ == "TypeAliasType" and hasattr(annotation, "__value__"):
            return self._alias(annotation)
        if hasattr(annotation, "__supertype__"):  # a NewType
            return self.read(annotation.__supertype__)
        return self._generic(annotation)

    # ------------------------------------------------------------------------------ leaves

    def _late(self, text: str) -> Type:
        try:
            annotation = self._namespace.evaluate(text)
        except Exception as error:  # it is the user's code that runs here
            self._report.warning(
                "unresolved-annotation",
                f"this annotation could not be resolved: {type(error).__name__}",
                at=self._whole(text),
                label=str(error).partition("\n")[0],
                help='quote the dims alone, `Tensor["B, 2*D"]`: they are not Python',
            )
            return AnyType()
        return AnyType() if annotation == text else self.read(annotation)

    def _unknown(self, shown: str, *, subscripted: bool) -> Type:
        # Classes that are imported for type checkers only are common, and say nothing of shapes.
        self._report.emit(
            Severity.WARNING if subscripted else Severity.NOTE,
            "unresolved-annotation",
            f"`{shown}` is not defined at run time; the parameter is taken as static",
            at=self._whole(shown),
            help="import it outside of `if TYPE_CHECKING`" if subscripted else (),
        )
        return AnyType()

    def _form(self, form: Form) -> Type:
        self.spoken = True
        if form.name == "Shape":
            self._report.error(
                "unresolved-annotation",
                f"`{form}` is metadata, not a type",
                at=self._whole(repr(form)),
                help=f"write `Annotated[torch.Tensor, {form}]`, or `Tensor[{form.text or ''}]`",
            )
            return AnyType()
        if form.name == "Scalar":
            return self._scalar(form)
        dtype = None if form.name == "Tensor" else Dtype(form.name)
        if form.items is None:
            return TensorType(None, dtype)
        dims = self._dims(form)
        return AnyType() if dims is None else TensorType(dims, dtype, self._whole(form.text or ""))

    def _scalar(self, form: Form) -> Type:
        if form.items is None:
            return ScalarType()
        sizes = self._dims(form)
        if sizes is None:
            return AnyType()
        if len(sizes) == 1 and isinstance(sizes[0], Static):
            return ScalarType()
        if len(sizes) != 1 or not isinstance(sizes[0], (Const, Var, Apply)):
            self._report.error(
                "type-arity",
                f"`{form}`: a scalar has one size",
                at=self._whole(form.text or ""),
                help="write `Scalar[N]`, or `Scalar` for a static int",
            )
            return AnyType()
        return ScalarType(sizes[0], self._whole(form.text or ""))

    def _dims(self, form: Form) -> Any:
        """Returns the dims of ``form``; None if they are wrong."""
        for item in form.items or ():
            if spell(item) is None:
                self._report.error(
                    "unresolved-annotation",
                    f"`{_name(item)}` is no dim",
                    at=self._whole(repr(form)),
                    help='a dim is a name, a number, an expression in quotes, `...` or `"_"`',
                )
                return None
        return () if form.items == () else parse_dims(self._source(form.text or ""), self._report)

    def _whole(self, text: str) -> Any:
        return self._source(text).span(0, len(text))

    def _hint(self, hint: Hint) -> Type:
        """Returns the type of jaxtyping's ``Float[Tensor, "b t"]``."""
        if _is_none(hint.array_type):  # of a union, jaxtyping annotates each member
            return NoneType()
        at = self._whole(hint.dim_str)
        if is_foreign(hint.array_type):
            message = f"the shape of a `{_name(hint.array_type)}` is not read: it is no tensor of torch"
            self._report.emit(Severity.NOTE, "inexpressible", message, at=at)
            return AnyType()
        self.spoken = True
        dims = read_dims(at.source, self._report, self._uses)
        return AnyType() if dims is None else TensorType(dims, dtype_of(hint.dtypes, self._report, at), at)

    # --------------------------------------------------------------------------- Annotated

    def _annotated(self, base: object, metadata: tuple[object, ...]) -> Type:
        """Reads ``Annotated[base, *metadata]``: each piece of metadata says something of the same value."""
        result = self.read(base)
        optional = isinstance(result, OptionalType) or _is_optional(base)
        for item in metadata:
            said = self._metadata(item, base)
            if isinstance(said, int):
                result = self._repeat(result, said)
            elif said is not None:
                result = unify(result, said, self._report, self.equalities, "the annotation")
        if optional and not isinstance(result, (OptionalType, AnyType)):
            result = OptionalType(result)
        return result

    def _metadata(self, item: object, base: object) -> Type | int | None:
        """Returns what one piece of metadata says: a type, a length, or nothing."""
        if isinstance(item, Form):
            scalar = base is int and item.name == "Shape"
            return self._form(Form("Scalar" if scalar else "Tensor", item.items) if item.name == "Shape" else item)
        if isinstance(item, Predicates):
            self.spoken = True
            for text in item.texts:
                self.wheres += parse(self._source(text), self._report, "where_fragment") or ()
        elif isinstance(item, str):
            return self._text(item, base)
        elif isinstance(item, int) and not isinstance(item, bool):
            return item
        elif type(item).__name__ == "dtype" and type(item).__module__ == "torch":
            self.spoken = True
            return TensorType(None, Dtype(str(item).rpartition(".")[2]))
        return None

    def _text(self, text: str, base: object) -> Type | None:
        """Reads a string beside ``base``: Pyrefly's shape, dims under `shapes`, or somebody else's."""
        declared = self._shape_vars()
        bracketed = is_bracketed(text)
        runs = declared_runs(declared or "")
        if declared is not None and (bracketed or is_other(base) or text.strip() in runs):
            said = read_shaped(base, self._source(text), runs, self._report)
        elif self._plain_strings and bracketed and not is_other(base):
            said = read_shaped(base, self._source(text), (), self._report)
        else:  # a string without brackets is dims of ours
            return self._plain(text, base) if self._plain_strings and not _is_plain_value(base) else None
        self.spoken = self.spoken or said is not None
        return said

    def _plain(self, text: str, base: object) -> Type | None:
        """Reads a plain string: dims, or prose if it does not parse."""
        trial = Report()
        if not text.strip():
            return None
        dims = parse_dims(self._source(text), trial)
        if dims is None or trial.errors:
            self._report.emit(
                Severity.NOTE,
                "ignored-metadata",
                "this string is taken as prose: it does not parse as dims",
                at=self._whole(text),
                help="write `Shape[…]` if it is meant as dims",
            )
            return None
        self.spoken = True
        if base is int and len(dims) == 1 and isinstance(dims[0], (Const, Var, Apply)):
            return ScalarType(dims[0], self._whole(text))
        return TensorType(dims, None, self._whole(text))

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
            return _ANY
        if annotation is int:
            return _INT
        if is_tree(annotation):
            self._unread(annotation, (annotation.leaftype,))
            return AnyType()
        origin = typing.get_origin(annotation)
        arguments = typing.get_args(annotation)
        name = getattr(origin, "__name__", None) or getattr(origin, "_name", None) or ""
        if name in _UNIONS:
            return self._union(arguments)
        if name in _QUALIFIERS:
            self._qualifiers.add(name)
            if name == "ClassVar":
                return AnyType()
        if name in _TRANSPARENT and arguments:
            return self.read(arguments[0])
        if name in _TUPLES and origin is not None:
            if arguments in ((), ((),)):  # tuple[()], the latter on 3.10
                return SequenceType("tuple", ())
            if len(arguments) == 2 and arguments[1] is ...:
                return _sequence("tuple", [self.read(arguments[0])], Rest.REPEAT)
            return _sequence("tuple", [self.read(argument) for argument in arguments], Rest.NONE)
        if name in _LISTS and arguments:
            return _sequence("list", [self.read(arguments[0])], Rest.REPEAT)
        if origin is None and isinstance(annotation, type):  # on 3.10 dict[str, int] is one too
            return self._class(annotation)
        if origin is not None and arguments:
            self._unread(annotation, arguments)
        return AnyType()

    def _unread(self, annotation: object, arguments: tuple[object, ...]) -> None:
        """Warns where shapes stand inside a type that has no place for them, as in ``dict[str, Tensor[B]]``."""
        inner = TypeReader(self._namespace, self._source, Report(), plain_strings=self._plain_strings)
        for argument in arguments:
            inner.read(argument)
        if inner.spoken:
            self._report.warning(
                "ignored-metadata",
                f"the shapes inside `{_name(annotation)}` are not read",
                at=self._whole(_name(annotation)),
                help="name the keys or attributes: a TypedDict, a dataclass or a NamedTuple",
            )

    def _union(self, members: Iterable[object]) -> Type:
        members = list(members)
        rest = [member for member in members if not _is_none(member)]
        read = [self.read(member) for member in rest]
        if len(rest) == 1:
            if is_silent(read[0]) or isinstance(read[0], OptionalType) or len(members) == 1:
                return read[0]
            return OptionalType(read[0])
        if not all(map(is_silent, read)):
            shown = " | ".join(_name(member) for member in members)
            self._report.error(
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
        outer = self._namespace, self._source, self._qualifiers, self._shape_vars
        self._open.append(cls)
        self._shape_vars = fields.shape_vars
        said: list[tuple[str, Type]] = []
        for name, field in fields.fields.items():
            self._namespace, self._source, self._qualifiers = field.namespace, field.source, set()
            type_ = self.read(field.annotation)
            if is_silent(type_) or "ClassVar" in self._qualifiers:
                continue
            required = "Required" in self._qualifiers or (field.required and "NotRequired" not in self._qualifiers)
            if fields.keyed and not required and not isinstance(type_, (AnyType, NoneType, OptionalType)):
                type_ = OptionalType(type_)
            said.append((name, type_))
        self._open.pop()
        self._namespace, self._source, self._qualifiers, self._shape_vars = outer
        if fields.fields and not said:
            return AnyType()
        return MappingType(tuple(said)) if fields.keyed else ObjectType(tuple(said), fields.name)


def is_self(annotation: object) -> bool:
    """Whether ``annotation`` is ``Self``, of `typing` or `typing_extensions`, or imported for type checkers only."""
    if isinstance(annotation, Unknown):
        return annotation.shown.rpartition(".")[2] == "Self"
    return getattr(annotation, "_name", None) == "Self" and type(annotation).__name__.endswith("SpecialForm")


def _sequence(kind: str, items: list[Type], rest: Rest) -> Type:
    # a list of anything has no length that an entry point would need to know
    if all(map(is_silent, items)) or (rest is Rest.REPEAT and isinstance(items[0], AnyType)):
        return AnyType()
    return SequenceType(kind, tuple(items), rest)


def is_silent(type_: Type) -> bool:
    """Whether ``type_`` came from an annotation that says nothing of shapes."""
    return isinstance(type_, AnyType) and type_ is not _ANY


def is_int(type_: Type) -> bool:
    """Whether ``type_`` came from the annotation ``int``."""
    return type_ is _INT


def _is_none(member: Any) -> bool:
    hint = hint_of(member)
    return member is None or member is types.NoneType or (hint is not None and hint.array_type is types.NoneType)


def _is_optional(base: object) -> bool:
    name = getattr(typing.get_origin(base), "__name__", "")
    return name in _UNIONS and types.NoneType in typing.get_args(base)


def _is_plain_value(base: object) -> bool:
    """Whether a string beside ``base`` is prose for sure: a ``str``, a ``float``, a list of anything is no tensor."""
    origin = typing.get_origin(base) or base
    return isinstance(origin, type) and origin.__module__ in ("builtins", "collections.abc") and origin is not int


def _name(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else shown(annotation).replace("typing.", "")


__all__ = ["TypeReader", "is_int", "is_self", "is_silent"]
