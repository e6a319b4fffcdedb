"""What a conversion changed, and how a report says it.

The declared set of sizes is one thing, what an artifact enforces another: torch's legacy programs accept
sizes below a bound of 2, and any size at a phantom root, whatever was declared. So ``stricter`` is
*exact as declared, stricter at run time* unless a note says that the declared set shrank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from ...diagnostics import Span
from ...ir import Signature


class Verdict(str, Enum):
    """How the new spec relates to the old one; the gravest of its notes."""

    EXACT = "exact"
    STRICTER = "stricter"  # rejects what the legacy program ran
    CHOICE = "choice"  # the legacy spec leaves open what the new one must say
    LOSS = "loss"  # something has no counterpart


@dataclass(frozen=True, slots=True)
class Note:
    """One difference.

    Attributes:
        verdict: What it makes of the conversion; ``EXACT`` for a remark that changes nothing.
        code: ``legacy-stricter``, ``legacy-choice``, ``legacy-loss`` or ``legacy-note``.
        message: A terse sentence without a period: "size 0 was accepted at run time, and is now rejected".
        places: The sizes it is about, as messages name them: ``x.shape[0]``.
        taken: For a choice, what was chosen: "a fresh variable `sig_0`".
        others: For a choice, what else it could be.
        span: Where the legacy spec says it.
    """

    verdict: Verdict
    code: str
    message: str
    places: tuple[str, ...] = ()
    taken: str = ""
    others: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


_ORDER = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A legacy spec, converted.

    Attributes:
        signature: What it became.
        notes: What changed, in the order of the spec.
        open: Variables with bounds that are not known, and that the signature lacks: name → these, as they are written.
    """

    signature: Signature
    notes: tuple[Note, ...] = ()
    open: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def verdict(self) -> Verdict:
        """The gravest of the notes'."""
        return max((note.verdict for note in self.notes), key=_ORDER.index, default=Verdict.EXACT)

    @property
    def summary(self) -> str:
        """The verdict in words, as a report's first line has it."""
        return {
            Verdict.EXACT: "exact",
            Verdict.STRICTER: "exact as declared, stricter at run time",
            Verdict.CHOICE: "a choice",
            Verdict.LOSS: "a loss",
        }[self.verdict]


__all__ = ["Conversion", "Note", "Verdict"]
