"""A converted signature → the Python text that builds its ShapesSpec, whole: what `edits` cannot do in place.

Before::

    x: Tensor[rows, _], w: Tensor[2*rows]

After::

    ShapesSpec({"x": TensorSpec([rows, None]), "w": TensorSpec([2 * rows])})
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from .....ir import (
    AnyType,
    Const,
    Dim,
    Ellipsis,
    MappingType,
    NoneType,
    ObjectType,
    OptionalType,
    Param,
    ParamKind,
    Predicate,
    Rest,
    ScalarType,
    SequenceType,
    Size,
    Static,
    TensorType,
    Type,
    Var,
    quote,
)
from .....ir.walk import free_vars, substitute, substitute_size
from .....ir.write_sizes import write_dim, write_predicate
from .variables import Needed, Table

# A string, as one of these texts is written; a name.
_WORD: Final = re.compile(
    r"""\"{3}(?:[^\\]|\\.)*?\"{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\W\d]\w*""", re.DOTALL
)
WIDE = 100  # a line that is longer is broken at its commas


class UnsayableError(Exception):
    """What a ShapesSpec cannot say; the text says why, ``code`` which diagnostic it is, ``helps`` what to do."""

    def __init__(self, reason: str, code: str = "legacy-flow", helps: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.helps = helps


@dataclass(frozen=True, slots=True)
class Texts:
    """Writes the texts of one spec.

    Attributes:
        need: Class of torch → how the file writes it.
        name: Variable → the expression that gives it.
    """

    need: Callable[[str], str]
    name: Callable[[str], str]

    def variable(self, variable: Needed) -> str:
        """Returns the call that makes a variable: ``ShapeVar("rows", min=1, max=64)``."""
        return f"{self.need(variable.class_name)}({', '.join([quote(variable.name), *options(variable)])})"

    def dim(self, dim: Dim) -> str:
        """Returns what stands for one dim, or for an int."""
        match dim:
            case Static():
                return "None"
            case Const(value=value):
                return str(value)
            case Var(name=name):
                return self.name(name)
            case _:
                names = {name: Var(self.name(name)) for name in free_vars(dim)}
                return write_dim(substitute_size(_size(dim), names))

    def assumption(self, predicate: Predicate) -> str:
        """Returns a comparison of sizes."""
        return write_predicate(substitute(predicate, {name: Var(self.name(name)) for name in free_vars(predicate)}))

    def type(self, type_: Type) -> str:
        """Returns the text of one value's spec, ``None`` where all of it is static.

        Raises:
            UnsayableError: A rank is not known, or torch has no spec of that kind.
        """
        if is_static(type_):
            return "None"
        match type_:
            case TensorType(dims=dims):
                return f"{self.need('TensorSpec')}([{', '.join(self.dim(dim) for dim in ranked(dims))}])"
            case ScalarType(size=size) if size is not None:
                return self.dim(size)
            case SequenceType():
                return f"{self.need('SeqSpec')}({self.items(type_)})"
            case MappingType():
                return f"{self.need('DictSpec')}({self.entries(type_.entries)})"
            case ObjectType(fields=fields):
                return f"{self.need('ObjectSpec')}({self.entries(fields)})"
            case _:
                raise UnsayableError("torch has no spec for a value that may be None")

    def items(self, type_: SequenceType) -> str:
        """Returns the list of the items' specs, without static ones at its end.

        Raises:
            UnsayableError: Something in it cannot be said.
        """
        if type_.rest is Rest.REPEAT or type_.times is not None:
            raise UnsayableError("torch has no spec for a list of any length")
        texts = [self.type(item) for item in type_.items]
        return f"[{', '.join(texts)}]"

    def entries(self, entries: Iterable[tuple[str | int, Type]]) -> str:
        """Returns the dict of the entries' specs, without static ones.

        Raises:
            UnsayableError: Something in it cannot be said.
        """
        return f"{{{', '.join(f'{quote(key)}: {self.type(item)}' for key, item in entries if not is_static(item))}}}"

    def params(self, params: Iterable[Param]) -> list[str]:
        """Returns the entries of the outermost dict.

        Raises:
            UnsayableError: Something in it cannot be said.
        """
        return [f"{quote(key_of(param))}: {self.param(param)}" for param in params if not is_static(param.type)]

    def param(self, param: Param) -> str:
        """Returns the spec of a parameter; of ``*args`` a list, of ``**kwargs`` a dict.

        Raises:
            UnsayableError: Something in it cannot be said.
        """
        match param.kind, param.type:
            case ParamKind.VAR_POSITIONAL, SequenceType() as type_:
                return self.items(type_)
            case ParamKind.VAR_KEYWORD, MappingType(entries=entries):
                return self.entries(entries)
            case _, type_:
                return self.type(type_)

    def spec(self, found: Table, *, indent: str = "", column: int = 0, step: str = "    ", newline: str = "\n") -> str:
        """Returns the whole ``ShapesSpec(…)``, in one line if it is short.

        Args:
            found: What it says.
            indent: Of the line that it begins on.
            column: Where it begins on that line.
            step: What a level more is indented by.
            newline: How the file ends its lines.

        Raises:
            UnsayableError: Something in it cannot be said.
        """
        function = self.need("ShapesSpec")
        params = self.params(found.params)
        assumed = [self.assumption(each) for each in found.assumptions]
        tail = f", assumptions=[{', '.join(assumed)}]" if assumed else ""
        short = f"{function}({{{', '.join(params)}}}{tail})"
        if column + len(short) <= WIDE or not params:
            return short
        if not assumed:
            rows = [f"{function}({{", *(f"{step}{each}," for each in params), "})"]
        else:
            rows = [f"{function}(", f"{step}{{", *(f"{step * 2}{each}," for each in params), f"{step}}},"]
            rows += [f"{step}assumptions=[{', '.join(assumed)}],", ")"]
        return f"{newline}{indent}".join(rows)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Returns a piece of Python with other names in it; what its strings say stays."""

    def one(found: re.Match[str]) -> str:
        return names.get(found[0], found[0])

    return _WORD.sub(one, text)


def options(variable: Needed) -> list[str]:
    """Returns the keyword arguments of a variable."""
    found: list[str] = []
    if variable.low is not None:
        found.append(f"min={variable.low}")
    if variable.high is not None:
        found.append(f"max={variable.high}")
    if variable.hint is not None:
        found.append(f"optimization_hint={variable.hint}")
    return found


def ranked(dims: tuple[Dim, ...] | None) -> tuple[Dim, ...]:
    """Returns the dims of a tensor of known rank.

    Raises:
        UnsayableError: There is an ellipsis among them.
    """
    if dims is None or any(isinstance(dim, Ellipsis) for dim in dims):
        raise UnsayableError("the rank of a tensor is not known", "unknown-rank")
    return dims


def key_of(param: Param) -> str:
    """Returns the key of a parameter: its name, or ``*args``, ``**kwargs``, whatever those are called."""
    return {ParamKind.VAR_POSITIONAL: "*args", ParamKind.VAR_KEYWORD: "**kwargs"}.get(param.kind, param.name)


def is_static(type_: Type) -> bool:
    """Returns whether nothing in a value is said, so that its spec is None."""
    match type_:
        case TensorType(dims=dims):
            return dims is None or all(isinstance(dim, Static) for dim in dims)
        case ScalarType(size=size):
            return size is None
        case SequenceType(items=items):
            return all(map(is_static, items))
        case MappingType(entries=entries):
            return all(is_static(item) for _, item in entries)
        case ObjectType(fields=fields):
            return all(is_static(item) for _, item in fields)
        case OptionalType(inner=inner):
            return is_static(inner)
        case AnyType() | NoneType():
            return True


def _size(dim: Dim) -> Size:
    return dim  # type: ignore[return-value]  # an ellipsis and an anonymous dim were refused before


__all__ = ["WIDE", "Texts", "UnsayableError", "is_static", "key_of", "options", "ranked", "renamed"]
