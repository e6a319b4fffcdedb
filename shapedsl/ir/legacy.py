"""What torch's legacy dims say of one callable: a form that is written as Python without deciding anything.

Before::

    def f(x: Tensor[B, _], y: Tensor[2 * B + 1], n: Scalar[n]): ...

After::

    roots   B in [0, inf]
    x: {0: B}    y: {0: 2*B + 1}    n: DYNAMIC
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .specs import Param


@dataclass(frozen=True, slots=True)
class DimRoot:
    """``Dim("B", min=1, max=64)``; bounds are inclusive, None for none."""

    name: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class DimUse:
    """``factor * root + offset`` at a size; ``factor`` >= 1."""

    root: str
    factor: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True)
class DimHint:
    """``Dim.DYNAMIC``, with bounds or without."""

    low: int | None = None
    high: int | None = None


# what stands for a size: an int is pinned, None static
DimSlot: TypeAlias = "DimUse | DimHint | int | None"


@dataclass(frozen=True, slots=True)
class TensorDims:
    """The axes of a tensor that are not static."""

    axes: tuple[tuple[int, DimSlot], ...]


@dataclass(frozen=True, slots=True)
class ListDims:
    """A list or a tuple."""

    kind: str
    items: tuple[DimTree, ...]


@dataclass(frozen=True, slots=True)
class DictDims:
    """A dict."""

    entries: tuple[tuple[str | int, DimTree], ...]


DimTree: TypeAlias = "TensorDims | ListDims | DictDims | DimSlot"


@dataclass(frozen=True, slots=True)
class DimsForm:
    """A legacy spec.

    Attributes:
        name: Of the callable, dotted.
        index: 2 for ``name@2``.
        roots: By first use.
        params: Each with what is said of it; torch wants every argument that is passed.
    """

    name: str
    index: int
    roots: tuple[DimRoot, ...]
    params: tuple[tuple[Param, DimTree], ...]


__all__ = ["DictDims", "DimHint", "DimRoot", "DimSlot", "DimTree", "DimUse", "DimsForm", "ListDims", "TensorDims"]
