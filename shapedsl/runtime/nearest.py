"""Which sizes near those of a refused call would be accepted: the smallest change in total.

Before::

    def f(x: Tensor[B, D], w: Tensor[D, D]): where B < 32        # called with (40, 3) and (5, 3)

After::

    B = 31, D = 3: make `x.shape[0]` 31, `w.shape[0]` 3

First every variable gets the value that most of its dims ask for; then one variable after the other is moved
outward, from there and from where a constraint ends; then several at once, as far as what was found is not
beaten anyway. Each candidate is one call of a generated function, and their number is limited, so an error stays
quick. Where that finds nothing, a `Seek` is asked. Nothing is said that was not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeAlias

from ..ir import Compare, Const, Predicate, Signature, Size, Static, Var, VariableKind
from ..ir.expanded import Expanded, Leaf
from ..ir.structure import INT64_MAX, INT64_MIN
from ..ir.walk import evaluate, free_vars, holds, substitute_size
from .code import Code
from .linear import linear

# Sizes near those given that satisfy the constraints of a signature, or None: `normalize` is it.
Seek: TypeAlias = Callable[[Signature, Mapping[str, int]], "Mapping[str, int] | None"]

WORK: Final = 20_000  # candidates that are tried
WINDOW: Final = 512  # how far around the end of a constraint
MOST_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class Near:
    """Accepted sizes.

    Attributes:
        sizes: By variable.
        changes: ``(place, size)`` of each axis or scalar that is another one then: ``("x.shape[0]", 31)``.
        proved: Whether every closer choice was ruled out.
        text: What a message says.
    """

    sizes: Mapping[str, int]
    changes: tuple[tuple[str, int], ...]
    proved: bool
    text: str


def nearest(
    expanded: Expanded,
    shapes: Sequence[Sequence[int]],
    predicates: Sequence[Predicate],
    sizes: Mapping[str, int],
    seek: Seek | None = None,
) -> Near | None:
    """Returns the accepted sizes that are the least total change of those of a call, if any were found.

    Args:
        expanded: The structure of the call.
        shapes: The sizes of each of its leaves.
        predicates: What must hold beside the dims.
        sizes: What was read of them, by variable; some may be missing.
        seek: Finds sizes where looking around does not.
    """
    search = _Search(expanded, shapes, predicates, sizes)
    found = search.run()
    if found is None and seek is not None:
        found = search.taken(seek(expanded.signature, search.base))
    return found


class _Search:
    def __init__(
        self,
        expanded: Expanded,
        shapes: Sequence[Sequence[int]],
        predicates: Sequence[Predicate],
        sizes: Mapping[str, int],
    ) -> None:
        self.expanded = expanded
        self.read = sizes
        self.fixed = dict(expanded.lengths)
        self.predicates = predicates
        self.slots: list[tuple[Leaf, int, Size, int]] = []  # leaf, axis, its dim, its size
        for leaf, shape in zip(expanded.leaves, shapes, strict=True):
            for axis, (dim, actual) in enumerate(zip(leaf.dims, shape, strict=True)):
                if not isinstance(dim, Static):
                    self.slots.append((leaf, axis, dim, actual))  # type: ignore[arg-type]  # expanded: a size
        names = [name for _, _, dim, _ in self.slots for name in free_vars(dim)]
        names += [name for predicate in predicates for name in free_vars(predicate)]
        self.names = [name for name in dict.fromkeys(names) if name not in self.fixed]
        self.base = {name: sizes.get(name, 0) for name in self.names} | self.fixed
        self.price = self._price()
        self.tried = 0

    def run(self) -> Near | None:
        """Returns the best of what looking around finds."""
        self._agree()
        cost = self.cost(self.base)
        if cost is not None:
            return self._near(self.base, cost <= 1 or self._separable())
        moved, every = self._moved()
        best: tuple[int, dict[str, int]] | None = None
        for name in moved:
            best = self._outward(name, best)
        limit = None if best is None else best[0]
        surround, complete = self._around(every, limit)
        if surround is not None and (best is None or surround[0] < best[0]):
            best = surround
        if best is None:
            return None
        return self._near(best[1], best[0] - (self._least() or 0) <= 1 or (complete and self._separable()))

    def taken(self, sizes: Mapping[str, int] | None) -> Near | None:
        """Returns ``sizes`` if they are accepted."""
        if sizes is None:
            return None
        every = {name: sizes.get(name, self.base[name]) for name in self.base}
        return None if self.cost(every) is None else self._near(every, False)

    # costs

    def _price(self) -> Callable[..., int | None]:
        """Returns the generated function of all variables: the total change, or None where they are refused."""
        code = Code(())
        known = {name: code.local(name) for name in self.names}
        known.update((name, str(value)) for name, value in self.fixed.items())
        tests = [code.predicate(predicate, known) for predicate in self.predicates]
        tests += [
            f"{code.size(dim, known)} >= 0"
            if not leaf.scalar
            else f"{INT64_MIN} <= {code.size(dim, known)} <= {INT64_MAX}"
            for leaf, _, dim, _ in self.slots
        ]
        changes = [f"abs({code.size(dim, known)} - {actual})" for _, _, dim, actual in self.slots]
        lines = [
            "try:",
            f"    if not ({' and '.join(tests) or 'True'}): return None",
            f"    return {' + '.join(changes) or '0'}",
            "except ZeroDivisionError: return None",
        ]
        return code.function(f"price({', '.join(known[name] for name in self.names)})", lines, "price")

    def cost(self, sizes: Mapping[str, int]) -> int | None:
        """Returns the total change to ``sizes``, or None where they are refused."""
        self.tried += 1
        return self.price(*(sizes[name] for name in self.names))

    def _change(self, sizes: Mapping[str, int], only: str | None = None) -> int:
        """Returns the total change of the dims (of those with ``only``), accepted or not."""
        total = 0
        for _, _, dim, actual in self.slots:
            if only is None or only in set(free_vars(dim)):
                try:
                    total += abs(evaluate(dim, sizes) - actual)
                except (ZeroDivisionError, ValueError):
                    total += INT64_MAX
        return total

    def _least(self) -> int | None:
        """Returns the change without which no sizes agree, if that is known: the constraints come on top."""
        return self._change(self.base) if self._separable() else None

    def _separable(self) -> bool:
        """Whether each dim depends on one variable at most, linearly, and each variable stands bare somewhere."""
        bare = {dim.name for _, _, dim, _ in self.slots if isinstance(dim, Var)}
        for _, _, dim, _ in self.slots:
            names = set(free_vars(dim))
            if len(names) > 1 or any(not linear(dim, name) for name in names):
                return False
        return bare.issuperset(self.names)

    # moves

    def _agree(self) -> None:
        """Gives each variable the value for which the dims that it stands in change least, the others kept."""
        for _ in range(2):
            for name in self.names:
                values = dict.fromkeys([self.base[name], *self._asked(name)])
                low = 0 if self._kind(name) is not VariableKind.INT else INT64_MIN
                best = min(
                    (value for value in values if value >= low),
                    key=lambda value, name=name: self._change({**self.base, name: value}, name),  # type: ignore[misc]
                    default=self.base[name],
                )
                self.base[name] = best

    def _kind(self, name: str) -> VariableKind:
        kinds = {variable.name: variable.kind for variable in self.expanded.signature.variables}
        return kinds.get(name, VariableKind.DIM)

    def _asked(self, name: str) -> Iterator[int]:
        """Yields the values of a variable for which one of its dims need not change, or as little as can be."""
        for _, _, dim, actual in self.slots:
            coefficient = linear(dim, name)
            if not coefficient:
                continue
            try:
                rest = evaluate(substitute_size(dim, {name: Const(0)}), self.base)
            except ZeroDivisionError:
                continue
            value = (actual - rest) // coefficient
            yield value
            if (actual - rest) % coefficient:
                yield value + 1

    def _moved(self) -> tuple[list[str], list[str]]:
        """Returns the variables of violated constraints, and all that constraints tie to those."""
        violated: list[str] = []
        for predicate in self.predicates:
            try:
                fits = holds(predicate, self.base)
            except (ZeroDivisionError, KeyError):
                fits = False
            if not fits:
                violated += free_vars(predicate)
        for leaf, _, dim, _ in self.slots:
            if self._out_of_range(leaf, dim):
                violated += free_vars(dim)
        moved = [name for name in dict.fromkeys(violated) if name not in self.fixed]
        every = dict.fromkeys(moved)
        grown = True
        while grown:
            grown = False
            for predicate in self.predicates:
                names = set(free_vars(predicate)) - self.fixed.keys()
                if not names.isdisjoint(every) and not names.issubset(every):
                    every.update(dict.fromkeys(name for name in self.names if name in names))
                    grown = True
        return moved, list(every)

    def _out_of_range(self, leaf: Leaf, dim: Size) -> bool:
        try:
            value = evaluate(dim, self.base)
        except ZeroDivisionError:
            return True
        return value < 0 if not leaf.scalar else not INT64_MIN <= value <= INT64_MAX

    def _outward(self, name: str, best: tuple[int, dict[str, int]] | None) -> tuple[int, dict[str, int]] | None:
        """Moves one variable away from its value, in both directions, and around where constraints on it end."""
        stop = self.tried + WORK // (2 * max(len(self.names), 1))
        value = self.base[name]
        for start, reach in [(value, WORK), *((end, WINDOW) for end in self._ends(name))]:
            for direction in (-1, 1):
                for distance in range(reach):
                    if self.tried >= stop + WINDOW * (reach == WINDOW):
                        break
                    sizes = {**self.base, name: start + direction * distance}
                    cost = self.cost(sizes)
                    if cost is not None:
                        if best is None or cost < best[0]:
                            best = cost, sizes
                        break
                    if start == value and best is not None and distance >= best[0]:
                        break
        return best

    def _ends(self, name: str) -> Iterator[int]:
        """Yields where constraints that are linear in a variable begin or cease to hold, the others kept."""
        for predicate in self._comparisons(self.predicates):
            left, right = linear(predicate.left, name), linear(predicate.right, name)
            if left is None or right is None or left == right:
                continue
            sizes = {**self.base, name: 0}
            try:
                gap = evaluate(predicate.right, sizes) - evaluate(predicate.left, sizes)
            except (ZeroDivisionError, KeyError):
                continue
            yield gap // (left - right)

    def _comparisons(self, predicates: Sequence[Predicate]) -> Iterator[Compare]:
        for predicate in predicates:
            if isinstance(predicate, Compare):
                yield predicate
            elif hasattr(predicate, "args"):
                yield from self._comparisons(predicate.args)

    def _around(self, names: Sequence[str], limit: int | None) -> tuple[tuple[int, dict[str, int]] | None, bool]:
        """Tries all values of ``names`` closer and closer to ``limit`` away; returns the best, and whether all were tried."""
        best: tuple[int, dict[str, int]] | None = None
        least = self._least() or 0
        radius = 1
        stop = self.tried + WORK
        while limit is None or radius < limit - least:
            if not 1 <= len(names) <= 4 or self.tried + _shell(len(names), radius) > stop:
                return best, False
            for steps in product(range(-radius, radius + 1), repeat=len(names) - 1):
                left = radius - sum(map(abs, steps))
                if left < 0:
                    continue
                for last in {left, -left}:
                    moved = dict(zip(names, (*steps, last), strict=True))
                    sizes = {**self.base, **{name: self.base[name] + step for name, step in moved.items()}}
                    cost = self.cost(sizes)
                    if cost is not None and (best is None or cost < best[0]):
                        best = cost, sizes
                        limit = cost if limit is None else min(limit, cost)
            radius += 1
        return best, True

    # words

    def _near(self, sizes: Mapping[str, int], proved: bool) -> Near | None:
        changed = [
            (leaf.place(axis), dim, evaluate(dim, sizes))
            for leaf, axis, dim, actual in self.slots
            if evaluate(dim, sizes) != actual
        ]
        if not changed:
            return None
        names = dict.fromkeys(name for _, dim, _ in changed for name in free_vars(dim) if name[0] != "?")
        places = {place for place, _, _ in changed}
        obvious = all(
            isinstance(dim, Var) and dim.name[0] != "?" and dim.name in self.read and self.read[dim.name] != value
            for _, dim, value in changed
        ) and all(leaf.place(axis) in places for leaf, axis, dim, _ in self.slots if dim in map(_dim, changed))
        text = ", ".join(f"{name} = {sizes[name]}" for name in names)
        if not obvious:
            made = ", ".join(f"`{place}` {value}" for place, _, value in changed[:MOST_SHOWN])
            more = len(changed) - MOST_SHOWN
            text += (": " if text else "") + f"make {made}" + (f", and {more} more" if more > 0 else "")
        head = "the nearest accepted" if proved else "accepted nearby"
        return Near(dict(sizes), tuple((place, value) for place, _, value in changed), proved, f"{head}: {text}")


def _dim(change: tuple[str, Size, int]) -> Size:
    return change[1]


def _shell(dimensions: int, radius: int) -> int:
    """Returns about how many points lie at ``radius``, and how many steps it takes to list them."""
    shell: int = (2 * radius + 1) ** (dimensions - 1) * 2
    return shell
