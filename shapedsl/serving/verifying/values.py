"""What comparing an artifact with the original found: a row a call, a table, JSON.

After (``str`` of it)::

    case large: 8 calls, 7 the same, 1 wrong; largest error 1.2 of `return` at B = 64, S = 3
    alternative  sizes           error  relative  in      verdict
    case large   B = 256, S = 0  0      0         return  same
    case large   B = 64, S = 3   0.73   1.2       return  wrong
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...targets.differences import Difference

SAME, WRONG, RAISED, REFUSED, SKIPPED = "same", "wrong", "raised", "refused", "skipped"
RANDOM: Final = "the original draws random numbers"
UNSTEADY: Final = "the original gives other results for equal inputs"
FAULTS: Final = frozenset({WRONG, RAISED, REFUSED})
_SILENT: Final = "results have no numbers that tell anything: they are empty, NaN, or almost zero"
_WORDS: Final[Mapping[str, str]] = {
    SAME: "the same",
    WRONG: "wrong",
    RAISED: "raised",
    REFUSED: "refused",
    SKIPPED: "skipped",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One call of both.

    Attributes:
        label: Of the alternative, or the artifact; empty where there is one.
        sizes: Of the call.
        verdict: ``same``; ``wrong``; ``raised``: the artifact raises, and the original does not; ``refused``: it refuses
            sizes that the spec allows; ``skipped``: the original raises, or what it returns cannot be compared.
        what: What was raised, or why nothing was compared.
        differences: Of each output that was compared.
        tolerance: Allowed relative error, where it is given; else that of each dtype.
    """

    label: str
    sizes: Mapping[str, int]
    verdict: str
    what: str = ""
    differences: tuple[Difference, ...] = ()
    tolerance: float | None = None

    @property
    def worst(self) -> Difference | None:
        """The largest difference, as a multiple of what rounding may do; None where nothing was compared."""
        return max(self.differences, key=lambda each: badness(each, self.tolerance), default=None)

    @property
    def numbers(self) -> int:
        """How many numbers of results were compared."""
        return sum(each.count for each in self.differences if each.path.startswith("return"))

    @property
    def at(self) -> str:
        """The sizes, as text."""
        return ", ".join(f"{name} = {size}" for name, size in self.sizes.items()) or "no sizes"

    @property
    def said(self) -> str:
        """What is wrong, in words; empty if nothing is."""
        worst = self.worst
        if self.verdict == RAISED:
            return f"it raises {self.what}"
        if self.verdict == REFUSED:
            return f"it refuses sizes that the spec allows: {self.what}"
        if self.verdict != WRONG or worst is None:
            return ""
        if worst.what:
            return f"`{worst.path}` {worst.what}"
        allowed = "nothing" if not worst.tolerance else f"{_allowed(worst, self.tolerance):.0e}"
        return f"`{worst.path}` has a relative error of {worst.error:.2g}, where rounding explains {allowed}"


@dataclass(frozen=True, slots=True)
class Sampled:
    """How an artifact compares with the original.

    Attributes:
        label: What messages call the artifact.
        rows: Each call.
        remarks: What is said besides.
        changes: Whether the original changes what it is given, or what it holds.
    """

    label: str
    rows: tuple[Row, ...] = ()
    remarks: tuple[str, ...] = ()
    changes: bool = field(default=False, compare=False)

    @property
    def compared(self) -> int:
        """How many calls both returned from."""
        return sum(row.verdict in (SAME, WRONG) for row in self.rows)

    @property
    def faults(self) -> tuple[Row, ...]:
        """The calls of which something is wrong, the worst first."""
        return tuple(sorted((row for row in self.rows if row.verdict in FAULTS), key=_rank, reverse=True))

    @property
    def wrong(self) -> bool:
        """Whether the artifact computes something else than the original, raises, or refuses a call of the spec."""
        return bool(self.faults)

    @property
    def passed(self) -> bool:
        """Whether numbers were compared, and nothing is wrong; of what draws random numbers nothing is known."""
        return not self.wrong and not self.skipped

    @property
    def worst(self) -> Row | None:
        """The call with the worst fault, or else with the largest error; None where nothing was compared."""
        return max((row for row in self.rows if row.verdict != SKIPPED), key=_rank, default=None)

    @property
    def error(self) -> float:
        """The largest relative error of all calls; infinite where results are not alike at all, or one raises."""
        found = [each.error for row in self.rows for each in row.differences]
        return math.inf if any(row.verdict in (RAISED, REFUSED) for row in self.rows) else max(found, default=0.0)

    @property
    def skipped(self) -> str:
        """Why no numbers were compared; empty if some were."""
        unsteady = [row.what for row in self.rows if row.what in (RANDOM, UNSTEADY)]
        if self.wrong:
            return ""
        if not unsteady and any(row.numbers for row in self.rows):
            return self._left_out()
        reasons = unsteady or [row.what or _SILENT for row in self.rows] or [*self.remarks]
        return reasons[0] if reasons else "no inputs were found"

    def _left_out(self) -> str:
        """Returns why one alternative was never compared; empty if each was."""
        for label in dict.fromkeys(row.label for row in self.rows):
            own = [row for row in self.rows if row.label == label]
            if all(row.verdict == SKIPPED for row in own):
                return f"{label}: {own[0].what}" if label else own[0].what
        return ""

    def summary(self) -> str:
        """Returns one line: how many calls, with which verdicts, and the largest error with its sizes."""
        counts = {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in _WORDS}
        parts = [f"{count} {_WORDS[verdict]}" for verdict, count in counts.items() if count]
        calls = f"{len(self.rows)} call{'' if len(self.rows) == 1 else 's'}"
        said = f"{self.label}: {', '.join([calls, *parts])}" if parts else f"{self.label}: nothing was compared"
        row = self.worst
        if row is None:
            return said
        worst = row.worst
        if worst is None or worst.what:
            return f"{said}; at {row.at} {row.said}"
        return f"{said}; largest error {worst.error:.2g} of `{worst.path}` at {row.at}"

    def __str__(self) -> str:
        lines = [self.summary()]
        if self.rows:
            lines += _table(list(_cells(self.rows)))
        return "\n".join([*lines, *(f"note: {remark}" for remark in self.remarks)])

    def to_dict(self) -> dict[str, Any]:
        """Returns it as plain data; what is infinite is None."""
        worst = self.worst
        return {
            "label": self.label,
            "passed": self.passed,
            "compared": self.compared,
            "error": _finite(self.error),
            "worst": None if worst is None else _row_dict(worst),
            "rows": [_row_dict(row) for row in self.rows],
            "remarks": list(self.remarks),
        }

    def to_json(self) -> str:
        """Returns it as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def and_(self, other: Sampled) -> Sampled:
        """Returns the calls of both, under this one's label."""
        remarks = tuple(dict.fromkeys((*self.remarks, *other.remarks)))
        return Sampled(self.label, (*self.rows, *other.rows), remarks, self.changes or other.changes)


def _allowed(each: Difference, tolerance: float | None) -> float:
    return each.tolerance if tolerance is None or not each.tolerance else tolerance


def badness(each: Difference, tolerance: float | None) -> float:
    """Returns how many times what rounding may do; exact kinds allow nothing."""
    allowed = _allowed(each, tolerance)
    if not each.error:
        return 0.0
    return each.error / allowed if allowed else math.inf


def _rank(row: Row) -> tuple[bool, bool, float, int]:
    worst = row.worst
    bad = math.inf if worst is None else badness(worst, row.tolerance)
    return row.verdict in FAULTS, row.verdict == WRONG, bad, row.numbers


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _row_dict(row: Row) -> dict[str, Any]:
    worst = row.worst
    return {
        "alternative": row.label,
        "sizes": dict(row.sizes),
        "verdict": row.verdict,
        "what": row.what or (worst.what if worst is not None else ""),
        "error": None if worst is None else _finite(worst.absolute),
        "relative": None if worst is None else _finite(worst.error),
        "output": "" if worst is None else worst.path,
        "outputs": {
            each.path: {"error": _finite(each.absolute), "relative": _finite(each.error), "allowed": each.tolerance}
            for each in row.differences
        },
    }


def _cells(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    yield "alternative", "sizes", "error", "relative", "in", "verdict"
    for row in rows:
        worst = row.worst
        error, relative, path = "", "", ""
        if worst is not None:
            path = worst.path
            if math.isfinite(worst.error):
                error, relative = _number(worst.absolute), _number(worst.error)
        said = row.what or (worst.what if worst is not None else "")
        yield row.label, row.at, error, relative, path, f"{row.verdict}: {said}" if said else row.verdict


def _number(value: float) -> str:
    return "0" if not value else f"{value:.2g}"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    if not any(row[0] for row in rows[1:]):
        rows = [row[1:] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


__all__ = ["FAULTS", "RAISED", "RANDOM", "REFUSED", "SAME", "SKIPPED", "UNSTEADY", "WRONG", "Row", "Sampled", "badness"]
