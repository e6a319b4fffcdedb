"""One promise between a spec and an artifact, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...diagnostics import Span


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
        why: What is to be said besides: of what is undecided the reason, of what is refuted what is returned.
        allowed: Whether the caller lets it pass.
        span: Where the spec says it.
        also: Further spans.
        artifact: Which artifact, where there are several.
    """

    status: str
    what: str
    code: str = ""
    witness: tuple[tuple[str, int], ...] = ()
    place: str = ""
    line: str | None = None
    why: str = ""
    allowed: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    also: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    artifact: str = ""


def sizes_text(witness: tuple[tuple[str, int], ...]) -> str:
    """Returns sizes as messages list them: ``B = 5, S = 7``."""
    return ", ".join(f"{name} = {size}" for name, size in witness)


__all__ = ["Promise", "sizes_text"]
