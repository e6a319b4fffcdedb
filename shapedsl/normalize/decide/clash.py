"""What is raised where assumptions cannot hold together."""

from __future__ import annotations


class Clash(Exception):
    """Some assumptions cannot hold together.

    Attributes:
        why: The assumptions, one bit each: those that were given first, then the decisions of the search.
    """

    def __init__(self, why: int) -> None:
        super().__init__(why)
        self.why = why
