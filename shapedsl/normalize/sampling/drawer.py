"""Find sizes that satisfy predicates, with wishes about their values: propagate, choose a value, propagate, and so on.

Each choice is made within what propagation leaves, so that few choices fail; where all do, the search of
`decide` is asked. Whatever is found was confirmed by Python's own integers on the predicates as they were
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import inf
from random import Random
from typing import Final, TypeAlias

from ...ir import COMPARISONS, Compare, Const, Predicate, Var, Variable, VariableKind
from ...ir.structure import INT64_MAX, INT64_MIN
from ...ir.walk import free_vars, holds, substitute
from ..decide import WORK, Unknown, find_sizes, smallest_sizes
from ..decide.box import Box
from ..decide.budget import Budget, TooHard
from ..decide.clash import Clash
from ..decide.translate import translate
from ..domains import Domain
from ..lowerable.fit import fitting

Sizes: TypeAlias = Mapping[str, int]
Wish: TypeAlias = Callable[[str, Domain], Iterable[int]]  # values to try for a variable, within its domain

LITTLE: Final = WORK // 20  # for one question among many
FAR: Final = 2**48  # an end beyond it is none
USUAL: Final = (3, 5, 2, 7, 4, 6)
MOST_VALUES: Final = 4  # that are tried for one variable before its choice is given up
MOST_PAIRS: Final = 66  # of variables that are moved together


class Drawer:
    """Draws sizes that satisfy predicates.

    Attributes:
        names: The variables, sorted.
        predicates: What holds.
        largest: How far above its least value a size without an upper end is drawn.
    """

    def __init__(self, variables: Iterable[Variable], predicates: Sequence[Predicate], largest: int) -> None:
        self.variables = tuple(sorted(variables, key=lambda variable: variable.name))
        known = {variable.name: variable for variable in self.variables}
        loose = sorted({name for each in predicates for name in free_vars(each)} - known.keys())
        self.variables += tuple(Variable(name, VariableKind.INT) for name in loose)
        self.names = [variable.name for variable in self.variables]
        self.kinds = {variable.name: variable.kind for variable in self.variables}
        self.predicates = tuple(dict.fromkeys(predicates))
        self.largest = largest
        self._hints = {v.name: v.hint for v in self.variables if v.hint is not None}
        self._box = Box(Budget(WORK))
        self._empty = False
        self._assume_all()

    def _assume_all(self) -> None:
        box = self._box
        try:
            for variable in self.variables:
                if variable.kind is not VariableKind.INT:
                    box.raise_low((variable.name,), 0, 0)
            for predicate in self.predicates:
                translation = translate(predicate)
                for formula in (translation.formula, *translation.definitions.values()):
                    box.assume(formula, 0)
            box.propagate()
        except Clash:
            self._empty = True
        except TooHard:
            box.moved.clear()
            box.queue.clear()

    # ------------------------------------------------------------------------------------- questions

    def hints(self) -> dict[str, int]:
        """Returns the hints of the variables, each moved to the nearest size that may occur, as lowering does."""
        return {name: self._fit(name, value, self.predicates) for name, value in self._hints.items()}

    def confirmed(self, sizes: Sizes, extra: Sequence[Predicate] = ()) -> bool:
        """Returns whether Python's integers say that ``sizes`` satisfy everything."""
        for name in self.names:
            low = INT64_MIN if self.kinds[name] is VariableKind.INT else 0
            if not low <= sizes[name] <= INT64_MAX:
                return False
        try:
            return all(holds(predicate, sizes) for predicate in (*self.predicates, *extra))
        except ZeroDivisionError:
            return False

    def solve(
        self, extra: Sequence[Predicate] = (), *, work: int = WORK, wish: Wish | None = None
    ) -> Sizes | Unknown | None:
        """Returns sizes that satisfy ``extra`` as well, None if there are none, or why neither was found."""
        if self._empty:
            return None
        mark = self._box.mark()
        self._box.budget.left = work
        try:
            self._assume(extra)
            found = self._descend(self.names, wish or lowest, extra)
            if found is not None:
                return found
        except Clash:
            return None
        except TooHard:
            pass
        finally:
            self._box.undo(mark)
        answer = find_sizes(self.variables, [*self.predicates, *extra], work=work)
        if isinstance(answer, Mapping):
            sizes = {name: answer.get(name, 0) for name in self.names}
            return sizes if self.confirmed(sizes, extra) else Unknown("the sizes that were found are too large")
        return answer

    def wished(self, wishes: Sizes, *, smallest: bool) -> Sizes | Unknown | None:
        """Returns sizes that grant as many of ``wishes`` as fit together, beside them the smallest.

        Args:
            wishes: Values of variables; names that are none are ignored.
            smallest: Whether what is not wished for is made small. Else as few wishes as possible are refused, and
                those by as little as possible.
        """
        mine = {name: value for name, value in wishes.items() if name in self.kinds}
        pins = [_equal(name, value) for name, value in mine.items()]
        found = self.solve(pins)
        if not isinstance(found, Mapping):
            base = self.solve() if mine else found
            if not isinstance(base, Mapping):
                return base
            if not smallest:
                return self._near(mine) or base
            pins, found = self._fitting(mine, base)
        if not smallest:
            return found
        return smallest_sizes(self.variables, [*self.predicates, *pins], found)

    def usual(self, name: str, domain: Domain) -> Iterator[int]:
        """Wishes for the hint, else for a small size that no other variable wishes for, and that is not 0 or 1."""
        wish = self._hints.get(name, USUAL[self.names.index(name) % len(USUAL)])
        value = fitting(wish, domain, name)
        yield value
        yield from (value - domain.modulus, value + domain.modulus)
        yield start_of(domain)

    def random(self, rng: Random, tries: int) -> Sizes | None:
        """Returns random sizes, or None if ``tries`` attempts find none."""
        if self._empty:
            return None

        def wish(name: str, domain: Domain) -> Iterator[int]:
            while True:
                yield self._draw(name, domain, rng)

        order = list(self.names)
        for _ in range(tries):
            rng.shuffle(order)
            found = self.descend(order, wish)
            if found is not None:
                return found
        return None

    def chosen(self, between: Callable[[int, int], int], accept: Callable[[Sizes], bool]) -> Sizes | None:
        """Returns sizes that ``between`` chooses, one after the other, from what is left of each; None if there are none.

        A choice that excludes everything is replaced by one that does not, so none is in vain.

        Args:
            between: Returns a number between two, both included; the lower ones mean smaller sizes.
            accept: What else has to hold; if the smallest sizes are not accepted, nothing is held to it.
        """
        model = self.solve()
        if not isinstance(model, Mapping):
            return None
        pins: list[Predicate] = []
        mark = self._box.mark()
        try:
            for name in self.names:
                domain = self._domain(name)
                least, step = start_of(domain), domain.modulus
                steps = self.largest if domain.high == inf else max(0, (int(domain.high) - least) // step)
                reach = min(steps, self.largest + 1)  # one more stands for the upper end
                number = between(0, reach) if reach else 0
                value = least + (steps if number > self.largest else number) * step
                if value != model[name]:
                    trial = self.solve([*pins, _equal(name, value)], work=LITTLE)
                    if isinstance(trial, Mapping) and (accept(trial) or not accept(model)):
                        model = trial
                pins.append(_equal(name, model[name]))
                self._narrow(name, model[name])
        finally:
            self._box.undo(mark)
        return model

    def _narrow(self, name: str, value: int) -> None:
        """Assumes a value that is known to be possible, for as long as there is work left to draw conclusions."""
        self._box.budget.left = LITTLE
        try:
            self._box.raise_low((name,), value, 0)
            self._box.lower_high((name,), value, 0)
            self._box.propagate()
        except (Clash, TooHard):  # what is drawn is confirmed in any case
            self._box.moved.clear()
            self._box.queue.clear()

    def mutated(self, sizes: Sizes, rng: Random) -> Sizes | None:
        """Returns sizes that share some with ``sizes``, found by search; or None."""
        names = [name for name in self.names if rng.random() < 0.5]
        pins: list[Predicate] = [_equal(name, sizes[name]) for name in names]
        others = [name for name in self.names if name not in names]
        if others:
            name = rng.choice(others)
            pins.append(_equal(name, self._draw(name, self._domain(name), rng)))
        found = self.solve(pins, work=LITTLE)
        return found if isinstance(found, Mapping) else None

    def descend(self, order: Sequence[str], wish: Wish, extra: Sequence[Predicate] = ()) -> Sizes | None:
        """Returns sizes with values that ``wish`` proposes, chosen in ``order``; None where the choices end nowhere."""
        if self._empty:
            return None
        mark = self._box.mark()
        self._box.budget.left = LITTLE
        try:
            self._assume(extra)
            return self._descend(order, wish, extra)
        except (Clash, TooHard):
            return None
        finally:
            self._box.undo(mark)

    # ----------------------------------------------------------------------------------------- parts

    def _assume(self, extra: Sequence[Predicate]) -> None:
        for predicate in extra:
            translation = translate(predicate)
            for formula in (translation.formula, *translation.definitions.values()):
                self._box.assume(formula, 0)
        self._box.propagate()

    def _descend(self, order: Sequence[str], wish: Wish, extra: Sequence[Predicate]) -> Sizes | None:
        """Like `descend`; leaves the box for the caller to undo.

        Raises:
            TooHard: There is no work left.
        """
        box = self._box
        sizes: dict[str, int] = {}
        for name in order:
            tried: set[int] = set()
            for value, _ in zip(wish(name, self._domain(name)), range(MOST_VALUES), strict=False):
                if value in tried:
                    continue
                tried.add(value)
                mark = box.mark()
                try:
                    box.raise_low((name,), value, 0)
                    box.lower_high((name,), value, 0)
                    box.propagate()
                except Clash:
                    box.undo(mark)
                    continue
                sizes[name] = value
                break
            else:
                return None
        return {name: sizes[name] for name in self.names} if self.confirmed(sizes, extra) else None

    def _domain(self, name: str) -> Domain:
        column = (name,)
        low, high = self._box.lows.get(column), self._box.highs.get(column)
        modulus, residue, _ = self._box.residues.get(column, (1, 0, 0))
        return Domain(
            -inf if low is None or low[0] < -FAR else low[0],
            inf if high is None or high[0] > FAR else high[0],
            modulus,
            residue,
        )

    def _draw(self, name: str, domain: Domain, rng: Random) -> int:
        """Returns a random member of ``domain``: often a small one, sometimes an end."""
        least = start_of(domain)
        step = domain.modulus
        hint = self._hints.get(name, 0)
        reach = max(self.largest, (2 * hint - least) // step)
        if domain.high < inf:
            ends = (int(domain.high) - least) // step
            if rng.random() < 0.15:
                return least + ends * step
            reach = min(reach, ends)
        if rng.random() < 0.5:
            return least + rng.randint(0, max(reach, 0)) * step
        return least + (int((reach + 1) ** rng.random()) - 1) * step

    def _fit(self, name: str, value: int, predicates: Iterable[Predicate]) -> int:
        alone = [each for each in predicates if set(free_vars(each)) == {name}]
        return fitting(value, self._domain(name), name, alone)

    def _fitting(self, wishes: Sizes, base: Sizes) -> tuple[list[Predicate], Sizes]:
        """Returns wishes that fit together, granted one after the other, and sizes that grant them."""
        pins: list[Predicate] = []
        found = base
        for name, value in wishes.items():
            trial = self.solve([*pins, _equal(name, value)])
            if isinstance(trial, Mapping):
                pins.append(_equal(name, value))
                found = trial
        return pins, found

    def _near(self, wishes: Sizes) -> Sizes | None:
        """Returns sizes that refuse one of ``wishes``, or two, or else as few as come to light."""
        moved: list[Sizes] = []
        for name in wishes:
            others = {other: value for other, value in wishes.items() if other != name}
            rest = [substitute(predicate, {n: Const(v) for n, v in others.items()}) for predicate in self.predicates]
            mark = self._box.mark()
            self._box.budget.left = LITTLE
            try:
                self._assume([_equal(other, value) for other, value in others.items()])
                value = fitting(
                    wishes[name], self._domain(name), name, [p for p in rest if set(free_vars(p)) == {name}]
                )
            except (Clash, TooHard):
                continue
            finally:
                self._box.undo(mark)
            found = self.solve([_equal(n, v) for n, v in {**others, name: value}.items()], work=LITTLE)
            if isinstance(found, Mapping):
                moved.append(found)
        if not moved:
            wish = _nearest_to(wishes)
            for pair in list(combinations(wishes, 2))[:MOST_PAIRS]:
                pins = [_equal(name, value) for name, value in wishes.items() if name not in pair]
                for order in (pair, pair[::-1]):
                    found = self.descend([*order, *(n for n in self.names if n not in pair)], wish, pins)
                    if found is not None:
                        moved.append(found)
        if not moved:
            for names in (self.names, self.names[::-1]):
                found = self.descend(names, _nearest_to(wishes))
                if found is not None:
                    moved.append(found)
        return min(moved, key=lambda sizes: _distance(sizes, wishes), default=None)


def lowest(name: str, domain: Domain) -> Iterator[int]:
    """Wishes for the least values."""
    del name
    least = start_of(domain)
    for step in range(MOST_VALUES):
        value = least + step * domain.modulus
        if value <= domain.high:
            yield value


def start_of(domain: Domain) -> int:
    """Returns the least member, or where there is none, one near 0."""
    if domain.low > -inf:
        low = int(domain.low)
    else:
        low = int(min(0, domain.high)) - (domain.modulus if domain.high <= 0 else 0)
    return low + (domain.residue - low) % domain.modulus


def _equal(name: str, value: int) -> Predicate:
    return Compare(COMPARISONS["=="], Var(name), Const(value))


def _nearest_to(wishes: Sizes) -> Wish:
    def wish(name: str, domain: Domain) -> Iterator[int]:
        if name not in wishes:
            yield from lowest(name, domain)
            return
        value = fitting(wishes[name], domain, name)
        yield value
        for step in (1, 2):
            for other in (value - step * domain.modulus, value + step * domain.modulus):
                if domain.low <= other <= domain.high:
                    yield other

    return wish


def _distance(sizes: Sizes, wishes: Sizes) -> tuple[int, float, tuple[int, ...]]:
    """Returns how far ``sizes`` are from ``wishes``: how many differ, then by what share."""
    differ = [name for name, value in wishes.items() if sizes[name] != value]
    share = sum(abs(sizes[name] - wishes[name]) / max(1, abs(wishes[name])) for name in differ)
    return len(differ), share, tuple(sizes[name] for name in sorted(sizes))


__all__ = ["FAR", "LITTLE", "Drawer", "Sizes", "Wish", "lowest", "start_of"]
