"""What a legacy spec says, whatever held it: live objects, source, JSON.

Each format is read into this model, and `convert` alone decides what it means. A dict with int keys is
a tensor's axes or a container, and only the inputs tell: so a tree is kept as it was written.

Before::

    rows = Dim("rows", max=64)
    export(Net(), (x, w), dynamic_shapes={"x": {0: rows, 1: 3}, "w": ({0: 2 * rows},)})

After::

    LegacySpec("Net.forward", (Param("x", …), Param("w", …)),
        Entries((("x", Entries(((0, Named("rows", None, 64)), (1, Pinned(3))))),
                 ("w", Items("tuple", (Entries(((0, Derived(Named("rows", None, 64), 2, 0)),)),))))),
        inputs={"x": TensorInput(2), "w": SequenceInput("tuple", (TensorInput(1),))})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

from ...diagnostics import Span
from ...ir import Param
from .verdict import Note

# ------------------------------------------------------------------------------------------ dims


@dataclass(frozen=True, slots=True)
class Named:
    """``Dim("b", min=2, max=16)``. The name is its identity: two with one name are one size.

    Attributes:
        name: As the user gave it.
        low, high: Inclusive, as stated; None where not stated (``inf`` and ``>= 2**63 - 1`` are no bound).
        hint: The size to optimize for, where the format has one.
        open: The bounds that are stated and not known, as they are written: ``max=config.longest``. For these ``low``
            and ``high`` are None.
    """

    name: str
    low: int | None = None
    high: int | None = None
    hint: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derived:
    """``factor * root + offset``; ``factor`` >= 1."""

    root: Named
    factor: int
    offset: int
    span: Span | None = field(default=None, compare=False, repr=False)


class Hint(str, Enum):
    """What kind of unnamed dim."""

    AUTO = "AUTO"  # dynamic, unless the program makes it static
    DYNAMIC = "DYNAMIC"  # dynamic, or an error
    STATIC = "STATIC"


@dataclass(frozen=True, slots=True)
class Hinted:
    """``Dim.AUTO``, ``Dim.DYNAMIC(max=64)``, ``Dim.STATIC``: no name, a size of its own at each place.

    Attributes:
        open: As `Named.open`.
    """

    kind: Hint
    low: int | None = None
    high: int | None = None
    hint: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pinned:
    """An int: the size, checked against the example."""

    value: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unsaid:
    """``None``: static at a dim; for an input, everything in it static."""

    span: Span | None = field(default=None, compare=False, repr=False)


LegacyDim: TypeAlias = Named | Derived | Hinted | Pinned | Unsaid

# ----------------------------------------------------------------------------------------- trees


@dataclass(frozen=True, slots=True)
class Entries:
    """A dict: the axes of a tensor, or a container; at the top, parameters by name."""

    items: tuple[tuple[str | int, Tree], ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Items:
    """A list or a tuple: every dim of a tensor, or a container; at the top, parameters in the signature's order.

    Attributes:
        kind: What it is made with.
        items: What it holds.
        fields: The names of a namedtuple's fields.
        dtype: Of the tensor whose dims these are, by torch's name, where the format says it.
    """

    kind: Literal["list", "tuple", "namedtuple"]
    items: tuple[Tree, ...]
    fields: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    dtype: str | None = None


Tree: TypeAlias = LegacyDim | Entries | Items

# ---------------------------------------------------------------------------------------- inputs


@dataclass(frozen=True, slots=True)
class TensorInput:
    """A tensor.

    Attributes:
        rank: None where nobody knows it.
        sizes: Of the example; None for one that is not known, or for all.
    """

    rank: int | None = None
    sizes: tuple[int | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class IntInput:
    """An int, no bool; ``value`` None where it is not known."""

    value: int | None = None


@dataclass(frozen=True, slots=True)
class SequenceInput:
    """A plain list or tuple."""

    kind: Literal["list", "tuple"]
    items: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class MappingInput:
    """A dict; of ``**kwargs``, what it collects."""

    entries: tuple[tuple[str | int, Input], ...]


@dataclass(frozen=True, slots=True)
class ObjectInput:
    """A namedtuple, or an object of a class that is registered with torch's pytree.

    Attributes:
        name: Of its class.
        children: In the order of flattening, each with the attribute that holds it; None where the registration
            names no attribute (such children no ShapesSpec can address).
        is_namedtuple: Whether its legacy spec is an object of the same class, not a list of its children.
    """

    name: str
    children: tuple[tuple[str | None, Input], ...]
    is_namedtuple: bool = False


@dataclass(frozen=True, slots=True)
class OtherInput:
    """A float, a bool, a string, None: never dynamic.

    Attributes:
        name: What it is, for messages: ``float``.
    """

    name: str = "object"


@dataclass(frozen=True, slots=True)
class UnknownInput:
    """Something that source does not tell."""


Input: TypeAlias = TensorInput | IntInput | SequenceInput | MappingInput | ObjectInput | OtherInput | UnknownInput


# ----------------------------------------------------------------------------------------- a spec


@dataclass(frozen=True, slots=True)
class LegacySpec:
    """One legacy spec, for one callable.

    Attributes:
        name: Of the callable, dotted, as `Signature.name`: ``Net.forward``.
        params: Its parameters in order, without the receiver, their types ``_``; None where they are not known.
        tree: What was said; None where nothing was (everything static).
        inputs: The example's, by parameter; ``*args`` is a tuple, ``**kwargs`` a `MappingInput`; omitted defaults
            are left out. None where there is no example.
        receiver: ``self`` for a method.
        notes: What its reader noticed; they are the first of the conversion's.
        runtime: What ran the legacy program, and so what was checked: an exported program lets sizes below a bound of 2
            pass, a compiled one compiles again, an engine (or another format's reader) checks what is declared.
        span: Of the spec.
    """

    name: str
    params: tuple[Param, ...] | None
    tree: Tree | None
    inputs: Mapping[str, Input] | None = None
    receiver: str | None = None
    notes: tuple[Note, ...] = ()
    runtime: Literal["export", "compile", "engine"] = "export"
    span: Span | None = field(default=None, compare=False, repr=False)


__all__ = [
    "Derived",
    "Entries",
    "Hint",
    "Hinted",
    "Input",
    "IntInput",
    "Items",
    "LegacyDim",
    "LegacySpec",
    "MappingInput",
    "Named",
    "ObjectInput",
    "OtherInput",
    "Pinned",
    "SequenceInput",
    "TensorInput",
    "Tree",
    "UnknownInput",
    "Unsaid",
]
