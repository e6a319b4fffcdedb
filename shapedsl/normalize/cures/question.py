"""What is known while cures are looked for, and the questions they are put to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...ir import COMPARISONS, And, Apply, Compare, Const, Constraint, Not, Or, Predicate, Size, Variable, VariableKind
from ...ir.walk import free_vars, holds
from ..algebra import TooLarge, difference
from ..decide import Proved, Range, Refuted, Unknown, find_sizes, implied_by, range_of
from ..domains import Contradiction
from ..facts import stated_domains
from ..intervals import Box
from ..polynomial import terms_interval
from ..predicates import simplify_predicate
from ..predicates import split as conjuncts

WORK = 20_000  # of one question


@dataclass(slots=True)
class Question:
    """A spec, seen by those who look for cures.

    Attributes:
        variables: Their kinds count.
        stated: What holds.
        hints: Sizes that should stay possible.
    """

    variables: tuple[Variable, ...]
    stated: tuple[Predicate, ...]
    hints: Mapping[str, int]
    _implied: dict[tuple[Predicate, ...], bool | None] = field(
        default_factory=dict[tuple[Predicate, ...], "bool | None"]
    )

    def implied(self, predicate: Predicate, *given: Predicate) -> bool | None:
        """Returns whether the spec and ``given`` imply ``predicate``; None if that is not known."""
        key = (predicate, *given)
        if key not in self._implied:
            answer = implied_by(self.variables, [*self.stated, *given], predicate, work=WORK)
            self._implied[key] = True if isinstance(answer, Proved) else False if isinstance(answer, Refuted) else None
        return self._implied[key]

    def possible(self, *given: Predicate) -> bool:
        """Returns whether sizes of the spec satisfy ``given``; False where none were found."""
        sizes = [self.hints.get(each.name, 0) for each in self.variables if each.kind is not VariableKind.INT]
        if min(sizes, default=0) >= 0 and all(self.hint_satisfies(each) for each in (*self.stated, *given)):
            return True
        found = find_sizes(self.variables, [*self.stated, *given], work=WORK)
        return found is not None and not isinstance(found, Unknown)

    def range(self, size: Size, *given: Predicate) -> Range | None:
        """Returns what the values of ``size`` are in where ``given`` holds; None if there are none."""
        return range_of(self.variables, [*self.stated, *given], size, work=WORK)

    def shown_by_ranges(self, side: Predicate, add: Sequence[Predicate]) -> bool:
        """Returns whether the range of each variable, with ``add``, is enough to see that ``side`` holds.

        That is how torch concludes what it was not told in so many words.
        """
        try:
            constraints = [Constraint(each) for each in (*self.stated, *add)]
            box = stated_domains(self.variables, constraints).box
            return all(_is_shown(part, box) for part in conjuncts(simplify_predicate(side)))
        except (Contradiction, TooLarge):
            return False

    def hint_satisfies(self, predicate: Predicate) -> bool | None:
        """Returns whether the hints satisfy ``predicate``; None where they leave it open."""
        try:
            return holds(predicate, self.hints)
        except (KeyError, ZeroDivisionError, TypeError):
            return None

    def never_negative(self, size: Size) -> bool:
        """Returns whether ``size`` is proved to be no less than 0."""
        return self.implied(Compare(COMPARISONS[">="], size, Const(0))) is True


def _is_shown(predicate: Predicate, box: Box) -> bool:
    if not isinstance(predicate, Compare):
        return False
    values = terms_interval(difference(predicate.left, predicate.right, box), box)
    match predicate.op.name:
        case "==":
            return values.low == values.high == 0
        case "!=":
            return values.low > 0 or values.high < 0
        case "<=":
            return values.high <= 0
        case "<":
            return values.high < 0
        case ">=":
            return values.low >= 0
        case _:
            return values.low > 0


def constants(predicate: Predicate) -> set[int]:
    """Returns the numbers that ``predicate`` speaks of."""
    found: set[int] = set()
    pending: list[Predicate | Size] = [predicate]
    while pending:
        match pending.pop():
            case Const(value=value):
                found.add(value)
            case Apply(args=args) | And(args=args) | Or(args=args):
                pending += args
            case Compare(left=left, right=right):
                pending += (left, right)
            case Not(arg=arg):
                pending.append(arg)
            case _:
                pass
    return found


def satisfied(predicate: Predicate, sizes: Mapping[str, int]) -> bool | None:
    """Returns whether ``sizes`` satisfy ``predicate``; None where a divisor is 0."""
    try:
        return holds(predicate, sizes)
    except ZeroDivisionError:
        return None


def compare(left: Size, op: str, right: Size | int) -> Compare:
    """Returns a comparison."""
    return Compare(COMPARISONS[op], left, Const(right) if isinstance(right, int) else right)


def names(predicate: Predicate | Size) -> list[str]:
    """Returns the variables of ``predicate``, each once, by name."""
    return sorted(set(free_vars(predicate)))


def conjunction(parts: Sequence[Predicate]) -> Predicate:
    """Returns that all of ``parts`` hold."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


__all__ = ["Question", "compare", "conjunction", "constants", "names", "satisfied"]
