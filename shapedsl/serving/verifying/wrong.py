"""Say that an artifact computes something else than the original, or that nobody knows: ``wrong-artifact``."""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Diagnostic, Severity
from .values import Sampled


def wrong_artifact(
    found: Sampled,
    name: str,
    what: str,
    *,
    helps: tuple[str, ...] = (),
    severity: Severity = Severity.ERROR,
    original: str = "the original",
) -> Diagnostic:
    """Returns that an artifact computes something else, or that nobody knows.

    Args:
        found: What was compared; it did not pass.
        name: Of the callable.
        what: The artifact's kind: ``"the package"``.
        helps: What to do.
        severity: Of the finding.
        original: What it was compared with: ``"the module"``.
    """
    called = f"{what} of `{found.label}` of `{name}`" if found.label and found.label != name else f"{what} of `{name}`"
    if not found.wrong:
        message = f"{called} cannot be compared with {original}"
        return Diagnostic("wrong-artifact", severity, message, notes=(found.skipped[:300],), helps=helps)
    worst = found.faults[0]
    witness = tuple((key, size) for key, size in sorted(worst.sizes.items()))
    return Diagnostic(
        "wrong-artifact",
        severity,
        f"{called} computes something else than {original}"
        if worst.differences
        else f"{called} does not run where {original} does",
        notes=tuple(_notes(found)),
        helps=helps,
        witness=witness,
    )


def _notes(found: Sampled) -> Iterator[str]:
    worst = found.faults[0]
    yield f"at {worst.at}: {worst.said}"[:300]
    if len(found.rows) > 1:
        yield f"{len(found.faults)} of {len(found.rows)} calls that were compared are wrong"


__all__ = ["wrong_artifact"]
