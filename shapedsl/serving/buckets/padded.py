"""What the artifact of a bucket may assume: its sizes are the padded ones.

Before::

    dim S in [1, 512]
    def f(x: Tensor[B, S]) -> Tensor[B, S]:
        where B <= 8, S < 500, S_pad * B <= 1024
        case one: B == 1
        bucket S in {64, 128, 513} pad x with 0

After, for S padded to 64::

    S == 64, B <= 8, 64 * B <= 1024, not B == 1        S >= 1 and S < 500 hold too; of 513 they would not

What speaks of other sizes holds as it is. What speaks of a bucketed one is about the caller's size, and is
assumed of the padded one only if that follows from all that is known of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...ir import COMPARISONS, Apply, Bucket, Compare, Const, Constraint, Or, Predicate, Signature, Size, Var, Variable
from ...ir.operators import MOD
from ...ir.taking import padded_name
from ...ir.walk import free_vars, substitute
from ...normalize.decide import Proved, implied_by
from ..dispatch.artifacts import ArtifactSpec
from ..dispatch.cases import bound_only, label, negations

WORK = 20_000  # for each question: what is not settled soon is not worth assuming


def padded_spec(
    signature: Signature,
    position: int,
    combination: Sequence[tuple[str, int]] | None = None,
    excluded: frozenset[int] = frozenset(),
) -> ArtifactSpec:
    """Returns what the artifact of one combination of members may assume.

    Args:
        signature: At one structure, or not; with alternatives.
        position: Of one with buckets.
        combination: What is pinned, see `Joint.combination`; None for nothing.
        excluded: Earlier alternatives that failed, so that it may serve their sizes.
    """
    alternative = signature.alternatives[position]
    buckets = alternative.buckets
    padded = [bucket for bucket in buckets if bucket.pads is not None]
    constraints = [*signature.constraints, *alternative.constraints, *negations(signature, position, excluded)]
    pinned = dict(combination or ())
    about = [each for bucket in buckets for each in _about(bucket, pinned.get(bucket.variable))]
    told = _Assumed(signature.variables, constraints, padded, about) if padded else None
    kept = constraints if told is None else [c for each in constraints if (c := told.constraint(each)) is not None]
    hints = dict(alternative.hints)
    variables = tuple(_hinted(v, hints, {b.variable: b for b in buckets}, pinned) for v in signature.variables)
    whole = replace(
        signature,
        constraints=tuple(dict.fromkeys((*about, *kept))),
        variables=variables,
        alternatives=(),
        drops=(),
    )
    pairs = tuple(pinned.items())
    return ArtifactSpec(position, label(alternative, position, pairs), alternative.mode, bound_only(whole), pairs)


def _about(bucket: Bucket, size: int | None) -> list[Constraint]:
    """Returns what is known of a bucket's padded size, which goes by the size's own name."""
    variable = Var(bucket.variable)
    predicate: Predicate
    if size is not None:
        predicate = Compare(COMPARISONS["=="], variable, Const(size))
    elif bucket.members is not None:
        members = tuple(Compare(COMPARISONS["=="], variable, Const(member)) for member in bucket.members)
        predicate = members[0] if len(members) == 1 else Or(members)
    else:
        rest = Apply(MOD, (variable, Const(bucket.modulus or 1)))
        predicate = Compare(COMPARISONS["=="], rest, Const(bucket.residue))
    return [Constraint(predicate, text=f"the bucket of {bucket.variable}", span=bucket.span)]


class _Assumed:
    """Says which of the caller's facts hold for padded sizes."""

    def __init__(
        self,
        variables: Sequence[Variable],
        constraints: Sequence[Constraint],
        padded: Sequence[Bucket],
        about: Sequence[Constraint],
    ) -> None:
        self.real = {bucket.variable for bucket in padded}
        self.to_padded: dict[str, Size] = {bucket.variable: Var(padded_name(bucket)) for bucket in padded}
        self.from_padded: dict[str, Size] = {padded_name(bucket): Var(bucket.variable) for bucket in padded}
        kinds = {variable.name: variable for variable in variables}
        self.variables = [*variables]
        for bucket in padded:
            if bucket.variable in kinds:
                self.variables.append(replace(kinds[bucket.variable], name=padded_name(bucket), hint=None))
        # the caller's sizes under their own names, padded ones under theirs
        self.given: list[Predicate] = [constraint.predicate for constraint in constraints]
        self.given += [substitute(constraint.predicate, self.to_padded) for constraint in about]
        self.given += [Compare(COMPARISONS["<="], Var(b.variable), Var(padded_name(b))) for b in padded]

    def constraint(self, constraint: Constraint) -> Constraint | None:
        """Returns ``constraint`` as it holds of padded sizes, or None."""
        names = set(free_vars(constraint.predicate))
        if self.real.isdisjoint(names):
            if self.from_padded.keys().isdisjoint(names):
                return constraint
            return replace(constraint, predicate=substitute(constraint.predicate, self.from_padded), message=None)
        question = substitute(constraint.predicate, self.to_padded)
        if not isinstance(implied_by(self.variables, self.given, question, work=WORK), Proved):
            return None
        return replace(constraint, predicate=substitute(question, self.from_padded), message=None)


def _hinted(
    variable: Variable, hints: Mapping[str, int], buckets: Mapping[str, Bucket], pinned: Mapping[str, int]
) -> Variable:
    """Returns ``variable`` with the size to optimize for, which is a padded one where it is bucketed."""
    hint = hints.get(variable.name, variable.hint)
    bucket = buckets.get(variable.name)
    if variable.name in pinned:
        hint = pinned[variable.name]
    elif bucket is not None and hint is not None:
        if bucket.members:
            hint = next((member for member in bucket.members if member >= hint), bucket.members[-1])
        elif bucket.modulus is not None:
            hint += (bucket.residue - hint) % bucket.modulus
    return replace(variable, hint=hint)


__all__ = ["padded_spec"]
