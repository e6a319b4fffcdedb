"""What curing finds: assumptions, the questions that they answer, and what it leaves to the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ...ir import Compare, Const, Predicate, Var
from ...ir.write import write_predicate

Entry: TypeAlias = str  # `ENTRIES`
ENTRIES: Final[tuple[Entry, ...]] = ("export", "compile")


@dataclass(frozen=True, slots=True)
class Step:
    """One question of a trace, or one demand of a program, and what was assumed.

    Attributes:
        entry: Which of torch's entry points had it: ``export`` or ``compile``.
        case: The alternative that was traced, as statistics call it; None for the ``where`` part.
        condition: What was asked, in the user's names; of a demand, what it is.
        line: Of the user's code: ``net.py:12, in forward: if n > 1:``.
        added: What is assumed, as text.
        excludes: The sizes that this takes from the spec, as text; None if it takes none.
        holds: Which way the condition is decided.
        kind: ``bound``, ``upper-bound``, ``disequality``, ``equality``, ``residue``, or ``static``: a size became static,
            because that was allowed.
        demanded: Whether nobody asked: the program needs it, since torch made it so.
    """

    entry: Entry
    case: str | None
    condition: str
    line: str | None
    added: tuple[str, ...]
    excludes: str | None = None
    holds: bool = True
    kind: str = "bound"
    demanded: bool = False

    @property
    def place(self) -> str | None:
        """``net.py:12``, without its folder."""
        return short_place(self.line)

    @property
    def reason(self) -> str:
        """Why, as the comment beside an assumption says it."""
        if self.demanded:
            return f"{self.place or 'the program'} needs it"
        if self.kind == "static":
            return f"{self.place or 'the program'} needs the number itself"
        return f"{self.place or 'the program'} asks whether `{self.condition}`"

    def to_dict(self) -> dict[str, Any]:
        """Returns it as data for JSON."""
        return {
            "entry": self.entry,
            "case": self.case,
            "condition": self.condition,
            "line": self.line,
            "added": list(self.added),
            "excludes": self.excludes,
            "holds": self.holds,
            "kind": self.kind,
            "demanded": self.demanded,
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that only the user can decide.

    Attributes:
        entry: Where it was needed.
        case: Of which alternative; None for the ``where`` part.
        message: What stands in the way.
        line: Of the user's code.
        options: What can be done, each a sentence.
    """

    entry: Entry
    case: str | None
    message: str
    line: str | None
    options: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns it as data for JSON."""
        return {
            "entry": self.entry,
            "case": self.case,
            "message": self.message,
            "line": self.line,
            "options": list(self.options),
        }


@dataclass(frozen=True, slots=True)
class Added:
    """An assumption with the questions that it answers.

    Attributes:
        predicate: Over the variables of the signature at the traced structure.
        steps: Of which it is part; those of a weaker one that it replaced are among them.
        left_out: What holds of the sizes that it takes from the spec; empty if it takes none.
        replaced: Weaker ones, which it makes superfluous.
    """

    predicate: Predicate
    steps: tuple[Step, ...]
    left_out: tuple[Predicate, ...] = ()
    replaced: tuple[Added, ...] = ()

    @property
    def text(self) -> str:
        """The assumption, as a spec says it."""
        return write_predicate(self.predicate)

    @property
    def left_out_text(self) -> str:
        """The sizes that it takes, as a case would say it; empty if it takes none."""
        return ", ".join(map(write_predicate, self.left_out))

    @property
    def demanded(self) -> bool:
        """Whether the program itself cannot do without it, so that no case would serve the other sizes."""
        return any(step.demanded for step in self.steps)


@dataclass(frozen=True, slots=True)
class Found:
    """What curing one signature gave.

    Attributes:
        added: What is assumed, in the order it was found.
        statics: Sizes that became static.
        steps: What was asked, in order.
        proposals: What was not decided.
        traces: How often each entry point traced.
        errors: What still ends the trace of an entry point.
    """

    added: tuple[Added, ...]
    statics: tuple[str, ...]
    steps: tuple[Step, ...]
    proposals: tuple[Proposal, ...]
    traces: Mapping[Entry, int]
    errors: Mapping[Entry, BaseException]


class Unfinished(Exception):
    """Why an entry point did not come to its end though no trace failed."""


def is_bound(predicate: Predicate) -> bool:
    """Returns whether ``predicate`` is about the range of one size, of which torch always knows the best."""
    match predicate:
        case Compare(op=op, left=Var(), right=Const()):
            return op.name in ("<", "<=", ">", ">=")
        case _:
            return False


def short_place(line: str | None) -> str | None:
    """Returns ``net.py:12`` of ``/src/net.py:12, in forward: if n > 1:``."""
    if line is None:
        return None
    path, _, rest = line.partition(", in ")
    del rest
    return path.replace("\\", "/").rpartition("/")[2]


__all__ = ["ENTRIES", "Added", "Entry", "Found", "Proposal", "Step", "Unfinished", "is_bound", "short_place"]
