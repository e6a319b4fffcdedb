"""Choose the padded sizes of a joint choice of buckets: the fewest elements in all padded tensors.

Before::

    where B * S_pad <= 4096
    bucket B in {1, 8, 32} pad ids with 0
    bucket S in {64, 128, 256} pad ids with 0

After::

    B=5, S=40     8, 64
    B=20, S=100   32, 128
    B=20, S=200   nothing: 32 * 256 is too much for no smaller member
    B=40, S=10    nothing: no member is that large

Without a predicate that ties them, buckets choose alone. With one, combinations are looked at in the order of
their cost, beginning with the smallest members, so the first that is allowed is the best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import product
from typing import Final

from ...diagnostics import Report
from ...ir import Alternative, Apply, Bucket, Const, Path, Predicate, Size, Static, Var
from ...ir.expanded import Expanded, Leaf
from ...ir.padding import Grown, grown
from ...ir.taking import padded_name
from ...ir.variadic import expand_alternative
from ...ir.walk import evaluate, free_vars
from ...runtime.code import Code

MOST_ORDERED: Final = 1024  # combinations in the order of their cost; to look at all of them is faster then
MOST_REMEMBERED: Final = 4096  # choices; then they are forgotten, and made again

# Padded sizes of the buckets, or None where the alternative does not match.
Choose = Callable[..., "tuple[int, ...] | None"]


class Joint:
    """The joint choice of one alternative at one structure.

    Attributes:
        alternative: With variadics written out.
        needs: The variables whose sizes `choose` takes, in this order.
        places: Static sizes that it takes after them, ``(path, axis)``: how much a padded tensor weighs. Empty
            where buckets choose alone.
        grown: What is padded.
        choose: Returns the padded sizes of the buckets in written order, or None: it does not match.
    """

    def __init__(self, alternative: Alternative, expanded: Expanded) -> None:
        self.alternative = expand_alternative(alternative, dict(expanded.ranks))
        self.bound = frozenset(name for leaf in expanded.leaves for dim in leaf.dims for name in free_vars(dim)) | {
            name for name, _ in expanded.lengths
        }
        self.grown: tuple[Grown, ...] = grown(self.alternative, expanded.leaves, Report())
        self._leaves = expanded.leaves
        padded = {padded_name(bucket): bucket for bucket in self.alternative.buckets}
        known = self.bound | {name for name, bucket in padded.items() if bucket.variable in self.bound}
        # what speaks of a size that this structure does not have is left out
        predicates = [c.predicate for c in self.alternative.constraints if known.issuperset(free_vars(c.predicate))]
        self._plain = [p for p in predicates if padded.keys().isdisjoint(free_vars(p))]
        self._joint = [p for p in predicates if p not in self._plain]
        self.needs, self.places = self._inputs()
        self._names = {name: f"s{at}" for at, name in enumerate((*self.needs, *padded))}
        self._code = Code(())
        self._fits = self._test(self._plain, self.needs)
        self._allowed = self._test(self._joint, (*self.needs, *padded))
        self._cost = self._costs(tuple(padded))
        self._remembered: dict[tuple[int, ...], tuple[int, ...] | None] = {}
        self.choose: Choose = self._chooser()

    # ------------------------------------------------------------------------------- inputs

    def _inputs(self) -> tuple[tuple[str, ...], tuple[tuple[Path, int], ...]]:
        variables = [b.variable for b in self.alternative.buckets if b.variable in self.bound]
        needs = dict.fromkeys(variables)
        for predicate in (*self._plain, *self._joint):
            needs.update(dict.fromkeys(name for name in free_vars(predicate) if name in self.bound))
        places: list[tuple[Path, int]] = []
        if self._joint:
            for leaf in self._padded_leaves():
                for axis, dim in enumerate(leaf.dims):
                    needs.update(dict.fromkeys(free_vars(dim)))
                    if isinstance(dim, Static):
                        places.append((leaf.path, axis))
        return tuple(needs), tuple(places)

    def _padded_leaves(self) -> list[Leaf]:
        return [self._leaves[at] for at in sorted({each.leaf for each in self.grown}) if not self._leaves[at].scalar]

    # ------------------------------------------------------------------------------- generated code

    def _test(self, predicates: Sequence[Predicate], names: Sequence[str]) -> Callable[..., bool] | None:
        if not predicates:
            return None
        text = " and ".join(self._code.predicate(predicate, self._names) for predicate in predicates)
        error = self._code.use(ZeroDivisionError, "ZeroDivisionError")
        lines = ["try:", f"    return {text}", f"except {error}:", "    return False"]
        header = ", ".join(self._names[name] for name in names)
        made: Callable[..., bool] = self._code.function(f"{self._code.prefix}f({header})", lines, "fits")
        return made

    def _costs(self, padded: Sequence[str]) -> Callable[..., int]:
        """Returns what counts the elements of padded tensors, of the arguments of `choose` and padded sizes."""
        names = [*(self._names[name] for name in self.needs), *(f"p{at}" for at in range(len(self.places)))]
        names += [self._names[name] for name in padded]
        known = dict(self._names)
        for bucket in self.alternative.buckets:
            if bucket.pads is not None:
                known[bucket.variable] = self._names[padded_name(bucket)]
        static = {place: f"p{at}" for at, place in enumerate(self.places)}
        terms: list[str] = []
        for leaf in self._padded_leaves() if self._joint else ():
            factors = [
                static[leaf.path, axis] if isinstance(dim, Static) else self._code.size(dim, known)
                for axis, dim in enumerate(leaf.dims)
                if isinstance(dim, (Static, Const, Var, Apply))
            ]
            terms.append(" * ".join(factors) or "1")
        lines = [f"return {' + '.join(terms) or '0'}"]
        made: Callable[..., int] = self._code.function(f"{self._code.prefix}f({', '.join(names)})", lines, "elements")
        return made

    # ------------------------------------------------------------------------------- choosing

    def _chooser(self) -> Choose:
        remembered, find = self._remembered, self._find
        missing = object()

        def choose(*sizes: int) -> tuple[int, ...] | None:
            found = remembered.get(sizes, missing)
            if found is missing:
                found = find(sizes)
                if len(remembered) >= MOST_REMEMBERED:
                    remembered.clear()
                remembered[sizes] = found
            return found  # type: ignore[return-value]  # what is not missing was remembered

        return choose

    def _find(self, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
        named = sizes[: len(self.needs)]
        if self._fits is not None and not self._fits(*named):
            return None
        real = dict(zip(self.needs, named, strict=True))
        options = [self._options(bucket, real.get(bucket.variable)) for bucket in self.alternative.buckets]
        if not all(options):
            return None
        if self._allowed is None:
            return tuple(each[0] for each in options)
        return self._search(sizes, named, options)

    def _options(self, bucket: Bucket, size: int | None) -> list[int]:
        """Returns the padded sizes that a bucket can choose, ascending."""
        if bucket.members is not None:
            if size is None:  # not in this structure: whatever is chosen, nothing is padded
                return list(bucket.members[:1])
            if bucket.pads is None:
                return [size] if size in bucket.members else []
            return [member for member in bucket.members if member >= size]
        modulus = bucket.modulus or 1
        missing = (bucket.residue - (size or 0)) % modulus
        return [] if bucket.pads is None and missing and size is not None else [(size or 0) + missing]

    def _search(
        self, sizes: tuple[int, ...], named: tuple[int, ...], options: list[list[int]]
    ) -> tuple[int, ...] | None:
        """Returns the cheapest allowed combination; among equals the one with the smaller first members."""
        assert self._allowed is not None
        if not all(_grows(each.dim, self.alternative.buckets) for each in self.grown):
            return self._best(sizes, named, options)
        start: tuple[int, ...] = (0,) * len(options)
        heap: list[tuple[int, tuple[int, ...]]] = [(self._cost(*sizes, *(each[0] for each in options)), start)]
        met: set[tuple[int, ...]] = {start}
        while heap:
            if len(met) > MOST_ORDERED:
                return self._best(sizes, named, options)
            _, at = heappop(heap)
            chosen = tuple(option[i] for option, i in zip(options, at, strict=True))
            if self._allowed(*named, *chosen):
                return chosen
            for axis, i in enumerate(at):
                after = (*at[:axis], i + 1, *at[axis + 1 :])
                if i + 1 < len(options[axis]) and after not in met:
                    met.add(after)
                    larger = (option[j] for option, j in zip(options, after, strict=True))
                    heappush(heap, (self._cost(*sizes, *larger), after))
        return None

    def _best(self, sizes: tuple[int, ...], named: tuple[int, ...], options: list[list[int]]) -> tuple[int, ...] | None:
        """As `_search`, by looking at every combination."""
        allowed = self._allowed
        assert allowed is not None
        costs = ((self._cost(*sizes, *each), each) for each in product(*options) if allowed(*named, *each))
        return min(costs, default=(0, None))[1]

    # ------------------------------------------------------------------------------- artifacts

    def combination(self, chosen: Sequence[int]) -> tuple[tuple[str, int], ...]:
        """Returns what pins the artifact for ``chosen``: sizes by bucketed variable, without those that share one."""
        pairs = zip(self.alternative.buckets, chosen, strict=True)
        return tuple((bucket.variable, size) for bucket, size in pairs if pins(bucket))

    def describe(self, sizes: Mapping[str, int], chosen: Sequence[int]) -> str:
        """Returns what happens to the sizes of a call: ``pad S 40→64 (37 % waste)``; empty where nothing is padded.

        Args:
            sizes: Of the call.
            chosen: What `choose` returned.
        """
        changes = [
            (bucket.variable, sizes[bucket.variable], size)
            for bucket, size in zip(self.alternative.buckets, chosen, strict=True)
            if bucket.variable in sizes and sizes[bucket.variable] != size
        ]
        if not changes:
            return ""
        named = len(self.alternative.buckets) > 1
        shown = ", ".join(f"{name} {size}→{padded}" if named else f"{size}→{padded}" for name, size, padded in changes)
        waste = self.waste(sizes, chosen)
        return f"pad {shown} ({int(waste * 100)} % waste)"

    def waste(self, sizes: Mapping[str, int], chosen: Sequence[int]) -> float:
        """Returns which part of the elements of padded tensors is slots, 0 to 1; static sizes count as 1.

        Where only ints are padded, it is which part of the sizes is.
        """
        after = dict(sizes)
        for bucket, size in zip(self.alternative.buckets, chosen, strict=True):
            after[bucket.variable] = size
        counts = [0, 0]
        for leaf in self._padded_leaves():
            for which, known in enumerate((sizes, after)):
                elements = 1
                for dim in leaf.dims:
                    if isinstance(dim, (Const, Var, Apply)):
                        elements *= evaluate(dim, known)
                counts[which] += elements
        if not counts[1]:
            counts = [
                sum(known[b.variable] for b in self.alternative.buckets if b.variable in sizes)
                for known in (sizes, after)
            ]
        return 1 - counts[0] / counts[1] if counts[1] else 0.0


def pins(bucket: Bucket) -> bool:
    """Returns whether each member has an artifact of its own."""
    return bucket.members is not None and not bucket.shared


def _grows(size: Size, buckets: Sequence[Bucket]) -> bool:
    """Returns whether ``size`` surely never shrinks when a bucketed size grows."""
    padded = {bucket.variable for bucket in buckets}

    def visit(node: Size) -> bool:
        match node:
            case Const(value=value):
                return value >= 0
            case Var():
                return True
            case Apply(op=op, args=args) if op.name in ("+", "*", "min", "max", "prod"):
                return all(map(visit, args))
            case Apply(op=op, args=(left, Const(value=value))) if op.name in ("-", "//", "cdiv", "**"):
                return visit(left) and (op.name == "-" or value > 0)
            case _:
                return padded.isdisjoint(free_vars(node))  # a number that stays as it is

    return visit(size)


def chooser(alternative: Alternative, expanded: Expanded) -> Joint:
    """Returns the joint choice of ``alternative``'s buckets at one structure."""
    return Joint(alternative, expanded)


__all__ = ["Joint", "chooser", "pins"]
