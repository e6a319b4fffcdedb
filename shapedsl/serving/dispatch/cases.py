"""What an artifact may assume: ``where``, its own predicates, and that no earlier alternative matched.

Before::

    def f(x: Tensor[B]):
        where B <= 300
        case one: B == 1
        case large: B > 100 hint B = 256
        otherwise hint B = 7

After::

    case one     B <= 300, B == 1
    case large   B <= 300, B > 100, not B == 1        hint B = 256
    otherwise    B <= 300, not B == 1, not B > 100    hint B = 7

An earlier alternative that failed is not negated: its sizes are served too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import cast

from ...ir import COMPARISONS, Alternative, Compare, Const, Constraint, Mode, Signature, Size, Var, VariableKind
from ...ir.taking import asked_by, negation, padded_name
from ...ir.walk import free_vars, holds, substitute
from .artifacts import ArtifactSpec

MOST_COUNTED = 10_000  # joint choices of members that are looked at


def case_spec(signature: Signature, position: int, excluded: frozenset[int] = frozenset()) -> ArtifactSpec:
    """Returns what the artifact of one alternative may assume, none of its sizes padded.

    Args:
        signature: At one structure, or not; with alternatives, or without: then ``position`` is 0.
        position: Which alternative.
        excluded: Earlier ones that failed, so that it serves their sizes.
    """
    if not signature.alternatives:
        return ArtifactSpec(0, "all sizes", Mode.COMPILED, signature)
    alternative = signature.alternatives[position]
    constraints = [*signature.constraints, *asked_by(alternative).conditions]
    constraints += negations(signature, position, excluded)
    hints = dict(alternative.hints)
    variables = tuple(replace(v, hint=hints.get(v.name, v.hint)) for v in signature.variables)
    whole = replace(signature, constraints=tuple(constraints), variables=variables, alternatives=())
    return ArtifactSpec(position, label(alternative, position), alternative.mode, bound_only(whole))


def negations(signature: Signature, position: int, excluded: frozenset[int] = frozenset()) -> Iterator[Constraint]:
    """Yields that each earlier alternative did not match, as far as that can be said.

    Args:
        signature: With alternatives.
        position: Before which.
        excluded: Those of which it is not known.
    """
    for at, earlier in enumerate(signature.alternatives[:position]):
        if at not in excluded and asked_by(earlier).exact:
            text = f"not {label(earlier, at)}"
            yield Constraint(negation(earlier), None, text=text, span=earlier.span)


def bound_only(signature: Signature) -> Signature:
    """Returns ``signature`` without what is said of variables that it does not have."""
    names = {variable.name for variable in signature.variables}
    constraints = tuple(c for c in signature.constraints if names.issuperset(free_vars(c.predicate)))
    return replace(signature, constraints=constraints)


def label(alternative: Alternative, position: int, pinned: tuple[tuple[str, int], ...] = ()) -> str:
    """Returns what statistics and messages call an artifact.

    Args:
        alternative: Whose it is.
        position: Among the alternatives, counted from 0.
        pinned: Padded sizes by variable.
    """
    if pinned:
        return f"{alternative.keyword} {', '.join(f'{name}={size}' for name, size in pinned)}"
    if alternative.name:
        return f"{alternative.keyword} {alternative.name}"
    if alternative.keyword == "bucket":
        return f"bucket {', '.join(bucket.variable for bucket in alternative.buckets)}"
    if alternative.keyword == "case":
        texts = [constraint.text for constraint in alternative.constraints]
        return f"case {', '.join(texts)}" if all(texts) else f"case {position + 1}"
    return alternative.keyword


@dataclass(frozen=True, slots=True)
class Numbered:
    """The artifacts that a spec makes, at one structure and one tuple of static sizes.

    Attributes:
        first: Of each alternative the number of its first artifact, counted from 1; None where it runs eagerly.
        counts: Of each alternative how many artifacts it makes.
        total: Of all alternatives.
        exact: Whether all of them were counted.
    """

    first: tuple[int | None, ...]
    counts: tuple[int, ...]
    total: int
    exact: bool


def numbered(signature: Signature) -> Numbered:
    """Returns how the artifacts of ``signature`` are numbered; a spec without alternatives makes one."""
    first: list[int | None] = []
    counts: list[int] = []
    total, exact = 0, True
    for alternative in signature.alternatives:
        members = list(islice(combinations(alternative), MOST_COUNTED + 1))
        exact = exact and len(members) <= MOST_COUNTED
        count = 0 if alternative.mode is Mode.EAGER else len(members[:MOST_COUNTED])
        first.append(total + 1 if count else None)
        counts.append(count)
        total += count
    if not signature.alternatives:
        return Numbered((1,), (1,), 1, exact=True)
    return Numbered(tuple(first), tuple(counts), total, exact)


def combinations(alternative: Alternative) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yields the padded sizes of each artifact of an alternative; ``()`` where it has one that pins nothing.

    Members are pinned where an alternative pads and makes an artifact a member.
    """
    pinned = [b for b in alternative.buckets if b.members is not None and not b.shared]
    joint = {padded_name(bucket) for bucket in alternative.buckets}
    for chosen in product(*(bucket.members or () for bucket in pinned)):
        sizes = {bucket.variable: size for bucket, size in zip(pinned, chosen, strict=True)}
        padded = {f"{name}_pad": size for name, size in sizes.items()}
        limits = [c.predicate for c in alternative.constraints if not joint.isdisjoint(free_vars(c.predicate))]
        if all(holds(each, padded) for each in limits if padded.keys() >= set(free_vars(each))):
            yield tuple(sizes.items())


def members_of(alternative: Alternative, combination: tuple[tuple[str, int], ...]) -> Iterator[Constraint]:
    """Yields that sizes are padded to ``combination``: above the next smaller member.

    Args:
        alternative: With buckets.
        combination: The members, by variable.
    """
    buckets = {bucket.variable: bucket for bucket in alternative.buckets}
    padded = {padded_name(buckets[name]): size for name, size in combination}
    for name, size in combination:
        members = [each for each in buckets[name].members or () if each < size]
        variable = Var(name)
        yield _say(Compare(COMPARISONS["<="], variable, Const(size)))
        if buckets[name].pads is None:
            yield _say(Compare(COMPARISONS["=="], variable, Const(size)))
        elif members and not any(padded.keys() & set(free_vars(c.predicate)) for c in alternative.constraints):
            yield _say(Compare(COMPARISONS[">"], variable, Const(members[-1])))
    sizes = {name: cast("Size", Const(size)) for name, size in padded.items()}
    for constraint in alternative.constraints:
        if padded.keys() & set(free_vars(constraint.predicate)):
            yield replace(constraint, predicate=substitute(constraint.predicate, sizes))


def _say(predicate: Compare) -> Constraint:
    return Constraint(predicate, None, text="the members of a bucket")


def statics_of(signature: Signature) -> tuple[str, ...]:
    """Returns the sizes that are static, and taken from the arguments: an artifact each."""
    return tuple(v.name for v in signature.variables if v.kind is VariableKind.CONST)


__all__ = [
    "Numbered",
    "bound_only",
    "case_spec",
    "combinations",
    "label",
    "members_of",
    "negations",
    "numbered",
    "statics_of",
]
