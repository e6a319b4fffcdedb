"""Names for what the legacy spec leaves unnamed, and the places that messages speak of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ...ir import quote

_RESERVED: Final = frozenset({"and", "or", "not", "in", "None", "_", "inf", "true", "false"})


def is_name(text: str) -> bool:
    """Returns whether ``text`` can name a variable of the language: an ASCII identifier that is not reserved."""
    return text.isascii() and text.isidentifier() and text not in _RESERVED


def as_name(text: str) -> str:
    """Returns a name of the language that reads like ``text``.

    >>> as_name("batch size"), as_name("inf"), as_name("2x"), as_name("größe")
    ('batch_size', 'inf_', 'size_2x', 'gr_e')
    """
    if is_name(text):
        return text
    made = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "size"
    made = f"size_{made}" if made[0].isdigit() else made
    return made if is_name(made) else f"{made}_"


def free(wish: str, taken: Iterable[str]) -> str:
    """Returns ``wish``, or ``wish_2``, ``wish_3``… if it is taken."""
    taken = taken if isinstance(taken, (set, frozenset)) else set(taken)
    made, count = wish, 1
    while made in taken:
        count += 1
        made = f"{wish}_{count}"
    return made


@dataclass(frozen=True, slots=True)
class Place:
    """An input, or something in one.

    Attributes:
        text: As messages have it: ``past[0]["k"]``.
        stem: What fresh names begin with: ``past_0_k``.
    """

    text: str
    stem: str

    def item(self, key: str | int) -> Place:
        """Returns the place of what ``[key]`` gives."""
        return Place(f"{self.text}[{quote(key)}]", f"{self.stem}_{_word(str(key))}")

    def attribute(self, name: str) -> Place:
        """Returns the place of what ``.name`` gives."""
        return Place(f"{self.text}.{name}", f"{self.stem}_{name}")

    def axis(self, axis: int) -> Place:
        """Returns the place of a size; a negative axis counts from an end that nobody knows."""
        name = str(axis) if axis >= 0 else "last" if axis == -1 else f"last_{-axis}"
        return Place(f"{self.text}.shape[{axis}]", f"{self.stem}_{name}")


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "item"


__all__ = ["Place", "as_name", "free", "is_name"]
