"""The nodes that shape functions are made of; `reading` makes them from a file, `interpret` evaluates them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """An int, a string, a bool or None."""

    value: int | str | None


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Display:
    """``(a, *b)`` or ``[a, b]``: items, and whether each is starred."""

    items: tuple[tuple[Expression, bool], ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """``-a``, ``+a`` or ``not a``."""

    op: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """``a + b`` and its like."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logic:
    """``a and b`` or ``a or b``."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparing:
    """``a < b <= c``: each link is an operator and the operand on its right."""

    first: Expression
    links: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """``a if test else b``."""

    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Index:
    """``value[index]``."""

    value: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Part:
    """``value[start:stop:step]``."""

    value: Expression
    start: Expression | None
    stop: Expression | None
    step: Expression | None


@dataclass(frozen=True, slots=True)
class Clause:
    """``for targets in iterable if …``; more than one target, or a comma behind it, unpacks."""

    targets: tuple[str, ...]
    unpacks: bool
    iterable: Expression
    conditions: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Generator:
    """``element for … in …``, in round or square brackets."""

    element: Expression
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """``path(…)``: a function by its dotted name, as written.

    Attributes:
        path: The name.
        args: The arguments by position, each with whether it is starred.
        keywords: The arguments by name.
    """

    path: str
    args: tuple[tuple[Expression, bool], ...]
    keywords: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """``value.name(args)`` of a tuple."""

    value: Expression
    name: str
    args: tuple[tuple[Expression, bool], ...]


Expression: TypeAlias = (
    "Literal | Name | Display | Unary | Binary | Logic | Comparing | Choice | Index | Part | Generator | Call | Method"
)


@dataclass(frozen=True, slots=True)
class Assign:
    """``targets = value``; more than one target, or a comma behind it, unpacks."""

    targets: tuple[str, ...]
    unpacks: bool
    value: Expression


@dataclass(frozen=True, slots=True)
class If:
    """``if test: … else: …``; ``text`` is the test as written."""

    test: Expression
    text: str
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Return:
    """``return value``."""

    value: Expression


Statement: TypeAlias = "Assign | If | Return"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a shape function."""

    name: str
    default: Expression | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A shape function."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...] = field(repr=False)
