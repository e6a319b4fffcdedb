"""Integer intervals: what a size can be when each variable has a range.

Ends are ints, or ``±inf`` where there is no bound. The ends are sound, not always tight: the two
uses of a variable in ``B * B`` are taken to be independent. No int meets a float but in a comparison:
the bound of a power can be too large to become one.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import NamedTuple, TypeAlias

from ..ir import Apply, Const, Size, Var, Variadic

Bound: TypeAlias = "int | float"  # the only floats are -inf and inf


class Interval(NamedTuple):
    """All integers from ``low`` to ``high``, both inclusive; empty where ``low > high``."""

    low: Bound = -inf
    high: Bound = inf

    @property
    def empty(self) -> bool:
        """Whether no integer is inside."""
        return self.low > self.high

    def meet(self, other: Interval) -> Interval:
        """Returns the integers in both."""
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def hull(self, other: Interval) -> Interval:
        """Returns the smallest interval that contains both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def plus(self, other: Interval) -> Interval:
        """Returns the sums."""
        return Interval(_plus(self.low, other.low), _plus(self.high, other.high))

    def times(self, other: Interval) -> Interval:
        """Returns the smallest interval around the products."""
        ends = [_times(a, b) for a in self for b in other]
        return Interval(min(ends), max(ends))

    def scaled(self, factor: int) -> Interval:
        """Returns the multiples by ``factor``."""
        low, high = _times(self.low, factor), _times(self.high, factor)
        return Interval(low, high) if factor >= 0 else Interval(high, low)


Box: TypeAlias = "Mapping[str, Interval]"  # variable -> its range; a name that is missing is unbounded
EVERYTHING = Interval()


def _plus(left: Bound, right: Bound) -> Bound:
    if isinstance(left, float) or isinstance(right, float):  # an int may be too large to become a float
        return left if isinstance(left, float) else right
    return left + right


def _times(left: Bound, right: Bound) -> Bound:
    if left == 0 or right == 0:
        return 0  # also 0 * inf: a bound that is never reached times a factor that is 0
    if left in (inf, -inf) or right in (inf, -inf):
        return inf if (left > 0) == (right > 0) else -inf
    return left * right


def floor_div(value: Bound, divisor: int) -> Bound:
    """Returns ``value // divisor`` for a positive divisor; infinite ends stay."""
    return value if value in (inf, -inf) else int(value) // divisor


def ceil_div(value: Bound, divisor: int) -> Bound:
    """Returns the ceiling of ``value / divisor`` for a positive divisor; infinite ends stay."""
    return value if value in (inf, -inf) else -(-int(value) // divisor)


def interval_of(size: Size, box: Box) -> Interval:
    """Returns an interval that contains every value of ``size``."""
    match size:
        case Const(value=value):
            return Interval(value, value)
        case Var(name=name) | Variadic(name=name):
            return box.get(name, EVERYTHING)
        case Apply(op=op, args=args):
            return _apply(op.name, [interval_of(arg, box) for arg in args], args)


def _apply(name: str, ranges: list[Interval], args: tuple[Size, ...]) -> Interval:
    match name, ranges:
        case "+", [left, right]:
            return left.plus(right)
        case "-", [left, right]:
            return left.plus(right.scaled(-1))
        case "neg", [only]:
            return only.scaled(-1)
        case "*", [left, right]:
            return left.times(right)
        case "**", [base, exponent]:
            return _power(base, exponent)
        case "//", [left, right]:
            return _floor(left, right)
        case "cdiv", [left, right]:
            return _floor(left.scaled(-1), right).scaled(-1)
        case "%", [left, right]:
            return _modulo(left, right)
        case "min", _:
            return Interval(min(r.low for r in ranges), min(r.high for r in ranges))
        case "max", _:
            return Interval(max(r.low for r in ranges), max(r.high for r in ranges))
        case "prod", _:
            product = Interval(1, 1)
            for arg, each in zip(args, ranges, strict=True):
                # any number of factors, none included: nothing is known but the sign
                many = isinstance(arg, Variadic)
                product = product.times(each if not many else Interval(0 if each.low >= 0 else -inf, inf))
            return product
        case _:
            return EVERYTHING


def _power(base: Interval, exponent: Interval) -> Interval:
    if exponent.low != exponent.high or not 0 <= exponent.low <= 64:
        return EVERYTHING
    result = Interval(1, 1)
    for _ in range(int(exponent.low)):
        result = result.times(base)
    return result


def _floor(left: Interval, right: Interval) -> Interval:
    if right.high < 0:
        left, right = left.scaled(-1), right.scaled(-1)
    if right.low < 1:
        return EVERYTHING
    # the quotient is monotonic in the dividend; in the divisor it moves toward 0 (or -1)
    ends: list[Bound] = []
    for value in left:
        for divisor in right:
            if divisor == inf:
                ends.append(-1 if value < 0 else 0)
            else:
                ends.append(floor_div(value, int(divisor)))
    return Interval(min(ends), max(ends))


def _modulo(left: Interval, right: Interval) -> Interval:
    if right.low >= 1:
        if left.low >= 0 and left.high < right.low:
            return left
        return Interval(0, min(right.high - 1, left.high if left.low >= 0 else inf))
    if right.high <= -1:
        return Interval(right.low + 1, 0)
    return EVERYTHING
