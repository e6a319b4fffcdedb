"""Compare the values of an artifact with those of the original, on sampled sizes.

After (``str`` of it)::

    case large: 8 calls, 7 the same, 1 wrong; largest error 0.73 of `return` at B = 64, S = 3
    alternative   sizes           error     relative   in         verdict
    case large    B = 256, S = 0   0         0          return     same
    case large    B = 64, S = 3    0.73      1.2        return     wrong

Both are run with clones of the same arguments and the same random numbers, and what they change is put back.
Results, arguments, a module's buffers and, on request, gradients are compared. What draws random numbers
is not: the original gives other numbers than any other code that draws as many.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ...diagnostics import ShapeError
from ...ir import Path, Signature
from ...ir.expanded import Expanded
from ...targets.differences import Difference, differences, uncompared
from ...targets.gradients import gradients_differ, with_gradients
from ...targets.trials import Bench, Run
from .samples import SAMPLES, Call, Sample, given_samples, samples

SAME, WRONG, RAISED, REFUSED, SKIPPED = "same", "wrong", "raised", "refused", "skipped"
_FAULTS: Final = frozenset({WRONG, RAISED, REFUSED})
_REFUSALS: Final = ("Guard failed", "Runtime assertion failed", "Expected input at")
MOST_SAID: Final = 300  # letters of what was raised


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
        return max(self.differences, key=lambda each: _badness(each, self.tolerance), default=None)

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
        return tuple(sorted((row for row in self.rows if row.verdict in _FAULTS), key=_rank, reverse=True))

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
        unsteady = [row.what for row in self.rows if row.what in (_RANDOM, _UNSTEADY)]
        if self.wrong or (not unsteady and any(row.numbers for row in self.rows)):
            return ""
        reasons = unsteady or [row.what or "results are empty" for row in self.rows] or [*self.remarks]
        return reasons[0] if reasons else "no inputs were found"

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


def sampled(
    label: str,
    target: Callable[..., Any],
    run: Callable[..., Any],
    spec: Signature | Expanded,
    *,
    n: int | None = None,
    seed: int = 0,
    grad: bool = False,
    tolerance: float | None = None,
    examples: Sequence[Call] = (),
    like: Call | None = None,
    sizes: Mapping[str, int] | None = None,
    device: Any = None,
) -> Sampled:
    """Returns how ``run`` compares with ``target`` on calls that satisfy ``spec``.

    Args:
        label: What messages call the artifact.
        target: The original, which is right.
        run: The artifact; it takes what ``target`` takes.
        spec: What calls satisfy; with alternatives, each gets calls of its own. One at a structure gives calls of that.
        n: How many calls are drawn for each alternative; by default `SAMPLES`. 0 for none but ``examples``.
        seed: Of sizes and data.
        grad: Whether gradients are compared, too.
        tolerance: Allowed relative error of what may have one; by default what rounding does in each dtype.
        examples: Calls that are compared as well.
        like: A call that structure, dtypes and static parts are copied from; by default the first of ``examples``.
        sizes: Sizes that are given, those of ``const X = _`` among them.
        device: Of the tensors that are made, where there is no ``like``.

    Raises:
        ShapeError: ``missing-input``: the spec has static parts, and there is no example.
    """
    remarks: list[str] = []
    calls = given_samples(spec, examples)
    wanted = SAMPLES if n is None else n
    if wanted:
        anchor = like if like is not None else examples[0] if examples else None
        calls += samples(spec, wanted, seed, like=anchor, sizes=sizes, device=device, remarks=remarks)
    found = compared(label, target, run, calls, grad=grad, tolerance=tolerance)
    return replace(found, remarks=(*remarks, *found.remarks))


def compared(
    label: str,
    target: Callable[..., Any],
    run: Callable[..., Any],
    calls: Sequence[Sample],
    *,
    grad: bool = False,
    tolerance: float | None = None,
    ignored: Collection[Path] = (),
    holders: Sequence[Any] = (),
    shared: bool | None = None,
) -> Sampled:
    """Returns how ``run`` compares with ``target`` on given calls.

    Args:
        label: What messages call the artifact.
        target: Is right.
        run: The artifact.
        calls: Both are run with.
        grad: Whether gradients are compared.
        tolerance: Allowed relative error.
        ignored: Outputs that are not compared.
        holders: What else holds modules that may change.
        shared: Whether both change the same module; by default a buffer that one of them leaves as it is is no fault.
    """
    return _Comparison(target, run, grad, tolerance, ignored, holders, shared).of(label, calls)


class _Comparison:
    """One artifact against one original."""

    def __init__(
        self,
        target: Callable[..., Any],
        run: Callable[..., Any],
        grad: bool,
        tolerance: float | None,
        ignored: Collection[Path],
        holders: Sequence[Any],
        shared: bool | None,
    ) -> None:
        self.target = target
        self.run = run
        self.tolerance = tolerance
        self.ignored = ignored
        self.shared = shared
        self.grad = grad
        self.bench = Bench(target, *holders, run)
        self.bench.grad = grad or self.bench.ambient()
        self.remarks: dict[str, None] = {}
        self.changes = False
        self._steady: bool | None = None

    def of(self, label: str, calls: Sequence[Sample]) -> Sampled:
        rows = [self._row(call) for call in calls]
        return Sampled(label, tuple(rows), tuple(self.remarks), self.changes)

    def _row(self, call: Sample) -> Row:
        def row(verdict: str, what: str = "", found: Sequence[Difference] = ()) -> Row:
            return Row(call.label, call.sizes, verdict, what, tuple(found), self.tolerance)

        reference, gradients = self._run(self.target, call, own=False)
        self.changes = self.changes or bool(reference.buffers or reference.attributes)
        if reference.error is not None:
            return row(SKIPPED, f"the original raises {_headline(reference.error)}")
        if reference.drew:
            self.remarks[f"{_RANDOM}, so results cannot be compared; a module may be steady in eval mode"] = None
            return row(SKIPPED, _RANDOM)
        if not self._is_steady(reference, call):
            self.remarks[f"{_UNSTEADY}, so they cannot be compared"] = None
            return row(SKIPPED, _UNSTEADY)
        for part in uncompared(reference.result):
            self.remarks[f"{part} is not compared"] = None
        for name in reference.attributes:
            self.remarks[f"the attribute `{name}` of the module changes; it is not compared"] = None
        other, its = self._run(self.run, call, own=True)
        if other.error is not None:
            said = _headline(other.error)
            return row(REFUSED if _refuses(other.error) else RAISED, said)
        found = [*self._differences(reference, other), *gradients_differ(gradients, its, _CALLED)]
        off = any(_badness(each, self.tolerance) > 1 for each in found)
        return row(WRONG if off else SAME, "", found)

    def _run(self, function: Callable[..., Any], call: Sample, *, own: bool) -> tuple[Run, dict[str, Any]]:
        """Returns what ``function`` did, and the gradients, if they are asked for."""
        gradients: dict[str, Any] = {}
        parameters = self.bench.parameters(own=own) if self.grad else {}

        def plain(given: dict[str, Any]) -> Any:
            args, kwargs = _passed(given, call.positional)
            return function(*args, **kwargs)

        def differentiated(given: dict[str, Any]) -> Any:
            result, found = with_gradients(lambda: plain(given), given, parameters)
            gradients.update(found)
            return result

        return self.bench.run(differentiated if self.grad else plain, call.arguments), gradients

    def _is_steady(self, reference: Run, call: Sample) -> bool:
        """Returns whether the original gives equal results for equal inputs: tried once."""
        if self._steady is None:
            again, _ = self._run(self.target, call, own=False)
            found = [] if again.error is not None else list(differences(reference, again, self.ignored))
            self._steady = again.error is None and all(_badness(each, self.tolerance) <= 1 for each in found)
        return self._steady

    def _differences(self, reference: Run, other: Run) -> Iterator[Difference]:
        for each in differences(reference, other, self.ignored, called=_CALLED):
            alone = each.path.startswith("buffer ") and math.isinf(each.error) and not each.count
            if not alone or self.shared:
                yield each


_RANDOM: Final = "the original draws random numbers"
_UNSTEADY: Final = "the original gives other results for equal inputs"
_CALLED: Final = "in the artifact"
_WORDS: Final[Mapping[str, str]] = {
    SAME: "the same",
    WRONG: "wrong",
    RAISED: "raised",
    REFUSED: "refused",
    SKIPPED: "skipped",
}


def _passed(given: Mapping[str, Any], positional: int) -> tuple[list[Any], dict[str, Any]]:
    items = list(given.items())
    return [value for _, value in items[:positional]], dict(items[positional:])


def _allowed(each: Difference, tolerance: float | None) -> float:
    return each.tolerance if tolerance is None or not each.tolerance else tolerance


def _badness(each: Difference, tolerance: float | None) -> float:
    """Returns how many times what rounding may do; exact kinds allow nothing."""
    allowed = _allowed(each, tolerance)
    if not each.error:
        return 0.0
    return each.error / allowed if allowed else math.inf


def _rank(row: Row) -> tuple[bool, bool, float, int]:
    worst = row.worst
    bad = math.inf if worst is None else _badness(worst, row.tolerance)
    return row.verdict in _FAULTS, row.verdict == WRONG, bad, row.numbers


def _refuses(error: Exception) -> bool:
    if isinstance(error, ShapeError):
        return error.code in ("shape-violation", "no-alternative", "rank-mismatch", "dtype-mismatch", "type-mismatch")
    return any(said in str(error) for said in _REFUSALS)


def _headline(error: Exception) -> str:
    if isinstance(error, ShapeError):
        return f"{error.code}: {error.diagnostics[0].message}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:MOST_SAID] if lines else type(error).__name__


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


__all__ = ["RAISED", "REFUSED", "SAME", "SKIPPED", "WRONG", "Row", "Sampled", "compared", "sampled"]
