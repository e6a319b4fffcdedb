"""Find constraints that follow from the others, and what they follow from.

Before::

    dim B in [8, 64] multiple of 8

    def f(x: Tensor[B, S]):
        where B >= 1               # warning: [redundant]
        where B <= S, S >= 8       # warning: [redundant] on S >= 8: B >= 8 and B <= S

After the fixes, which accept the same sizes::

    dim B in [8, 64] multiple of 8

    def f(x: Tensor[B, S]):
        where B <= S

One after the other is taken away and asked for, so of two that imply each other one stays: a declaration
rather than a `where`, and of two of a kind the first. What is asked for must follow from what is stated at
its own level or further out, in every def that gets it: that one def narrows what its file declares makes
the declaration no less useful to the next. The end of a range that only says what every size is
(``[0, 8]``) is no finding; neither is what a tensor dim implies, nor a `where` that gives its equal a message.

Most constraints have nothing to do with each other, so cheap ways to see that come first: what only
ranges speak of is compared as ranges, and sizes that satisfy the spec are moved a little to break one
constraint and no other. What is left is decided, with little work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from ..diagnostics import Report, Span
from ..ir import (
    Compare,
    Const,
    Constraint,
    Not,
    Origin,
    Predicate,
    Signature,
    TensorType,
    Variable,
    VariableKind,
)
from ..ir.walk import free_vars
from .comparisons import TRUE
from .decide import Unknown, find_sizes, minimal_core
from .divisors import check_divisors
from .domains import Contradiction, Domains
from .facts import fact_of, is_fact_of
from .intervals import Bound
from .near import is_broken_near, smallest_sizes
from .predicates import may_divide, simplify_predicate
from .propagate import propagate
from .uses import sizes_of, sure_types

WORK = 4_000  # of one question
MOST_QUESTIONS = 24  # of one spec
MOST_LOOKED_AT = 200_000  # constraints, in one spec: of thousands that have to do with each other not all are asked for
MOST_TOGETHER = 100  # constraints that are decided about together


@dataclass(frozen=True, slots=True)
class Redundant:
    """What one place of the text says in vain.

    Attributes:
        constraints: What can be deleted: one, or both ends of a range, of each name that they are declared for.
        core: What it follows from, without any of which it does not; empty if it always holds.
        signature: A spec that has all of them.
    """

    constraints: tuple[Constraint, ...]
    core: tuple[Constraint, ...]
    signature: Signature

    @property
    def span(self) -> Span:
        """Where it stands."""
        span = self.constraints[0].span
        assert span is not None  # what stands nowhere is not looked at
        return span


def find_redundant(signatures: Iterable[Signature], wrong: Iterable[Signature] = ()) -> list[Redundant]:
    """Returns what is redundant in one file, in the order of the text. Deleting any of it accepts the same sizes.

    Args:
        signatures: The specs of the file that sizes satisfy.
        wrong: Its other specs: what they share is no finding.
    """
    specs = [_Spec.of(signature) for signature in signatures]
    shared = {constraint.span for signature in wrong for constraint in signature.constraints}
    gone: list[list[tuple[_Spec, int]]] = []
    for place in _places(specs):
        spec, at = place[0]
        if spec.entries[at].span not in shared and _follow(place):
            for spec, at in place:
                spec.kept[at] = False
            gone.append(place)
    gone = [place for place in gone if not any(spec.needs_divisors for spec, _ in place)]
    return [each for each in _grouped(gone) if not _gives_message(each)]


def _gives_message(found: Redundant) -> bool:
    """Returns whether what is found says of its equal what to tell a caller: only a ``where`` has a message."""
    if len(found.core) != 1 or found.core[0].message is not None:
        return False
    same = simplify_predicate(found.core[0].predicate)
    return any(c.message is not None and simplify_predicate(c.predicate) == same for c in found.constraints)


# -------------------------------------------------------------------------------------- places


def _places(specs: Sequence[_Spec]) -> list[list[tuple[_Spec, int]]]:
    """Returns the constraints that can be asked for, those of one place of the text together; the first to go first."""
    places: dict[tuple[Span, object], list[tuple[_Spec, int]]] = {}
    for spec in specs:
        for at, constraint in enumerate(spec.entries):
            if constraint.origin is not Origin.DIM and _stands_in(spec.signature, constraint):
                assert constraint.span is not None
                said: object = constraint.predicate
                if constraint.origin is Origin.DECLARED and isinstance(constraint.predicate, Compare):
                    said = constraint.predicate.op.name  # the names of one statement go together
                places.setdefault((constraint.span, said), []).append((spec, at))

    def order(place: list[tuple[_Spec, int]]) -> tuple[bool, int, int, int]:
        spec, at = place[0]
        constraint = spec.entries[at]
        assert constraint.span is not None
        return constraint.origin is Origin.DECLARED, -constraint.level, -constraint.span.start, -constraint.part

    found = [place for place in places.values() if not all(spec.says_its_kind(at) for spec, at in place)]
    return sorted(found, key=order)


def _stands_in(signature: Signature, constraint: Constraint) -> bool:
    """Returns whether the text of ``constraint`` is in the file of ``signature``: an imported file has other readers."""
    return (
        constraint.span is not None and signature.span is not None and constraint.span.source is signature.span.source
    )


def _follow(place: list[tuple[_Spec, int]]) -> bool:
    """Returns whether what stands at one place follows, in every spec that has it."""
    together: dict[int, tuple[_Spec, list[int]]] = {}
    for spec, at in place:
        together.setdefault(id(spec), (spec, []))[1].append(at)
    return all(spec.follows(at, without) for spec, without in together.values() for at in without)


def _grouped(gone: list[list[tuple[_Spec, int]]]) -> list[Redundant]:
    """Returns what is gone, both ends of a range as one finding, in the order of the text."""
    groups: dict[Span, list[tuple[_Spec, int]]] = {}
    for place in gone:
        spec, at = place[0]
        span = spec.entries[at].span
        assert span is not None
        groups.setdefault(span, []).extend(each for each in place if each[0] is spec)
    found: list[Redundant] = []
    for group in groups.values():
        group.sort(key=lambda each: each[1])
        spec = group[0][0]
        core: dict[int, None] = {}
        for owner, at in group:
            if owner is spec:
                core.update(dict.fromkeys(spec.core(at)))
        found.append(
            Redundant(
                tuple(dict.fromkeys(owner.entries[at] for owner, at in group)),
                tuple(spec.entries[at] for at in sorted(core)),
                spec.signature,
            )
        )
    return sorted(found, key=lambda each: (each.span.start, each.span.end))


# --------------------------------------------------------------------------------------- specs


@dataclass(slots=True, eq=False)
class _Spec:
    """One spec, and what is kept of it.

    Attributes:
        signature: As read.
        entries: Its constraints, those that were written again too.
        predicates: Each in canonical form.
        names: The variables of each.
        mentions: In which constraints each variable stands.
        usable: Whether others may follow from it: it holds in every call, and divides by nothing that may be 0.
        kept: Whether it stays.
        sure: The variables that every call has.
        questions: How many more may be decided.
        effort: How many constraints may still be looked at, for all that is asked.
        model: Sizes that satisfy all of it, once they were looked for.
    """

    signature: Signature
    entries: tuple[Constraint, ...]
    predicates: list[Predicate]
    names: list[frozenset[str]]
    mentions: dict[str, list[int]]
    usable: list[bool]
    kept: list[bool]
    sure: frozenset[str]
    questions: int = MOST_QUESTIONS
    effort: int = MOST_LOOKED_AT
    model: Mapping[str, int] | None = None
    searched: bool = False
    variadic: frozenset[str] = field(default_factory=frozenset[str])

    @staticmethod
    def of(signature: Signature) -> _Spec:
        """Returns ``signature`` with everything kept."""
        entries = (*signature.constraints, *signature.repeated)
        predicates = [simplify_predicate(constraint.predicate) for constraint in entries]
        leaves = [leaf for p in signature.params if not p.default for leaf in sure_types(p.type)]
        sizes = [size for leaf in leaves for size in sizes_of(leaf)]
        dims = {dim for leaf in leaves if isinstance(leaf, TensorType) for dim in leaf.dims or ()}
        usable = [
            not may_divide(predicate)
            and (c.origin is not Origin.DIM or (isinstance(c.predicate, Compare) and c.predicate.left in dims))
            for c, predicate in zip(entries, predicates, strict=True)
        ]
        names = [frozenset(free_vars(c.predicate)) for c in entries]
        mentions: dict[str, list[int]] = {}
        for at, mine in enumerate(names):
            for name in mine:
                mentions.setdefault(name, []).append(at)
        return _Spec(
            signature,
            entries,
            predicates,
            names,
            mentions,
            usable,
            [True] * len(entries),
            frozenset(name for size in sizes for name in free_vars(size)),
            variadic=frozenset(v.name for v in signature.variables if v.variadic),
        )

    def says_its_kind(self, at: int) -> bool:
        """Returns whether a constraint is the lower end of a range that is 0, as every size's is."""
        constraint = self.entries[at]
        match constraint.predicate:
            case Compare(op=op, left=left, right=Const(value=0)) if op.name == ">=":
                written_as_range = constraint.origin is Origin.DECLARED or "[" in (
                    constraint.span.text if constraint.span else ""
                )
                kinds = {v.name: v.kind for v in self.signature.variables}
                return written_as_range and all(kinds.get(n) is not VariableKind.INT for n in free_vars(left))
            case _:
                return False

    @property
    def needs_divisors(self) -> bool:
        """Returns whether some divisor is not seen to differ from 0 without what is gone."""
        entries = zip(self.signature.constraints, self.kept, strict=False)
        left = tuple(constraint for constraint, kept in entries if kept)
        if len(left) == len(self.signature.constraints):
            return False
        report = Report()
        check_divisors(replace(self.signature, constraints=left), report)
        return bool(report.errors)

    def follows(self, at: int, without: Sequence[int]) -> bool:
        """Returns whether the constraint ``at`` was found to follow from what is kept, but for ``without``."""
        predicate = self.predicates[at]
        if predicate == TRUE:
            return True
        if self.effort < 0:
            return False
        given = self._given(at, without)
        fact = fact_of(predicate)
        if fact is not None:
            facts = [other for other in given if fact_of(self.predicates[other]) is not None]
            said = self._says(facts, predicate)
            if said or len(facts) == len(given):
                return said
        if not self.variadic.isdisjoint(self.names[at]) or self._is_broken_alone(at, given):
            return False
        if self.questions <= 0 or len(given) > MOST_TOGETHER:
            return False
        self.questions -= 1
        kept = [self.predicates[other] for other in given]
        if find_sizes(self._variables(at, given), [*kept, Not(predicate)], work=WORK) is not None:
            return False
        return fact is None or fact[1].low == -inf or self._is_seen(fact[0], fact[1].low, kept)

    def core(self, at: int) -> tuple[int, ...]:
        """Returns what the constraint ``at`` follows from, without any of which it does not."""
        predicate = self.predicates[at]
        if predicate == TRUE:
            return ()
        given = sorted(self._given(at, (at,)), key=lambda other: (self._rank(other), other))
        fact = fact_of(predicate)
        facts = [other for other in given if fact is not None and fact_of(self.predicates[other]) is not None]
        if fact is not None and self._says((), predicate):
            return ()
        alone = next((other for other in facts if self._says((other,), predicate)), None)
        if alone is not None:
            return (alone,)
        if len(given) > MOST_TOGETHER:
            return tuple(given)
        asked = [Not(predicate), *(self.predicates[other] for other in given)]
        found = minimal_core(self._variables(at, given), asked, work=WORK)
        return tuple(given) if found is None else tuple(given[position - 1] for position in found if position)

    def _rank(self, at: int) -> int:
        return (Origin.WHERE, Origin.DECLARED, Origin.DIM).index(self.entries[at].origin)

    def _variables(self, at: int, given: Iterable[int]) -> list[Variable]:
        names = self.names[at].union(*(self.names[other] for other in given))
        return [v for v in self.signature.variables if v.name in names]

    def _given(self, at: int, without: Sequence[int]) -> list[int]:
        """Returns what the constraint ``at`` may follow from: only what shares variables with it, maybe through others."""
        level, mine = self.entries[at].level, self.names[at]
        allowed = mine | self.sure if mine.isdisjoint(self.variadic) else mine
        reached: set[str] = set()
        found: set[int] = set()
        todo = list(mine)
        while todo:
            name = todo.pop()
            if name in reached:
                continue
            reached.add(name)
            for other in self.mentions[name]:
                names = self.names[other]
                if (
                    other not in found
                    and self.kept[other]
                    and self.usable[other]
                    and other != at
                    and other not in without
                    and self.entries[other].level <= level
                    and names <= allowed
                    and (names.isdisjoint(self.variadic) or names == mine)
                ):
                    found.add(other)
                    todo += names
        self.effort -= len(found)
        return sorted(found)

    def _says(self, given: Iterable[int], fact: Predicate) -> bool:
        """Returns whether ranges and residues say another one."""
        domains = Domains.of_variables(self.signature.variables)
        try:
            for other in given:
                known = fact_of(self.predicates[other])
                assert known is not None
                name, interval, modulus, residue = known
                domains.restrict(name, interval, frozenset())
                if modulus > 1:
                    domains.congruent(name, modulus, residue, frozenset())
        except Contradiction:
            return False
        return is_fact_of(domains, fact)

    def _is_seen(self, name: str, low: Bound, kept: Sequence[Predicate]) -> bool:
        """Returns whether the lower end of ``name``, if it is an int, can go: torch must be told of one (``negative-int``)."""
        variable = self.signature.variable(name)
        if variable is None or variable.kind is not VariableKind.INT:
            return True
        try:
            return propagate(self.signature.variables, kept).domain(name).low >= low
        except Contradiction:  # not found before: nothing is to be said of such a spec
            return False

    def _is_broken_alone(self, at: int, given: Sequence[int]) -> bool:
        """Returns whether sizes near those of the whole spec satisfy ``given`` and not the constraint ``at``."""
        if not self.searched:
            self.searched = True
            self.model = _sizes(self.signature, self.predicates)
        if self.model is None:
            return False
        kept = [self.predicates[other] for other in given]
        self.effort -= 5 * len(kept)
        return is_broken_near(self.predicates[at], kept, self._variables(at, given), self.model)


def _sizes(signature: Signature, predicates: Sequence[Predicate]) -> Mapping[str, int] | None:
    """Returns sizes that satisfy everything, if they are found."""
    try:
        easy = smallest_sizes(propagate(signature.variables, predicates), predicates)
    except Contradiction:
        return None
    if easy is not None or len(predicates) > MOST_TOGETHER:
        return easy
    found = find_sizes(signature.variables, predicates, work=WORK)
    return None if isinstance(found, Unknown) else found
