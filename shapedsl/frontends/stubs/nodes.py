"""Which values are nodes of a syntax tree, asked a million times a file: `isinstance` is slow for abstract classes.

Before::

    isinstance(value, cst.CSTNode)  # a call of `abc`

After::

    IS_NODE[type(value)]  # a look into a dict
"""

from __future__ import annotations

from typing import Final


class _Kinds(dict[type, bool]):
    """Types, and whether they are of nodes; each is found out once."""

    def __missing__(self, kind: type) -> bool:
        import libcst as cst

        found = self[kind] = issubclass(kind, cst.CSTNode)
        return found


IS_NODE: Final = _Kinds()

__all__ = ["IS_NODE"]
