"""Which values of attributes a class of a stub is about: ``padding_mode: Literal["zeros"]``.

A type checker reads such a line as what the attribute is; so do we: what the class says of shapes is said of objects
whose attribute has one of these values, and of no others.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import libcst as cst

from .tree import Tree

LiteralValues = Mapping[str, Mapping[str, tuple[Any, ...]]]  # class -> attribute -> its values


def literal_attributes(tree: Tree) -> LiteralValues:
    """Returns the values of the attributes that the top-level classes of a stub annotate with ``Literal``."""
    names = _names_of_literal(tree.module)
    found: dict[str, dict[str, tuple[Any, ...]]] = {}
    for statement in tree.module.body:
        if isinstance(statement, cst.ClassDef):
            attributes = found[statement.name.value] = {}
            for line in statement.body.body:
                for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                    match small:
                        case cst.AnnAssign(
                            target=cst.Name(value=name),
                            annotation=cst.Annotation(annotation=cst.Subscript(value=base, slice=items)),
                        ) if tree.code(base) in names:
                            attributes[name] = tuple(_value(tree.code(item.slice)) for item in items)
                        case _:
                            pass
    return found


def _names_of_literal(module: cst.Module) -> set[str]:
    """Returns how the file spells ``typing.Literal``."""
    names = {"typing.Literal", "typing_extensions.Literal"}
    for statement in module.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            match small:
                case cst.ImportFrom(module=cst.Name(value="typing" | "typing_extensions"), names=[*aliases]):
                    names |= {a.evaluated_alias or a.evaluated_name for a in aliases if a.evaluated_name == "Literal"}
                case _:
                    pass
    return names


def _value(text: str) -> Any:
    """Returns the value of a literal; its text, if it is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


__all__ = ["LiteralValues", "literal_attributes"]
