"""Types, constraints, alternatives, signatures: what a ``def`` says, with every name resolved.

A signature holds no table of ranges. A declared range is a set of constraints with spans of its
own, so that ``dim B in [0, 8]`` and ``where 0 <= B <= 8`` are equal; `normalize` builds the table.

Equality is the language's: constraints compare as a set; spans, texts, documentation, names of
signatures and of object classes do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ..diagnostics import Span
from .dims import Dim, Predicate, Size

# ---------------------------------------------------------------------------------------- types


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype or a family of them.

    Attributes:
        name: torch's name (``int64``, never ``long``), or ``floating``, ``integral``, ``complexfloating``, ``number``.
        variable: The name of the ``type F = floating`` it came by; every use of one variable in a call is one dtype.
    """

    name: str
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class TensorType:
    """``Tensor[B, D]``, ``float32[…]``.

    Attributes:
        dims: None where the rank is unknown and every dim static (bare ``Tensor``).
        dtype: None for ``Tensor``.
    """

    dims: tuple[Dim, ...] | None
    dtype: Dtype | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ScalarType:
    """``Scalar[2*N]``: a Python int. ``size`` is None for bare ``Scalar``: static."""

    size: Size | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


class Rest(str, Enum):
    """What follows the listed items of a sequence."""

    NONE = "none"
    STATIC = "static"  # [T, *_]: anything, static
    REPEAT = "repeat"  # [T, ...]: any number of the items, which share their variables


@dataclass(frozen=True, slots=True)
class SequenceType:
    """A list or a tuple.

    Attributes:
        kind: ``"list"`` or ``"tuple"``.
        items: The listed element types.
        rest: What follows them.
        times: For ``[T] * n``: how often ``items`` stand; a `Const`, or the `Var` of a ``const n = _``. Else None.
    """

    kind: str
    items: tuple[Type, ...]
    rest: Rest = Rest.NONE
    times: Size | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MappingType:
    """``{"key": T, 0: U}``; keys that are not listed are static."""

    entries: tuple[tuple[str | int, Type], ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ObjectType:
    """``Batch(x: T)``: an object by its attributes."""

    fields: tuple[tuple[str, Type], ...]
    name: str = field(default="object", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OptionalType:
    """``T | None``."""

    inner: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnyType:
    """``_``: static, whatever it is."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NoneType:
    """``None``, alone: in a return type, or a parameter that must be None."""

    span: Span | None = field(default=None, compare=False, repr=False)


Type: TypeAlias = (
    "TensorType | ScalarType | SequenceType | MappingType | ObjectType | OptionalType | AnyType | NoneType"
)


# ----------------------------------------------------------------------- parameters, variables


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


# ---------------------------------------------------------------------------------- constraints


class Origin(str, Enum):
    """Where a constraint comes from."""

    DECLARED = "declared"  # dim B in [lo, hi] multiple of m
    DIM = "dim"  # a tensor dim is never negative
    WHERE = "where"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A predicate that every input satisfies.

    Attributes:
        predicate: Never an `And`: conjunctions are split into several constraints.
        message: What to say when it does not hold.
        origin: Where it comes from.
        text: The constraint as the user would write it (with the names of lets); what ``core`` lists.
        notes: Secondary spans with labels (the let that a name came by).
    """

    predicate: Predicate
    message: str | None = None
    origin: Origin = field(default=Origin.WHERE, compare=False)
    text: str = field(default="", compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    notes: tuple[tuple[Span, str], ...] = field(default=(), compare=False, repr=False)


# --------------------------------------------------------------------------------- alternatives


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


# What padded slots hold: an int or a float, a bool, a row of numbers, `edge`, or a size expression.
@dataclass(frozen=True, slots=True)
class Edge:
    """``edge``: repeat the last slot."""


Fill: TypeAlias = "int | float | bool | tuple[int | float, ...] | Edge | Size"


@dataclass(frozen=True, slots=True)
class Pad:
    """``mask axis 3 with false``. ``axis`` is None for every axis on which the size stands."""

    path: Path
    fill: Fill
    axis: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bucket:
    """``bucket T in {…} shared left pad … as reason``.

    Attributes:
        variable: The bucketed size.
        members: Ascending, or None where it rounds up to a multiple.
        modulus, residue: For ``multiple of m plus r``; else None and 0.
        shared: One dynamic artifact for all members.
        position: ``"end"``, ``"left"``, or the size at whose index slots are inserted.
        pads: None where nothing is padded: exactly the members.
        reason: Why padding is sound (``masked``, …).
    """

    variable: str
    members: tuple[int, ...] | None = None
    modulus: int | None = None
    residue: int = 0
    shared: bool = False
    position: Size | str = "end"
    pads: tuple[Pad, ...] | None = None
    reason: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


class Mode(str, Enum):
    """How an alternative runs."""

    COMPILED = "compiled"
    EAGER = "eager"
    BACKED = "backed"


@dataclass(frozen=True, slots=True)
class Drop:
    """``drop return[1]``, or with ``keep``: it stays padded."""

    path: Path
    keep: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One ``case``, ``otherwise``, or run of ``bucket`` lines.

    Attributes:
        keyword: ``"case"``, ``"otherwise"`` or ``"bucket"``.
        name: A case's name, if it has one.
        constraints: Its predicates; of a block, its ``where`` lines too.
        mode: How it runs.
        hints: Hints that hold in it, sorted by name.
        buckets: Joint choices, in written order.
        drops: ``drop`` and ``keep`` lines of its block.
    """

    keyword: str
    name: str | None = None
    constraints: tuple[Constraint, ...] = ()
    mode: Mode = Mode.COMPILED
    hints: tuple[tuple[str, int], ...] = ()
    buckets: tuple[Bucket, ...] = ()
    drops: tuple[Drop, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Values:
    """``values ids in [0, V - 1]`` or ``values offsets sorted from 0 to T``: what valid data is. Both ends inclusive."""

    path: Path
    low: Size
    high: Size
    sorted: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


# ----------------------------------------------------------------------------------- signatures


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
