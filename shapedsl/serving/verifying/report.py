"""The report of a verification: each promise with what became of it, as a table, as JSON and as diagnostics.

After (the table)::

    project: exported program
      kept      x.shape[0] <= 31            where B < 32
      lost      y.shape[0] == 2 * B         accepts B = 1, y.shape[0] = 0
      narrowed  A == B                      net.py:12, in forward: return x + y
      returns
      kept      return.shape[0] == B
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...diagnostics import Diagnostic, Span

if TYPE_CHECKING:
    from .sampled import Sampled


@dataclass(frozen=True, slots=True)
class Promise:
    """One thing that a spec and an artifact say of each other.

    Attributes:
        status: ``kept``; ``lost``: the artifact accepts what the spec forbids; ``narrowed``: it demands what the spec
            does not imply; ``refuted``: it returns something else than is claimed; ``undecided``.
        what: In the user's words: ``B <= 31``, ``y.shape[0] == 2 * B``.
        code: Of its diagnostic, unless it is kept.
        witness: Sizes that show it, by name.
        place: Of the size it is about: ``y.shape[0]``, ``return[1].shape[0]``; empty for others.
        line: The line of the user's code that needs it: ``net.py:12, in forward: return x + y``.
        why: Of what is undecided, the reason; of what is refuted, what is returned instead.
        span: Where the spec says it.
        artifact: Which artifact, where there are several.
        also: Further spans.
        helps: What to do.
    """

    status: str
    what: str
    code: str = ""
    witness: tuple[tuple[str, int], ...] = ()
    place: str = ""
    line: str | None = None
    why: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)
    artifact: str = ""
    also: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    helps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What an artifact keeps of a spec.

    Attributes:
        name: Of the spec.
        kind: Of the artifact: ``exported program``.
        promises: What spec and artifact demand of the inputs.
        returns: What the spec claims of the result.
        samples: How its values compare with the original's; None where nothing was compared.
        remarks: What is said besides.
        findings: Diagnostics that are none of a promise: ``stale-artifact``.
    """

    name: str
    kind: str
    promises: tuple[Promise, ...] = ()
    returns: tuple[Promise, ...] = ()
    samples: Sampled | None = None
    remarks: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether nothing is lost, narrowed, refuted or computed wrong; what is undecided is told by `undecided`."""
        wrong = any(each.status in ("lost", "narrowed", "refuted") for each in (*self.promises, *self.returns))
        return not wrong and not self.findings

    @property
    def undecided(self) -> bool:
        """Whether something could not be decided."""
        return any(each.status == "undecided" for each in (*self.promises, *self.returns))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong, or undecided, as diagnostics."""
        return self.findings

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as plain data."""
        return {"name": self.name, "kept": self.kept}


__all__ = ["Promise", "Verification"]
