"""Functions of a stub and which of them speak of shapes, counted from its tokens alone.

It shares nothing with what it checks: no syntax tree, no names looked up in other files. Python's own `tokenize`
splits the newest syntax on any Python.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# What bounds a type parameter that stands for sizes, and what says something of shapes by itself.
_BOUNDS = {"IntVar", "IntTuple", "IntTuples", "Int", "_Int", "Index", "_Shape"}
_WORDS = {
    "IntTuple",
    "IntTuples",
    "IntTupleOrList",
    "IntListLiteral",
    "MapIntTuples",
    "RegularNestedList",
    "Int",
    "_Int",
}
_TENSORS = {"Tensor", "Parameter", "Buffer"}  # classes of which `Self` is a tensor
_OPEN, _CLOSE = set("([{"), set(")]}")


@dataclass
class Scanned:
    """A function as its tokens tell.

    Attributes:
        name: With the classes that it stands in.
        index: The how-manieth of its name.
        lines: The first and the last line of its head.
        shaped: Whether an annotation speaks of shapes.
        computes: Whether it is a shape function.
        calls: How many shape functions its return type calls.
    """

    name: str
    index: int
    lines: tuple[int, int]
    shaped: bool
    computes: bool
    calls: int


@dataclass
class _Class:
    name: str
    depth: int
    params: dict[str, bool] = field(default_factory=dict[str, bool])


def scan(text: str) -> list[Scanned]:
    """Returns the functions of a stub, in file order."""
    tokens = [
        t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in (tokenize.NL, tokenize.COMMENT)
    ]
    found: list[Scanned] = []
    classes: list[_Class] = []
    counts: dict[str, int] = {}
    depth = 0
    starts = True
    decorators: list[str] = []
    for at, token in enumerate(tokens):
        if token.type == tokenize.INDENT:
            depth += 1
            continue
        if token.type == tokenize.DEDENT:
            depth -= 1
            continue
        if starts:  # a class may stand on one line
            classes = [each for each in classes if each.depth <= depth]
        if starts and token.string == "@":
            decorators.append(tokens[at + 1].string)
        elif starts and token.string == "class":
            head = _head(tokens, at)
            classes.append(_Class(head[1].string, depth + 1, _params(head, 2)))
            decorators = []
        elif starts and token.string == "def":
            head = _head(tokens, at)
            found.append(_function(head, classes, counts, decorators))
            decorators = []
        elif starts:
            decorators = []
        starts = token.type == tokenize.NEWLINE
    return found


def _function(
    head: Sequence[tokenize.TokenInfo], classes: Sequence[_Class], counts: dict[str, int], decorators: Sequence[str]
) -> Scanned:
    name = ".".join([*(each.name for each in classes), head[1].string])
    counts[name] = counts.get(name, 0) + 1
    params = {name: shaped for each in classes for name, shaped in each.params.items()} | _params(head, 2)
    own_class = bool(classes) and classes[-1].name in _TENSORS
    parts = [*_annotations(head)]
    shaped = any(_speaks(part, params, own_class) for part in parts)
    arrow = next((i for i, token in enumerate(head) if token.string == "->"), len(head))
    calls = sum(
        1
        for before, token in zip(head[arrow:], head[arrow + 1 :], strict=False)
        if token.string == "(" and before.type == tokenize.NAME
    )
    lines = head[0].start[0], head[-1].end[0]
    return Scanned(name, counts[name], lines, shaped, "type_shape_dsl_function" in decorators, calls)


def _head(tokens: Sequence[tokenize.TokenInfo], at: int) -> list[tokenize.TokenInfo]:
    """Returns the tokens up to the colon that ends a ``def`` or ``class`` line."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end].string in _OPEN) - (tokens[end].string in _CLOSE)
        if tokens[end].string == ":" and depth == 0:
            return [*tokens[at:end]]
    raise AssertionError(f"line {tokens[at].start[0]}: no end")


def _params(head: Sequence[tokenize.TokenInfo], at: int) -> dict[str, bool]:
    """Returns the type parameters that start at ``at``, and whether each stands for sizes."""
    if at >= len(head) or head[at].string != "[":
        return {}
    found: dict[str, bool] = {}
    depth = 0
    for i in range(at, len(head)):
        depth += (head[i].string in _OPEN) - (head[i].string in _CLOSE)
        if depth == 0:
            break
        if depth == 1 and head[i].type == tokenize.NAME and head[i - 1].string in ("[", ","):
            found[head[i].string] = head[i + 1].string == ":" and head[i + 2].string in _BOUNDS
    return found


def _annotations(head: Sequence[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    """Yields the annotations of a ``def``: of each parameter, and of what it returns."""
    start = next(i for i, token in enumerate(head) if token.string == "(" and _flat(head[:i]))
    depth = 0
    part: list[tokenize.TokenInfo] | None = None
    for i in range(start, len(head)):
        depth += (head[i].string in _OPEN) - (head[i].string in _CLOSE)
        if depth == 0:
            if part:
                yield part
            if i + 1 < len(head) and head[i + 1].string == "->":
                yield [*head[i + 2 :]]
            return
        if depth == 1 and head[i].string == ":":
            part = []
        elif depth == 1 and head[i].string in ("=", ","):
            if part:
                yield part
            part = None
        elif part is not None:
            part.append(head[i])


def _flat(tokens: Sequence[tokenize.TokenInfo]) -> bool:
    return sum((token.string in _OPEN) - (token.string in _CLOSE) for token in tokens) == 0


def _speaks(part: Sequence[tokenize.TokenInfo], params: dict[str, bool], own_class: bool) -> bool:
    for i, token in enumerate(part):
        if token.type != tokenize.NAME or (i and part[i - 1].string == "."):
            continue
        if params.get(token.string, token.string in _WORDS):
            return True
        if token.string == "Tensor" and i + 1 < len(part) and part[i + 1].string == "[":
            return True
        if token.string == "Self" and own_class:
            return True
    return False


__all__ = ["Scanned", "scan"]
