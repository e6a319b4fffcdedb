"""A signature at one structure: ranks, lengths and None-ness known, so that every size has a place.

`Leaf` rows are the one list that checks, lowering, touches, the program check and messages walk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..diagnostics import Span
from .cure import Cure
from .dims import Dim, Predicate, Size, Var
from .paths import Path
from .specs import Signature, VariableKind
from .types import Dtype
from .write_sizes import write_dim


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor or a scalar that the callable receives.

    Attributes:
        path: Where it is, from the parameter's name on; ``args[0]`` for variadics.
        scalar: Whether it is a Python int; then ``dims`` has one element, else one an axis.
        dims: `Const`, `Var`, `Apply` or `Static`; elements of a variadic are ``Var("batch[0]")``,
            anonymous dims ``Var("?0")``, a named anonymous one ``Var("?K@kvs[0]")``.
        dtype: The declared dtype.
        span: The type's.
    """

    path: Path
    scalar: bool
    dims: tuple[Dim, ...]
    dtype: Dtype | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def place(self, axis: int) -> str:
        """Returns how messages name the size on ``axis``: ``x.shape[0]``; a scalar's path alone."""
        return str(self.path) if self.scalar else f"{self.path}.shape[{axis}]"


@dataclass(frozen=True, slots=True)
class Solution:
    """How variables are computed that cannot be read off the dims as they are written.

    Attributes:
        definitions: Variable → its size over the names in ``readings``, sorted by name.
        readings: ``(name, leaf, axis)``: the size on that axis of that leaf.
        dims: The dims of each leaf in canonical form, without pinned and equal variables.
    """

    definitions: tuple[tuple[str, Size], ...]
    readings: tuple[tuple[str, int, int], ...]
    dims: tuple[tuple[Dim, ...], ...]


@dataclass(frozen=True, slots=True)
class Expanded:
    """A signature at one structure.

    Attributes:
        signature: Without variadics, ellipses, repeats and optionals: its types are what the
            arguments are; its variables and constraints speak of ``batch[0]``, ``?0``.
        leaves: In the order of the parameters.
        present: Names of the parameters that were passed; an omitted default has no leaf.
        structure: A hashable key: equal for arguments that give equal expansions.
        lengths: Each ``const n = _`` that names a sequence's length, with its value, sorted by name.
        ranks: Each variadic of known rank, with how many dims it stands for, sorted by name.
        solution: Where reading dims one after the other does not give every variable; a check needs it then.
    """

    signature: Signature
    leaves: tuple[Leaf, ...]
    present: tuple[str, ...]
    structure: object = None
    lengths: tuple[tuple[str, int], ...] = ()
    ranks: tuple[tuple[str, int], ...] = ()
    solution: Solution | None = None


@dataclass(frozen=True, slots=True)
class TorchVariable:
    """A variable of the ShapesSpec: it stands bare on at least one axis.

    Attributes:
        name: What torch is told; for a derived dim its expression without spaces: ``2*B+1``.
        kind: `DIM` (a ShapeVar) or `INT` (an IntVar).
        low, high: Inclusive; None for no bound.
        hint: The size to optimize for.
        meaning: The size it stands for, in the signature's variables.
    """

    name: str
    kind: VariableKind
    low: int | None
    high: int | None
    hint: int | None
    meaning: Size

    @property
    def demand(self) -> str:
        """How a user says that it is never negative: a declaration, of an expression an assumption."""
        if isinstance(self.meaning, Var):
            return f"declare `int {self.meaning.name} in [0, inf]`"
        return f"add `where {write_dim(self.meaning)} >= 0`"


class Reasoner(Protocol):
    """What messages ask about a lowered spec, since only `normalize` can answer it. Picklable."""

    def decide(self, lowered: Lowered, predicate: Predicate) -> bool | str | None:
        """Returns whether ``predicate`` holds of all sizes, or of none; None if of some; or why that is unknown."""
        ...

    def cures(self, lowered: Lowered, predicate: Predicate, sizes: Mapping[str, int]) -> Sequence[Cure]:
        """Returns the smallest assumptions that decide ``predicate``, those that ``sizes`` satisfy first."""
        ...

    def shorter(self, predicate: Predicate) -> Predicate:
        """Returns ``predicate``, or what means the same in fewer letters."""
        ...

    def shorter_size(self, size: Size) -> Size:
        """Returns ``size``, or what is the same in fewer letters."""
        ...


@dataclass(frozen=True, slots=True)
class Lowered:
    """An expanded signature that the torch writer can write without deciding anything.

    Attributes:
        expanded: What it was made from.
        leaves: The same leaves; each dim is a `Var` (a key of ``variables``), a `Const` or a `Static`.
        variables: By first use.
        assumptions: Predicates over ``variables``, integer-only, in the order torch should hear them;
            what torch cannot conclude itself (divisors of a residue, strict bounds) is among them.
        definitions: Each variable of the signature as a size over ``variables``, sorted by name.
        reasoner: For messages about what torch makes of it.
    """

    expanded: Expanded
    leaves: tuple[Leaf, ...]
    variables: tuple[TorchVariable, ...]
    assumptions: tuple[Predicate, ...]
    definitions: tuple[tuple[str, Size], ...]
    reasoner: Reasoner | None = field(default=None, compare=False, repr=False)
