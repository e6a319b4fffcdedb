"""What is made of a generator's values, where some stand for as many as a variadic has dims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from . import sums
from .answers import Stop
from .logic import any_of, negate, truth
from .values import Block, Span, SymbolicRange, Undecided, Value, text

LONGEST: Final = 4096


@dataclass(slots=True)
class Item:
    """One value that a generator yields.

    Attributes:
        value: The value.
        repeated: It stands for as many values as a block has dims, perhaps none.
        perhaps: Why it is not known whether a condition lets it through, if it is not.
    """

    value: Value
    repeated: bool = False
    perhaps: Undecided | None = None


Fold: TypeAlias = Callable[[Iterator[Item]], Value]


def divisions(span: SymbolicRange) -> Iterator[tuple[Value, ...]]:
    """Yields the ways to divide a range over ``c + len(*S)`` ints: so many single ones, all of S, the others."""
    size = sums.subtract(span.stop, span.start)
    known = sums.only_length(size)
    if known is None or not 0 <= known[1] <= LONGEST:
        return
    name, singles = known
    block = sums.length(name)
    for before in range(singles + 1):
        numbers: list[Value] = [sums.add(span.start, place) for place in range(before)]
        middle = sums.add(span.start, before)
        behind = sums.add(middle, block)
        yield (*numbers, Span(middle, block), *(sums.add(behind, place) for place in range(singles - before)))


def gather(items: Iterator[Item]) -> Value:
    """Returns the tuple of a generator's values."""
    found: list[Value] = []
    for item in items:
        if item.perhaps is not None:
            raise Stop(item.perhaps.reason)
        if item.repeated and not isinstance(item.value, Block):
            raise Stop(f"{text(item.value)} would be repeated, and how often is not known")
        found.append(item.value)
        if len(found) > LONGEST:
            raise Stop(f"a tuple longer than {LONGEST:,}")
    return tuple(found)


def _any(items: Iterator[Item]) -> Value:
    def verdicts() -> Iterator[bool | Undecided]:
        for item in items:
            verdict = truth(item.value)
            if verdict is False:
                continue
            if item.perhaps is not None:
                yield item.perhaps
            elif item.repeated and verdict is True:
                yield Undecided("whether there are any such dims is not known")
            else:
                yield verdict

    return any_of(verdicts())


def _all(items: Iterator[Item]) -> Value:
    return negate(truth(_any(Item(negate(truth(item.value)), item.repeated, item.perhaps) for item in items)))


FOLDS: Final[dict[str, Fold]] = {"any": _any, "all": _all}
