"""Pictures for a terminal.

After::

    S, 5 calls
           3  2   40 %  → 64  │████████████████████████████████████████
          60  1   20 %  → 64  │████████████████████
          65  2   40 %  → 128 │████████████████████████████████████████
    padded to 64: 3 calls, 66 % waste
    padded to 128: 2 calls, 49 % waste
    in all: 56 % waste
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from .coverage import NONE, REFUSED, CoverageMap
from .histogram import Histogram, calls

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_MARKS: Final = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WIDTH: Final = 40  # of the longest bar


def histogram_text(picture: Histogram, width: int = _WIDTH) -> str:
    """Returns a histogram as lines; ``width`` columns for the longest bar."""
    lines = [f"{picture.variable}, {calls(picture.calls)}"]
    most = max((each.count for each in picture.bins), default=0)
    label = max((len(each.text) for each in picture.bins), default=0)
    number = max((len(f"{each.count:,}") for each in picture.bins), default=0)
    goal = max((10 if each.member is None else len(f"→ {each.member:,}") for each in picture.bins), default=0)
    for each in picture.bins:
        share = each.count / picture.calls
        target = "" if each.member is None else f"→ {each.member:,}"
        if picture.paddings:
            target = f"  {target or 'not padded':<{goal}}"
        line = f"  {each.text:>{label}}  {each.count:>{number},}  {_percent(share)}{target} │{_bar(each.count / most, width)}"
        lines.append(line.rstrip())
    for padding in picture.paddings:
        if padding.calls:
            lines.append(
                f"padded to {padding.member:,}: {calls(padding.calls)}, {_percent(padding.waste).strip()} waste"
            )
        else:
            lines.append(f"padded to {padding.member:,}: no calls")
    if picture.paddings:
        lines.append(f"in all: {_percent(picture.waste).strip()} waste")
    if picture.beyond:
        lines.append(f"above the largest member: {calls(picture.beyond)}")
    return "\n".join(lines)


def coverage_text(picture: CoverageMap) -> str:
    """Returns a map as lines: a mark for each cell, and what the marks stand for."""
    lines: list[str] = []
    named = list(_rows(picture)) if picture.y is not None else [("", picture.cells[0])]
    label = max(len(name) for name, _ in named)
    if picture.y is not None:
        lines.append(picture.y)
    lines += [f"{name:>{label}}{' ' if name else ''}│{''.join(map(_mark, cells))}" for name, cells in named]
    margin = " " * (label + 1 if picture.y is not None else 0)
    lines += [
        f"{margin}└{'─' * len(picture.columns)} {picture.x}",
        *(margin + line for line in _ticks(picture.columns)),
    ]
    seen = {cell for cells in picture.cells for cell in cells}
    for position, name in enumerate(picture.labels):
        share = f"  {_percent(picture.shares[position]).strip()} of the calls" if picture.shares else ""
        lines.append(f"{_mark(position)}  {name}{share}{'' if position in seen else '  (nowhere on this map)'}")
    if NONE in seen:
        lines.append(f"{_mark(NONE)}  no alternative takes it")
    if REFUSED in seen:
        lines.append(f"{_mark(REFUSED)}  not accepted")
    if picture.fixed:
        lines.append("at " + ", ".join(f"{name} = {size}" for name, size in picture.fixed))
    return "\n".join(lines)


def _rows(picture: CoverageMap) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yields the rows from the top, those that are equal to their neighbors as one."""
    pairs = reversed(list(zip(picture.rows, picture.cells, strict=True)))
    for cells, group in groupby(pairs, key=lambda pair: pair[1]):
        sizes = [size for size, _ in group]
        yield (f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[-1]:,}…{sizes[0]:,}"), cells


def _ticks(columns: Sequence[int]) -> list[str]:
    """Returns two lines below the columns: where some of them are, and their sizes."""
    marks, names = [" "] * (len(columns) + 1), ""
    for at, size in enumerate(columns):
        text = f"{size:,}"
        if len(names) <= at + 1 - (1 if names else 0) and (not names or len(names) < at + 1):
            marks[at + 1] = "╵"
            names = names.ljust(at + 1) + text
    return ["".join(marks).rstrip(), names]


def _mark(position: int) -> str:
    if position == NONE:
        return "?"
    if position == REFUSED:
        return "·"
    return _MARKS[position % len(_MARKS)]


def _bar(part: float, width: int) -> str:
    eighths = max(round(part * width * 8), 1 if part > 0 else 0)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def _percent(part: float) -> str:
    return f"{100 * part:3.0f} %" if part >= 0.01 or not part else " <1 %"


__all__ = ["coverage_text", "histogram_text"]
