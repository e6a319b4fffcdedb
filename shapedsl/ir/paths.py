"""Paths into arguments, ``past[0].k``, and how the language spells their keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ..diagnostics import Span


@dataclass(frozen=True, slots=True)
class Attribute:
    """``.name`` of a path."""

    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """``[key]`` of a path."""

    key: str | int


Step: TypeAlias = "Attribute | Item"


@dataclass(frozen=True, slots=True)
class Path:
    """A parameter (or ``return``) and the way into it, e.g. ``past[0].k``."""

    root: str
    steps: tuple[Step, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.root + "".join(
            f".{step.name}" if isinstance(step, Attribute) else f"[{quote(step.key)}]" for step in self.steps
        )


def quote(key: str | int) -> str:
    """Returns ``key`` as the language spells it: an int, or a string in double quotes."""
    if isinstance(key, int):
        return str(key)
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return (
        '"'
        + "".join(
            c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}" for c in escaped
        )
        + '"'
    )
