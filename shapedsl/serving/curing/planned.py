"""What is to be added to a spec: assumptions, static sizes, and new alternatives. `plan` finds it, `lines` writes it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...ir import Alternative, Constraint, Predicate, Signature, VariableKind
from .model import Added, Entry, Proposal, Step


@dataclass(frozen=True, slots=True)
class Clause:
    """A new alternative.

    Attributes:
        alternative: What it is, without spans.
        own: What it is for: the sizes that would be left out.
        added: What curing it assumed besides.
        note: Why it runs eagerly; else empty.
    """

    alternative: Alternative
    own: tuple[Predicate, ...]
    added: tuple[Added, ...] = ()
    note: str = ""


@dataclass(slots=True)
class Plan:
    """What is to be added to a spec.

    Attributes:
        signature: The spec as it was.
        where: Assumptions of all of it.
        blocks: Assumptions of alternatives, by position.
        fronts: New alternatives, by the position of that which they stand in front of.
        rest: Assumptions of the new ``otherwise`` behind new cases; None where there is none.
        refused: Left-out sizes, as text, that the original refuses too.
        unsayable: Assumptions on sizes that the spec has no name for.
        statics: Sizes that become static.
        steps, proposals, traces: As `Found` has them, of all that was traced.
        errors: What still ends a trace: of which part, by which entry point.
        skipped: Alternatives that were not traced, and why.
    """

    signature: Signature
    where: list[Added] = field(default_factory=list[Added])
    blocks: dict[int, list[Added]] = field(default_factory=dict[int, list[Added]])
    fronts: dict[int, list[Clause]] = field(default_factory=dict[int, list[Clause]])
    rest: list[Added] | None = None
    refused: set[str] = field(default_factory=set[str])
    unsayable: list[Added] = field(default_factory=list[Added])
    statics: list[str] = field(default_factory=list[str])
    steps: list[Step] = field(default_factory=list[Step])
    proposals: list[Proposal] = field(default_factory=list[Proposal])
    traces: dict[Entry, int] = field(default_factory=dict[Entry, int])
    errors: list[tuple[str | None, Entry, BaseException]] = field(
        default_factory=list[tuple["str | None", Entry, BaseException]]
    )
    skipped: list[str] = field(default_factory=list[str])

    @property
    def changes(self) -> bool:
        """Whether anything is added."""
        return bool(self.where or any(self.blocks.values()) or any(self.fronts.values()) or self.statics)

    def cured(self) -> Signature:
        """Returns the spec with all that is added."""
        old = self.signature
        alternatives: list[Alternative] = []
        for at, each in enumerate(old.alternatives):
            alternatives += [clause.alternative for clause in self.fronts.get(at, ())]
            more = tuple(constraints(self.blocks.get(at, ())))
            alternatives.append(replace(each, constraints=(*each.constraints, *more)))
        alternatives += [clause.alternative for clause in self.fronts.get(len(old.alternatives), ())]
        if self.rest is not None:
            alternatives.append(Alternative("otherwise", constraints=tuple(constraints(self.rest))))
        whole = replace(old, constraints=(*old.constraints, *constraints(self.where)), alternatives=tuple(alternatives))
        return with_statics(whole, self.statics)


def with_statics(signature: Signature, names: Collection[str]) -> Signature:
    """Returns ``signature`` with sizes that are taken from the example."""
    variables = tuple(
        replace(v, kind=VariableKind.CONST, hint=None) if v.name in names else v for v in signature.variables
    )
    return replace(signature, variables=variables)


def constraints(added: Sequence[Added]) -> Iterator[Constraint]:
    """Yields assumptions as a spec states them."""
    for each in added:
        yield Constraint(each.predicate, text=each.text)


__all__ = ["Clause", "Plan", "constraints", "with_statics"]
