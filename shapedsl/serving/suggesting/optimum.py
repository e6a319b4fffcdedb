"""Which sizes to pad to: the exact optimum over a histogram, by dynamic programming.

Sizes 1, 2, 3 seen 5, 1 and 4 times, and two members::

    {1, 3}   pads 2 to 3: 1 element        {2, 3}   pads 1 to 2, five times: 5 elements

A call of size ``s`` that is padded to ``v >= s`` costs ``f(v)``, its padded elements: a polynomial in ``v`` without
negative coefficients. A group of consecutive sizes is padded to its largest, so a choice of ``k`` members is a
partition into ``k`` groups. The cost ``w(i, j)`` of the group ``(i, j]`` satisfies Monge's condition: for ``a <= b <= c <= d``::

    w(a, d) + w(b, c) - w(a, c) - w(b, d)  =  sum of f(v_d) - f(v_c) over the sizes in (a, b]  >=  0

so the best place of the last cut never moves left as ``j`` grows, and each layer of the program is filled by divide and
conquer in ``O(n log n)`` steps. Costs are Python's integers: nothing is rounded. The optimum of ``k`` is convex in ``k``.

Source:
    F. F. Yao, "Efficient dynamic programming using quadrangle inequalities", STOC 1980.
    A. Aggarwal, B. Schieber, T. Tokuyama, "Finding a minimum-weight k-link path in graphs with the concave Monge
    property", 1994 (convexity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

# Of one size: the coefficients of what padding its calls to v costs, c0 + c1*v + c2*v**2 + …
Polynomial: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True, slots=True)
class Choice:
    """Sizes to pad to.

    Attributes:
        members: Ascending.
        cost: Elements of all calls once they are padded.
    """

    members: tuple[int, ...]
    cost: int


def choices(line: Mapping[int, Polynomial], most: int, beyond: Mapping[int, int] | None = None) -> list[Choice]:
    """Returns the best choice of 1, 2, …, ``most`` members; of fewer sizes, fewer.

    Args:
        line: Size → what padding its calls costs, without negative coefficients.
        most: At most so many members.
        beyond: Size → what its calls cost where no member is as large; without it every call is padded.

    Example:
        >>> [each.members for each in choices({1: (0, 5), 2: (0, 1), 3: (0, 4)}, 2)]
        [(3,), (1, 3)]
    """
    sizes = sorted(line)
    if not sizes or most < 1:
        return []
    degree = max(len(line[size]) for size in sizes)
    sums = [
        list(accumulate((line[size][power] if power < len(line[size]) else 0 for size in sizes), initial=0))
        for power in range(degree)
    ]
    rest = _rest(sizes, beyond)
    found: list[Choice] = []
    costs: list[int] | None = None
    cuts: list[list[int]] = []
    for count in range(1, min(most, len(sizes)) + 1):
        costs, cut = _layer(sizes, sums, costs, count)
        cuts.append(cut)
        totals = [cost + left for cost, left in zip(costs, rest, strict=True)]
        end = len(sizes)
        for j in range(end - 1, count - 1, -1) if beyond else ():
            end = j if totals[j] < totals[end] else end
        members: list[int] = []
        at = end
        for cut in reversed(cuts):
            members.append(sizes[at - 1])
            at = cut[at]
        found.append(Choice(tuple(reversed(members)), totals[end]))
    return found


def _rest(sizes: Sequence[int], beyond: Mapping[int, int] | None) -> list[int]:
    """Returns what the calls of all sizes behind the first ``j`` cost without a member, for each ``j``."""
    if beyond is None:
        return [0] * (len(sizes) + 1)
    left = [0]
    for size in reversed(sizes):
        left.append(left[-1] + beyond.get(size, 0))
    return left[::-1]


def _layer(
    sizes: Sequence[int], sums: Sequence[Sequence[int]], before: list[int] | None, count: int
) -> tuple[list[int], list[int]]:
    """Returns the least cost of the first ``j`` sizes in ``count`` groups, and where the last group begins, for each ``j``."""
    n = len(sizes)
    costs = [0] * (n + 1)
    cuts = [0] * (n + 1)
    if before is None:
        for j in range(1, n + 1):
            costs[j] = _value([row[j] for row in sums], sizes[j - 1])
        return costs, cuts
    # w(i, j) = F_j(v) - F_i(v), of which the second depends on i
    open_ = [before[i] - sums[0][i] for i in range(n + 1)]
    linear = sums[1] if len(sums) > 1 else [0] * (n + 1)
    higher = sums[2:]
    pending = [(count, n, count - 1, n - 1)]
    while pending:
        low, high, first, last = pending.pop()
        if low > high:
            continue
        middle = (low + high) // 2
        size = sizes[middle - 1]
        best = -1
        least = 0
        for i in range(first, min(last, middle - 1) + 1):
            cost = open_[i] - size * linear[i]
            if higher:
                cost -= size * size * _value([row[i] for row in higher], size)
            if best < 0 or cost < least:
                best, least = i, cost
        costs[middle] = least + _value([row[middle] for row in sums], size)
        cuts[middle] = best
        pending.append((low, middle - 1, first, best))
        pending.append((middle + 1, high, best, last))
    return costs, cuts


def _value(coefficients: Sequence[int], at: int) -> int:
    total = 0
    for coefficient in reversed(coefficients):
        total = total * at + coefficient
    return total


def cost_of(line: Mapping[int, Polynomial], members: Sequence[int]) -> int:
    """Returns the cost of given members.

    Raises:
        ValueError: A size is above all of them.
    """
    total = 0
    for size, polynomial in line.items():
        fitting = [member for member in members if member >= size]
        if not fitting:
            raise ValueError(f"no member takes {size}")
        total += _value(polynomial, min(fitting))
    return total


__all__ = ["Choice", "Polynomial", "choices", "cost_of"]
