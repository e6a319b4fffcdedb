"""Put suggested lines into the text of a spec, which keeps its layout and its comments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .. import pipeline
from ..diagnostics import Report, Source
from ..ir import Signature
from .suggesting import Suggestion


def patched(
    source: Source, signature: Signature, made: Suggestion, report: Report, *, consts: Mapping[str, int] | None = None
) -> str | None:
    """Returns the text of a file with what is suggested for one of its specs.

    Args:
        source: The file.
        signature: The spec, as it was read from it.
        made: What is suggested for it.
        report: Receives ``inexpressible`` where the def cannot be edited as it stands.
        consts: Overrides of ``const`` statements.
    """
    clauses = [str(line) for line in made.lines]
    text = pipeline.with_clauses(source.text, signature, clauses, made.kept.replaced, made.kept.after, made.returns)
    if text is not None and pipeline.format_text(source, Report()) == source.text:
        text = pipeline.format_text(Source(source.name, text), Report())  # it was in layout, and stays so
    if text is None or not _says(source.name, text, signature, made, consts):
        report.error(
            "inexpressible",
            f"`{signature.name}` stands in a way that cannot be edited",
            at=signature.span,
            help="put its clauses on lines of their own: `shapedsl fmt` does",
        )
        return None
    return text


def _says(name: str, text: str, signature: Signature, made: Suggestion, consts: Mapping[str, int] | None) -> bool:
    """Returns whether a text reads, with the alternatives that were suggested."""
    report = Report()
    module = pipeline.read(Source(name, text), report, consts=consts, base=Path(name).parent)
    now = next((each for each in module if each.key == signature.key), None)
    return not report.errors and now is not None and now.alternatives == made.spec.signature.alternatives


__all__ = ["patched"]
