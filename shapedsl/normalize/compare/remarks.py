"""What differs between two specs and refuses no call: hints, messages, documentation, cases, claims about the result."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Signature
from .changes import Change, Effect
from .places import Places


def remarks(
    old: Signature, new: Signature, first: Places, second: Places, *, work: int, reasons: dict[str, None]
) -> Iterator[Change]:
    """Yields what is listed besides what callers lose and gain.

    Args:
        old, new: As they were read.
        first, second: The same at one structure, which tells which variables are the same.
        work: How hard to try, for each question.
        reasons: Receives what could not be decided.
    """
    del first, second, work, reasons
    if old.doc != new.doc:
        yield Change(
            "doc", "", old.doc or "", new.doc or "", Effect.NONE, "the documentation changed",
            old_span=old.span, new_span=new.span,
        )  # fmt: skip
