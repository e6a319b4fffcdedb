"""Types: what a parameter is annotated with. Frozen; spans stay outside equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ..diagnostics import Span
from .dims import Dim, Size


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
