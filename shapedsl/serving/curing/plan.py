"""Cure all that a spec lowers: the ``where`` part, or each alternative; and make cases of what that leaves out.

Before::

    def net.encode(ids: int64[B, S]):
        where B >= 1, S >= 1

The program asks ``S > 1``. After, without cases and with them::

    where S >= 2                    case S == 1
                                    otherwise:
                                        where S >= 2

A case is cured as well, and what that leaves out gets a case in front of it. What cannot be traced runs eagerly, and
what the original itself refuses gets none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from ...ir import (
    COMPARISONS,
    OPERATORS,
    Alternative,
    And,
    Apply,
    Compare,
    Const,
    Constraint,
    Mode,
    Not,
    Predicate,
    Signature,
    Var,
    VariableKind,
)
from ...ir.taking import negation
from ...ir.walk import free_vars
from ...ir.write import write_predicate
from ...normalize.cures import cures
from ...normalize.decide import Proved, Unknown, find_sizes, implied_by, range_of
from ..dispatch.cases import case_spec, label
from .loop import Loop
from .model import Added, Entry, Found, Unfinished
from .planned import Clause, Plan, constraints, with_statics
from .traces import Call, Passes, Traces

# A signature, a call whose structure is taken, and how many; there may be fewer, or none.
Draw: TypeAlias = "Callable[[Signature, Call | None, int], Sequence[Call]]"

MOST_CASES: Final = 8  # that are made; what is left out besides runs eagerly
DEEPEST: Final = 2  # cases of what cases leave out
MULTIPLE: Final = 16  # of which left-out sizes are tried, too
TRIED: Final = 4  # calls of left-out sizes that the original runs on


@dataclass(slots=True)
class Curing:
    """Cures one spec of one callable.

    Attributes:
        target: What is traced.
        signature: Its spec.
        passes: See `Passes`.
        draw: Makes examples.
        call: The user's example.
        entries: By what it is traced.
        most: How often each may trace, for each part of the spec.
        static: Sizes that may become static.
        cases: Whether left-out sizes get cases.
        grad: Whether autograd is on.
    """

    target: Callable[..., Any]
    signature: Signature
    passes: Passes
    draw: Draw
    call: Call | None
    entries: Sequence[Entry]
    most: int
    static: Collection[str]
    cases: bool
    grad: bool
    plan: Plan = field(init=False)
    _made: int = 0

    def __post_init__(self) -> None:
        self.plan = Plan(self.signature, traces=dict.fromkeys(self.entries, 0))

    def whole(self, only: int | None = None) -> Plan:
        """Returns what is to be added.

        Args:
            only: The position of the one alternative that is meant.

        Raises:
            ShapeError: No example could be made, or the spec cannot be lowered.
        """
        if not self.signature.alternatives:
            self._where_part()
        elif only is not None:
            self._alternative(only)
        else:
            for position in range(len(self.signature.alternatives)):
                self._alternative(position)
        if not any(self.plan.traces.values()) and not self.plan.errors:
            self._fail(None, "there is nothing to trace")
        for each in self.plan.unsayable:
            message = f"`{each.text}` is needed, and the spec has no name for that size"
            self._fail(None, f"{message}: write a name in place of `?` or `*name`")
        return self.plan

    def _fail(self, named: str | None, reason: str) -> None:
        self.plan.errors += [(named, entry, Unfinished(reason)) for entry in self.entries]

    # ------------------------------------------------------------------------------------- parts

    def _where_part(self) -> None:
        call = self.call or self._drawn(self.signature, None)
        if call is None:
            self._fail(None, "no example could be made")
            return
        plan = self.plan
        found, traces = self._cure(self.signature, call, None)
        self._take(found, None)
        said = self._sayable(found.added)
        plan.refused |= self._refused(self.signature, said, traces)
        served = [each for each in said if self._wants_case(each)]
        if self.cases and served:
            plan.where = [each for each in said if each not in served]
            base = _assuming(with_statics(self.signature, plan.statics), plan.where)
            plan.fronts[0] = self._clauses(base, served, (), call, 0)
            plan.rest = served
        else:
            plan.where = said

    def _alternative(self, position: int) -> None:
        plan = self.plan
        alternative = self.signature.alternatives[position]
        named = label(alternative, position)
        if alternative.buckets or alternative.mode is not Mode.COMPILED:
            how = "it has buckets" if alternative.buckets else f"it runs {alternative.mode.value}"
            plan.skipped.append(f"{named}: {how}")
            return
        cured = plan.cured()
        at = position + sum(len(clauses) for where, clauses in plan.fronts.items() if where <= position)
        signature = case_spec(cured, at).signature
        # of what it had: sizes that earlier alternatives have left by now shall not decide what it is for
        own_sizes = case_spec(self.signature, position).signature
        call = self.call if self.call is not None and self._fits(own_sizes, self.call) else None
        call = call or self._drawn(own_sizes, self.call)
        if call is None:
            self._fail(named, "no example could be made")
            return
        found, traces = self._cure(signature, call, named)
        self._take(found, named)
        said = self._sayable(found.added)
        plan.blocks[position] = said
        plan.refused |= self._refused(signature, said, traces)
        served = [each for each in said if self._wants_case(each)]
        if self.cases and served:
            own = tuple(constraint.predicate for constraint in alternative.constraints)
            base = case_spec(cured, at).signature
            plan.fronts[position] = self._clauses(base, served, own, call, 0)

    def _cure(self, signature: Signature, call: Call, named: str | None, *, pins: bool = False) -> tuple[Found, Traces]:
        traces = Traces(self.target, signature, *call, self.passes, grad=self.grad)

        def redraw(signature: Signature, added: Sequence[Predicate]) -> Call | None:
            if any(not _is_sayable(signature, each) for each in added):
                return None
            whole = _having(signature, added)
            return self._drawn(_having(whole, _ample(whole)), call) or self._drawn(whole, call)

        loop = Loop(traces, self.entries, self.most, self.static, named, redraw, pins)
        return loop.run(), loop.traces

    def _drawn(self, signature: Signature, like: Call | None) -> Call | None:
        return next(iter(self.draw(signature, like, 1)), None)

    def _take(self, found: Found, named: str | None) -> None:
        """Notes what was found besides assumptions."""
        plan = self.plan
        plan.steps += found.steps
        plan.proposals += found.proposals
        plan.statics += [name for name in found.statics if name not in plan.statics]
        plan.errors += [(named, entry, error) for entry, error in found.errors.items()]
        self._count(found)

    def _count(self, found: Found) -> None:
        for entry, count in found.traces.items():
            self.plan.traces[entry] = self.plan.traces.get(entry, 0) + count

    def _sayable(self, added: Iterable[Added]) -> list[Added]:
        """Returns those on sizes that have names; the others are noted."""
        said: list[Added] = []
        for each in added:
            (said if _is_sayable(self.signature, each.predicate) else self.plan.unsayable).append(each)
        return said

    def _fits(self, signature: Signature, call: Call) -> bool:
        traces = Traces(self.target, replace(self.signature, alternatives=()), *call, self.passes, grad=self.grad)
        return all(traces.satisfies(constraint.predicate) for constraint in signature.constraints)

    # ------------------------------------------------------------------------------------- cases

    def _wants_case(self, each: Added) -> bool:
        return bool(each.left_out) and not each.demanded and each.left_out_text not in self.plan.refused

    def _refused(self, signature: Signature, added: Sequence[Added], traces: Traces) -> set[str]:
        """Returns the left-out sizes, as text, at which the original raises, wherever it was tried.

        Nothing where it raises at its own example: the data is none that it takes.
        """
        asked = [each for each in added if each.left_out and not each.demanded]
        if not asked or traces.raises():
            return set()
        refused: set[str] = set()
        demanded = [each.predicate for each in added if each.demanded]  # without which the program raises anyway
        for each in asked:
            whole = _having(signature, (*demanded, *each.left_out))
            like = traces.args, traces.kwargs
            calls = [*self.draw(whole, like, TRIED), *self.draw(_having(whole, _alike(whole)), like, 1)]
            if calls and all(traces.raises(call) for call in calls):
                refused.add(each.left_out_text)
        return refused

    def _clauses(
        self, base: Signature, added: Sequence[Added], own: tuple[Predicate, ...], like: Call, depth: int
    ) -> list[Clause]:
        """Returns the cases of what ``added`` leaves out of ``base``.

        Args:
            base: What may be assumed.
            added: What was assumed.
            own: Predicates that each case repeats, where its own do not imply them.
            like: A call whose structure is taken.
            depth: How many cases this is inside of.
        """
        clauses: list[Clause] = []
        for each in added:
            earlier = [Constraint(negation(clause.alternative)) for clause in clauses]
            signature = replace(base, constraints=(*base.constraints, *earlier))
            clauses += self._case(signature, (*self._needed(own, each.left_out), *each.left_out), like, depth)
        return clauses

    def _needed(self, own: tuple[Predicate, ...], taken: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
        stated = [constraint.predicate for constraint in self.signature.constraints]
        variables = self.signature.variables
        return tuple(p for p in own if not isinstance(implied_by(variables, [*stated, *taken], p), Proved))

    def _leave_out(self, own: tuple[Predicate, ...], added: Sequence[Added]) -> None:
        """Notes what a case cannot serve, and nothing else would, as an assumption of all of the spec."""
        for each in added:
            for predicate in _without(self.signature, (*own, *each.left_out)):
                if _is_sayable(self.signature, predicate):
                    self.plan.where.append(Added(predicate, each.steps, each.left_out))

    def _case(self, base: Signature, own: tuple[Predicate, ...], like: Call, depth: int) -> list[Clause]:
        own = _in_numbers(base, own, ())[0]
        signature = _having(base, own)
        given = [constraint.predicate for constraint in signature.constraints]
        if (sizes := find_sizes(signature.variables, given)) is None:
            return []  # an earlier case has them all
        call = None if isinstance(sizes, Unknown) else self._drawn(signature, like)
        if call is None:
            return [_eager(own, "no example could be made")]
        if self._made >= MOST_CASES or depth >= DEEPEST:
            return [_eager(own, "one case more than are made")]
        self._made += 1
        found, _ = self._cure(signature, call, f"case {', '.join(map(write_predicate, own))}", pins=True)
        self._count(found)
        if (
            found.errors
            or found.statics
            or any(not _is_sayable(self.signature, each.predicate) for each in found.added)
        ):
            return [_eager(own, "it cannot be traced")]
        self.plan.steps += found.steps
        inner = [each for each in found.added if each.left_out and not each.demanded]
        clauses = self._clauses(signature, inner, own, call, depth + 1) if inner else []
        if not self.signature.alternatives:
            self._leave_out(own, [each for each in found.added if each.left_out and each.demanded])
        own, added = _in_numbers(base, own, found.added)
        stated = tuple(Constraint(each, text=write_predicate(each)) for each in own)
        alternative = Alternative("case", constraints=(*stated, *constraints(added)))
        return [*clauses, Clause(alternative, own, added)]


def _without(signature: Signature, sizes: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
    """Returns what holds of all sizes of a spec but these; empty where a spec cannot say that by comparisons."""
    if any(variable.variadic for variable in signature.variables):
        return ()
    stated = [constraint.predicate for constraint in signature.constraints]
    lost = sizes[0] if len(sizes) == 1 else And(sizes)
    for cure in cures(signature, lost):
        if not cure.holds and all(
            isinstance(implied_by(signature.variables, [*stated, Not(lost)], each), Proved) for each in cure.add
        ):
            return cure.add
    return ()


def _in_numbers(
    signature: Signature, own: tuple[Predicate, ...], added: tuple[Added, ...]
) -> tuple[tuple[Predicate, ...], tuple[Added, ...]]:
    """Returns a case with ``S == 1`` in place of ``S <= 1`` and of an assumption ``S >= 1``."""
    given = [constraint.predicate for constraint in signature.constraints]
    given += [*own, *(each.predicate for each in added)]
    said: dict[Predicate, None] = {}
    numbers: set[str] = set()
    for predicate in (*own, *(each.predicate for each in added)):
        names = set(free_vars(predicate))
        found = range_of(signature.variables, given, Var(next(iter(names)))) if len(names) == 1 else None
        if found is not None and found.low is not None and found.low == found.high:
            numbers |= names
            said[Compare(COMPARISONS["=="], Var(next(iter(names))), Const(found.low))] = None
        elif predicate in own:
            said[predicate] = None
    return tuple(said), tuple(each for each in added if not set(free_vars(each.predicate)) <= numbers)


def _eager(own: tuple[Predicate, ...], note: str) -> Clause:
    stated = tuple(Constraint(each, text=write_predicate(each)) for each in own)
    return Clause(Alternative("case", constraints=stated, mode=Mode.EAGER), own, note=note)


def _having(signature: Signature, own: Iterable[Predicate]) -> Signature:
    more = [Constraint(each, text=write_predicate(each)) for each in own]
    return replace(signature, constraints=(*signature.constraints, *more), alternatives=())


def _ample(signature: Signature) -> Iterator[Predicate]:
    """Yields that sizes are 2 or more, of those that can be: at 0 and 1 torch asks what it does not ask elsewhere."""
    given = [constraint.predicate for constraint in signature.constraints]
    for variable in _sizes(signature):
        domain = range_of(signature.variables, given, variable)
        if domain is not None and (domain.high is None or domain.high >= 2):
            yield Compare(COMPARISONS[">="], variable, Const(2))


def _alike(signature: Signature) -> Iterator[Predicate]:
    """Yields that sizes are equal, and a multiple of much: so is what programs need that do not take all sizes."""
    sizes = _sizes(signature)
    for variable in sizes:
        yield Compare(COMPARISONS["=="], variable, sizes[0])
    if sizes:
        yield Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (sizes[0], Const(MULTIPLE))), Const(0))


def _sizes(signature: Signature) -> list[Var]:
    return [Var(v.name) for v in signature.variables if v.kind is VariableKind.DIM and not v.variadic]


def _assuming(signature: Signature, added: Sequence[Added]) -> Signature:
    return replace(signature, constraints=(*signature.constraints, *constraints(added)))


def _is_sayable(signature: Signature, predicate: Predicate) -> bool:
    """Returns whether a spec can say ``predicate``: each of its sizes has a name."""
    plain = {variable.name for variable in signature.variables if not variable.variadic}
    return plain.issuperset(free_vars(predicate))


__all__ = ["Curing", "Draw"]
