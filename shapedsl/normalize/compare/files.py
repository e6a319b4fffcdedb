"""Compare two files: specs of one name, and those that only one of them has.

Where each file has one spec, the two are compared whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...ir import Signature
from ..decide import WORK
from .changes import Change, Compared, Effect, Relation, changed


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
    changes: list[Change] = []
    if len(before) == len(after) == 1 and before.keys() != after.keys():
        ((was, old_one),), ((now, new_one),) = before.items(), after.items()
        message = f"the spec `{was}` is called `{now}` now"
        spans = old_one.span, new_one.span
        changes.append(changed("spec", "", Effect.NONE, message, texts=(was, now), spans=spans, spec=now))
        before = {now: old_one}
    specs: list[tuple[str, Compared]] = []
    for key, signature in after.items():
        if key in before:
            compared = compare(before[key], signature, work=work)
            named = tuple(replace(change, spec=key) for change in compared.changes)
            specs.append((key, replace(compared, changes=named)))
    changes += [
        changed(
            "spec",
            "",
            Effect.LOST,
            f"the spec `{key}` is gone",
            texts=(key, ""),
            spans=(signature.span, None),
            spec=key,
        )
        for key, signature in before.items()
        if key not in after
    ]
    changes += [
        changed(
            "spec",
            "",
            Effect.GAINED,
            f"the spec `{key}` is new",
            texts=("", key),
            spans=(None, signature.span),
            spec=key,
        )
        for key, signature in after.items()
        if key not in before
    ]
    return FilesCompared(tuple(specs), tuple(changes))


__all__ = ["FilesCompared", "compare_files"]
