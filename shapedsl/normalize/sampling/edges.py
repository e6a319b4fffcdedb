"""Sizes at which programs break: corners of ranges, boundaries of assumptions, residues, each alternative.

Before::

    dim B in [2, 64]; S % 8 == 0, S <= 2 * B; case big: B > 32

After: sizes with ``B`` 2 and 64, with ``S == 2 * B``, with ``S == 2 * B - 1`` (there are none), with ``B == 33``, …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import inf
from typing import Final

from ...ir import COMPARISONS, OPERATORS, And, Apply, Compare, Const, Not, Or, Predicate, Signature, Size, Var
from ...ir.taking import asked_by
from ...ir.variadic import expand_alternative
from ...ir.walk import children, free_vars, scalar_sizes, tensor_dims
from ..domains import Domain
from .drawer import LITTLE, Drawer, Sizes, Wish, lowest, start_of

Accept = Callable[[Sizes], bool]

HALVINGS: Final = 48  # of a largest size that is not accepted
MOST: Final = 64  # questions of one kind


def edges(signature: Signature, drawer: Drawer, first: Sizes, accept: Accept) -> Iterator[Sizes]:
    """Yields telling sizes, the kinds of them in turn, some more than once.

    Args:
        signature: Whose constraints ``drawer`` has.
        drawer: Draws.
        first: Sizes that are known.
        accept: What else has to hold; of the largest sizes the largest that it accepts are taken.
    """
    usual = drawer.descend(drawer.names, drawer.usual)
    if usual is not None:
        yield usual
    yield from _corners(drawer, accept)
    yield from _alternatives(signature, drawer)
    kinds = (
        _asked(drawer, _boundaries(drawer.predicates)),
        _ends(drawer, usual or first, accept),
        _asked(drawer, _residues(signature, drawer)),
    )
    for several in zip_longest(*kinds):
        yield from (sizes for sizes in several if sizes is not None)


def _corners(drawer: Drawer, accept: Accept) -> Iterator[Sizes]:
    """Yields the smallest and the largest sizes, each variable taken as far as the others before it let it go."""
    found = drawer.descend(drawer.names, lowest)
    if found is not None:
        yield found
    found = _largest(drawer, drawer.names, accept)
    if found is not None:
        yield found


def _largest(drawer: Drawer, names: Sequence[str], accept: Accept, pins: Sequence[Predicate] = ()) -> Sizes | None:
    """Returns accepted sizes with ``names`` as large as possible."""
    order = [*names, *(name for name in drawer.names if name not in names)]
    last: Sizes | None = None
    for halvings in range(HALVINGS):
        found = drawer.descend(order, _highest(drawer, names, halvings), pins)
        if found is not None:
            if accept(found):
                return found
            if found == last:
                return None  # it does not get smaller
            last = found
    return None


def _highest(drawer: Drawer, names: Iterable[str], halvings: int) -> Wish:
    chosen = frozenset(names)

    def wish(name: str, domain: Domain) -> Iterator[int]:
        if name not in chosen:
            yield from drawer.usual(name, domain)
            return
        least = start_of(domain)
        steps = drawer.largest if domain.high == inf else (int(domain.high) - least) // domain.modulus
        steps >>= halvings
        for fewer in range(4):
            if steps >= fewer:
                yield least + (steps - fewer) * domain.modulus

    return wish


def _least(drawer: Drawer, chosen: str) -> Wish:
    def wish(name: str, domain: Domain) -> Iterator[int]:
        yield from lowest(name, domain) if name == chosen else drawer.usual(name, domain)

    return wish


def _ends(drawer: Drawer, usual: Sizes, accept: Accept) -> Iterator[Sizes]:
    """Yields sizes with one variable at an end, the others as in ``usual`` where that fits."""
    for name in drawer.names:
        others: list[Predicate] = [
            Compare(COMPARISONS["=="], Var(other), Const(value)) for other, value in usual.items() if other != name
        ]
        for pins in (others, ()):
            found = drawer.descend(
                [name, *(other for other in drawer.names if other != name)], _least(drawer, name), pins
            )
            if found is not None:
                yield found
                break
        for pins in (others, ()):
            found = _largest(drawer, [name], accept, pins)
            if found is not None:
                yield found
                break


def _alternatives(signature: Signature, drawer: Drawer) -> Iterator[Sizes]:
    """Yields sizes of each alternative: with its hints, and others."""
    lengths = _lengths(drawer)
    earlier: list[Predicate] = []
    for alternative in signature.alternatives[:MOST]:
        asked = asked_by(expand_alternative(alternative, lengths))
        wanted = [condition.predicate for condition in asked.conditions]
        if not all(set(free_vars(each)) <= set(drawer.names) for each in wanted):
            continue
        extra = [*wanted, *earlier]
        hints: list[Predicate] = [
            Compare(COMPARISONS["=="], Var(name), Const(value))
            for name, value in alternative.hints
            if name in drawer.kinds
        ]
        for found in (
            drawer.solve([*extra, *hints], work=LITTLE, wish=drawer.usual) if hints else None,
            drawer.solve(extra, work=LITTLE, wish=drawer.usual),
        ):
            if isinstance(found, Mapping):
                yield found
        if asked.exact:
            earlier.append(Not(asked.predicate))


def _lengths(drawer: Drawer) -> dict[str, int]:
    """Returns how many dims each variadic has, by the names of its elements."""
    lengths: dict[str, int] = {}
    for name in drawer.names:
        if name.endswith("]") and not name.startswith("?"):
            base = name.partition("[")[0]
            lengths[base] = lengths.get(base, 0) + 1
    return lengths


def _asked(drawer: Drawer, questions: Iterable[Predicate]) -> Iterator[Sizes]:
    for question, _ in zip(dict.fromkeys(questions), range(MOST), strict=False):
        found = drawer.solve([question], work=LITTLE, wish=drawer.usual)
        if isinstance(found, Mapping):
            yield found


def _boundaries(predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    """Yields, for each comparison, what holds just at its boundary, and just beside it."""
    for predicate in predicates:
        match predicate:
            case Compare(op=op, left=left, right=right):
                if op.name == "==":
                    continue
                for offset in (0,) if op.name in ("<=", ">=") else (-1, 1):
                    moved = right if not offset else Apply(OPERATORS["+"], (right, Const(offset)))
                    yield Compare(COMPARISONS["=="], left, moved)
            case And(args=args):
                yield from _boundaries(args)
            case Or(args=args):
                yield from args  # each of them in turn is what holds
                yield from _boundaries(args)
            case Not(arg=arg):
                yield from _boundaries((arg,))


def _residues(signature: Signature, drawer: Drawer) -> Iterator[Predicate]:
    """Yields residues of what is divided anywhere in the spec."""
    sizes: list[object] = [*drawer.predicates]
    for param in signature.params:
        sizes += [*tensor_dims(param.type), *scalar_sizes(param.type)]
    seen: dict[tuple[Size, int], None] = {}
    while sizes:
        size = sizes.pop(0)
        match size:
            case Apply(op=op, args=(left, Const(value=divisor))) if op.name in ("//", "%", "cdiv") and divisor > 1:
                seen.setdefault((left, divisor))
            case _:
                pass
        if isinstance(size, (Apply, Compare, And, Or, Not)):
            sizes += children(size)
    for left, divisor in seen:
        if set(free_vars(left)) <= set(drawer.names):
            for residue in dict.fromkeys((0, 1, divisor - 1)):
                yield Compare(COMPARISONS["=="], Apply(OPERATORS["%"], (left, Const(divisor))), Const(residue))


__all__ = ["edges"]
