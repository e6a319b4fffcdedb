"""Comparisons of what may not be known, and the three values they give.

A comparison of sizes is decided if it has one answer at all sizes: the difference of both sides is constant, or
depends only on how many dims variadics have, which is 0 or more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from . import sums
from .answers import Stop
from .sums import Number, Sum
from .values import Block, Span, Undecided, Unknown, Value, has_blocks, text

Truth: TypeAlias = "bool | Undecided"
Bounds: TypeAlias = "tuple[int | None, int | None]"


def truth(value: Value) -> Truth:
    """Returns whether a value counts as true."""
    match value:
        case bool() | Undecided():
            return value
        case None | int() | str():
            return bool(value)
        case tuple() if not has_blocks(value):
            return bool(value)
        case Sum():
            return negate(_decide_number(value, 0, "=="))
        case _:
            return Undecided(f"nothing decides whether {text(value)} is true")


def negate(value: Truth) -> Truth:
    """Returns ``not value``."""
    return value if isinstance(value, Undecided) else not value


def any_of(values: Iterable[Truth]) -> Truth:
    """Returns whether one of ``values`` is true, which an undecided one before it does not change."""
    undecided: Undecided | None = None
    for value in values:
        if isinstance(value, Undecided):
            undecided = undecided or value
        elif value:
            return True
    return False if undecided is None else undecided


def compare(op: str, left: Value, right: Value) -> Truth:
    """Returns ``left op right`` for any of Python's comparisons.

    Raises:
        Stop: Python has no such comparison, or it is none that shape functions use.
    """
    match op:
        case "==":
            return equal(left, right)
        case "!=":
            return negate(equal(left, right))
        case "is":
            return _identical(left, right)
        case "is not":
            return negate(_identical(left, right))
        case "in":
            return _within(left, right)
        case "not in":
            return negate(_within(left, right))
        case _:
            return _ordered(op, left, right)


def equal(left: Value, right: Value) -> Truth:
    """Returns ``left == right``."""
    match left, right:
        case (Span(), _) | (_, Span()):
            return _ordered("==", left, right)
        case (Unknown(), _) | (_, Unknown()):
            return _undecided("==", left, right)
        case (int() | Sum(), int() | Sum()):
            return _decide_number(left, right, "==")
        case (Block(), Block()) if left == right:
            return True
        case (Block(), Block() | int() | Sum()) | (int() | Sum(), Block()):
            return _undecided("==", left, right)
        case (tuple(), tuple()):
            return _equal_shapes(left, right)
        case (None | str() | int() | tuple(), None | str() | int() | tuple()):
            return left == right
        case (None | str() | tuple(), Sum() | Block()) | (Sum() | Block(), None | str() | tuple()):
            return False
        case _:
            raise Stop(f"{text(left)} cannot be compared with {text(right)}")


def _equal_shapes(left: tuple[Value, ...], right: tuple[Value, ...]) -> Truth:
    if left == right and not any(isinstance(entry, Unknown) for entry in left):
        return True
    if has_blocks(left) or has_blocks(right):
        return _undecided("==", left, right)
    if len(left) != len(right):
        return False
    return negate(any_of(negate(equal(first, second)) for first, second in zip(left, right, strict=True)))


def _identical(left: Value, right: Value) -> Truth:
    if left is None or right is None:
        other = right if left is None else left
        return _undecided("is", left, right) if isinstance(other, Unknown) else other is None
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    raise Stop(f"`is` between {text(left)} and {text(right)}")


def _within(item: Value, container: Value) -> Truth:
    match container:
        case str() if isinstance(item, str):
            return item in container
        case tuple():
            return any_of(equal(item, other) for other in container)
        case _:
            raise Stop(f"`in {text(container)}`")


def _ordered(op: str, left: Value, right: Value) -> Truth:
    match left, right:
        case (int() | Sum() | Span(), int() | Sum() | Span()):
            return _decide(op, left, right)
        case (Unknown() | Block(), int() | Sum() | Unknown() | Block()) | (int() | Sum(), Unknown() | Block()):
            return _undecided(op, left, right)
        case (str(), str()):
            return _BY_TEXT[op](left, right)
        case _:
            raise Stop(f"`{text(left)} {op} {text(right)}`")


def _decide(op: str, left: int | Sum | Span, right: int | Sum | Span) -> Truth:
    """Compares, each int of a span at once: decided only if it comes out the same for all of them."""
    if not isinstance(left, Span) and not isinstance(right, Span):
        return _decide_number(left, right, op)
    low, _ = sums.bounds(sums.subtract(_first(left), _last(right)))
    _, high = sums.bounds(sums.subtract(_last(left), _first(right)))
    return _verdict(op, (low, high), left, right)


def _first(value: int | Sum | Span) -> Number:
    return value.start if isinstance(value, Span) else value


def _last(value: int | Sum | Span) -> Number:
    return sums.subtract(value.stop, 1) if isinstance(value, Span) else value


def _decide_number(left: Number, right: Number, op: str) -> Truth:
    return _verdict(op, sums.bounds(sums.subtract(left, right)), left, right)


def _verdict(op: str, between: Bounds, left: Value, right: Value) -> Truth:
    """Returns ``left op right``, where ``left - right`` lies between two ints, either of which may be missing."""
    low, high = between
    always, never = _SIGNS[op](low, high)
    if always:
        return True
    return False if never else _undecided(op, left, right)


def _signs_equal(low: int | None, high: int | None) -> tuple[bool, bool]:
    return low == high == 0, (low is not None and low > 0) or (high is not None and high < 0)


def _signs_less(low: int | None, high: int | None) -> tuple[bool, bool]:
    return high is not None and high < 0, low is not None and low >= 0


def _signs_less_equal(low: int | None, high: int | None) -> tuple[bool, bool]:
    return high is not None and high <= 0, low is not None and low > 0


def _swapped(signs: Callable[[int | None, int | None], tuple[bool, bool]]) -> _Signs:
    def of_negation(low: int | None, high: int | None) -> tuple[bool, bool]:
        always, never = signs(low, high)
        return never, always

    return of_negation


_Signs: TypeAlias = "Callable[[int | None, int | None], tuple[bool, bool]]"
_SIGNS: Final[dict[str, _Signs]] = {
    "==": _signs_equal,
    "<": _signs_less,
    "<=": _signs_less_equal,
    ">=": _swapped(_signs_less),
    ">": _swapped(_signs_less_equal),
}
_BY_TEXT: Final[dict[str, Callable[[str, str], bool]]] = {
    "<": str.__lt__,
    "<=": str.__le__,
    ">": str.__gt__,
    ">=": str.__ge__,
}


def _undecided(op: str, left: Value, right: Value) -> Undecided:
    return Undecided(f"the sizes do not decide `{text(left)} {op} {text(right)}`")
