"""The names that a file's imports give it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import libcst as cst

    from .scopes import Scopes


class Given(NamedTuple):
    """A name that an import gives.

    Attributes:
        qualified: What it is: ``torch.export.Dim``.
        local: The name that it binds: ``D``; of ``import torch.export`` this is ``torch``.
        name: What its uses are found by: ``local``, or the whole of ``torch.export``.
        scope: Where.
        alias: Its part of the statement.
        statement: The ``Import`` or ``ImportFrom``.
    """

    qualified: str
    local: str
    name: str
    scope: Any
    alias: cst.ImportAlias
    statement: cst.Import | cst.ImportFrom


def given_names(scopes: Scopes) -> Iterator[Given]:
    """Yields what each import of a file gives, star imports and relative ones left out, in the order of the scopes."""
    import libcst as cst

    seen: set[tuple[cst.CSTNode, str, str]] = set()
    for scope, _ in scopes.bindings:
        for binding in scopes.bindings[scope, _]:
            statement = binding.node
            if not isinstance(statement, (cst.Import, cst.ImportFrom)) or isinstance(statement.names, cst.ImportStar):
                continue
            if isinstance(statement, cst.ImportFrom) and statement.relative:
                continue
            for alias in statement.names:
                dotted = dotted_name(alias.name)
                local = dotted if alias.asname is None else dotted_name(alias.asname.name)
                if (statement, dotted, local) in seen:
                    continue
                seen.add((statement, dotted, local))
                qualified = dotted
                if isinstance(statement, cst.ImportFrom):
                    qualified = f"{dotted_name(statement.module)}.{dotted}"
                yield Given(qualified, local.partition(".")[0], local, scope, alias, statement)


def module_of(statement: cst.Import | cst.ImportFrom, alias: cst.ImportAlias | None = None) -> str:
    """Returns the module that an import reads; empty for a relative one."""
    import libcst as cst

    if isinstance(statement, cst.ImportFrom):
        return "" if statement.relative else dotted_name(statement.module)
    return dotted_name((alias or statement.names[0]).name)


def dotted_name(node: cst.CSTNode | None) -> str:
    """Returns ``a.b.c`` of a chain of attributes; of anything else nothing."""
    import libcst as cst

    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    return ".".join([node.value, *reversed(parts)])


def is_conditional(scopes: Scopes, statement: cst.CSTNode) -> bool:
    """Returns whether a statement stands in a ``try``."""
    import libcst as cst

    for outer in scopes.above(statement):
        if isinstance(outer, (cst.Try, cst.TryStar)):
            return True
        if isinstance(outer, (cst.FunctionDef, cst.ClassDef)):
            break
    return False


__all__ = ["Given", "dotted_name", "given_names", "is_conditional", "module_of"]
