"""Which sizes an alternative asks for: the one notion of it, for coverage, lowering and dispatch.

A case asks for its predicates. A bucket asks for sizes up to its largest member where it pads, and for
its members where it does not; adjacent buckets are one joint choice. What names a padded size is asked
of some choice of members, so it is written out over them.

Before and after::

    case B >= 2, S % 8 == 0                         B >= 2, S % 8 == 0
    bucket T in {128, 256} pad x with 0             T <= 256
    bucket T in {128, 256}                          T == 128 or T == 256
    bucket H multiple of 8                          H % 8 == 0
    where T_pad > T; bucket T in {128, 256} pad …   T <= 256, T < 256
    where T_pad <= 2 * T; bucket T in {8, 32} …     T <= 32, T <= 8 and 8 <= 2 * T or T <= 32 and 32 <= 2 * T

An alternative *takes* the sizes it asks for, but for those that an earlier one asks for too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from .alternatives import Alternative, Bucket
from .constraints import Constraint
from .dims import And, Apply, Compare, Const, Not, Or, Predicate, Size, Var
from .operators import ADD, EQ, GE, GT, LE, LT, MOD, SUB
from .walk import free_vars, holds, substitute

MOST_CHOICES = 1024  # joint choices of members that are written out


@dataclass(frozen=True, slots=True)
class Asked:
    """What an alternative asks for.

    Attributes:
        conditions: All of them hold for the sizes that it asks for; over the caller's sizes.
        exact: Whether those are all the sizes for which they hold. Not where a joint choice has too
            many members to write out.
    """

    conditions: tuple[Constraint, ...]
    exact: bool = True

    @property
    def predicate(self) -> Predicate:
        """The conditions as one predicate."""
        predicates = tuple(condition.predicate for condition in self.conditions)
        return predicates[0] if len(predicates) == 1 else And(predicates)


def asked_by(alternative: Alternative) -> Asked:
    """Returns what ``alternative`` asks for. What is ``otherwise``, without a bucket, asks for nothing."""
    padded = {padded_name(bucket): bucket for bucket in alternative.buckets}
    plain = [c for c in alternative.constraints if padded.keys().isdisjoint(free_vars(c.predicate))]
    joint = [c for c in alternative.constraints if c not in plain]
    conditions = [*plain, *map(_alone, alternative.buckets)]
    exact = True
    for names, constraints in _groups(joint, padded):
        written = _written_out([padded[name] for name in names], constraints)
        if written is None:
            exact = False
        else:
            conditions.append(written)
    return Asked(tuple(condition for condition in conditions if condition.predicate != And(())), exact)


def negation(alternative: Alternative) -> Predicate:
    """Returns that ``alternative`` does not match, as every later one may assume.

    Args:
        alternative: Without more joint choices than are written out; see `Asked.exact`.
    """
    return Not(asked_by(alternative).predicate)


def padded_name(bucket: Bucket) -> str:
    """Returns what predicates call the padded size."""
    return f"{bucket.variable}_pad"


def pads(alternative: Alternative) -> bool:
    """Returns whether sizes may change in it."""
    return any(bucket.pads is not None for bucket in alternative.buckets)


def _alone(bucket: Bucket) -> Constraint:
    """Returns what a bucket asks of its size by itself."""
    size = Var(bucket.variable)
    predicate: Predicate = And(())
    if bucket.members is not None and bucket.pads is not None:
        predicate = Compare(LE, size, Const(bucket.members[-1])) if bucket.members else Or(())
    elif bucket.members is not None:
        members = tuple(Compare(EQ, size, Const(member)) for member in bucket.members)
        predicate = members[0] if len(members) == 1 else Or(members)
    elif bucket.pads is None:
        predicate = Compare(EQ, Apply(MOD, (size, Const(bucket.modulus or 1))), Const(bucket.residue))
    return Constraint(predicate, text=f"the bucket of {bucket.variable}", span=bucket.span)


def _groups(joint: Sequence[Constraint], padded: Mapping[str, Bucket]) -> Iterator[tuple[list[str], list[Constraint]]]:
    """Yields padded names that predicates tie to each other, with those predicates."""
    left = list(joint)
    while left:
        mine = [left.pop(0)]
        names = _padded_names(mine, padded)
        while True:
            more = [c for c in left if not names.keys().isdisjoint(free_vars(c.predicate))]
            if not more:
                break
            mine += more
            left = [c for c in left if c not in more]
            names |= _padded_names(more, padded)
        yield list(names), mine


def _padded_names(constraints: Sequence[Constraint], padded: Mapping[str, Bucket]) -> dict[str, None]:
    return dict.fromkeys(name for c in constraints for name in free_vars(c.predicate) if name in padded)


def _written_out(buckets: Sequence[Bucket], constraints: Sequence[Constraint]) -> Constraint | None:
    """Returns that some choice of members satisfies ``constraints``, or None if there are too many."""
    choices: list[list[tuple[Size, Predicate | None]]] = [list(_choices(bucket)) for bucket in buckets]
    combinations = list(islice(product(*choices), MOST_CHOICES + 1))
    if len(combinations) > MOST_CHOICES:
        return None
    branches: list[_Branch] = []
    for combination in reversed(combinations):  # the largest first: it often asks for all that others ask for
        sizes = {padded_name(b): size for b, (size, _) in zip(buckets, combination, strict=True)}
        parts = [_settled(substitute(c.predicate, sizes)) for c in constraints]
        parts += [fits for _, fits in combination if fits is not None]
        if Or(()) not in parts:
            branch = _Branch.of(part for part in parts if part != And(()))
            if not any(branch.implies(other) for other in branches):
                branches = [other for other in branches if not other.implies(branch)]
                branches.append(branch)
    text = ", ".join(c.text for c in constraints)
    written = [branch.predicate for branch in reversed(branches)]
    predicate = written[0] if len(written) == 1 else Or(tuple(written))
    return Constraint(predicate, text=text, span=constraints[0].span, notes=constraints[0].notes)


@dataclass(frozen=True, slots=True)
class _Branch:
    """What one choice of members asks for; of several bounds of one size the tightest is kept.

    Without that, what is not taken has a choice for each member, and torch multiplies them out.
    """

    bounds: Mapping[tuple[Size, str], tuple[int, Predicate]]
    others: tuple[Predicate, ...]

    @classmethod
    def of(cls, parts: Iterable[Predicate]) -> _Branch:
        bounds: dict[tuple[Size, str], tuple[int, Predicate]] = {}
        others: dict[Predicate, None] = {}
        for part in parts:
            match part:
                case Compare(op=op, left=left, right=Const(value=value)) if op in (LE, LT):
                    most = value - (op == LT)
                    if (left, "<=") not in bounds or most < bounds[left, "<="][0]:
                        bounds[left, "<="] = most, part
                case Compare(op=op, left=left, right=Const(value=value)) if op in (GE, GT):
                    least = value + (op == GT)
                    if (left, ">=") not in bounds or least > bounds[left, ">="][0]:
                        bounds[left, ">="] = least, part
                case _:
                    others[part] = None
        return cls(bounds, tuple(others))

    @property
    def predicate(self) -> Predicate:
        """All of it."""
        parts = (*(part for _, part in self.bounds.values()), *self.others)
        return parts[0] if len(parts) == 1 else And(parts)

    def implies(self, other: _Branch) -> bool:
        """Returns whether it is seen that sizes of this branch are sizes of ``other``."""
        return all(part in self.others for part in other.others) and all(
            key in self.bounds and (self.bounds[key][0] <= value if key[1] == "<=" else self.bounds[key][0] >= value)
            for key, (value, _) in other.bounds.items()
        )


def _choices(bucket: Bucket) -> Iterator[tuple[Size, Predicate | None]]:
    """Yields each padded size that a bucket can choose, and for which sizes."""
    size = Var(bucket.variable)
    if bucket.members is None and bucket.pads is not None:  # the next multiple
        missing = Apply(MOD, (Apply(SUB, (Const(bucket.residue), size)), Const(bucket.modulus or 1)))
        yield Apply(ADD, (size, missing)), None
    elif bucket.pads is None:
        yield size, None
    else:
        for member in bucket.members or ():
            yield Const(member), Compare(LE, size, Const(member))


def _settled(predicate: Predicate) -> Predicate:
    """Returns true or false for what has no variable left."""
    if next(free_vars(predicate), None) is not None:
        return predicate
    try:
        return And(()) if holds(predicate, {}) else Or(())
    except ZeroDivisionError:
        return Or(())


__all__ = ["Asked", "asked_by", "negation", "padded_name", "pads"]
