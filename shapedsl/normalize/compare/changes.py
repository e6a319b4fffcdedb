"""What a comparison says: changes, and the relation that they add up to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ...diagnostics import Span

Sizes: TypeAlias = "tuple[tuple[str, int], ...]"  # sorted by name


class Relation(str, Enum):
    """How what the new spec accepts relates to what the old one accepts."""

    EQUAL = "equal"
    NARROWER = "narrower"  # some calls are lost, none is gained
    WIDER = "wider"  # some are gained, none is lost
    INCOMPARABLE = "incomparable"  # both
    UNKNOWN = "unknown"


class Effect(str, Enum):
    """What a change does to callers."""

    LOST = "lost"  # a call that was accepted is refused
    GAINED = "gained"  # a call that was refused is accepted
    EXCHANGED = "exchanged"  # both
    CLAIM = "claim"  # less is promised of the result
    NONE = "none"  # the same calls are accepted, and no less is promised


@dataclass(frozen=True, slots=True)
class Example:
    """Sizes that one spec accepts and the other refuses.

    Attributes:
        sizes: By the variables of the spec that accepts them.
        places: By where they are read: ``x.shape[0]``, in the new spec's parameter names.
    """

    sizes: Sizes = ()
    places: Sizes = ()

    @property
    def witness(self) -> Sizes:
        """The sizes by variable; where no variable has a name, by place."""
        return self.sizes or self.places

    @property
    def cost(self) -> tuple[int, int, tuple[int, ...]]:
        """What the smallest example is smallest in."""
        sizes = tuple(size for _, size in self.places)
        return len(sizes), sum(map(abs, sizes)), sizes


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        kind: What differs: ``parameter``, ``type``, ``rank``, ``dim``, ``constraint``, ``static``, ``dtype``,
            ``default``, ``returns``, ``hint``, ``message``, ``doc``, ``values``, ``cases``, ``drops``, ``contradiction``.
        place: The parameter, or where in it; empty for the spec as a whole.
        old, new: Texts; empty where the side has nothing there.
        effect: What it does to callers.
        message: A sentence.
        example: Sizes that prove the effect.
        old_span, new_span: Where it stands.
        spec: The spec's name in the new file, where files are compared.
    """

    kind: str
    place: str
    old: str
    new: str
    effect: Effect
    message: str
    example: Example | None = None
    old_span: Span | None = field(default=None, compare=False, repr=False)
    new_span: Span | None = field(default=None, compare=False, repr=False)
    spec: str = ""

    @property
    def breaking(self) -> bool:
        """Whether a caller of the old spec may fail with the new one."""
        return self.effect in (Effect.LOST, Effect.EXCHANGED, Effect.CLAIM)

    def __repr__(self) -> str:
        return f"<Change {'breaking' if self.breaking else 'listed'}: {self.message}>"


Texts: TypeAlias = "tuple[str, str]"
Spans: TypeAlias = "tuple[Span | None, Span | None]"


def changed(
    kind: str,
    place: str,
    effect: Effect,
    message: str,
    *,
    spans: Spans,
    texts: Texts = ("", ""),
    example: Example | None = None,
    spec: str = "",
) -> Change:
    """Returns a change; ``texts`` and ``spans`` are the old side's and the new side's."""
    return Change(kind, place, *texts, effect, message, example, *spans, spec)


@dataclass(frozen=True, slots=True)
class Compared:
    """The outcome for two specs.

    Attributes:
        relation: New relative to old, in the calls that they accept; what is returned is not part of it.
        changes: What breaks callers first, each kind in the order it was found.
        undecided: Why it is not known whether callers lose something.
        open: Why it is not known whether they gain something. Where it is known by another change, both are empty.
    """

    relation: Relation
    changes: tuple[Change, ...] = ()
    undecided: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    @property
    def breaking(self) -> bool:
        """Whether some change breaks callers."""
        return any(change.breaking for change in self.changes)

    @property
    def example(self) -> Example | None:
        """The smallest sizes that callers lose, else those that they gain."""
        for effects in ((Effect.LOST, Effect.EXCHANGED), (Effect.GAINED,)):
            found = [c.example for c in self.changes if c.example is not None and c.effect in effects]
            if found:
                return min(found, key=lambda example: example.cost)
        return None


def relation_of(changes: Collection[Change], *, maybe_lost: bool, maybe_gained: bool) -> Relation:
    """Returns what changes, and questions that stayed open, add up to.

    Args:
        changes: What is known.
        maybe_lost: Whether it is not known that no other call is lost.
        maybe_gained: Whether it is not known that no other call is gained.
    """
    lost, gained = loses(changes), gains(changes)
    if lost and gained:
        return Relation.INCOMPARABLE
    if (maybe_lost and not lost) or (maybe_gained and not gained):
        return Relation.UNKNOWN
    if lost:
        return Relation.NARROWER
    return Relation.WIDER if gained else Relation.EQUAL


def loses(changes: Collection[Change]) -> bool:
    """Returns whether one of ``changes`` loses calls."""
    return any(change.effect in (Effect.LOST, Effect.EXCHANGED) for change in changes)


def gains(changes: Collection[Change]) -> bool:
    """Returns whether one of ``changes`` gains calls."""
    return any(change.effect in (Effect.GAINED, Effect.EXCHANGED) for change in changes)
