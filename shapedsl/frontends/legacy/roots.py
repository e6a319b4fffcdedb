"""A named dim, everywhere it stands: its range, and what the legacy program accepted beside it.

The name is the identity. Two ranges under one name are an error where torch raises one: at two slots that are spelled
alike. A derived slot may give its root another range; torch then checks both, so both hold.

What a legacy program checks at run time, measured on torch 2.14.1 by exporting and calling it: each slot's upper
bound; its lower bound, unless that is 2 or less; and the relation between slots, over the rational numbers. So
``min=2`` lets 0 and 1 pass, and where the root is no size itself, ``16*th`` in [16, 256] lets 17 pass. Where the root
is no size itself, ``n - 2`` is compared with no other slot, and ``3*n + 1`` as a float, which refuses some that fit.

Before::

    16*th at im.shape[2], th in [1, 16]

After::

    th in [1, 16]; sizes in between, such as 17, ran and are now rejected
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from ...diagnostics import Report, Span
from .model import Derived, Named
from .notes import choice, remark, stricter
from .verdict import Note

_UNBOUNDED = 2**63 - 1  # torch's largest int: as a bound, none
_UNCHECKED = 2  # lower bounds up to here are no guard of a legacy program


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a named dim stands: the size there is ``factor * root + offset``.

    Attributes:
        place: As messages have it.
        root: As it was defined for this slot.
        is_size: Whether it is a size, and not an int.
        given: The example's size there, where it is known.
        span: Of the dim there.
    """

    place: str
    root: Named
    factor: int
    offset: int
    is_size: bool
    given: int | None
    span: Span | None

    @property
    def value(self) -> int | None:
        """The root's value in the example; None where that is not known, or no integer."""
        if self.given is None or (self.given - self.offset) % self.factor:
            return None
        return (self.given - self.offset) // self.factor


def slot(dim: Named | Derived, place: str, *, is_size: bool, given: int | None = None) -> Slot:
    """Returns where ``dim`` stands."""
    if isinstance(dim, Named):
        return Slot(place, dim, 1, 0, is_size, given, dim.span)
    return Slot(place, dim.root, dim.factor, dim.offset, is_size, given, dim.span)


def bounds(low: int | None, high: int | None) -> tuple[int, int | None]:
    """Returns a legacy range as inclusive bounds; None for no upper one."""
    return max(low or 0, 0), None if high is None or high >= _UNBOUNDED else high


def interval(low: int, high: int | None) -> str:
    """Returns ``[2, inf]``, as the language writes a range."""
    return f"[{low}, {'inf' if high is None else high}]"


@dataclass(frozen=True, slots=True)
class Root:
    """One name, with all its slots; never empty."""

    name: str
    slots: tuple[Slot, ...]

    @property
    def is_size(self) -> bool:
        """Whether the variable is a size (else an int)."""
        return any(each.is_size for each in self.slots)

    @property
    def is_bare(self) -> bool:
        """Whether some slot is the root itself."""
        return any((each.factor, each.offset) == (1, 0) for each in self.slots)

    @property
    def range(self) -> tuple[int, int | None]:
        """What all definitions of it allow."""
        return _meet([bounds(each.root.low, each.root.high) for each in self.slots])

    @property
    def open(self) -> tuple[str, ...]:
        """Its bounds that are not known, as they are written."""
        return tuple(dict.fromkeys(bound for each in self.slots for bound in each.root.open))

    def _is_open(self, bound: str) -> bool:
        return any(each.startswith(f"{bound}=") for each in self.open)

    def check(self, report: Report) -> None:
        """Reports ranges that contradict each other, are empty, or make a slot negative."""
        if self.open and len({(each.root.open, each.root.span) for each in self.slots}) > 1:
            self._incomparable(report)
            return
        alike: dict[tuple[int, int], Slot] = {}
        for each in self.slots:
            first = alike.setdefault((each.factor, each.offset), each)
            if bounds(each.root.low, each.root.high) != bounds(first.root.low, first.root.high):
                self._conflict(first, each, report)
                return
        low, high = self.range
        if high is not None and high < low:
            self._empty(report)
            return
        for each in self.slots:
            if each.factor * low + each.offset < 0 and not self._is_open("min"):
                least = -(each.offset // each.factor)
                report.error(
                    "legacy-bounds",
                    f"`{spelled(self.name, each)}` is negative where `{self.name}` is {low}",
                    at=each.span,
                    label=f"`{self.name}` is in {interval(low, high)}",
                    note="torch refuses to make this dim",
                    help=f"give `{self.name}` the bound `min={least}`",
                )

    def _conflict(self, first: Slot, other: Slot, report: Report) -> None:
        one, two = bounds(first.root.low, first.root.high), bounds(other.root.low, other.root.high)
        both = _meet([one, two])
        help_ = [f"rename one of them if they are two sizes: `{self.name}` and `{self.name}_2`"]
        if both[1] is None or both[0] <= both[1]:
            help_.insert(0, f"give both the range {interval(*both)} to keep one size")
        report.error(
            "legacy-bounds",
            f"`{self.name}` is defined twice, with {interval(*one)} and {interval(*two)}",
            at=other.root.span or other.span,
            label=f"here in {interval(*two)}",
            also=[(first.root.span or first.span, f"here in {interval(*one)}")],
            note="dims of one name are one size, and torch.export refuses two ranges for it",
            help=help_,
        )

    def _incomparable(self, report: Report) -> None:
        first = self.slots[0].root
        other = next(each.root for each in self.slots if (each.root.open, each.root.span) != (first.open, first.span))
        report.error(
            "legacy-flow",
            f"`{self.name}` is defined twice, and whether with one range depends on {_listed(self.open)}",
            at=other.span,
            label="here again",
            also=[(first.span, "here")],
            note="dims of one name are one size, and torch.export refuses two ranges for it",
            help="define it once, and use that",
        )

    def _empty(self, report: Report) -> None:
        first = self.slots[0].root
        ranges = list(dict.fromkeys(interval(*bounds(each.root.low, each.root.high)) for each in self.slots))
        report.error(
            "legacy-bounds",
            f"no size is in the range of `{self.name}`: {' and '.join(ranges)}",
            at=first.span,
            label=f"in {interval(*bounds(first.low, first.high))}",
            also=[(each.root.span, "and here") for each in self.slots if each.root.span not in (None, first.span)],
            note="torch refuses this range" if len(ranges) == 1 else "torch.export finds no size for it",
            help=f"give `{self.name}` a `max=` that is at least its `min=`",
        )

    # --------------------------------------------------------------------------------------- notes

    def notes(self, *, checked: bool = False) -> list[Note]:
        """Returns what the legacy program ran beside what was declared: nothing, if it ``checked`` every bound."""
        made: list[Note] = []
        low, high = self.range
        places = tuple(each.place for each in self.slots)
        first = self.slots[0].root
        if len({bounds(each.root.low, each.root.high) for each in self.slots}) > 1:
            message = (
                f"`{self.name}` has another range where it is derived; both hold, so it is in {interval(low, high)}"
            )
            made.append(remark(message, places, span=first.span))
        hints = list(dict.fromkeys(each.root.hint for each in self.slots if each.root.hint is not None))
        if len(hints) > 1:
            message = f"`{self.name}` has the hints {' and '.join(map(str, hints))}"
            others = [f"the hint {each}" for each in hints[1:]]
            made.append(choice(message, places, f"the hint {hints[0]}", others, span=first.span))
        ints = [each.place for each in self.slots if not each.is_size]
        if ints:
            message = "torch.export refuses this spec: a named dim for an int"
            taken, others = f"the variable `{self.name}`", ["an int that is no size"]
            made.append(choice(message, ints, taken, others, span=first.span))
        made += self._unfit(low, high)
        made += self._unknown(places, checked=checked)
        if checked or not self.is_size:
            return made
        unchecked = all(each.factor * low + each.offset <= _UNCHECKED for each in self.slots)
        below = [size for size in range(low) if all(each.factor * size + each.offset >= 0 for each in self.slots)]
        if unchecked and below and self.is_bare:
            sizes = f"size {below[0]}" if len(below) == 1 else "sizes 0 and 1"
            verb = "is" if len(below) == 1 else "are"
            message = f"{sizes} ran although `{self.name}` is at least {low}, and {verb} now rejected"
            made.append(stricter(message, places, span=first.span))
        if not self.is_bare:
            made += self._phantom(low, high, places, unchecked=unchecked)
        return made

    def _unknown(self, places: tuple[str, ...], *, checked: bool) -> list[Note]:
        """Returns what the bounds that are not known may change."""
        span = self.slots[0].root.span
        made = unknown(self.open, self.name, places, span, checked=checked or not self.is_size)
        if self._is_open("min") and any(each.offset < 0 for each in self.slots):
            message = f"whether `{self.name}` is large enough for what is derived from it is no longer checked where it is made"
            made.append(remark(message, places, span=span))
        return made

    def _unfit(self, low: int, high: int | None) -> list[Note]:
        """Returns why torch refuses the example, if it does."""
        values: dict[int, Slot] = {}
        for each in self.slots:
            if each.given is None:
                continue
            value = each.value
            if value is None or value < low or (high is not None and value > high):
                text = f"`{spelled(self.name, each)}`"
                within = f"{text} with `{self.name}` in {interval(low, high)}"
                message = f"torch.export refuses this spec: the example's size {each.given} is no {within}"
                others = [f"what takes {each.given}, as in the example"]
                return [choice(message, [each.place], within, others, span=each.span)]
            values.setdefault(value, each)
        if len(values) < 2:
            return []
        (one, first), (two, other) = list(values.items())[:2]
        message = f"torch.export refuses this spec: `{self.name}` is {one} and {two} in the example"
        taken, others = f"one size, `{self.name}`", ["several sizes, as in the example"]
        return [choice(message, [first.place, other.place], taken, others, span=other.span)]

    def _phantom(self, low: int, high: int | None, places: tuple[str, ...], *, unchecked: bool) -> list[Note]:
        """Returns what ran where nothing made the root an integer."""
        step = gcd(*(each.factor for each in self.slots))
        first = self.slots[0]
        least = first.factor * low + first.offset
        text = spelled(self.name, first)
        made = self._compared(places)
        if step > 1 and high != low:
            between = least + first.factor // step
            residue = first.offset % step
            fits = f"a multiple of {step}" if not residue else f"a multiple of {step} plus {residue}"
            message = (
                f"`{self.name}` is no size of an input: sizes that are not {fits} ran for `{text}`, such as {between}, "
                "and are now rejected"
            )
            made.append(stricter(message, places, span=first.span))
        if unchecked and all(each.factor * low + each.offset >= each.factor // step for each in self.slots):
            message = f"sizes below {least} ran for `{text}`, and are now rejected"
            made.append(stricter(message, places, span=first.span))
        return made

    def _compared(self, places: tuple[str, ...]) -> list[Note]:
        """Returns what torch gets wrong where it compares slots whose root is no size."""
        kinds = list({(each.factor, each.offset): each for each in self.slots}.values())
        if len(kinds) == 1:
            return []
        apart = next((each for each in kinds if each.factor == 1 and each.offset < 0), None)
        if apart is not None:
            other = next(each for each in kinds if each is not apart)
            message = (
                f"`{spelled(self.name, apart)}` was not compared with `{spelled(self.name, other)}`: sizes that do not "
                "fit each other ran, and are now rejected"
            )
            return [stricter(message, places, span=apart.span)]
        rounded = next((each for each in kinds if each.factor > 1 and each.offset), None)
        if rounded is None:
            return []
        message = (
            f"torch compared `{spelled(self.name, rounded)}` with other sizes as floats: some that fit were refused, "
            "and run now"
        )
        return [remark(message, places, span=rounded.span)]


def unknown(
    bounds: tuple[str, ...], name: str, places: tuple[str, ...], span: Span | None, *, checked: bool
) -> list[Note]:
    """Returns what bounds of a variable may change that are not known.

    Args:
        bounds: As they are written: ``max=config.longest``.
        name: Of the variable.
        places: Where it stands.
        span: Where it is made.
        checked: Whether the legacy program checked every bound.
    """
    made: list[Note] = []
    for bound in bounds:
        if bound.startswith("max="):  # whatever Dim takes, ShapeVar takes and means: measured
            message = f"`{bound}` of `{name}` is not known here, and stays as it is written"
            made.append(remark(message, places, span=span))
            continue
        ran = "None and numbers below 0 were no bound, and are now refused"
        if not checked:
            ran = f"for 1 and 2, smaller sizes may have run, and are now rejected; {ran}"
        made.append(stricter(f"`{bound}` of `{name}` is not known here: {ran}", places, span=span))
    return made


def spelled(name: str, each: Slot) -> str:
    """Returns a slot's size as torch prints it: ``2*b + 1``."""
    text = name if each.factor == 1 else f"{each.factor}*{name}"
    return text if not each.offset else f"{text} {'+' if each.offset > 0 else '-'} {abs(each.offset)}"


def _listed(texts: tuple[str, ...]) -> str:
    return " and ".join(f"`{text}`" for text in texts)


def _meet(ranges: list[tuple[int, int | None]]) -> tuple[int, int | None]:
    tops = [high for _, high in ranges if high is not None]
    return max(low for low, _ in ranges), min(tops, default=None)


__all__ = ["Root", "Slot", "bounds", "interval", "slot", "spelled", "unknown"]
