"""Dims (what stands in ``Tensor[…]``) and predicates over them. Frozen, hashable; spans stay outside equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ..diagnostics import Span
from .operators import Comparison, Operator


@dataclass(frozen=True, slots=True)
class Const:
    """An int."""

    value: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Var:
    """A variable. After expansion an element of a variadic is called ``batch[0]``, an anonymous dim ``?0``."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator on sizes, e.g. ``2*B + 1``; binary operators nest as they were written."""

    op: Operator
    args: tuple[Size, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variadic:
    """``*batch``: any number of dims. As an argument of `prod`, or a side of a declared constraint: each of them."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Static:
    """``_``: static, taken from the example."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ellipsis:
    """``...``: any number of static dims."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fresh:
    """``?`` (dynamic, tied to nothing) or ``?K`` (one size within an element of a repeated sequence)."""

    name: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


Size: TypeAlias = "Const | Var | Apply | Variadic"
Dim: TypeAlias = "Size | Static | Ellipsis | Fresh"


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two sizes."""

    op: Comparison
    left: Size
    right: Size
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    """All of ``args``; of none: true."""

    args: tuple[Predicate, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    """One of ``args``; of none: false. Evaluated left to right, stopping at the first that holds."""

    args: tuple[Predicate, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of ``arg``."""

    arg: Predicate
    span: Span | None = field(default=None, compare=False, repr=False)


Predicate: TypeAlias = "Compare | And | Or | Not"
