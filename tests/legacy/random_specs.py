"""Random legacy specs with example sizes, and which sizes they declare: a model of its own, by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

RANGES = ((0, None), (1, None), (2, 9), (1, 6), (3, 8), (0, 7), (4, 12))
MOST = 40  # no root of a size that is tried is greater


@dataclass(frozen=True)
class Slot:
    """One dim of a random spec.

    Attributes:
        root: Its name, or None.
        factor, offset: Of a derived dim; 1 and 0 for a bare one.
        hint: ``DYNAMIC``, ``AUTO`` or ``STATIC``, where there is no root.
        low, high: Of the hint.
        pinned: Whether an int stands there: the example's size.
        size: The example's.
    """

    root: str | None = None
    factor: int = 1
    offset: int = 0
    hint: str | None = None
    low: int | None = None
    high: int | None = None
    pinned: bool = False
    size: int = 2

    @property
    def is_static(self) -> bool:
        """Whether nothing is said."""
        return self.root is None and not self.pinned and self.hint in (None, "STATIC")


@dataclass(frozen=True)
class Random:
    """A random spec.

    Attributes:
        roots: The range of each name.
        tensors: The slots of each input.
        forms: How each is written: ``dict``, ``back`` (a dict of negative axes), ``tuple`` or ``list``.
        top: How the whole is written: ``dict``, ``tuple`` or ``list``.
    """

    roots: Mapping[str, tuple[int, int | None]]
    tensors: tuple[tuple[Slot, ...], ...]
    forms: tuple[str, ...]
    top: str
    example: tuple[tuple[int, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "example", tuple(tuple(slot.size for slot in slots) for slots in self.tensors))

    def declares(self, sizes: tuple[tuple[int, ...], ...]) -> bool:
        """Whether the spec as it was declared admits ``sizes``: some values of the roots fit; static dims are free."""
        for slot, size in self._both(sizes):
            if slot.pinned and size != slot.size:
                return False
            if slot.hint in ("AUTO", "DYNAMIC") and not (slot.low or 0) <= size <= (slot.high or size):
                return False
        return all(any(self._fits(name, value, sizes) for value in range(MOST)) for name in self.roots)

    def _fits(self, name: str, value: int, sizes: tuple[tuple[int, ...], ...]) -> bool:
        low, high = self.roots[name]
        if not low <= value <= (value if high is None else high):
            return False
        return all(size == slot.factor * value + slot.offset for slot, size in self._both(sizes) if slot.root == name)

    def _both(self, sizes: tuple[tuple[int, ...], ...]) -> Iterator[tuple[Slot, int]]:
        for slots, own in zip(self.tensors, sizes, strict=True):
            yield from zip(slots, own, strict=True)

    @property
    def crashes_torch(self) -> bool:
        """Whether torch fails with a KeyError of its own: there is an ``n - 1`` of a root without an upper bound."""
        return any(
            slot.root is not None and slot.offset < 0 and self.roots[slot.root][1] is None
            for slots in self.tensors
            for slot in slots
        )

    def samples(self) -> list[tuple[tuple[int, ...], ...]]:
        """Returns the example, sizes where one root has another value, and sizes where one dim is moved."""
        found = [self.example]
        for name, (low, high) in self.roots.items():
            for value in {0, 1, low, low - 1, low + 1, *(() if high is None else (high, high + 1))}:
                moved = tuple(
                    tuple(slot.factor * value + slot.offset if slot.root == name else slot.size for slot in slots)
                    for slots in self.tensors
                )
                if value >= 0 and all(size >= 0 for size in itertools.chain(*moved)):
                    found.append(moved)
        for at, slots in enumerate(self.tensors):
            for axis, slot in enumerate(slots):
                if slot.is_static:
                    continue
                for size in {0, 1, slot.size - 1, slot.size + 1, *(() if slot.high is None else (slot.high + 1,))}:
                    own = list(self.example[at])
                    own[axis] = size
                    found.append((*self.example[:at], tuple(own), *self.example[at + 1 :]))
        return list(dict.fromkeys(found))

    def build(self, dim: Any, hint: Any) -> Any:
        """Returns the legacy spec.

        Args:
            dim: Makes what is called by a name: ``dim(name, low, high, factor, offset)``.
            hint: Makes what is not: ``hint(kind, low, high)``.
        """
        written = [self._tensor(slots, form, dim, hint) for slots, form in zip(self.tensors, self.forms, strict=True)]
        if self.top == "dict":
            return dict(zip("xyz", written, strict=False))
        return tuple(written) if self.top == "tuple" else written

    def _tensor(self, slots: tuple[Slot, ...], form: str, dim: Any, hint: Any) -> Any:
        made = [self._dim(slot, dim, hint) for slot in slots]
        if form in ("tuple", "list"):
            return tuple(made) if form == "tuple" else made
        return {
            at - len(slots) if form == "back" and slots[at].hint is None else at: each
            for at, each in enumerate(made)
            if each is not None
        }

    def _dim(self, slot: Slot, dim: Any, hint: Any) -> Any:
        if slot.pinned:
            return slot.size
        if slot.root is not None:
            return dim(slot.root, *self.roots[slot.root], slot.factor, slot.offset)
        return None if slot.hint is None else hint(slot.hint, slot.low, slot.high)


@st.composite
def random_specs(draw: st.DrawFn, *, most: int = 3, back: bool = True) -> Random:
    """Draws specs that torch accepts: no size of the example is below 2, and no derived one negative.

    Args:
        most: How many inputs there may be.
        back: Whether axes may be negative, which torch obeys in part.
    """
    names = draw(st.lists(st.sampled_from(("a", "b", "n")), unique=True, min_size=1))
    roots = {name: draw(st.sampled_from(RANGES)) for name in names}
    values = {name: draw(st.integers(max(2, low), high or 9)) for name, (low, high) in roots.items()}
    tensors: list[tuple[Slot, ...]] = []
    for _ in range(draw(st.integers(1, most))):
        slots = [draw(_slots(names, roots, values)) for _ in range(draw(st.integers(1, 3)))]
        tensors.append(tuple(slots))
    forms = tuple(draw(st.sampled_from(("dict", "tuple", "list", *(["back"] if back else [])))) for _ in tensors)
    spec = Random(roots, tuple(tensors), forms, draw(st.sampled_from(("dict", "tuple", "list"))))
    used = {slot.root for slots in tensors for slot in slots}
    return replace(spec, roots={name: bounds for name, bounds in roots.items() if name in used})


@st.composite
def _slots(
    draw: st.DrawFn, names: list[str], roots: Mapping[str, tuple[int, int | None]], values: Mapping[str, int]
) -> Slot:
    kind = draw(st.sampled_from(("bare", "bare", "derived", "derived", "hint", "pinned", "none")))
    if kind == "bare":
        name = draw(st.sampled_from(names))
        return Slot(name, size=values[name])
    if kind == "derived":
        name = draw(st.sampled_from(names))
        factor = draw(st.sampled_from((1, 2, 3, 8)))
        least = 2 - factor * values[name]  # of the example
        offset = draw(st.integers(max(-3, least, -factor * roots[name][0]), 3))
        return Slot(name, factor, offset, size=factor * values[name] + offset)
    size = draw(st.integers(3, 6))
    if kind == "hint":
        low, high = draw(st.sampled_from(((None, None), (2, 8), (3, None), (None, 6))))
        return Slot(hint=draw(st.sampled_from(("DYNAMIC", "AUTO", "STATIC"))), low=low, high=high, size=size)
    return Slot(pinned=kind == "pinned", size=size)
