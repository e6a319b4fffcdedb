"""Which alternatives of a spec stay when others are suggested: what somebody has thought about.

Before::

    case long: S > 512 backed          # stays: it has a name, and says more than a size
    case B == 1                        # goes
    bucket S in {64, 128} pad ids with EOS as masked
                                       # goes, and its pads and its reason come back with other members
    otherwise                          # goes, and comes back as it was

After: ``before`` is the first, ``after`` is empty, the rest is ``replaced``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir import Alternative, Bucket, Compare, Const, Mode, Var


@dataclass(frozen=True, slots=True)
class Kept:
    """The alternatives of a spec.

    Attributes:
        before: Stay, and are tried before what is suggested.
        replaced: Make room for it.
        after: Stay, and are tried after it.
    """

    before: tuple[Alternative, ...] = ()
    replaced: tuple[Alternative, ...] = ()
    after: tuple[Alternative, ...] = ()

    @property
    def rest(self) -> str | None:
        """What the ``otherwise`` that goes was: ``eager``, ``dynamic`` or ``backed``; None if there is none."""
        for each in self.replaced:
            if each.keyword == "otherwise":
                return "dynamic" if each.mode is Mode.COMPILED else each.mode.value
        return None

    @property
    def artifacts(self) -> int:
        """How many artifacts the alternatives that stay take."""
        total = 0
        for each in (*self.before, *self.after):
            combinations = int(each.mode is not Mode.EAGER)
            for bucket in each.buckets:
                combinations *= 1 if bucket.shared or bucket.members is None else len(bucket.members)
            total += combinations
        return total

    @property
    def ends(self) -> bool:
        """Whether an ``otherwise`` stays."""
        return any(each.keyword == "otherwise" for each in self.after)

    def bucket(self, variable: str) -> Bucket | None:
        """Returns the bucket over ``variable`` that goes, if there is one."""
        found = (bucket for each in self.replaced for bucket in each.buckets)
        return next((each for each in found if each.variable == variable and each.members is not None), None)

    @property
    def over(self) -> tuple[str, ...]:
        """The sizes of the first buckets that go, at most two."""
        for each in self.replaced:
            if each.buckets:
                return tuple(bucket.variable for bucket in each.buckets[:2])
        return ()


def split(alternatives: Sequence[Alternative]) -> Kept:
    """Returns which of ``alternatives`` stay."""
    goes = [_goes(each) for each in alternatives]
    if True not in goes:
        at = len(alternatives)
        while at and alternatives[at - 1].keyword == "otherwise":
            at -= 1
    else:
        at = goes.index(True)
    numbered = list(enumerate(alternatives))
    return Kept(
        tuple(each for n, each in numbered if n < at and not goes[n]),
        tuple(each for n, each in numbered if goes[n]),
        tuple(each for n, each in numbered if n >= at and not goes[n]),
    )


def _goes(each: Alternative) -> bool:
    """Whether an alternative is one that could have been suggested."""
    if each.name is not None or each.drops or each.hints:
        return False
    if each.keyword == "bucket":
        return all(bucket.members is not None and bucket.pads is not None for bucket in each.buckets)
    if each.keyword == "otherwise":
        return not each.constraints and not each.buckets
    plain = all(
        isinstance(c.predicate, Compare)
        and c.predicate.op.name == "=="
        and isinstance(c.predicate.left, Var)
        and isinstance(c.predicate.right, Const)
        and c.message is None
        for c in each.constraints
    )
    return plain and each.mode is Mode.COMPILED and not each.buckets


__all__ = ["Kept", "split"]
