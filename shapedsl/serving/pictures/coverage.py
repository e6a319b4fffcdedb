"""Which alternative takes which sizes, as a map over one or two variables.

Before::

    def f(x: Tensor[B, S]):
        where B <= 64, S <= 512
        case one: B == 1
        bucket S in {128, 512} pad x with 0 as masked

After::

    columns B = 0, 1, 2, 3, 8, 32, 64      rows S = 512, …, 1, 0
    one for B = 1, the bucket elsewhere

Columns and rows are sizes, not stretches of them: what stands in a cell was evaluated at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...ir import Alternative, Const, Constraint, Predicate, Signature, Size, VariableKind
from ...ir.taking import asked_by
from ...ir.walk import free_vars, holds, nodes

NONE: Final = -1  # accepted, and nothing takes it
REFUSED: Final = -2  # not accepted
MOST_SIZES: Final = 56  # on one axis


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """What takes each combination of sizes.

    Attributes:
        x: The variable of the columns.
        columns: Its sizes, ascending.
        y: The variable of the rows; None for one row.
        rows: Its sizes, ascending; ``(0,)`` without one.
        cells: For each row, for each column: a position among the alternatives, `NONE` or `REFUSED`.
        labels: Of the alternatives, in their order.
        shares: The part of the calls that each takes, from 0 to 1; empty without traffic.
        fixed: The sizes of the other variables.
    """

    x: str
    columns: tuple[int, ...]
    y: str | None
    rows: tuple[int, ...]
    cells: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]
    shares: tuple[float, ...]
    fixed: tuple[tuple[str, int], ...]


def coverage_map(
    signature: Signature,
    axes: Sequence[str],
    fixed: Mapping[str, int],
    extents: Mapping[str, tuple[int, int]],
    traffic: Mapping[tuple[tuple[str, int], ...], int] | None = None,
) -> CoverageMap:
    """Returns the map of a spec.

    Args:
        signature: With alternatives.
        axes: One or two variables.
        fixed: A size for each other one that decides something.
        extents: Axis → its smallest and largest size.
        traffic: Sizes, sorted by name → calls.
    """
    x, y = axes[0], axes[1] if len(axes) > 1 else None
    columns = sizes_of(signature, x, *extents[x])
    rows = (0,) if y is None else sizes_of(signature, y, *extents[y])
    taker = Taker(signature)
    cells: list[tuple[int, ...]] = []
    for row in rows:
        others = dict(fixed) if y is None else {**fixed, y: row}
        cells.append(tuple([taker.position({**others, x: column}) for column in columns]))
    shares = () if not traffic else taker.shares(traffic)
    return CoverageMap(
        x, columns, y, rows, tuple(cells), taker.labels, shares, tuple(sorted((n, s) for n, s in fixed.items()))
    )


class Taker:
    """Says which alternative takes given sizes."""

    def __init__(self, signature: Signature) -> None:
        self._where = [constraint.predicate for constraint in signature.constraints]
        self._asked = [asked_by(alternative).predicate for alternative in signature.alternatives]
        self.labels = labels(signature.alternatives) or ("the only artifact",)

    def position(self, sizes: Mapping[str, int]) -> int:
        """Returns which alternative takes ``sizes``, `NONE` or `REFUSED`.

        Args:
            sizes: Of every variable that decides something.

        Raises:
            KeyError: One is missing.
        """
        if not all(_holds(predicate, sizes) for predicate in self._where):
            return REFUSED
        if not self._asked:
            return 0
        return next((at for at, asked in enumerate(self._asked) if _holds(asked, sizes)), NONE)

    def shares(self, traffic: Mapping[tuple[tuple[str, int], ...], int]) -> tuple[float, ...]:
        """Returns the part of the calls that each alternative takes; sizes that do not say are left out."""
        counts = [0] * len(self.labels)
        for sizes, calls in traffic.items():
            try:
                position = self.position(dict(sizes))
            except KeyError:
                continue
            if position >= 0:
                counts[position] += calls
        whole = sum(traffic.values())
        return tuple([count / whole if whole else 0.0 for count in counts])


def _holds(predicate: Predicate, sizes: Mapping[str, int]) -> bool:
    try:
        return holds(predicate, sizes)
    except ZeroDivisionError:
        return False


def labels(alternatives: Sequence[Alternative]) -> tuple[str, ...]:
    """Returns a name for each alternative; predicates where it has none."""
    return tuple([_label(each) for each in alternatives])


def _label(alternative: Alternative) -> str:
    mode = "" if alternative.mode.value == "compiled" else f" {alternative.mode.value}"
    if alternative.name is not None:
        return f"case {alternative.name}{mode}"
    if alternative.buckets and alternative.keyword == "bucket":
        return f"bucket {', '.join(dict.fromkeys(bucket.variable for bucket in alternative.buckets))}{mode}"
    if alternative.keyword == "otherwise":
        return f"otherwise{mode}"
    return f"case {', '.join(c.text for c in alternative.constraints)}{mode}"


def axes_of(signature: Signature) -> list[str]:
    """Returns the variables by which alternatives are chosen, in order of their first use; else those of ``where``."""
    named = {variable.name for variable in signature.variables if not variable.variadic}
    named -= {variable.name for variable in signature.variables if variable.kind is VariableKind.CONST}
    chosen = dict.fromkeys(name for each in signature.alternatives for name in _names(each) if name in named)
    return list(chosen) or [v.name for v in signature.variables if v.name in named]


def deciding(signature: Signature) -> set[str]:
    """Returns the variables on which it depends whether sizes are accepted, and who takes them."""
    found = {name for constraint in signature.constraints for name in free_vars(constraint.predicate)}
    return found | {name for each in signature.alternatives for name in _names(each)}


def _names(alternative: Alternative) -> Iterator[str]:
    for condition in asked_by(alternative).conditions:
        yield from free_vars(condition.predicate)


def sizes_of(signature: Signature, variable: str, low: int, high: int) -> tuple[int, ...]:
    """Returns the sizes at which a map looks, ascending: the ends, what is compared with, and steps between.

    Args:
        signature: The spec.
        variable: On the axis.
        low, high: The ends, both inclusive.
    """
    walls = sorted(
        {wall for constraint in _constraints(signature) for wall in _walls(constraint.predicate, variable)}
        | {m for a in signature.alternatives for b in a.buckets if b.variable == variable for m in b.members or ()}
    )
    near = [size for wall in walls for size in (wall, wall + 1, wall - 1) if low <= size <= high]
    if len(near) > MOST_SIZES * 2 // 3:
        near = near[:: -(-len(near) * 3 // (MOST_SIZES * 2))]
    found = {low, high, *near}
    steps = MOST_SIZES - len(found)
    for step in range(1, steps):
        found.add(low + round(((high - low + 1) ** (step / steps)) - 1))
    return tuple(sorted(found))


def _constraints(signature: Signature) -> Iterable[Constraint]:
    yield from signature.constraints
    for alternative in signature.alternatives:
        yield from asked_by(alternative).conditions


def _walls(predicate: Predicate, variable: str) -> Iterator[int]:
    """Yields the numbers of each comparison that names ``variable``."""
    for node in nodes(predicate):
        left: Size | None = getattr(node, "left", None)
        right: Size | None = getattr(node, "right", None)
        if left is None or right is None:
            continue
        if variable in (*free_vars(left), *free_vars(right)):
            yield from (part.value for side in (left, right) for part in nodes(side) if isinstance(part, Const))


def reach(
    signature: Signature, variable: str, seen: Iterable[int], low: int | None, high: int | None
) -> tuple[int, int]:
    """Returns the smallest and the largest size that an axis should show, both inclusive.

    Args:
        signature: The spec.
        variable: On the axis.
        seen: Sizes of calls.
        low, high: What the spec accepts at most; None for no bound.
    """
    walls = [wall for constraint in _constraints(signature) for wall in _walls(constraint.predicate, variable)]
    walls += [m for a in signature.alternatives for b in a.buckets if b.variable == variable for m in b.members or ()]
    first = min([low if low is not None else 0, *seen])
    last = max([*seen, first + 1, *(walls if high is None else [high])])
    return first, last + max(1, (last - first) // 10)  # a little beyond, to see that it ends


__all__ = [
    "NONE",
    "REFUSED",
    "CoverageMap",
    "Taker",
    "axes_of",
    "coverage_map",
    "deciding",
    "labels",
    "reach",
    "sizes_of",
]
