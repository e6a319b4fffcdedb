"""A text in another notation, rewritten in place so that the language's parser can read it.

Before::

    batch {n}+1          (jaxtyping's)

After, for the second axis::

           n +1          (the same offsets, so every place found in it is a place in the original)
"""

from __future__ import annotations

from ...diagnostics import Source


class Masked(Source):
    """A rewritten text that answers with places in the original, which messages show.

    Both are equally long.
    """

    __slots__ = ("_origin",)

    def __init__(self, origin: Source, text: str) -> None:
        """Args:
        origin: The text as the user wrote it.
        text: What is parsed in its place.
        """
        super().__init__(origin.name, text, origin.first_line)
        self._origin = origin

    @property
    def file(self) -> Source:
        """The file that the original stands in."""
        return self._origin.file

    def position(self, offset: int) -> tuple[int, int]:
        """Returns ``(line, column)`` of ``offset`` in the original."""
        return self._origin.position(offset)

    def line(self, number: int) -> str:
        """Returns the original's line ``number``."""
        return self._origin.line(number)

    def called(self, name: str) -> Masked:
        """Returns the same text in a file of another name."""
        return Masked(self._origin.called(name), self.text)


__all__ = ["Masked"]
