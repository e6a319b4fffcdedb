"""One call against itself padded: with the declared fill, then with poison.

Before and after::

    f(x) at S = 5                           right, whatever it is
    f(x padded to 8 with 0), cut back       compared with it
    f(x padded to 8 with 1e4), cut back     compared with the one before: a reason says that nothing changes
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ....diagnostics import ShapeError
from ....ir.expanded import Leaf
from ....ir.padding import Grown
from ....normalize.claims_of_padding import given_up
from ....runtime.explain import value_at
from ....targets.differences import Difference, differences, range_of, uncompared
from ....targets.padding import Padder
from ....targets.trials import Run
from ...dispatch.cases import label
from .poison import LARGE, Contents, Dose, doses, poisoned
from .report import ACCEPTED, DIFFERS, FAILS, SAME, PaddingReport, Trial
from .sizes import Chooser, Point
from .target import Target

_NAN_RUNS: Final = 2  # of each alternative: what NaN does is a note


@dataclass
class Remarks:
    """What is told of calls besides how they compare."""

    report: PaddingReport
    _raised: dict[type[Exception], int] = field(default_factory=dict[type[Exception], int])
    _nan: dict[int, int] = field(default_factory=dict[int, int])

    def finish(self) -> None:
        """Adds how many calls raised."""
        for error, count in self._raised.items():
            if count > 1:
                self.note(f"{count} calls raise {error.__name__}, padded or not; they say nothing")

    def note(self, text: str) -> None:
        """Adds a remark once."""
        if text not in self.report.notes:
            self.report.notes.append(text)

    def raised(self, error: Exception, sizes: Mapping[str, int]) -> None:
        """Counts that the function itself raises; the first of each kind is a remark."""
        self._raised[type(error)] = self._raised.get(type(error), 0) + 1
        if self._raised[type(error)] == 1:
            at = ", ".join(f"{name} = {size}" for name, size in sorted(sizes.items()) if name[0] != "?")
            self.note(f"at {at} the function itself raises {_headline(error)}")

    def may_try_nan(self, position: int) -> bool:
        """Returns whether NaN is worth another run."""
        self._nan[position] = self._nan.get(position, 0) + 1
        return self._nan[position] <= _NAN_RUNS


class Call:
    """One call, and what becomes of it when it is padded."""

    def __init__(
        self,
        target: Target,
        chooser: Chooser,
        position: int,
        point: Point,
        arguments: Mapping[str, Any],
        remarks: Remarks,
        tolerance: float | None,
    ) -> None:
        self.target = target
        self.remarks = remarks
        self.tolerance = tolerance
        self.expanded = chooser.expanded
        self.position = position
        self.point = point
        self.arguments = arguments
        self.alternative = chooser.joints[position].alternative
        self.grown = chooser.joints[position].grown
        self.ignored = given_up(self.target.signature, self.alternative)
        self.called = label(self.alternative, position)
        buckets = self.alternative.buckets
        self.reasons = {buckets[at].reason for at in point.padded}
        self.sizes_padded = {
            buckets[at].variable: (point.sizes[buckets[at].variable], point.chosen[at]) for at in point.padded
        }

    def run(self, call: Callable[[Mapping[str, Any]], Any]) -> Run:
        """Returns what ``call`` does with the arguments."""
        return self.target.bench.run(call, self.arguments)

    def plain(self) -> Run | None:
        """Returns the run that is right; None, with a remark, if it raises."""
        run = self.run(self.target.call)
        if run.error is not None and not self.target.bench.grad:  # it may take derivatives
            self.target.bench.grad = True
            run = self.run(self.target.call)
            self.target.bench.grad = run.error is None
        if run.error is not None:
            self.remarks.raised(run.error, self.point.sizes)
            return None
        for part in uncompared(run.result):
            self.remarks.note(f"{part} is not compared")
        for name in run.attributes:
            self.remarks.note(f"the attribute `{name}` of the module changes; it is not compared")
        return run

    def padded(self, held: Mapping[Grown, float | int] | None) -> Run:
        """Returns a padded run, cut back."""
        alternative = self.alternative
        if held is not None:
            alternative = poisoned(alternative, self.grown, self.expanded, held)
        padder = Padder(
            alternative, self.expanded, self.target.parameters, self.target.signature.returns, self.target.unpad
        )

        def call(arguments: Mapping[str, Any]) -> Any:
            return padder.call(self.target.eager, self.point.sizes, self.point.chosen, self.target.values(arguments))

        return self.run(call)

    def compared(self, fill: str, plain: Run, padded: Run, *, lenient: bool | None = None) -> Trial:
        """Returns how a padded run compares with one that is right."""
        notes = list(self._notes(plain))
        if padded.error is not None:
            what = f"it raises {_headline(padded.error)}"
            return self._trial(fill, FAILS, Difference("", math.inf, math.inf, 0.0, 0, what), 0, notes)
        found = list(differences(plain, padded, self.ignored))
        # arguments that nobody writes to are equal in any case
        told = [each for each in found if plain.result is None or not each.path.startswith("argument")]
        count = sum(each.count for each in told)
        if not found:
            return self._trial(fill, SAME, Difference("", 0.0, 0.0, 0.0, 0), 0, notes)
        worst = max(found, key=lambda each: (is_off(each, self.tolerance), each.error, each.absolute))
        if not is_off(worst, self.tolerance):
            return self._trial(fill, SAME, worst, count, notes)
        if lenient is None:
            lenient = "approximate" in self.reasons and self.tolerance is None
        hard = [each for each in found if math.isinf(each.error)]
        if lenient and not hard:
            return self._trial(fill, ACCEPTED, worst, count, notes)
        return self._trial(fill, DIFFERS, hard[0] if hard else worst, count, notes)

    def _notes(self, plain: Run) -> Iterator[str]:
        if plain.drew:
            yield "random numbers are drawn for padded slots too, so others come out for real ones: check in eval mode"

    def _trial(self, fill: str, verdict: str, worst: Difference, count: int, notes: Sequence[str]) -> Trial:
        allowed = worst.tolerance if self.tolerance is None or not worst.tolerance else self.tolerance
        return Trial(
            self.position,
            self.called,
            self.sizes_padded,
            {name: size for name, size in self.point.sizes.items() if name[0] != "?"},
            fill,
            worst.path,
            worst.absolute,
            worst.error,
            allowed,
            verdict,
            worst.what,
            count,
            tuple(notes),
        )

    # ------------------------------------------------------------------------------- poison

    def poisoned(self, padded: Run) -> Iterator[Trial]:
        """Yields what other contents of padded slots do, as far as the reason says that they do nothing.

        Args:
            padded: The run with the declared fill: a reason says that nothing changes from it.
        """
        found = doses(self.alternative, self.point.padded, self.grown, self.expanded, self.point.sizes, self._contents)
        if not found:
            return
        for name, held in (("high", {d.what: d.high for d in found}), ("low", {d.what: d.low for d in found})):
            trial = self._dosed(held, padded)
            if not trial.unsafe:
                yield trial
                continue
            alone = self._alone(found, name, padded)
            if alone is None:
                self._overflow(found)
                continue
            yield alone
            return
        floats = {d.what: math.nan for d in found if d.moderate is not None}
        if floats and self.remarks.may_try_nan(self.position):
            trial = self._dosed(floats, padded)
            if trial.unsafe:
                names = ", ".join(f"`{name}`" for name in self._paths(floats))
                self.remarks.note(
                    f"NaN in padded slots of {names} reaches `{trial.output or 'return'}` (0 * NaN is NaN): "
                    "it is safe because they hold numbers"
                )

    def _dosed(self, held: Mapping[Grown, float | int], padded: Run) -> Trial:
        return self.compared(self._called(held), padded, self.padded(held), lenient=False)

    def _alone(self, found: Sequence[Dose], which: str, padded: Run) -> Trial | None:
        """Returns the run of the one argument that shows it; None where all there is, is an overflow.

        A number as large as that may become infinite where a moderate one is hidden.
        """
        every: dict[Grown, float | int] = {}
        worst: Trial | None = None
        for dose in found:
            value = dose.high if which == "high" else dose.low
            every[dose.what] = value
            trial = self._dosed({dose.what: value}, padded)
            if trial.unsafe and math.isinf(trial.error) and dose.moderate is not None:
                every[dose.what] = dose.moderate if which == "high" else -dose.moderate
                trial = self._dosed({dose.what: every[dose.what]}, padded)
            if trial.unsafe and (worst is None or trial.relative > worst.relative):
                worst = trial
        if worst is None:
            together = self._dosed(every, padded)
            worst = together if together.unsafe else None
        return worst

    def _overflow(self, found: Sequence[Dose]) -> None:
        names = ", ".join(f"`{name}`" for name in self._paths({d.what: 0 for d in found}))
        self.remarks.note(
            f"numbers as large as {LARGE:g} in padded slots of {names} overflow; moderate ones are hidden"
        )

    def _paths(self, held: Mapping[Grown, object]) -> list[str]:
        return list(dict.fromkeys(str(self.expanded.leaves[each.leaf].path) for each in held))

    def _called(self, held: Mapping[Grown, float | int]) -> str:
        values = {f"{value:g}" for value in held.values()}
        if len(held) > 3:
            return " and ".join(sorted(values)) if len(values) <= 3 else "other numbers"
        shown = dict.fromkeys(f"{self.expanded.leaves[g.leaf].path} {value:g}" for g, value in held.items())
        return ", ".join(shown)

    def _contents(self, leaf: Leaf) -> Contents:
        return Contents(*range_of(value_at(leaf.path, self.arguments)))


def is_off(each: Difference, tolerance: float | None) -> bool:
    """Returns whether two outputs differ by more than rounding; ``tolerance`` is for what has one."""
    return each.error > (each.tolerance if tolerance is None or not each.tolerance else tolerance)


def _headline(error: Exception) -> str:
    if isinstance(error, ShapeError):
        return f"{error.code}: {error.diagnostics[0].message}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:200] if lines else type(error).__name__


__all__ = ["Call", "Remarks", "is_off"]
