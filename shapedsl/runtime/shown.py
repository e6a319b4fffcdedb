"""The text of generated functions for people: plain names, and what is chosen at a call.

Before::

    def _s_f(spec, /, x): …  _s_v_B, _s_v_D = x.shape

After::

    def project(spec, /, x): …  B, D = x.shape
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from keyword import iskeyword
from types import FunctionType
from typing import cast

from ..ir import (
    Attribute,
    Item,
    MappingType,
    ObjectType,
    OptionalType,
    ParamKind,
    Path,
    SequenceType,
    Signature,
    TensorType,
    Type,
)
from .code import LOCAL, source_of
from .probe import Probe
from .skeleton import StandIn, value_of

_DEF = "def "


@dataclass(frozen=True, slots=True)
class Shown:
    """A generated function.

    Attributes:
        at: For which structure it was made, in words; of the one that chooses, what it looks at. Empty where there
            is one for all calls.
        text: Its source, names made plain; with a newline at the end.
    """

    at: tuple[str, ...]
    text: str


def readable(function: FunctionType) -> str:
    """Returns the source of a generated function with names as short as they can be without a clash."""
    source = source_of(function)
    first = source.partition("(")[0].removeprefix(_DEF)
    prefix = first.removesuffix("f")
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    names = dict.fromkeys(token.string for token in tokens if token.type == tokenize.NAME)
    taken = {name for name in names if not name.startswith(prefix)}
    plain = {first: function.__qualname__ if function.__qualname__.isidentifier() else "check"}
    for name in names:
        if name.startswith(prefix) and name != first:
            word = name.removeprefix(prefix)
            word = word.removeprefix(LOCAL) if word != LOCAL else word
            if not word.isidentifier():
                word = f"_{word}"  # the number of a nameless one
            while word in taken or iskeyword(word):
                word += "_"
            plain[name] = word
            taken.add(word)
    lines = source.splitlines(keepends=True)
    for token in reversed(tokens):
        if token.type == tokenize.NAME and token.string in plain:
            row, start = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:start] + plain[token.string] + line[token.end[1] :]
    return "".join(lines)


def opened(signature: Signature, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yields what of a call decides which function checks it, and how that is in ``values``.

    Args:
        signature: Not expanded.
        values: Stand-ins by parameter.

    Yields:
        ``("whether `mask` is None", "`mask` is not None")`` and the like.
    """
    for param in signature.params:
        if param.default and param.kind is not ParamKind.VAR_KEYWORD:
            yield f"whether `{param.name}` is passed", f"`{param.name}` is passed"
        yield from _opened(param.type, values[param.name], Path(param.name), Probe(signature))


def _opened(type_: Type, value: object, path: Path, probe: Probe) -> Iterator[tuple[str, str]]:
    if not probe.is_open(type_):
        return
    match type_:
        case OptionalType(inner=inner):
            yield f"whether `{path}` is None", f"`{path}` is not None"
            yield from _opened(inner, value, path, probe)
        case TensorType():
            rank = len(cast("StandIn", value).shape)
            yield f"the number of dims of `{path}`", f"`{path}` has {rank} {'dim' if rank == 1 else 'dims'}"
        case SequenceType(items=items):
            length = len(cast("list[object]", value))
            if probe.opens(type_):
                yield f"the length of `{path}`", f"`{path}` has length {length}"
            for index, item in enumerate(items):
                yield from _opened(item, value_of(value, Item(index)), _then(path, Item(index)), probe)
        case MappingType(entries=entries):
            for key, entry in entries:
                yield from _opened(entry, value_of(value, Item(key)), _then(path, Item(key)), probe)
        case ObjectType(fields=fields):
            for name, inner in fields:
                yield from _opened(inner, value_of(value, Attribute(name)), _then(path, Attribute(name)), probe)
        case _:
            pass


def _then(path: Path, step: Item | Attribute) -> Path:
    return replace(path, steps=(*path.steps, step))
