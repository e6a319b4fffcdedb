"""Draw sizes that satisfy a spec: what hints ask for, the smallest, corners, boundaries, residues, and random ones.

Before::

    def f(x: Tensor[B, S]):
        dim B in [2, 64] multiple of 8 hint 16
        where S < 2 * B

After, the first few::

    B = 16, S = 0           the hint, and the smallest beside it
    B = 8, S = 0            the smallest
    B = 64, S = 127         the largest
    B = 8, S = 15           at the boundary of an assumption
    …                       residues, then random ones

Sizes are found by propagation over a `Box`, one variable after the other, and by the search of `decide` where
that ends nowhere. They are believed only after Python's own integers confirmed them on every constraint as it
was written: no point is wrong. That there is none is said only where it was proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Final

from ...ir import COMPARISONS, Compare, Const, Predicate, Signature, Var, Variable
from ...ir.variadic import expand_constraint
from ..decide import Unknown
from .drawer import Drawer, Sizes
from .edges import edges

LARGEST: Final = 64  # how far above the least a size without an upper end is drawn

Accept = Callable[[Sizes], bool]


@dataclass(frozen=True, slots=True)
class Nothing:
    """No sizes.

    Attributes:
        reason: Why none were found; empty where it is proved that there are none.
    """

    reason: str = ""


def points(
    signature: Signature,
    n: int,
    seed: int = 0,
    *,
    near: Mapping[str, int] | None = None,
    fixed: Mapping[str, int] | None = None,
    given: Sequence[Predicate] = (),
    accept: Accept | None = None,
    largest: int = LARGEST,
) -> list[dict[str, int]]:
    """Returns up to ``n`` different sizes that satisfy the constraints of ``signature``, the most telling first.

    Args:
        signature: Its alternatives do not count as assumptions, but each that asks for sizes gets some. A
            variadic has as many dims as `Signature.ranks` says, else one; they are called ``batch[0]``.
        n: How many, at most. There may be fewer, or none was found; `point` tells why.
        seed: Of the random ones; the same seed gives the same sizes on every machine.
        near: Start with the sizes nearest to these, in place of those that hints ask for.
        fixed: Sizes that are given.
        given: What has to hold besides.
        accept: What else has to hold, where it cannot be said as a predicate (a bound on memory).
        largest: How far above its least value a size without an upper end is drawn.
    """
    drawer = drawer_of(signature, fixed or {}, given, largest)
    found: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    accepted = accept or _any
    for sizes in islice(_candidates(signature, drawer, near, Random(seed), accepted), 16 * n + 64):
        if len(found) >= n:
            break
        if accepted(sizes):
            found.setdefault(tuple(sorted(sizes.items())), dict(sizes))
    return list(found.values())


def point(
    signature: Signature,
    *,
    near: Mapping[str, int] | None = None,
    fixed: Mapping[str, int] | None = None,
    given: Sequence[Predicate] = (),
) -> dict[str, int] | Nothing:
    """Returns sizes with as many hints as fit together, the smallest beside them, or why there are none.

    Args:
        signature: As `points`.
        near: Take the nearest sizes to these instead of hints.
        fixed: Sizes that are given.
        given: What has to hold besides.
    """
    drawer = drawer_of(signature, fixed or {}, given, LARGEST)
    found = _first(drawer, near)
    if isinstance(found, Unknown):
        return Nothing(found.reason)
    return Nothing() if found is None else dict(found)


def nearest(signature: Signature, sizes: Mapping[str, int]) -> dict[str, int] | None:
    """Returns accepted sizes near ``sizes``: as few as possible are changed, and each as little as possible.

    None if none were found. Sizes of an open number of dims are read as `points` reads them.

    >>> nearest(signature_of("def f(x: Tensor[B, S]): where B < 32, S >= B"), {"B": 40, "S": 40})
    {'B': 31, 'S': 40}
    """
    found = _first(drawer_of(signature, {}, (), LARGEST), sizes)
    return None if found is None or isinstance(found, Unknown) else dict(found)


def chosen(
    signature: Signature,
    between: Callable[[int, int], int],
    *,
    fixed: Mapping[str, int] | None = None,
    given: Sequence[Predicate] = (),
    accept: Accept | None = None,
    largest: int = LARGEST,
) -> dict[str, int] | None:
    """Returns sizes that ``between`` chooses from what is possible, e.g. by hypothesis; see `Drawer.chosen`."""
    found = drawer_of(signature, fixed or {}, given, largest).chosen(between, accept or _any)
    return None if found is None else dict(found)


def drawer_of(signature: Signature, fixed: Mapping[str, int], given: Sequence[Predicate], largest: int) -> Drawer:
    """Returns what draws sizes of ``signature``; see `points`."""
    ranks = dict(signature.ranks)
    variables: list[Variable] = []
    lengths: dict[str, int] = {}
    for variable in signature.variables:
        if not variable.variadic:
            variables.append(variable)
            continue
        lengths[variable.name] = ranks.get(variable.name, 1)
        names = [f"{variable.name}[{axis}]" for axis in range(lengths[variable.name])]
        variables += [replace(variable, name=name, variadic=False) for name in names]
    predicates = [each.predicate for c in signature.constraints for each in expand_constraint(c, lengths)]
    pins = [Compare(COMPARISONS["=="], Var(name), Const(value)) for name, value in fixed.items()]
    return Drawer(variables, [*predicates, *given, *pins], largest)


def _first(drawer: Drawer, near: Mapping[str, int] | None) -> Sizes | Unknown | None:
    wishes = drawer.hints() if near is None else dict(near)
    return drawer.wished(wishes, smallest=near is None)


def _candidates(
    signature: Signature, drawer: Drawer, near: Mapping[str, int] | None, rng: Random, accept: Accept
) -> Iterator[Sizes]:
    """Yields accepted sizes, many of them more than once."""
    first = _first(drawer, near)
    if not isinstance(first, Mapping):
        if first is None:
            return
        first = drawer.random(rng, 200)  # luck is all that is left
        if first is None:
            return
    yield first
    yield from edges(signature, drawer, first, accept)
    misses = 0
    while misses < 64:
        found = drawer.random(rng, 8)
        if found is None:
            misses += 8
            found = drawer.mutated(first, rng)
        if found is None:
            continue
        misses += 1
        yield found


def _any(sizes: Sizes) -> bool:
    del sizes
    return True


__all__ = ["LARGEST", "Nothing", "chosen", "nearest", "point", "points"]
