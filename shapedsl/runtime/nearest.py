"""Which sizes near those of a refused call would be accepted: what changes least, in total.

Before::

    def f(x: Tensor[B, D], w: Tensor[D, D]): where B < 32        # called with (40, 3) and (5, 3)

After::

    the nearest accepted: B = 31, D = 3: make `x.shape[0]` 31, `w.shape[0]` 3

`around` finds them, for most specs within a millisecond; where it does not, a `Seek` is asked. Nothing is said that was
not evaluated, and nothing is called the nearest unless all that is closer was ruled out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..ir import Apply, Const, Predicate, Signature, Size, Var
from ..ir.expanded import Expanded, Leaf
from ..ir.structure import INT64_MAX, INT64_MIN
from ..ir.walk import evaluate, free_vars, holds, substitute, substitute_size
from .around import Found, Wanted, around

# Sizes near those given that satisfy the constraints of a signature, or None: `normalize` is it.
Seek: TypeAlias = Callable[[Signature, Mapping[str, int]], "Mapping[str, int] | None"]

MOST_SHOWN: Final = 4  # places
MOST_NAMED: Final = 8  # variables
_UNDEFINED: Final = (ArithmeticError, KeyError)


@dataclass(frozen=True, slots=True)
class Near:
    """Accepted sizes.

    Attributes:
        sizes: By variable.
        changes: ``(place, size)`` of each axis or scalar that is another one then: ``("x.shape[0]", 31)``.
        proved: Whether every closer choice was ruled out.
        text: What a message says.
    """

    sizes: Mapping[str, int]
    changes: tuple[tuple[str, int], ...]
    proved: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Slot:
    leaf: Leaf
    axis: int
    size: Size
    actual: int

    @property
    def place(self) -> str:
        return self.leaf.place(self.axis)


def nearest(
    expanded: Expanded,
    shapes: Sequence[Sequence[int]],
    predicates: Sequence[Predicate],
    sizes: Mapping[str, int],
    seek: Seek | None = None,
) -> Near | None:
    """Returns the accepted sizes that change those of a call least, if any were found.

    Args:
        expanded: The structure of the call.
        shapes: The sizes of each of its leaves.
        predicates: What must hold beside the dims.
        sizes: What was read of them, by variable; some may be missing.
        seek: Finds sizes where looking around does not; what it finds is tested, too.
    """
    slots = [
        _Slot(leaf, axis, dim, actual)
        for leaf, shape in zip(expanded.leaves, shapes, strict=True)
        for axis, (dim, actual) in enumerate(zip(leaf.dims, shape, strict=True))
        if isinstance(dim, (Const, Var, Apply))
    ]
    lengths = dict(expanded.lengths)
    fixed: dict[str, Size] = {name: Const(value) for name, value in lengths.items()}
    wanted = [Wanted(substitute_size(slot.size, fixed), slot.actual, slot.leaf.scalar) for slot in slots]
    found = around(wanted, [substitute(predicate, fixed) for predicate in predicates], sizes)
    if (found is None or not _accepted(slots, predicates, {**found.sizes, **lengths})) and seek is not None:
        sought = seek(expanded.signature, sizes)
        found = None if sought is None else Found(dict(sought), False)
    if found is None:
        return None
    every = {**sizes, **found.sizes, **lengths}
    return _told(slots, sizes, every, found.proved) if _accepted(slots, predicates, every) else None


def _accepted(slots: Sequence[_Slot], predicates: Sequence[Predicate], sizes: Mapping[str, int]) -> bool:
    """Returns whether Python's own integers say so."""
    try:
        values = [(evaluate(slot.size, sizes), slot.leaf.scalar) for slot in slots]
        ranges = all((INT64_MIN if scalar else 0) <= value <= INT64_MAX for value, scalar in values)
        return ranges and all(holds(predicate, sizes) for predicate in predicates)
    except _UNDEFINED:
        return False


def _told(slots: Sequence[_Slot], read: Mapping[str, int], sizes: Mapping[str, int], proved: bool) -> Near | None:
    changed = [(slot, value) for slot in slots if (value := evaluate(slot.size, sizes)) != slot.actual]
    if all(isinstance(slot.size, Const) for slot, _ in changed):
        return None  # the headline says it
    names = dict.fromkeys(name for slot, _ in changed for name in free_vars(slot.size) if name[0] != "?")
    shown = list(names)[:MOST_NAMED]
    text = ", ".join(f"{name} = {sizes[name]}" for name in shown) + _more(len(names) - len(shown))
    if not _is_plain(slots, [slot for slot, _ in changed], read, sizes):
        made = ", ".join(f"`{slot.place}` {value}" for slot, value in changed[:MOST_SHOWN])
        text += (": " if text else "") + f"make {made}" + _more(len(changed) - MOST_SHOWN)
    head = "the nearest accepted" if proved else "accepted, for example"
    return Near(dict(sizes), tuple((slot.place, value) for slot, value in changed), proved, f"{head}: {text}")


def _more(count: int) -> str:
    return f", and {count} more" if count > 0 else ""


def _is_plain(
    slots: Sequence[_Slot], changed: Sequence[_Slot], read: Mapping[str, int], sizes: Mapping[str, int]
) -> bool:
    """Returns whether the new values of variables say it all: those change, wherever they stand."""
    changes: set[str] = set()
    for slot in changed:
        match slot.size:
            case Var(name=name) if name[0] != "?" and read.get(name, sizes[name]) != sizes[name]:
                changes.add(name)
            case _:
                return False
    stand = sum(isinstance(slot.size, Var) and slot.size.name in changes for slot in slots)
    return stand == len(changed)  # so none of them stays as it is
