"""The text frontend: ``.shapes`` files and fragments of the language → IR.

What is exported is loaded on first use: the formatter needs the grammar, but builds no IR.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["Clauses", "parse_clauses", "parse_dims", "parse_type", "parse_where", "read"]

if TYPE_CHECKING:
    from .fragments import Clauses, parse_clauses, parse_dims, parse_type, parse_where
    from .module import read
else:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{'module' if name == 'read' else 'fragments'}"), name)
        globals()[name] = value
        return value
