"""Look around sizes that are refused for accepted ones: the smallest change in total, and whether that is certain.

Before::

    dims B and S, which are 40 and 50
    B < 32, S % 64 == 0

After::

    B = 31, S = 64: 23 in total, and nothing is closer

Variables that an equality defines are replaced; what constraints do not tie together is looked at apart. Each variable
starts at the value at which its dims change least. Alone, it is then moved to where its constraints end, and by one
period of their remainders; that settles most. Several at once are tried in shells of growing distance, until
nothing closer can be left or the work is done. Each candidate is one call of a generated function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import lcm
from typing import Final

from ..ir import Compare, Const, Predicate, Size, Var
from ..ir.structure import INT64_MAX, INT64_MIN
from ..ir.walk import evaluate, free_vars, holds, nodes, substitute, substitute_size
from .code import Code
from .ends import shape_of, value_of
from .linear import linear

REACH: Final = 2048  # how far one variable is moved where its constraints do not say where they end
WORK: Final = 6000  # candidates of several variables at once, and of one
MOST_TERMS: Final = 200_000  # tests and sizes that all candidates of a group may have together
MOST_TOGETHER: Final = 4
MOST_ENDS: Final = 256
MOST_ASKED: Final = 64  # values of a variable that its sizes ask for
MOST_NODES: Final = 1000  # that putting one definition in place may add


@dataclass(frozen=True, slots=True)
class Wanted:
    """One size of the call.

    Attributes:
        size: What it must be.
        actual: What it is.
        scalar: Whether it may be negative.
    """

    size: Size
    actual: int
    scalar: bool


@dataclass(frozen=True, slots=True)
class Found:
    """Sizes by variable, and whether every closer choice was ruled out."""

    sizes: dict[str, int]
    proved: bool


def around(wanted: Sequence[Wanted], predicates: Sequence[Predicate], read: Mapping[str, int]) -> Found | None:
    """Returns the accepted sizes that change those of the call least, as far as they are found.

    Args:
        wanted: The sizes of the call.
        predicates: What must hold beside them; a variable is an integer.
        read: What was read off the call, by variable; some may be missing.
    """
    definitions, wanted, predicates = _without_definitions(wanted, predicates)
    names = dict.fromkeys(name for each in wanted for name in free_vars(each.size))
    names.update(dict.fromkeys(name for predicate in predicates for name in free_vars(predicate)))
    base = {name: read.get(name, 0) for name in names}
    _agree(base, wanted)
    proved = True
    for part in _parts(list(names), wanted, predicates):
        if _fits(*part[1:], base):
            proved = proved and _is_separable(part[1])
            continue
        found = _Part(*part, base).run()
        if found is None:
            return None
        base.update(found.sizes)
        proved = proved and found.proved
    for name, size in reversed(definitions):
        try:
            base[name] = evaluate(size, base)
        except ZeroDivisionError:
            return None
    return Found(base, proved)


def _without_definitions(
    wanted: Sequence[Wanted], predicates: Sequence[Predicate]
) -> tuple[list[tuple[str, Size]], list[Wanted], list[Predicate]]:
    """Returns the variables that equalities define, the last one first to be computed, and the rest without them."""
    definitions: list[tuple[str, Size]] = []
    wanted, rest = list(wanted), list(predicates)
    while (found := next((pair for each in rest for pair in _defined_by(each)), None)) is not None:
        name, size = found
        uses = sum(used == name for node in (*rest, *(w.size for w in wanted)) for used in free_vars(node))
        if uses * sum(1 for _ in nodes(size)) > MOST_NODES:
            break
        definitions.append(found)
        rest = [substitute(each, {name: size}) for each in rest]
        rest = [
            each
            for each in rest
            if not (isinstance(each, Compare) and each.op.name == "==" and each.left == each.right)
        ]
        wanted = [Wanted(substitute_size(w.size, {name: size}), w.actual, w.scalar) for w in wanted]
    return definitions, wanted, rest


def _defined_by(predicate: Predicate) -> Iterator[tuple[str, Size]]:
    if isinstance(predicate, Compare) and predicate.op.name == "==":
        for side, other in ((predicate.left, predicate.right), (predicate.right, predicate.left)):
            if isinstance(side, Var) and side.name not in set(free_vars(other)):
                yield side.name, other


def _agree(base: dict[str, int], wanted: Sequence[Wanted]) -> None:
    """Gives each variable the value at which the sizes that it is in change least, the other variables kept."""
    used = _uses(wanted)
    for _ in range(2):
        for name in base:
            mine = used.get(name, [])
            values = dict.fromkeys([base[name], *(value for each in mine for value in _asked(name, each, base))])
            if len(values) > 1:
                changes = {value: _change(mine, {**base, name: value}) for value in list(values)[:MOST_ASKED]}
                base[name] = min(changes, key=changes.__getitem__)


def _uses(wanted: Sequence[Wanted]) -> dict[str, list[Wanted]]:
    """Returns for each variable the sizes that it is in."""
    used: dict[str, list[Wanted]] = {}
    for each in wanted:
        for name in dict.fromkeys(free_vars(each.size)):
            used.setdefault(name, []).append(each)
    return used


def _asked(name: str, wanted: Wanted, base: Mapping[str, int]) -> Iterator[int]:
    """Yields the values of a variable at which one size need not change, or as little as can be."""
    coefficient = linear(wanted.size, name)
    if not coefficient:
        return
    try:
        rest = evaluate(substitute_size(wanted.size, {name: Const(0)}), base)
    except ZeroDivisionError:
        return
    value, remainder = divmod(wanted.actual - rest, coefficient)
    yield value
    if remainder:
        yield value + 1


def _change(wanted: Sequence[Wanted], sizes: Mapping[str, int]) -> int:
    try:
        return sum(abs(evaluate(each.size, sizes) - each.actual) for each in wanted)
    except ZeroDivisionError:
        return INT64_MAX


def _parts(
    names: Sequence[str], wanted: Sequence[Wanted], predicates: Sequence[Predicate]
) -> Iterator[tuple[list[str], list[Wanted], list[Predicate]]]:
    """Yields the variables in groups that nothing ties together, each with what is about it."""
    leader = {name: name for name in names}

    def first(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    tied = [(list(dict.fromkeys(free_vars(each.size))), each) for each in wanted]
    bound = [(list(dict.fromkeys(free_vars(each))), each) for each in predicates]
    for together in [used for used, _ in tied] + [used for used, _ in bound]:
        for name in together[1:]:
            leader[first(name)] = first(together[0])
    groups: dict[str, tuple[list[str], list[Wanted], list[Predicate]]] = {}
    for name in names:
        groups.setdefault(first(name), ([], [], []))[0].append(name)
    nobody = ""  # what depends on no variable
    for used, each in tied:
        groups.setdefault(first(used[0]) if used else nobody, ([], [], []))[1].append(each)
    for used, predicate in bound:
        groups.setdefault(first(used[0]) if used else nobody, ([], [], []))[2].append(predicate)
    yield from groups.values()


class _Part:
    """The search in one group of variables."""

    def __init__(
        self, names: list[str], wanted: Sequence[Wanted], predicates: Sequence[Predicate], base: Mapping[str, int]
    ) -> None:
        self.names = names
        self.wanted = wanted
        self.predicates = predicates
        self.base = [base[name] for name in names]
        self._exact_price = self._price()
        self.left = MOST_TERMS // (len(wanted) + len(predicates) + 1)
        self.least = _change(self.wanted, dict(zip(names, self.base, strict=True)))

    def price(self, *values: int) -> int | None:
        """Returns the total change to ``values``, or None where they are refused, or the work is done."""
        self.left -= 1
        return None if self.left < 0 else self._exact_price(*values)

    def run(self) -> Found | None:
        """Returns the accepted values of the group that were found."""
        cost = self.price(*self.base)
        if cost is not None:
            return self._found(self.base, cost, complete=False)
        best, alone = self._alone()
        limit = None if best is None else self.price(*best)
        if best is not None and limit is not None and len(self.names) == 1:
            return self._found(best, limit, complete=alone)
        closer, complete = self._shells(limit)
        self.left = max(self.left, WORK)
        best = closer or best or self._repaired()
        cost = None if best is None else self.price(*best)
        return None if best is None or cost is None else self._found(best, cost, complete=complete)

    def _found(self, values: Sequence[int], cost: int, *, complete: bool) -> Found:
        """Returns ``values``, or what is better beside them; ``complete``: all was tried that may cost less if it is `_steep`."""
        if _is_separable(self.wanted):  # then nothing costs less than the start
            proved = cost == self.least or (self._is_steep() and (complete or cost == self.least + 1))
        else:
            proved = cost <= 1
        if not proved:
            values, cost = self._descended(values, cost)
        return Found(dict(zip(self.names, values, strict=True)), proved)

    def _descended(self, values: Sequence[int], cost: int) -> tuple[list[int], int]:
        """Returns where single steps lead that each cost less than the one before."""
        best, tried = list(values), 0
        for step in (64, 8, 1):
            at, idle = 0, 0
            while idle < 2 * len(best) and tried < WORK:
                moved = list(best)
                moved[at // 2 % len(best)] += step if at % 2 else -step
                price, tried = self.price(*moved), tried + 1
                if price is not None and price < cost:
                    best, cost, idle = moved, price, 0
                else:
                    at, idle = at + 1, idle + 1
        return best, cost

    def _price(self) -> Callable[..., int | None]:
        """Returns the generated function of all values: the total change, or None where they are refused."""
        code = Code(())
        known = {name: code.local(name) for name in self.names}
        tests = [code.predicate(predicate, known) for predicate in self.predicates]
        changes: list[str] = []
        for each in self.wanted:
            size = code.size(each.size, known)
            tests.append(f"{INT64_MIN if each.scalar else 0} <= {size} <= {INT64_MAX}")
            changes.append(f"abs({size} - {each.actual})")
        lines = [
            "try:",
            f"    if not ({' and '.join(tests) or 'True'}): return None",
            f"    return {' + '.join(changes) or '0'}",
            f"except {code.use(ArithmeticError, 'ArithmeticError')}: return None",
        ]
        return code.function(f"{code.prefix}f({', '.join(known.values())})", lines, "price")

    def _is_steep(self) -> bool:
        """Whether each step of a variable away from the start costs at least 1, if what each costs is apart."""
        start = dict(zip(self.names, self.base, strict=True))
        used = _uses(self.wanted)
        return all(
            _change(used.get(name, ()), {**start, name: start[name] + step}) > _change(used.get(name, ()), start)
            for name in self.names
            for step in (1, -1)
        )

    # one variable

    def _alone(self) -> tuple[list[int] | None, bool]:
        """Returns the best that moving one variable gives, and whether no other value of it can be better."""
        best: tuple[int, list[int]] | None = None
        complete = True
        for at in range(len(self.names)):
            if self.left < 0:
                return (None if best is None else best[1]), False
            found, all_tried = self._nearest_values(at, self.base, self.predicates, self.price)
            complete = complete and all_tried
            for value in found:
                values = [*self.base[:at], value, *self.base[at + 1 :]]
                cost = self.price(*values)
                if cost is not None and (best is None or cost < best[0]):
                    best = cost, values
        return (None, complete) if best is None else (best[1], complete)

    def _nearest_values(
        self,
        at: int,
        start: Sequence[int],
        predicates: Sequence[Predicate],
        fits: Callable[..., object],
    ) -> tuple[list[int], bool]:
        """Returns the nearest fitting values of a variable below and above its start, and whether they surely are."""
        name, value = self.names[at], start[at]
        period, exact = 1, True
        ends: set[int] = set()
        for predicate in predicates:
            shape = shape_of(predicate, name, dict(zip(self.names, start, strict=True)))
            exact = exact and shape is not None
            if shape is not None:
                period = lcm(period, shape[0])
                ends.update(shape[1])
        for each in self.wanted:  # where a dim would be negative
            coefficient = linear(each.size, name)
            exact = exact and coefficient is not None
            if coefficient and not each.scalar:
                rest = value_of(substitute_size(each.size, {name: Const(0)}), dict(zip(self.names, start, strict=True)))
                ends.update([] if rest is None else [-rest // coefficient])
        exact = exact and period <= REACH and len(ends) <= MOST_ENDS
        reach = period + 1 if exact else REACH
        values = {value + step for step in range(-reach, reach + 1)}
        for end in sorted(ends, key=lambda end: abs(end - value))[:MOST_ENDS]:
            width = min(reach, 64) if not exact else reach
            values.update(range(end - width, end + width + 1))
            if len(values) > WORK:
                exact = False
                break
        found: list[int] = []
        for side in (sorted(v for v in values if v > value), sorted((v for v in values if v < value), reverse=True)):
            for candidate in side:
                if fits(*start[:at], candidate, *start[at + 1 :]) is not None:
                    found.append(candidate)
                    break
                if self.left < 0:
                    return found, False
        return sorted(found, key=lambda v: (abs(v - value), v)), exact

    # several

    def _shells(self, limit: int | None) -> tuple[list[int] | None, bool]:
        """Returns what is closer than ``limit``, trying all values farther and farther away; and whether all were tried."""
        best: list[int] | None = None
        count, radius, left = len(self.names), 1, WORK
        while limit is None or radius < limit - self.least:
            left -= 2 * (2 * radius + 1) ** (count - 1)
            if not 1 <= count <= MOST_TOGETHER or left < 0 or self.left < 0:
                return best, False
            for steps in product(range(-radius, radius + 1), repeat=count - 1):
                last = radius - sum(map(abs, steps))
                if last < 0:
                    continue
                for end in {last, -last}:
                    values = [value + step for value, step in zip(self.base, (*steps, end), strict=True)]
                    cost = self.price(*values)
                    if cost is not None and (limit is None or cost < limit):
                        best, limit = values, cost
            radius += 1
        return best, True

    def _repaired(self) -> list[int] | None:
        """Returns values made by moving one variable after the other to where more holds."""
        values = list(self.base)
        for at, name in enumerate(self.names):
            alone = [each for each in self.predicates if set(free_vars(each)) == {name}]
            if not alone:
                continue
            mine = [each for each in self.wanted if set(free_vars(each.size)) == {name}]
            part = _Part([name], mine, alone, {name: values[at]})
            if part.price(values[at]) is None:
                found = part._nearest_values(0, [values[at]], alone, part.price)[0]
                values[at] = found[0] if found else values[at]
        if self.price(*values) is not None:
            return values
        for at in reversed(range(len(self.names))):
            for value in self._nearest_values(at, values, self.predicates, self.price)[0]:
                return [*values[:at], value, *values[at + 1 :]]
        return None


def _is_separable(wanted: Sequence[Wanted]) -> bool:
    """Whether each size depends on one variable at most, linearly: then the start costs the least of all values."""
    for each in wanted:
        names = set(free_vars(each.size))
        if len(names) > 1 or any(not linear(each.size, name) for name in names):
            return False
    return True


def _fits(wanted: Sequence[Wanted], predicates: Sequence[Predicate], sizes: Mapping[str, int]) -> bool:
    """Returns whether a group is accepted as it is, at no change."""
    try:
        return all(evaluate(w.size, sizes) == w.actual for w in wanted) and all(holds(p, sizes) for p in predicates)
    except ArithmeticError:
        return False
