"""The comments of a file, which are the user's: what is replaced or deleted leaves its own behind.

Before::

    export(net, args, dynamic_shapes={
        **base,
        # one a speaker
        "y": {0: speakers},
    })

After::

    # one a speaker
    export(net, args, dynamic_shapes=ShapesSpec({"x": TensorSpec([rows]), "y": TensorSpec([speakers])}))

Only what a tool reads about the code of its line goes with that: ``# noqa``, ``# type:``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree
    from .scopes import Scopes

_PRAGMA: Final = re.compile(
    r"#\s*(?:noqa|type:|pyright:|mypy:|pylint:|pragma:|fmt:|isort:|ruff:|nosec|pyre-)", re.IGNORECASE
)

# A string, which may hold a `#`, or a comment.
_TOKEN: Final = re.compile(
    r"""\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\r\n]*""",
    re.DOTALL,
)


def is_pragma(comment: str) -> bool:
    """Returns whether a comment speaks to a tool about the code of its line, and means nothing without it."""
    return _PRAGMA.match(comment) is not None


def comments_in(text: str, start: int, end: int) -> list[str]:
    """Returns the comments of a stretch of a file's text that are worth keeping."""
    found = _comments(text)
    at = bisect_left(found, (start, ""))
    comments: list[str] = []
    while at < len(found) and found[at][0] < end:
        comments.append(found[at][1])
        at += 1
    return [comment for comment in comments if not is_pragma(comment)]


@lru_cache(maxsize=2)
def _comments(text: str) -> tuple[tuple[int, str], ...]:
    """Returns where the comments of a file begin, and what they say."""
    return tuple([(found.start(), found[0].rstrip()) for found in _TOKEN.finditer(text) if found[0][0] == "#"])


def lost(tree: Tree, scopes: Scopes, edits: Iterable[tuple[int, int, str]]) -> Iterator[tuple[cst.CSTNode, list[str]]]:
    """Yields the comments that edits take from a file, each with the statement that it is to stand above.

    Args:
        tree: The file.
        scopes: Its scopes.
        edits: Stretches of its text, in order, and what takes their place.
    """
    text = tree.source.text
    for start, end, new in edits:
        stay = Counter(comment for _, comment in _comments(new)) if "#" in text[start:end] else Counter[str]()
        comments: list[str] = []
        for comment in comments_in(text, start, end):
            if stay[comment] or comment in new:  # a spec that is a text holds them as its own
                stay[comment] -= 1
            else:
                comments.append(comment)
        statement = _line_at(tree, scopes, start) if comments else None
        if statement is not None:
            yield statement, comments


def _line_at(tree: Tree, scopes: Scopes, at: int) -> cst.CSTNode | None:
    """Returns the innermost statement around a place that begins a line."""
    import libcst as cst

    found, begins = None, -1
    for node in scopes.nodes:
        is_line = isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        if not is_line or not isinstance(scopes.parent(node), (cst.Module, cst.IndentedBlock)):
            continue
        decorators: tuple[cst.CSTNode, ...] = tuple(getattr(node, "decorators", ()))
        start = tree.extent((*decorators, node)[0])[0]
        if begins < start <= at < tree.extent(node)[1]:
            found, begins = node, start
    return found


__all__ = ["comments_in", "is_pragma", "lost"]
