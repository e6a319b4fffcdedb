"""Names that differ: torch's text may spell two variables alike, and a spec may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def distinct(wish: str, taken: Iterable[str]) -> str:
    """Returns a name, with a number behind it if it is ``taken``: ``B``, ``B_2``, ``B_3``."""
    taken = set(taken)
    made, count = wish, 1
    while made in taken:
        count += 1
        made = f"{wish}_{count}"
    return made


__all__ = ["distinct"]
