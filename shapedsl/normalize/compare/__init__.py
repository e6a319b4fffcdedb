"""Compare two specs of one callable: which calls does the new one lose, and which does it gain?

A call is accepted if its structure is (parameters, ranks, lengths, None), then its dtypes, then its
sizes. The parameters are paired as callers name them (`calls`); at each structure that matters
(`structures`) both signatures are expanded, and each is asked whether it accepts what the other does
(`places`). What no call depends on, hints say, is listed too (`remarks`).

Before::

    def f(x: Tensor[B, D]) -> Tensor[B]: where B <= 1024
    def f(x: Tensor[N, 64]) -> Tensor[N]: where N <= 512

After: narrower; ``N <= 512`` is demanded now (B = 513, D = 64), and ``x.shape[1] == 64`` (B = 0, D = 0).

A static dim accepts one size, which the example tells: less than a dynamic one, more than a number.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir import Signature
from ..decide import WORK
from .asking import Asker
from .calls import completed, pair
from .changes import Change, Compared, Effect, Example, Relation, gains, loses, relation_of
from .comparison import Comparison
from .remarks import remarks


def compare(old: Signature, new: Signature, *, work: int = WORK) -> Compared:
    """Returns what callers of ``old`` lose and gain with ``new``.

    Args:
        old: Resolved.
        new: Resolved.
        work: How hard to try, for each question.
    """
    if old == new and old.doc == new.doc:
        return Compared(Relation.EQUAL)
    pairing = pair(old, new)
    first = replace(old, params=tuple(replace(old_param, name=now.name) for old_param, now in pairing.pairs))
    second = replace(new, params=tuple(now for _, now in pairing.pairs))
    asker = Asker(work)
    found = Comparison(first, second, asker)
    found.run()
    changes = _kept((*pairing.changes, *found.changes.values()), found)
    undecided = {} if loses(changes) else found.undecided
    open_ = {} if gains(changes) else found.open
    relation = relation_of(changes, maybe_lost=bool(undecided), maybe_gained=bool(open_))
    if found.fullest is not None:
        changes += remarks(old, new, *found.fullest, asker=asker, reasons=undecided)
    ordered = sorted(changes, key=lambda change: not change.breaking)
    return Compared(relation, tuple(ordered), tuple(undecided), tuple(open_))


def _kept(changes: tuple[Change, ...], found: Comparison) -> list[Change]:
    """What a spec that accepts nothing loses is nothing."""
    if found.old_accepts and found.new_accepts:
        return list(changes)
    lost = Effect.LOST if found.old_accepts else Effect.NONE
    gained = Effect.GAINED if found.new_accepts else Effect.NONE
    effects = {Effect.LOST: lost, Effect.GAINED: gained, Effect.EXCHANGED: lost if found.old_accepts else gained}
    return [replace(change, effect=effects.get(change.effect, change.effect)) for change in changes]


__all__ = ["Change", "Compared", "Effect", "Example", "Relation", "compare", "completed"]
