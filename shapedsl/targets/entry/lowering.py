"""How sizes are lowered, what was chosen for each artifact, and what that cannot promise.

``unbacked``: by a ShapesSpec; no size is looked at while torch traces. ``backed``: by marks; torch looks, and guards.
``auto``: unbacked where torch can compile it and it computes what the original does, else backed.

After (``str`` of it)::

    auto: 1 artifact unbacked, 1 backed
    backed: unbacked, `return` has a relative error of 0.42 at B = 3
    note: sizes 0 and 1 have graphs of their own
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ...diagnostics import Diagnostic
from ...ir import Predicate, VariableKind
from ...ir.expanded import Lowered
from ...ir.write import write_predicate
from .told import conjuncts, write_part

UNBACKED, BACKED, AUTO = "unbacked", "backed", "auto"
LOWERINGS: Final = (UNBACKED, BACKED, AUTO)


def require_lowering(lowering: object) -> None:
    """Refuses what names no lowering.

    Raises:
        ValueError: ``lowering`` is no such name.
    """
    if lowering not in LOWERINGS:
        raise ValueError(f"lowering= is {', '.join(map(repr, LOWERINGS[:-1]))} or {AUTO!r}, not {lowering!r}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an artifact compares with the original on sampled sizes.

    Attributes:
        fault: What is wrong, with the sizes; empty if nothing is.
        unknown: Why nothing could be compared; empty if something was.
        raises: Whether the original raises at the call that is to be served.
    """

    fault: str = ""
    unknown: str = ""
    raises: bool = False


class Judge(Protocol):
    """Compares artifacts, and tells what was chosen. Picklable, since a compiled module keeps it."""

    def compare(
        self,
        target: Callable[..., Any],
        run: Callable[..., Any],
        lowered: Lowered,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Verdict:
        """Returns how ``run`` compares with ``target`` on sizes of ``lowered``, and on the call itself."""
        ...

    def tell(self, diagnostic: Diagnostic) -> None:
        """Passes a warning on to the user."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for one artifact.

    Attributes:
        kind: ``unbacked`` or ``backed``.
        why: Why it is not what was tried first; empty if it is.
        remarks: What it cannot promise.
    """

    kind: str
    why: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(slots=True)
class Lowering:
    """How one callable is lowered.

    Attributes:
        asked: ``unbacked``, ``backed`` or ``auto``.
        choices: One for each artifact that was made, in the order in which they were.
    """

    asked: str
    choices: list[Choice] = field(default_factory=list[Choice])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is not promised, and why unbacked was not kept; each thing once."""
        whys = (f"backed: {each.why}" for each in self.choices if each.why)
        return tuple(dict.fromkeys([*whys, *(remark for each in self.choices for remark in each.remarks)]))

    def __str__(self) -> str:
        counts = {kind: sum(each.kind == kind for each in self.choices) for kind in (UNBACKED, BACKED)}
        parts = [f"{count} artifact{'' if count == 1 else 's'} {kind}" for kind, count in counts.items() if count]
        return "\n".join([f"{self.asked}: {', '.join(parts) or 'nothing is compiled yet'}", *self.remarks])


@dataclass(frozen=True, slots=True)
class Plan:
    """How the artifacts of one callable are lowered.

    Attributes:
        lowering: ``unbacked``, ``backed`` or ``auto``.
        judge: Compares, for ``auto``.
        record: Receives what is chosen.
    """

    lowering: str
    judge: Judge | None
    record: Lowering

    @classmethod
    def of(cls, lowering: str, judge: Judge | None) -> Plan:
        """Returns a plan of which nothing is chosen yet."""
        return cls(lowering, judge, Lowering(lowering))


def remarks_of(lowered: Lowered) -> Iterator[str]:
    """Yields what compiling ``lowered`` backed does not promise."""
    dims = [variable for variable in lowered.variables if variable.kind is not VariableKind.INT]
    if any((variable.low or 0) < 2 for variable in dims):
        yield "sizes 0 and 1 have graphs of their own: torch takes them for numbers"
    if dims:
        yield "a branch on a size has a graph for each side"
    for variable in lowered.variables:
        if variable.kind is VariableKind.INT:
            yield f"`{variable.name}` is an int: its first value has a graph of its own"
    for predicate in untold(lowered):
        yield f"`{write_predicate(predicate)}` is checked in front of the artifact; torch is not told"


def untold(lowered: Lowered) -> Iterator[Predicate]:
    """Yields the assumptions that torch is not told of backed sizes: disjunctions."""
    for predicate in lowered.assumptions:
        for part in conjuncts(predicate):
            if not is_told(part):
                yield part


def is_told(predicate: Predicate) -> bool:
    """Returns whether torch is told of ``predicate``, one of several that all hold."""
    from ...ir.walk import free_vars
    from ...runtime.code import Code

    return write_part(predicate, Code(()), {name: name for name in free_vars(predicate)}) is not None


__all__ = [
    "AUTO",
    "BACKED",
    "LOWERINGS",
    "UNBACKED",
    "Choice",
    "Judge",
    "Lowering",
    "Plan",
    "Verdict",
    "is_told",
    "remarks_of",
    "require_lowering",
    "untold",
]
