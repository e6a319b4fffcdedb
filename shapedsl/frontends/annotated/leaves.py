"""The leaves of annotations: ``Tensor[…]``, ``Scalar[…]``, names that nobody defines, and what stands in metadata.

`types` reads what holds them.

Before::

    Tensor[B, "2*D"]      Annotated[…, "B, D"]      Float[torch.Tensor, "b d"]

After::

    TensorType((Var("B"), 2 * Var("D")))      TensorType((Var("B"), Var("D")))      …
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any

from ...diagnostics import Report, Severity, Source
from ...ir import AnyType, Apply, Const, Dim, Dtype, NoneType, ScalarType, Static, TensorType, Type, Var
from ...ir.dtypes import dtype_name
from ...surface.facts import Predicates
from ...surface.forms import FAMILIES, Form, forward_text, shown, spell
from ...surface.symbols import Predicate, Symbol
from ..dialects.families import dtype_of
from ..dialects.jaxtyping import Hint, hint_of, is_foreign, read_dims
from ..dialects.shaped import declared_runs, is_bracketed, is_other, read_shaped
from ..dialects.uses import Uses
from ..text.fragments import parse_dims
from ..text.parse import parse
from ..text.syntax import Labeled
from .equalities import Equality
from .namespace import Evaluator, Unknown
from .parameters import Arguments, fill_in

# `typing.Any`, written out, says "static" as `_` does; other foreign types say nothing, and a
# container of nothing but those is none of ours.
ANY = AnyType()
# `int`, which says nothing of shapes either, unless a dim names the parameter's value: jaxtyping's `{n}`.
INT = AnyType()
_MODULE = re.compile(r"\b(?:jax)?typing(?:_extensions)?\.")
UNIONS = {"Union", "UnionType", "Optional"}


class LeafReader:
    """Reads the leaves of the annotations of one parameter, or of the return value.

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
        plain_strings: bool,
        uses: Uses,
        shape_vars: Callable[[], str | None],
    ) -> None:
        self._namespace = namespace
        self._source = source
        self._report = report
        self._plain_strings = plain_strings
        self._uses = uses
        self._shape_vars: Callable[[], str | None] = shape_vars
        self._arguments: Arguments | None = None  # of the alias or class being read
        self._told: set[str] = set()  # names that are missing at run time
        self.wheres: list[Labeled] = []
        self.equalities: list[Equality] = []
        self.spoken = False

    def read(self, annotation: Any) -> Type:
        """Returns the type that ``annotation`` means."""
        raise NotImplementedError

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
        if shown not in self._told:
            self._told.add(shown)
            self._report.emit(
                Severity.WARNING if subscripted else Severity.NOTE,
                "unresolved-annotation",
                f"`{shown}` is not defined at run time; what it annotates is taken as static",
                at=self._whole(shown),
                help="import it outside of `if TYPE_CHECKING`" if subscripted else (),
            )
        return AnyType()

    def _size(self, size: Symbol | Predicate) -> Type:
        """Reports a size that stands where a type should: ``x: B``."""
        text = size.text
        self._report.warning(
            "unresolved-annotation",
            f"`{text}` is a {'size' if isinstance(size, Symbol) else 'predicate'}, not a type",
            at=self._whole(text),
            help=f"write `Tensor[{text}]`, or `Scalar[{text}]` for an int"
            if isinstance(size, Symbol)
            else f"write `@where({text})`",
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
            return self._scalar(self._resolved(form))
        form = self._resolved(form)
        dtype = None if form.name == "Tensor" else Dtype(form.name)
        if form.items is None:
            return TensorType(None, dtype)
        dims = self._dims(form)
        return AnyType() if dims is None else TensorType(dims, dtype, self._whole(form.text or ""))

    def _resolved(self, form: Form) -> Form:
        """Returns ``form`` with its forward references evaluated: 3.14 makes one of ``L["2*B"]`` where ``L`` is missing."""
        items = form.items or ()
        if all(forward_text(item) is None for item in items):
            return form
        return Form(form.name, tuple([self._size_of(item) for item in items]))

    def _size_of(self, item: Any) -> object:
        text = forward_text(item)
        try:
            return item if text is None else self._namespace.evaluate(text)
        except Exception:  # what it says is a dim of ours, or no dim
            return item

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
                    f"`{name_of(item)}` is no dim",
                    at=self._whole(repr(form)),
                    help='a dim is a name, a number, an expression in quotes, `...` or `"_"`',
                )
                return None
        if form.items == () or _is_empty(form.items):
            return ()
        dims = parse_dims(self._source(form.text or ""), self._report)
        return dims if dims is None else self._filled(dims, self._arguments)

    def _filled(self, dims: Sequence[Dim], arguments: Arguments | None) -> tuple[Dim, ...]:
        """Returns ``dims`` with the parameters of the alias or class being read replaced by its arguments."""
        if arguments is None:
            return tuple(dims)

        def read(argument: object) -> Sequence[Dim] | None:
            text = spell(argument)
            found = None if text is None else parse_dims(self._source(text), Report())
            return None if found is None else self._filled(found, arguments.outer)

        return fill_in(dims, arguments, read, self._report)

    def _whole(self, text: str) -> Any:
        return self._source(text).span(0, len(text))

    def _hint(self, hint: Hint) -> Type:
        """Returns the type of jaxtyping's ``Float[Tensor, "b t"]``."""
        if is_none(hint.array_type):  # of a union, jaxtyping annotates each member
            return NoneType()
        at = self._whole(hint.dim_str)
        if is_foreign(hint.array_type):
            message = f"the shape of a `{name_of(hint.array_type)}` is not read: it is no tensor of torch"
            self._report.emit(Severity.NOTE, "inexpressible", message, at=at)
            return AnyType()
        self.spoken = True
        dims = read_dims(at.source, self._report, self._uses)
        return AnyType() if dims is None else TensorType(dims, dtype_of(hint.dtypes, self._report, at), at)

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
        elif (type(item).__name__ == "dtype" and type(item).__module__ == "torch") or isinstance(item, Unknown):
            # a torch that is imported for type checkers only has its dtypes all the same
            dtype = dtype_name(str(item).rpartition(".")[2])
            if dtype is not None and dtype not in FAMILIES:
                self.spoken = True
                return TensorType(None, Dtype(dtype))
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
        dims = () if _is_empty((text,)) else parse_dims(self._source(text), trial)
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


def _is_empty(items: Sequence[object] | None) -> bool:
    """Whether ``items`` are the text of no dims: ``Tensor["()"]`` is ``Tensor[()]``."""
    return items is not None and len(items) == 1 and isinstance(items[0], str) and items[0].strip() == "()"


def is_self(annotation: object) -> bool:
    """Whether ``annotation`` is ``Self``, of `typing` or `typing_extensions`, or imported for type checkers only."""
    if isinstance(annotation, Unknown):
        return annotation.shown.rpartition(".")[2] == "Self"
    return getattr(annotation, "_name", None) == "Self" and type(annotation).__name__.endswith("SpecialForm")


def is_silent(type_: Type) -> bool:
    """Whether ``type_`` came from an annotation that says nothing of shapes."""
    return isinstance(type_, AnyType) and type_ is not ANY


def is_int(type_: Type) -> bool:
    """Whether ``type_`` came from the annotation ``int``."""
    return type_ is INT


def is_none(member: Any) -> bool:
    """Whether ``member`` of a union is ``None``."""
    hint = hint_of(member)
    text = member if isinstance(member, str) else forward_text(member)
    if member is None or member is types.NoneType or (text is not None and text.strip() == "None"):
        return True
    return hint is not None and hint.array_type is types.NoneType


def is_optional(base: object) -> bool:
    """Whether ``base`` is a union with ``None``."""
    name = getattr(typing.get_origin(base), "__name__", "")
    return name in UNIONS and types.NoneType in typing.get_args(base)


def _is_plain_value(base: object) -> bool:
    """Whether a string beside ``base`` is prose for sure: a ``str``, a ``float``, a list of anything is no tensor."""
    origin = typing.get_origin(base) or base
    return isinstance(origin, type) and origin.__module__ in ("builtins", "collections.abc") and origin is not int


def name_of(annotation: object) -> str:
    """Returns what messages call an annotation."""
    if annotation is types.NoneType:
        return "None"
    text = annotation.__name__ if isinstance(annotation, typing.TypeVar) else forward_text(annotation)
    if text is not None:
        return text
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:  # `dict[str, int]` is one too on 3.10
        return annotation.__name__
    return _MODULE.sub("", shown(annotation))


__all__ = ["ANY", "INT", "UNIONS", "LeafReader", "is_int", "is_none", "is_optional", "is_self", "is_silent", "name_of"]
