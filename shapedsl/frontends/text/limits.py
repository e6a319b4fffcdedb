"""How much is read. Hostile text must give a diagnostic in bounded time and memory, never a RecursionError.

A spec that people write stays orders of magnitude below each of these.
"""

from __future__ import annotations

from typing import Final

TEXT: Final = 32 * 1024 * 1024  # code points in a file
BRACKETS: Final = 100  # open at once
DEPTH: Final = 100  # operators inside each other, after expansion
NODES: Final = 5_000  # nodes of one size, predicate or type, after expansion
MEMBERS: Final = 4096  # of a set
REPEATS: Final = 10_000  # element types of `[T] * n`, nested ones multiplied
EXPONENT: Final = 63  # above it, every base but -1, 0, 1 leaves int64
INTEGER: Final = 2**63 - 1
SYNTAX_ERRORS: Final = 100  # reported for one file
IMPORTS: Final = 50  # files deep
BUDGET: Final = 2_000_000  # nodes that the lets, types and wheres of one file may expand to
