"""Compare two files: specs of one name, and those that only one of them has.

Where each file has one spec, the two are compared whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...ir import Signature
from ..decide import WORK
from .changes import Change, Compared, Effect, Relation


@dataclass(frozen=True, slots=True)
class FilesCompared:
    """The outcome for two files.

    Attributes:
        specs: By name, in the order of the new file.
        changes: Specs that only one of the files has.
    """

    specs: tuple[tuple[str, Compared], ...]
    changes: tuple[Change, ...]

    @property
    def relation(self) -> Relation:
        """New relative to old, over all specs."""
        relations = {compared.relation for _, compared in self.specs}
        effects = {change.effect for change in self.changes}
        lost = Effect.LOST in effects or bool(relations & {Relation.NARROWER, Relation.INCOMPARABLE})
        gained = Effect.GAINED in effects or bool(relations & {Relation.WIDER, Relation.INCOMPARABLE})
        if lost and gained:
            return Relation.INCOMPARABLE
        if Relation.UNKNOWN in relations:
            return Relation.UNKNOWN
        if lost:
            return Relation.NARROWER
        return Relation.WIDER if gained else Relation.EQUAL


def compare_files(old: Iterable[Signature], new: Iterable[Signature], *, work: int = WORK) -> FilesCompared:
    """Returns what callers of the specs in ``old`` lose and gain with those in ``new``.

    Args:
        old: Resolved.
        new: Resolved.
        work: How hard to try, for each question.
    """
    from . import compare

    before = {signature.key: signature for signature in old}
    after = {signature.key: signature for signature in new}
    if len(before) == len(after) == 1:
        before = dict(zip(after, before.values(), strict=True))
    specs: list[tuple[str, Compared]] = []
    for key, signature in after.items():
        if key in before:
            compared = compare(before[key], signature, work=work)
            changes = tuple(replace(change, spec=key) for change in compared.changes)
            specs.append((key, replace(compared, changes=changes)))
    changes = [
        Change("spec", "", key, "", Effect.LOST, f"the spec `{key}` is gone", None, signature.span, None, key)
        for key, signature in before.items()
        if key not in after
    ]
    changes += [
        Change("spec", "", "", key, Effect.GAINED, f"the spec `{key}` is new", None, None, signature.span, key)
        for key, signature in after.items()
        if key not in before
    ]
    return FilesCompared(tuple(specs), tuple(changes))


__all__ = ["FilesCompared", "compare_files"]
