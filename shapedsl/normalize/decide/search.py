"""Decide whether a spec implies a predicate: proved, refuted by a witness, or unknown.

The negation of the predicate is added to the constraints and refuted: first by ranges and residues
(`propagate`), then by splitting disjunctions and the Omega test (`linear`) over a relaxation in which
products are unknowns with a few true inequalities. What the relaxation refutes is refuted. A model
of it counts only if Python's own integers confirm it on the constraints as they were written.

It is modest: products of unbounded sizes often end in `Unknown`. It is never wrong, and its work is
counted, so the same question has the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf

from ...ir import (
    COMPARISONS,
    Apply,
    Compare,
    Const,
    Or,
    Predicate,
    Size,
    Var,
    Variable,
    VariableKind,
    Variadic,
)
from ...ir.walk import free_vars, holds, map_sizes, substitute
from ..algebra import TooLarge
from ..comparisons import FALSE
from ..components import components
from ..domains import Contradiction, Domains
from ..intervals import Bound
from ..predicates import predicate_key, simplify_predicate, split
from ..propagate import propagate
from .linear import Budget, OutOfBudget, solve
from .relaxation import Relaxation
from .verdict import Unknown

WORK = 40_000  # units of `linear.Budget`; about 50 ms
MOST_TRIALS = 24  # values that are tried for one variable of a product
MOST_DEPTH = 3  # variables that are tried inside each other


def find_sizes(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> Mapping[str, int] | Unknown | None:
    """Returns sizes that satisfy ``predicates``, None if there are none, or why neither was found.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try.
    """
    kinds = {variable.name: variable for variable in variables}
    sizes = dict.fromkeys(kinds, 0)  # of those that nothing speaks of
    unknown: Unknown | None = None
    budget = Budget(work)
    # what is asked comes last, and its part first: often nothing else matters
    for group in sorted(components(predicates), key=lambda group: -group[-1]):
        written = tuple(predicates[at] for at in group)
        names = sorted({name for predicate in written for name in free_vars(predicate)})
        known = tuple(kinds.get(name) or Variable(name, VariableKind.INT) for name in names)
        try:
            found = _Search(known, written, budget).run([simplify_predicate(each) for each in written], {}, 0)
        except OutOfBudget:
            return Unknown("it would take too long to decide")
        except _Undecided as undecided:
            unknown = Unknown(str(undecided))
            continue  # another part may have no sizes at all
        if found is None:
            return None
        sizes.update(found)
    return unknown or sizes


def sizes_or_core(
    variables: Iterable[Variable], predicates: Sequence[Predicate], *, work: int = WORK
) -> Mapping[str, int] | Unknown | tuple[int, ...]:
    """Returns sizes that satisfy ``predicates``, or which of them cannot hold together, or why neither was found.

    The indices ascend; they are those that the refutation used, which is rarely all and not always minimal.

    Args:
        variables: Their kinds count.
        predicates: Any predicates; where a divisor is 0 they do not hold.
        work: How hard to try.
    """
    found = find_sizes(variables, predicates, work=work)
    return tuple(range(len(predicates))) if found is None else found


class _Undecided(Exception):
    """One branch could be neither satisfied nor refuted."""


@dataclass(frozen=True, slots=True)
class _Search:
    """One question.

    Attributes:
        variables: All that the predicates speak of.
        written: The predicates as they were given; a witness is checked on these.
        budget: What is left of the work.
    """

    variables: tuple[Variable, ...]
    written: tuple[Predicate, ...]
    budget: Budget

    def run(self, predicates: Iterable[Predicate], fixed: Mapping[str, int], depth: int) -> dict[str, int] | None:
        """Returns a witness of canonical ``predicates``, or None if there is none.

        Raises:
            _Undecided, OutOfBudget: Neither was found.
        """
        flat = list(dict.fromkeys(part for each in predicates for part in split(each)))
        self.budget.spend(30 * len(flat) + 30)  # `propagate` costs about as much
        if FALSE in flat:
            return None
        open_variables = [v for v in self.variables if v.name not in fixed]
        try:
            domains = propagate(open_variables, flat)
        except Contradiction:
            return None
        choice = next(((at, each) for at, each in enumerate(flat) if _choices(each)), None)
        if choice is None:
            return self.leaf(flat, domains, fixed, depth)
        at, chosen = choice
        rest = [*flat[:at], *flat[at + 1 :]]
        undecided: _Undecided | None = None
        for branch in sorted(_choices(chosen), key=predicate_key):
            try:
                witness = self.run([*rest, branch], fixed, depth)
            except _Undecided as problem:
                undecided = problem
                continue
            if witness is not None:
                return witness
        if undecided is not None:
            raise undecided
        return None

    def leaf(
        self, predicates: Sequence[Predicate], domains: Domains, fixed: Mapping[str, int], depth: int
    ) -> dict[str, int] | None:
        """Like `run`, for predicates without a disjunction."""
        relaxation = Relaxation(domains, self.budget)
        try:
            for predicate in predicates:
                relaxation.add(predicate)
        except TooLarge as error:
            raise _Undecided("a size is too large to reason about") from error
        relaxation.add_domains()
        if relaxation.choices:  # min, max: which argument it is
            return self._leaf_by_choice(relaxation, predicates, fixed, depth)
        model = solve(relaxation.all_rows(), self.budget)
        if model is None:
            return None
        witness = self._confirmed(model, fixed)
        if witness is not None:
            return witness
        return self._by_trial(predicates, domains, relaxation, model, fixed, depth)

    def _leaf_by_choice(
        self, relaxation: Relaxation, predicates: Sequence[Predicate], fixed: Mapping[str, int], depth: int
    ) -> dict[str, int] | None:
        undecided = False
        for chosen in product(*relaxation.choices):
            rows = [*relaxation.all_rows(), *(row for rows in chosen for row in rows)]
            model = solve(rows, self.budget)
            if model is not None:
                witness = self._confirmed(model, fixed)
                if witness is not None:
                    return witness
                undecided = True
        if undecided:
            return self._by_trial(predicates, relaxation.domains, relaxation, {}, fixed, depth)
        return None

    def _confirmed(self, model: Mapping[str, int], fixed: Mapping[str, int]) -> dict[str, int] | None:
        """Returns ``model`` as sizes if Python's integers confirm it."""
        sizes = {v.name: fixed.get(v.name, model.get(v.name, 0)) for v in self.variables}
        if any(sizes[v.name] < 0 for v in self.variables if v.kind is not VariableKind.INT):
            return None
        try:  # a variadic is tried with one dim
            return sizes if all(holds(_of_one_dim(predicate), sizes) for predicate in self.written) else None
        except ZeroDivisionError:
            return None

    def _by_trial(
        self,
        predicates: Sequence[Predicate],
        domains: Domains,
        relaxation: Relaxation,
        model: Mapping[str, int],
        fixed: Mapping[str, int],
        depth: int,
    ) -> dict[str, int] | None:
        """Fixes a variable of a product; all of its values, if they are few."""
        names = sorted(relaxation.nonlinear, key=lambda name: _width(domains, name))
        if not names or depth >= MOST_DEPTH:
            raise _Undecided("sizes are multiplied or divided by each other")
        for name in names:
            domain = domains.domain(name)
            complete = _width(domains, name) < MOST_TRIALS
            if complete:
                values: Iterable[int] = range(int(domain.low), int(domain.high) + 1)
            else:
                wishes = [model.get(name, 0), domain.low, domain.high, 0, 1, 2, 3, 4, 6, 8, 16]
                values = dict.fromkeys(int(w) for w in wishes if domain.low <= w <= domain.high and abs(w) != inf)
            undecided = False
            for value in values:
                if domain.modulus > 1 and (value - domain.residue) % domain.modulus:
                    continue
                substituted = [simplify_predicate(substitute(each, {name: Const(value)})) for each in predicates]
                try:
                    witness = self.run(substituted, {**fixed, name: value}, depth + 1)
                except _Undecided:
                    undecided = True
                    continue
                if witness is not None:
                    return witness
            if complete and not undecided:
                return None
        raise _Undecided("sizes are multiplied or divided by each other")


def _of_one_dim(predicate: Predicate) -> Predicate:
    def single(size: Size) -> Size:
        match size:
            case Variadic(name=name):
                return Var(name)
            case Apply(args=args):
                return replace(size, args=tuple(map(single, args)))
            case _:
                return size

    return map_sizes(predicate, single)


def _width(domains: Domains, name: str) -> Bound:
    domain = domains.domain(name)
    return inf if inf in (domain.high, -domain.low) else domain.high - domain.low


def _choices(predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns the alternatives of a predicate, if it has several: an `or`, or `!=`."""
    match predicate:
        case Or(args=args):
            return args
        case Compare(op=op, left=left, right=right) if op.name == "!=":
            return (
                simplify_predicate(Compare(COMPARISONS["<"], left, right)),
                simplify_predicate(Compare(COMPARISONS[">"], left, right)),
            )
        case _:
            return ()
