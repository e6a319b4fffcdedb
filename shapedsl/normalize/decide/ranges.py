"""Find the tightest range and residue of a size that can be proved.

Before::

    D == 2 * B + 1, B in [1, 64]

After::

    D in [3, 129], D % 2 == 1

The ends that propagation finds are asked for first: mostly some sizes attain them. Where none do, the
end is searched by halving between it and a value that is attained; where propagation finds no end, by
doubling the distance first. The residue is what all known values have in common, until the engine
finds no value beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, inf

from ...ir import COMPARISONS, OPERATORS, Apply, Compare, Const, Predicate, Size, Var, Variable, VariableKind
from ...ir.walk import evaluate, free_vars
from .asking import sizes_or_core
from .box import Box
from .budget import Budget, TooHard
from .clash import Clash
from .cores import minimal_core
from .search import WORK
from .single import size_of_one_dim
from .translate import translate
from .verdict import Range, Unknown

FAR = 2**48  # an end beyond it that nobody declared is the end of int64, seen through an operator
ITSELF = "~size"  # no variable is called so
MOST_TIMES = 4  # the work for one question that all of them together may take
MOST_DIVISORS = 6  # of a residue's modulus that are tried where the engine does not know


def range_of(
    variables: Iterable[Variable], given: Sequence[Predicate], size: Size, *, work: int = WORK, cores: bool = False
) -> Range | None:
    """Returns what ``size`` can be, or None if nothing satisfies ``given``.

    Args:
        variables: Their kinds count.
        given: What may be assumed.
        size: Over the variables.
        work: How hard to try, for each question.
        cores: Whether `Range.low_core`, `Range.high_core` and `Range.residue_core` are wanted.
    """
    question = _Question(tuple(variables), given, size, work, work * MOST_TIMES)
    try:
        low, high, modulus, residue = question.propagated()
    except Clash:
        return None
    if not question.possible():
        return None
    lowest, low_exact = question.end(-1, low)
    highest, high_exact = question.end(1, high)
    modulus, residue = question.residue(modulus, residue)
    if modulus == 0:
        found = Range(residue, residue, 0, residue, exact=bool(question.values))
    else:  # an end that no size was found to attain is at least on the residue
        lowest = None if lowest is None else lowest + (residue - lowest) % modulus
        highest = None if highest is None else highest - (highest - residue) % modulus
        found = Range(lowest, highest, modulus, residue, low_exact and high_exact)
    return question.with_cores(found) if cores else found


@dataclass(slots=True)
class _Question:
    """One size.

    Attributes:
        variables: Their kinds count.
        given: What may be assumed.
        size: What is asked about.
        work: How hard to try, for one question.
        left: What may still be used for all of them.
        values: What ``size`` was found to attain.
    """

    variables: tuple[Variable, ...]
    given: Sequence[Predicate]
    size: Size
    work: int
    left: int
    values: set[int] = field(default_factory=set[int])

    def propagated(self) -> tuple[int | None, int | None, int, int]:
        """Returns the lowest and the highest value, a modulus and the residue that propagation proves.

        Raises:
            Clash: Nothing satisfies ``given``.
        """
        box = Box(Budget(self.work))
        column = (ITSELF,)
        named = Compare(COMPARISONS["=="], Var(ITSELF), self.size)
        try:
            for variable in self.variables:
                if variable.kind is not VariableKind.INT:
                    box.raise_low((variable.name,), 0, 0)
            for predicate in (*self.given, named):
                translation = translate(predicate)
                for formula in (translation.formula, *translation.definitions.values()):
                    box.assume(formula, 0)
            box.propagate()
        except TooHard:
            return None, None, 1, 0
        low, high = box.lows.get(column), box.highs.get(column)
        modulus, residue, _ = box.residues.get(column, (1, 0, 0))
        if low is not None and high is not None and low[0] == high[0]:
            modulus, residue = 0, low[0]
        return None if low is None else low[0], None if high is None else high[0], modulus, residue

    def possible(self) -> bool:
        """Looks for a first value; returns whether there may be one."""
        if self.ask() is False:
            return False
        if self.values:
            return True
        # nothing was found, or sizes that divide by 0
        return self.asks(">=", 0) is not False or self.asks("<", 0) is not False

    def asks(self, op: str, value: int) -> bool | None:
        """Returns whether ``size`` can compare so with ``value``; see `ask`."""
        return self.ask(Compare(COMPARISONS[op], self.size, Const(value)))

    def ask(self, *extra: Predicate) -> bool | None:
        """Returns whether ``size`` has a value where ``extra`` holds too, and keeps it; None if that is not known."""
        allowance = min(self.work, self.left)
        if allowance <= 0:
            return None
        spending = Budget(allowance)
        found = sizes_or_core(self.variables, [*self.given, *extra], work=spending)
        self.left -= allowance - spending.left
        if isinstance(found, tuple):
            return False
        if isinstance(found, Unknown):
            return None
        try:
            free = dict.fromkeys(free_vars(self.size), 0)  # that nothing speaks of
            self.values.add(evaluate(size_of_one_dim(self.size), {**free, **found}))
        except ZeroDivisionError:
            return None
        return True

    # ------------------------------------------------------------------------------------- ends

    def end(self, sign: int, bound: int | None) -> tuple[int | None, bool]:
        """Returns the highest value (``sign`` -1: the lowest), and whether there is nothing tighter.

        None if no end is found.

        Args:
            sign: 1 or -1. Everything below is said of ``sign * size``, of which the highest is wanted.
            bound: A proved end of ``size``, or None.
        """
        top = self.found_bound(sign) if bound is None else sign * bound
        if top is None:
            return None, self.best(sign) >= FAR
        at_most, probe = top, top  # at_most: no value beyond it; the engine does not know about some up to it
        undecided: float = -inf
        while self.values and max(self.best(sign), undecided) < at_most:
            answer = self.reaches(sign, probe)
            if answer is False:
                at_most = probe - 1
            elif answer is None:
                undecided = probe
            probe = at_most if probe == at_most else (int(max(self.best(sign), undecided)) + at_most + 1) // 2
        return sign * at_most, self.best(sign) == at_most

    def best(self, sign: int) -> float:
        """Returns the highest value that is known to be attained."""
        return max((sign * value for value in self.values), default=-inf)

    def reaches(self, sign: int, value: int) -> bool | None:
        """Returns whether ``sign * size`` can be ``value`` or more."""
        return self.asks(">=" if sign > 0 else "<=", sign * value)

    def found_bound(self, sign: int) -> int | None:
        """Returns a value that ``sign * size`` is proved not to exceed, or None: by doubling the distance."""
        if not self.values or self.best(sign) >= FAR or self.reaches(sign, FAR) is not False:
            return None
        distance = 1
        while self.best(sign) + distance < FAR:
            probe = int(self.best(sign)) + distance
            if self.reaches(sign, probe) is False:
                return probe - 1
            distance *= 4
        return FAR - 1

    # ---------------------------------------------------------------------------------- residue

    def residue(self, modulus: int, residue: int) -> tuple[int, int]:
        """Returns the largest modulus that divides all differences of two values, and the residue; 0 for one value.

        Args:
            modulus, residue: Proved.
        """
        if modulus == 0 or not self.values:
            return modulus, residue
        value = min(self.values)
        wanted = gcd(*(other - value for other in self.values))
        tries = MOST_DIVISORS
        while wanted != modulus and tries:
            beside = self.asks("!=", value) if wanted == 0 else self.ask(_beside(self.size, wanted, value))
            if beside is False:
                return wanted, value % wanted if wanted else value
            if beside is None:
                tries -= 1
                wanted = _smaller_multiple(wanted, modulus)
            wanted = gcd(wanted, *(other - value for other in self.values))
        return modulus, residue

    # ------------------------------------------------------------------------------------ cores

    def with_cores(self, found: Range) -> Range:
        """Returns ``found`` with the constraints that it comes from."""
        low, high, beside = None, None, None
        if found.low is not None:
            low = Compare(COMPARISONS["<"], self.size, Const(found.low))
        if found.high is not None:
            high = Compare(COMPARISONS[">"], self.size, Const(found.high))
        if found.modulus > 1:
            beside = _beside(self.size, found.modulus, found.residue)
        elif found.modulus == 0:
            beside = Compare(COMPARISONS["!="], self.size, Const(found.residue))
        return replace(found, low_core=self.core(low), high_core=self.core(high), residue_core=self.core(beside))

    def core(self, impossible: Predicate | None) -> tuple[int, ...]:
        """Returns which of ``given`` exclude ``impossible``; all of them if that is not found."""
        if impossible is None:
            return ()
        core = minimal_core(self.variables, [*self.given, impossible], work=self.work)
        return tuple(at for at in core if at < len(self.given)) if core else tuple(range(len(self.given)))


def _beside(size: Size, modulus: int, residue: int) -> Predicate:
    """Returns that ``size`` has another residue."""
    return Compare(COMPARISONS["!="], Apply(OPERATORS["%"], (size, Const(modulus))), Const(residue % modulus))


def _smaller_multiple(wanted: int, modulus: int) -> int:
    """Returns ``wanted`` divided by its smallest factor such that it is still a multiple of ``modulus``."""
    if wanted == 0:
        return modulus
    factor = next((f for f in range(2, 64) if wanted // modulus % f == 0), wanted // modulus)
    return wanted // factor
