"""From what an artifact enforces to the report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ...targets.enforced.model import Enforced
from .promises import promises
from .report import Verification, joined
from .returns import returns


def verified(name: str, artifacts: Sequence[Enforced], allowed: Collection[str] = ()) -> Verification:
    """Returns what artifacts of one spec keep of it.

    Args:
        name: Of the spec.
        artifacts: At least one.
        allowed: Codes of what they may demand beyond the spec.
    """
    return joined([_of_one(name, each, allowed) for each in artifacts])


def _of_one(name: str, enforced: Enforced, allowed: Collection[str]) -> Verification:
    report = Verification(name, enforced.kind, promises(enforced, allowed), returns(enforced), remarks=enforced.remarks)
    return replace(report, cures=enforced.cures)


__all__ = ["verified"]
