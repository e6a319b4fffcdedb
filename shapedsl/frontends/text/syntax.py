"""What the parser makes of a file before names are resolved: statements, clauses, and pseudo nodes.

Sizes, predicates and types are IR nodes from the start, with every name a `Var`. What cannot be IR
before constants and types are known is a pseudo node here (`InSet`, `MultipleOf`, `TypeUse`);
`expand` replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from ...diagnostics import Span
from ...ir import Apply, Bucket, Const, Dim, Drop, Mode, Param, Path, Predicate, Size, Type, Var, VariableKind, Variadic

INFINITY: Final = float("inf")
SIZES: Final = (Const, Var, Apply, Variadic)
Bound: TypeAlias = "Size | float"  # a float is an infinity


class Name(NamedTuple):
    """A name, maybe dotted, where it stands."""

    text: str
    span: Span


class Labeled(NamedTuple):
    """A predicate with its message."""

    predicate: Predicate
    message: str | None
    span: Span


class Pair(NamedTuple):
    """``B = 8`` of a hint or rank."""

    name: Name
    value: Size


# ---------------------------------------------------------------------------------- pseudo nodes


@dataclass(slots=True, eq=False)
class InSet:
    """``subject in {16, 32, ..., end}`` whose members are not all known yet; a predicate."""

    subject: Size
    items: list[Any]
    span: Span


@dataclass(slots=True, eq=False)
class MultipleOf:
    """``subject multiple of m plus r`` whose constants are not known yet; a predicate."""

    subject: Size
    multiple: Multiple
    span: Span


@dataclass(slots=True, eq=False)
class TypeUse:
    """``Cache[N]`` or ``F[B, D]``: a declared type or dtype, looked up later; a type."""

    name: Name
    dims: tuple[Dim, ...] | None
    span: Span


# -------------------------------------------------------------------------------------- pieces


@dataclass(slots=True, eq=False)
class Range:
    """``[lo, hi]``; always two bounds (another number was reported)."""

    low: Bound
    high: Bound
    span: Span


@dataclass(slots=True, eq=False)
class Multiple:
    """``multiple of m plus r``."""

    modulus: Size
    residue: Size | None
    span: Span


# ---------------------------------------------------------------------------------- statements


@dataclass(slots=True, eq=False)
class Language:
    """``language 1``."""

    version: str
    span: Span


@dataclass(slots=True, eq=False)
class Import:
    """``from "path" import names``."""

    path: str
    names: list[Name]
    span: Span
    path_span: Span


@dataclass(slots=True, eq=False)
class ConstStatement:
    """``const A, B = value``."""

    names: list[Name]
    value: Size
    span: Span


@dataclass(slots=True, eq=False)
class SizesStatement:
    """``dim``, ``int`` or ``const … = _``."""

    kind: VariableKind
    names: list[tuple[Name, bool]]
    range: Range | None
    multiple: Multiple | None
    hint: Size | None
    span: Span


@dataclass(slots=True, eq=False)
class Let:
    """``let S = 2 * B``."""

    name: Name
    value: Size
    span: Span


@dataclass(slots=True, eq=False)
class TypeStatement:
    """``type Cache[N] = …``."""

    name: Name
    parameters: list[Name] | None
    value: Type
    span: Span


@dataclass(slots=True, eq=False)
class Where:
    """``where p, q``. ``names`` are those that stand in it; ``pending`` if it holds pseudo nodes."""

    predicates: list[Labeled]
    span: Span
    names: set[str] = field(default_factory=set[str])
    pending: bool = False


@dataclass(slots=True, eq=False)
class Doc:
    """A documentation string."""

    text: str


@dataclass(slots=True, eq=False)
class ValuesClause:
    """``values …``."""

    paths: list[Path]
    low: Size
    high: Size
    sorted: bool
    span: Span


@dataclass(slots=True, eq=False)
class RankClause:
    """``rank batch = 2``."""

    pairs: list[Pair]


@dataclass(slots=True, eq=False)
class HintLine:
    """``hint B = 8``."""

    pairs: list[Pair]


@dataclass(slots=True, eq=False)
class Row:
    """``[0, 0, 1, 1]``: a fill whose constants are not known yet."""

    cells: list[Size | int | float]


@dataclass(slots=True, eq=False)
class BucketClause:
    """``bucket …``: a `Bucket` whose members or modulus are not known yet."""

    bucket: Bucket
    variable: Name
    items: list[Any] | None
    multiple: Multiple | None
    span: Span


@dataclass(slots=True, eq=False)
class Drops:
    """``drop …`` or ``keep …``."""

    drops: list[Drop]


@dataclass(slots=True, eq=False)
class AlternativeClause:
    """``case …`` or ``otherwise …``, in either form."""

    keyword: str
    name: str | None
    predicates: list[Labeled]
    mode: Mode
    hints: list[Pair]
    buckets: list[BucketClause]
    drops: list[Drop]
    span: Span


Declaration: TypeAlias = "ConstStatement | SizesStatement | Let | TypeStatement | Where"
Clause: TypeAlias = (
    "Declaration | Doc | ValuesClause | RankClause | HintLine | BucketClause | Drops | AlternativeClause"
)


@dataclass(slots=True, eq=False)
class Def:
    """``def …``. ``names`` stand in its sizes; ``pending`` if it holds pseudo nodes."""

    name: Name
    index: int
    params: tuple[Param, ...]
    returns: Type | None
    clauses: list[Clause]
    span: Span
    names: set[str] = field(default_factory=set[str])
    pending: bool = False
    receiver: str | None = None


class Broken(NamedTuple):
    """What stands for the lets, consts and types of a file that could not be read."""

    names: frozenset[str]


@dataclass(slots=True, eq=False)
class Class:
    """``class …``."""

    name: Name
    members: list[Declaration | Def]
    span: Span


Statement: TypeAlias = "Language | Import | Declaration | Def | Class | Broken"
