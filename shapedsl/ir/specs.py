"""Parameters, variables, signatures: what a ``def`` says, with every name resolved.

A signature holds no table of ranges. A declared range is a set of constraints with spans of its
own, so that ``dim B in [0, 8]`` and ``where 0 <= B <= 8`` are equal; `normalize` builds the table.

Equality is the language's: constraints compare as a set; spans, texts, documentation, names of
signatures and of object classes do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ..diagnostics import Span
from .alternatives import Alternative, Drop, Values
from .constraints import Constraint
from .dims import Size
from .types import Type


class ParamKind(str, Enum):
    """Python's parameter kinds."""

    POSITIONAL_ONLY = "positional-only"
    POSITIONAL_OR_KEYWORD = "positional-or-keyword"
    VAR_POSITIONAL = "var-positional"
    KEYWORD_ONLY = "keyword-only"
    VAR_KEYWORD = "var-keyword"


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. The receiver (``self``) is none, unless it was given an object type.

    ``*args: [T, U]`` has a `SequenceType`, ``*args: T`` the same as ``[T, ...]``; ``**kwargs`` a `MappingType`.
    """

    name: str
    type: Type
    kind: ParamKind = ParamKind.POSITIONAL_OR_KEYWORD
    default: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


class VariableKind(str, Enum):
    """What a variable stands for."""

    DIM = "dim"  # a size: an integer >= 0
    INT = "int"  # any integer
    CONST = "const"  # `const HD = _`: a static size, taken from the example


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of one signature.

    Attributes:
        name: Its name, without the star of a variadic.
        kind: What it stands for.
        variadic: Whether it is ``*name``: one size for each of any number of dims.
        hint: The size to optimize for.
        declared: Whether a ``dim``, ``int`` or ``const`` statement names it (else its use declared it).
    """

    name: str
    kind: VariableKind
    variadic: bool = False
    hint: int | None = None
    declared: bool = field(default=False, compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """The spec of one callable, resolved.

    Attributes:
        name: Dotted, e.g. ``net.Net.forward``; does not count in equality.
        params: In order; the untyped receiver is left out.
        returns: The claimed return type, or None.
        variables: Sorted by name; every variable that parameters, constraints or alternatives reach,
            and those that stand only in the return type.
        constraints: In the order they were written: declarations, dims, wheres.
        alternatives: In the order they are tried.
        values: What valid data is.
        ranks: Fixed lengths of variadics, sorted by name.
        drops: ``drop`` and ``keep`` lines at the def's own level.
        index: 2 for ``name@2``.
        receiver: ``self`` or ``cls`` where the def stands in a class; for the writer.
        doc: Documentation; does not count in equality.
        repeated: What was written again: each is equal to one of ``constraints``.
        names: What the lets and consts that it sees stand for; only questions about it are put in them.
    """

    name: str
    params: tuple[Param, ...]
    returns: Type | None = None
    variables: tuple[Variable, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    values: tuple[Values, ...] = ()
    ranks: tuple[tuple[str, int], ...] = ()
    drops: tuple[Drop, ...] = ()
    index: int = 1
    receiver: str | None = None
    doc: str | None = None
    span: Span | None = field(default=None, repr=False)
    repeated: tuple[Constraint, ...] = field(default=(), repr=False)
    names: Mapping[str, Size] = field(default_factory=dict[str, Size], repr=False)

    def _key(self) -> tuple[object, ...]:
        return (
            self.params,
            self.returns,
            self.variables,
            frozenset(self.constraints),
            self.alternatives,
            frozenset(self.values),
            self.ranks,
            frozenset(self.drops),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signature):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def variable(self, name: str) -> Variable | None:
        """Returns the variable called ``name``, if there is one."""
        return next((v for v in self.variables if v.name == name), None)

    @property
    def key(self) -> str:
        """The name under which a file holds it: ``name`` or ``name@2``."""
        return self.name if self.index == 1 else f"{self.name}@{self.index}"


@dataclass(frozen=True, slots=True)
class Module:
    """The signatures of a file, in file order."""

    signatures: tuple[Signature, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def __iter__(self) -> Iterator[Signature]:
        return iter(self.signatures)

    def by_key(self) -> Mapping[str, Signature]:
        """Returns the signatures by `Signature.key`."""
        return {signature.key: signature for signature in self.signatures}
