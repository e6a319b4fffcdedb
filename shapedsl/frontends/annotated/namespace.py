"""Annotations that Python keeps as strings, evaluated one by one, with unknown names standing for sizes.

``from __future__ import annotations`` turns ``x: Tensor[B, D]`` into text. It is evaluated as
`typing.get_type_hints` would, except that a name nobody defines (imported under ``TYPE_CHECKING``
only, or local to the enclosing function) becomes an `Unknown` instead of a NameError: inside
``Tensor[…]`` it is a size, elsewhere the caller says so. One bad name never spoils the others.

Only Python expressions that the user wrote as annotations are evaluated; what the strings inside
``Tensor["…"]`` say is for the language's parser.
"""

from __future__ import annotations

import ast
import builtins
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ...ir.dtypes import ALIASES, DTYPES, FAMILIES, dtype_name
from ...surface.forms import Form, Scalar, Shape, Tensor
from ...surface.symbols import Symbol
from ..dialects.stand_ins import STAND_INS

_GENERICS = (
    *("Annotated", "Any", "ClassVar", "Final", "Literal", "NotRequired", "Optional", "ReadOnly", "Required", "Union"),
    *("Unpack", "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Callable", "Collection", "Dict", "Generator"),
    *("Iterable", "Iterator", "List", "Mapping", "MutableMapping", "MutableSequence", "Sequence", "Tuple"),
)


class _Later:
    """What an older `typing` lacks; it is known by its name."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getitem__(self, items: Any) -> Any:
        return types.GenericAlias(typing.cast("type", self), items)


# What users import under TYPE_CHECKING, where linters move it, and what it is called there.
_FALLBACKS: dict[str, object] = {
    "Tensor": Tensor,
    "Scalar": Scalar,
    "Shape": Shape,
    **{name: getattr(typing, name, None) or _Later(name) for name in _GENERICS},
    **{name: Form(dtype_name(name) or name) for name in (*DTYPES, *FAMILIES, *ALIASES)},
    **STAND_INS,
}
# The language's functions come before Python's: in an annotation `max(B, D)` can mean nothing else.
_FUNCTIONS = {name: Symbol(name) for name in ("min", "max")}
# Builtin functions stand in no annotation; `len` or `id` there is a size somebody forgot to import.
_BUILTINS = {name: value for name, value in vars(builtins).items() if isinstance(value, type)}


class Unknown(Symbol):
    """A name that nobody defines, and what is made of it.

    As a size it is its text. ``L["2 * B"]`` with an unknown ``L`` is what is in the brackets, since
    only a ``Literal`` is written so; ``shown`` keeps the source for messages.
    """

    __slots__ = ("shown",)

    def __init__(self, text: str, shown: str | None = None) -> None:
        super().__init__(text)
        self.shown = shown or text

    def __getattr__(self, name: str) -> Unknown:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{self.text}.{name}")

    def __getitem__(self, key: Any) -> Unknown:
        keys: list[Any] = [*key] if type(key) is tuple else [key]
        shown = f"{self.shown}[{', '.join(map(repr, keys))}]"
        literal = all(type(part) in (str, int) for part in keys)
        return Unknown(", ".join(map(str, keys)) if literal else shown, shown)

    def __or__(self, other: object) -> Any:
        return typing.Union[self, other]  # noqa: UP007  # objects, not classes

    def __ror__(self, other: object) -> Any:
        return typing.Union[other, self]  # noqa: UP007

    # An annotation compares nothing, but `typing` compares annotations.
    def __eq__(self, other: object) -> bool:  # type: ignore[override]
        return isinstance(other, Unknown) and other.shown == self.shown

    def __hash__(self) -> int:
        return hash(self.shown)


class Evaluator(Protocol):
    """What the text of an annotation is evaluated in."""

    def evaluate(self, text: str) -> object:
        """Returns what ``text`` stands for; `Unknown` where nobody defines a name."""
        ...


class Namespace(dict[str, Any]):
    """Names by looking through several mappings in turn; a name that none has is an `Unknown`."""

    def __init__(self, *layers: Mapping[str, Any]) -> None:
        super().__init__()
        self._layers = (*layers, _FUNCTIONS, _BUILTINS, _FALLBACKS)

    def __missing__(self, name: str) -> Any:
        for layer in self._layers:
            if name in layer:
                return layer[name]
        if name.startswith("__"):  # no size; debuggers and pytest look for such names in a frame's locals
            raise KeyError(name)
        return Unknown(name)

    def evaluate(self, text: str) -> object:
        """Returns what the annotation ``text`` evaluates to.

        Raises:
            Exception: Whatever the annotation raises; SyntaxError if it is no expression.
        """
        text = text.strip()
        source = f"({text},)[0]" if text.startswith("*") else f"({text}\n)"  # `*args: *Ts`, as typing does it
        code = compile(source, "<annotation>", "eval", dont_inherit=True)
        scope = {"__builtins__": builtins, _UNION: typing.Union}
        try:
            return eval(code, scope, self)  # noqa: S307  # an annotation, as typing evaluates it
        except TypeError:
            spelled = _without_bars(source)
            if spelled is None:
                raise
            return eval(spelled, scope, self)  # noqa: S307


_UNION = "__union__"


class _Bars(ast.NodeTransformer):
    """Writes ``A | B`` as ``Union[A, B]``.

    Attributes:
        quoted: Whether a string stood beside a bar.
    """

    quoted = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr):
            return node
        sides: list[ast.expr] = [node.left, node.right]
        self.quoted |= any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)
        return ast.Subscript(ast.Name(_UNION, ast.Load()), ast.Tuple(sides, ast.Load()), ast.Load())


def _without_bars(source: str) -> types.CodeType | None:
    """Returns the code of an annotation such as ``"Tensor[B]" | None``, which type checkers read and Python cannot run."""
    bars = _Bars()
    tree = bars.visit(ast.parse(source, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<annotation>", "eval") if bars.quoted else None


def of_function(function: Any, around: Mapping[str, Any], owner: object = None) -> Namespace:
    """Returns what an annotation of ``function`` can name: its type parameters, closure, locals, globals, and class.

    ``around`` are the locals that stood around it when it was decorated, ``owner`` the class it was taken from.

    The class comes last: `typing` does not look there at all, and a method called ``size`` is no size.
    On 3.14 names that stand only in annotations are closed over by ``__annotate__``.
    """
    parameters = {p.__name__: p for p in getattr(function, "__type_params__", ())}
    closures = [dict(_closure(scope)) for scope in (function, getattr(function, "__annotate__", None)) if scope]
    owned: Mapping[str, Any] = vars(owner) if isinstance(owner, type) else {}
    return Namespace(parameters, *closures, around, function.__globals__, *_enclosing(function), owned)


def of_class(cls: type) -> Namespace:
    """Returns what an annotation in the body of ``cls`` can name."""
    parameters = {p.__name__: p for p in getattr(cls, "__type_params__", ())}
    module = sys.modules.get(cls.__module__)
    annotate = vars(cls).get("__annotate__") or vars(cls).get("__annotate_func__")
    closure = dict(_closure(annotate)) if hasattr(annotate, "__code__") else {}
    return Namespace(parameters, closure, {} if module is None else vars(module), vars(cls))


def _closure(function: Any) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def enclosing_class(function: Any) -> type | None:
    """Returns the class that ``function`` was written in, if that can be told: one at the top of its module, or inside such."""
    classes = list(_classes(function))
    *outer, _ = function.__qualname__.split(".")
    return classes[-1] if outer and len(classes) == len(outer) else None


def _classes(function: Any) -> Iterator[type]:
    """Yields the classes that ``function`` stands in, the outermost first."""
    *outer, _ = function.__qualname__.split(".")
    scope: Any = function.__globals__
    for name in outer:
        cls = scope.get(name)
        if not isinstance(cls, type):
            return
        yield cls
        scope = vars(cls)


def _enclosing(function: Any) -> Iterator[Mapping[str, Any]]:
    """Yields the namespaces of the classes that ``function`` stands in, the innermost first."""
    for cls in reversed(list(_classes(function))):
        yield {p.__name__: p for p in getattr(cls, "__type_params__", ())}
        yield vars(cls)


__all__ = ["Evaluator", "Namespace", "Unknown", "enclosing_class", "of_class", "of_function"]
