"""Names for sizes, as one would write them: B, S, D by place and rank; an int has its parameter's name."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from ....ir import Attribute, Path
from .merged import Column

_BY_RANK: Final = {
    1: ("N",),
    2: ("B", "D"),
    3: ("B", "S", "D"),
    4: ("B", "C", "H", "W"),
    5: ("B", "C", "T", "H", "W"),
}
_TOKENS: Final = {1: ("N",), 2: ("B", "S"), 3: ("B", "S", "K")}  # of ints and bools
_HEADS: Final = ("B", "H", "S", "D")
_PAST: Final = ("B", "H", "P", "D")
_ATTENTION: Final = re.compile(r"q|k|v|query|key|value|queries|keys|values|attn|attention|.*mask.*|bias", re.IGNORECASE)
_CACHE: Final = re.compile(r".*(past|cache|kv|memory).*", re.IGNORECASE)
RESERVED: Final = frozenset(("and", "or", "not", "in", "None", "_", "inf", "true", "false"))


def name_of(columns: Sequence[Column], is_index: bool, taken: Collection[str]) -> str:
    """Returns a name for a size.

    Args:
        columns: Where it stands, in the order of the parameters.
        is_index: Whether the first of them belongs to a tensor of ints or bools.
        taken: Names of other sizes.
    """
    ints = [column for column in columns if column.axis is None]
    wanted = [_word(column.path) for column in ints] + [_by_place(c, is_index) for c in columns if c.axis is not None]
    for name in wanted:
        if name and name not in taken and name not in RESERVED:
            return name
    first = columns[0]
    base = _word(first.path) or "size"
    made = base if first.axis is None else f"{base}_{first.axis}"
    number = 1
    name = made
    while name in taken or name in RESERVED:
        number += 1
        name = f"{made}_{number}"
    return name


def is_sayable(name: str) -> bool:
    """Returns whether a ``.shapes`` file can call a parameter, or a part of a callable's name, so."""
    return name.isascii() and name.isidentifier() and name not in RESERVED


def _by_place(column: Column, is_index: bool) -> str:
    axis = column.axis or 0
    words = str(column.path)
    if column.rank == 4 and _CACHE.fullmatch(words):
        names: Sequence[str] = _PAST
    elif column.rank == 4 and _ATTENTION.fullmatch(_word(column.path)):
        names = _HEADS
    elif is_index and column.rank in _TOKENS:
        names = _TOKENS[column.rank]
    else:
        names = _BY_RANK.get(column.rank, ())
    return names[axis] if axis < len(names) else ""


def _word(path: Path) -> str:
    """Returns the last name of a path that can name a size."""
    for step in reversed(path.steps):
        word = step.name if isinstance(step, Attribute) else step.key
        if isinstance(word, str) and word.isascii() and word.isidentifier():
            return word
    return path.root if path.root.isascii() and path.root.isidentifier() else ""


__all__ = ["is_sayable", "name_of"]
