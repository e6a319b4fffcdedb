"""Scopes: what a name means at a place. Local declarations come first, then the class's, then the file's.

A declaration is an entry of the scope it stands in and is evaluated there, so that a `let` of an
imported file speaks of that file's names. Entries are compared by identity: one def that reaches
two entries under one name is ambiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from ...diagnostics import Report, Span
from ...ir import Level, Size
from ...ir.dtypes import dtype_name
from ..assemble import Declaration
from . import limits
from .limits import UnreadableError, fail
from .syntax import ConstStatement, Let, Name, SizesStatement, TypeStatement


@dataclass(slots=True, eq=False)
class SizeEntry:
    """A variable: ``dim``, ``int`` or ``const … = _``."""

    name: Name
    scope: Scope
    statement: SizesStatement
    variadic: bool
    declaration: Declaration | None = None


@dataclass(slots=True, eq=False)
class ConstEntry:
    """A ``const`` with a value, or one that was overridden.

    Attributes:
        value: None until evaluated.
        broken: It has no value, and that was told.
    """

    name: Name
    scope: Scope
    expression: Size | None
    value: int | None = None
    busy: bool = False
    broken: bool = False


@dataclass(slots=True, eq=False)
class LetEntry:
    """A ``let``; ``size`` is what it stands for, with every let and const expanded, once evaluated.

    Attributes:
        reaches: The names in ``size`` and the entries they mean; None for an undeclared name.
        lets: The lets it came by, itself first.
        nodes: How many nodes ``size`` has.
        broken: It has no value, and that was told.
    """

    name: Name
    scope: Scope
    statement: Let
    size: Size | None = None
    reaches: dict[str, Entry | None] = field(default_factory=dict["str", "Entry | None"])
    lets: tuple[LetEntry, ...] = ()
    nodes: int = 1
    busy: bool = False
    broken: bool = False


@dataclass(slots=True, eq=False)
class TypeEntry:
    """A ``type``."""

    name: Name
    scope: Scope
    statement: TypeStatement
    busy: bool = False


Entry: TypeAlias = "SizeEntry | ConstEntry | LetEntry | TypeEntry"


T = TypeVar("T")


class Session:
    """What one `read` shares.

    Attributes:
        report: Receives every finding.
        budget: How many nodes declarations may still expand to.
        broken: Names of lets, consts and types that could not be read.
        met: The names that defs use, with what they mean to the def that was read last; None: declared nowhere.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.budget = limits.BUDGET
        self.met: dict[str, Entry | None] = {}
        self.broken: set[str] = set()
        self._depth = 0

    def spend(self, nodes: int, at: Span) -> None:
        """Counts what is made of declarations.

        Raises:
            UnreadableError: The file's budget is used up.
        """
        self.budget -= nodes
        if self.budget < 0:
            fail("input-too-large", "the declarations of this file expand to too much", at)

    def evaluate(self, at: Span, function: Callable[[], T]) -> T | None:
        """Returns what ``function`` makes of a definition, maybe for another one.

        None if it is too large, or if too many definitions lean on each other (reported).
        """
        self._depth += 1
        try:
            if self._depth > limits.DEPTH:
                fail("input-too-large", f"definitions that lean on each other more than {limits.DEPTH} deep", at)
            return function()
        except UnreadableError as error:
            error.tell(self.report)
            return None
        finally:
            self._depth -= 1


class Scope:
    """The names declared in a file, class or def.

    Attributes:
        entries: By name.
        outer: Where names are looked up that are not declared here.
        level: Whose names they are.
    """

    __slots__ = ("entries", "level", "outer", "session")

    def __init__(self, session: Session, outer: Scope | None = None, level: Level = Level.FILE) -> None:
        self.session = session
        self.outer = outer
        self.level = level
        self.entries: dict[str, Entry] = {}

    def find(self, name: str) -> Entry | None:
        """Returns what ``name`` means here; None if it is declared nowhere."""
        scope: Scope | None = self
        while scope is not None:
            entry = scope.entries.get(name)
            if entry is not None:
                return entry
            scope = scope.outer
        return None

    def add(self, name: str, entry: Entry, at: Span) -> None:
        """Declares ``name``; reports ``duplicate-name`` if it is declared here already, and keeps the first."""
        first = self.entries.setdefault(name, entry)
        if first is not entry:
            self.session.report.error(
                "duplicate-name",
                f"`{name}` is declared twice",
                at=at,
                label="declared again",
                also=[(first.name.span, "first declared here")],
            )

    def declare(self, statements: Iterable[object]) -> None:
        """Declares the names of declarations; other statements are skipped."""
        for statement in statements:
            match statement:
                case ConstStatement(names=names, value=value):
                    for name in names:
                        self.add(name.text, ConstEntry(name, self, value), name.span)
                case SizesStatement(names=starred):
                    for name, variadic in starred:
                        self.add(name.text, SizeEntry(name, self, statement, variadic), name.span)
                case Let(name=name):
                    self.add(name.text, LetEntry(name, self, statement), name.span)
                case TypeStatement(name=name):
                    if name.text in ("Tensor", "Scalar", "object") or dtype_name(name.text) is not None:
                        self.session.report.error(
                            "reserved-name", f"`{name.text}` is a type of the language", at=name.span
                        )
                    else:
                        self.add(name.text, TypeEntry(name, self, statement), name.span)
                case _:
                    pass
