"""Does padding change a result? Run the function plain and padded, cut back, and compare.

Before::

    def f(x: float32[B, S, 4]) -> (float32[B, S, 8], float32[1, B, 8]):
        bucket S in {8, 16} pad x with 0 as causal_right

After, of an LSTM::

    alternative  padded  fill   runs  error    relative  in         verdict
    bucket S     S       as is  4     0.27     0.51      return[1]  differs

For each alternative that pads, valid inputs are drawn at sizes that `sizes` chooses; each is run unpadded, then
padded with the declared fill, then with what `poison` finds fair. Nothing is compiled: padding is wrong or right
whoever runs it. What is compared is what the function returns, what it leaves in its arguments, and a module's
buffers.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...diagnostics import Report, ShapeError
from ...ir import Predicate, Signature
from ...ir.expanded import Expanded, Leaf
from ...ir.padding import Grown
from ...normalize.claims_of_padding import given_up
from ...runtime.example import Uniform, choices
from ...runtime.explain import sizes_of, value_at
from ...runtime.parameters import OMITTED, REQUIRED, Parameter, of_spec
from ...runtime.solve import Solve, at_structure, solved
from ...runtime.tensors import Tensors
from ...targets.inputs import make
from ...targets.padding import Padder
from ...targets.trials import Bench, Difference, Run, differences, range_of, reveal, uncompared
from ..cases import label
from ..examples import Given, at_choice, known_of
from .poison import LARGE, Contents, Dose, doses, poisoned
from .report import ACCEPTED, DECLARED, DIFFERS, FAILS, SAME, PaddingReport, Trial
from .sizes import Chooser, Point

EXAMPLES: Final = 10  # of each alternative and structure
_STRUCTURES: Final = 3  # fullest, defaults omitted, optionals absent
_NAN_RUNS: Final = 2  # of each alternative: what NaN does is a note


@dataclass
class Target:
    """What is checked.

    Attributes:
        function: Takes what its parameters say.
        signature: Its spec, not expanded.
        parameters: Its parameters.
        bench: Where it is run.
        name: What messages call it.
        unpad: What cuts outputs back that the spec's types do not, by path.
    """

    function: Callable[..., Any]
    signature: Signature
    parameters: Sequence[Parameter]
    bench: Bench
    name: str
    unpad: Mapping[str, Callable[..., Any]] = field(default_factory=dict[str, "Callable[..., Any]"])

    def __post_init__(self) -> None:
        self._python = _python(self.parameters)
        self._names = {param.spelled: param.name for param in self.parameters}

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns ``{parameter: value}`` of a call; omitted defaults are left out.

        Raises:
            TypeError: The call does not fit the parameters.
        """
        return {self._names[name]: value for name, value in self._python.bind(*args, **kwargs).arguments.items()}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Returns the result of a call."""
        spelled = {param.spelled: arguments[param.name] for param in self.parameters if param.name in arguments}
        bound = inspect.BoundArguments(self._python, spelled)
        return self.function(*bound.args, **bound.kwargs)

    def values(self, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        """Returns the arguments, one a parameter, as `Padder.call` takes them."""
        return tuple(arguments.get(param.name, OMITTED) for param in self.parameters)

    def eager(self, *values: Any) -> Any:
        """Returns the result of a call that passes one value a parameter."""
        pairs = zip(self.parameters, values, strict=True)
        return self.call({param.name: value for param, value in pairs if value is not OMITTED})


class PaddingCheck:
    """Collects the trials of one callable.

    Args:
        target: The callable.
        tensors: What a tensor is.
        solve: Computes variables that cannot be read off.
        tolerance: Relative error that is allowed, of every dtype; None for each dtype's own.
    """

    def __init__(
        self, target: Target, tensors: Tensors, solve: Solve | None = None, tolerance: float | None = None
    ) -> None:
        self.target = target
        self.tensors = tensors
        self.solve = solve
        self.tolerance = tolerance
        self.report = PaddingReport(target.name)
        self._steady: set[int] = set()  # alternatives of which equal inputs gave equal results
        self._nan: dict[int, int] = {}

    def finish(self) -> PaddingReport:
        """Returns the report, with the buckets of which nothing is known."""
        for position, alternative in enumerate(self.target.signature.alternatives):
            seen = {name for trial in self.report.trials if trial.position == position for name in trial.padded}
            compared = any(trial.count or trial.unsafe for trial in self.report.trials if trial.position == position)
            for bucket in alternative.buckets:
                if bucket.pads is not None and (bucket.variable not in seen or not compared):
                    why = (
                        "nothing that could be compared" if bucket.variable in seen else "no call that pads it was run"
                    )
                    self.report.missed.append((position, bucket, why))
        return self.report

    # ------------------------------------------------------------------------------- inputs

    def sample(self, n: int, seed: int, given: Given) -> None:
        """Checks inputs that are made for the purpose.

        Args:
            n: How many of each alternative and structure.
            seed: Of sizes and data.
            given: Sizes, and an example that what is static is copied from.

        Raises:
            ShapeError: ``missing-input``: something static is in the spec, and is not given.
        """
        listed = _python(of_spec(self.target.signature))
        for expanded, fixed, asked in self._structures(given):
            chooser = Chooser(expanded, given.like)
            for position, alternative in enumerate(expanded.signature.alternatives):
                if not any(bucket.pads is not None for bucket in alternative.buckets):
                    continue
                for at, point in enumerate(chooser.points(position, n, seed, fixed, asked)):
                    args, kwargs = make(expanded, point.sizes, seed + at, given=given.values, like=given.like)
                    arguments = dict(listed.bind(*args, **kwargs).arguments)
                    _reveal(chooser, position, point, arguments)
                    self._try(chooser, position, point, arguments)

    def given(self, arguments: Mapping[str, Any]) -> bool:
        """Checks one call; returns whether it is padded."""
        expanded = self._expanded(arguments)
        chooser = Chooser(expanded, arguments)
        sizes = sizes_of(expanded, arguments)
        position = chooser.taken(sizes)
        point = None if position is None else chooser.point(position, sizes)
        if position is None or point is None:
            return False
        self._try(chooser, position, point, arguments)
        return True

    def _structures(self, given: Given) -> Iterator[tuple[Expanded, Mapping[str, int], Sequence[Predicate]]]:
        """Yields structures to check, each with the sizes that are given, and what else is asked of sizes.

        Raises:
            ShapeError: Nothing can be made without an example, or what is given does not fit.
        """
        signature, report = self.target.signature, Report()
        known = known_of(signature, given, report)
        report.raise_errors()
        assert known is not None  # no error was reported
        options = [Uniform(all_passed=False)] if given.like else choices(signature)[:_STRUCTURES]
        for choice in options:
            report = Report()
            found = at_choice(signature, choice, known, given, report)
            if choice is options[0]:
                report.raise_errors()
            solved_ = None if found is None else solved(found[0], report, self.solve)
            if found is not None and solved_ is not None:
                yield solved_, found[1].pins, found[1].predicates

    def _expanded(self, arguments: Mapping[str, Any]) -> Expanded:
        report = Report()
        found = at_structure(self.target.signature, arguments, self.tensors, report, self.solve)
        report.raise_errors()
        assert found is not None  # no error was reported
        return found

    # ------------------------------------------------------------------------------- trials

    def _try(self, chooser: Chooser, position: int, point: Point, arguments: Mapping[str, Any]) -> None:
        """Compares one call with the same call padded."""
        trial = _Call(self, chooser, position, point, arguments)
        plain = trial.plain()
        if plain is None:
            return
        if position not in self._steady:
            again = trial.run(trial.call)
            if again.error is not None or any(_is_off(each, None) for each in differences(plain, again, ())):
                self.note(f"`{self.target.name}` gives other results for equal inputs, so they cannot be compared")
                return
            self._steady.add(position)
        padded = trial.padded(None)
        found = trial.compared(DECLARED, plain, padded)
        self.report.trials.append(found)
        if found.verdict in (SAME, ACCEPTED) and padded.error is None:
            self.report.trials += trial.poisoned(padded)

    def note(self, text: str) -> None:
        """Adds a remark once."""
        if text not in self.report.notes:
            self.report.notes.append(text)

    def may_try_nan(self, position: int) -> bool:
        """Returns whether NaN is worth another run."""
        self._nan[position] = self._nan.get(position, 0) + 1
        return self._nan[position] <= _NAN_RUNS


class _Call:
    """One call, and what becomes of it when it is padded."""

    def __init__(
        self, check: PaddingCheck, chooser: Chooser, position: int, point: Point, arguments: Mapping[str, Any]
    ) -> None:
        self.check = check
        self.target = check.target
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
        return self.target.bench.run(call, self.arguments)

    def call(self, arguments: Mapping[str, Any]) -> Any:
        return self.target.call(arguments)

    def plain(self) -> Run | None:
        """Returns the run that is right; None, with a remark, if it raises."""
        run = self.run(self.call)
        if run.error is not None:
            at = ", ".join(f"{name} = {size}" for name, size in sorted(self.point.sizes.items()))
            self.check.note(f"at {at} the function itself raises {_headline(run.error)}")
            return None
        for part in uncompared(run.result):
            self.check.note(f"{part} is not compared")
        for name in run.attributes:
            self.check.note(f"the attribute `{name}` of the module changes; it is not compared")
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
        count = sum(each.count for each in found)
        if not found:
            return self._trial(fill, SAME, Difference("", 0.0, 0.0, 0.0, 0), 0, notes)
        worst = max(found, key=lambda each: (_is_off(each, self.check.tolerance), each.error, each.absolute))
        if not _is_off(worst, self.check.tolerance):
            return self._trial(fill, SAME, worst, count, notes)
        if lenient is None:
            lenient = "approximate" in self.reasons and self.check.tolerance is None
        hard = [each for each in found if math.isinf(each.error)]
        if lenient and not hard:
            return self._trial(fill, ACCEPTED, worst, count, notes)
        return self._trial(fill, DIFFERS, hard[0] if hard else worst, count, notes)

    def _notes(self, plain: Run) -> Iterator[str]:
        if plain.drew:
            yield "random numbers are drawn for padded slots too, so others come out for real ones: check in eval mode"

    def _trial(self, fill: str, verdict: str, worst: Difference, count: int, notes: Sequence[str]) -> Trial:
        allowed = worst.tolerance if self.check.tolerance is None or not worst.tolerance else self.check.tolerance
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
        if floats and self.check.may_try_nan(self.position):
            trial = self._dosed(floats, padded)
            if trial.unsafe:
                names = ", ".join(f"`{name}`" for name in self._paths(floats))
                self.check.note(
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
        self.check.note(f"numbers as large as {LARGE:g} in padded slots of {names} overflow; moderate ones are hidden")

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


def _python(parameters: Sequence[Parameter]) -> inspect.Signature:
    """Returns ``parameters`` as Python's own signature object."""
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                param.spelled,
                getattr(inspect.Parameter, param.kind.name),  # the kinds are named as Python names them
                default=empty if param.default is REQUIRED else param.default,
            )
            for param in parameters
        ]
    )


def _is_off(each: Difference, tolerance: float | None) -> bool:
    """Returns whether two outputs differ by more than rounding; ``tolerance`` is for what has one."""
    return each.error > (each.tolerance if tolerance is None or not each.tolerance else tolerance)


def _headline(error: Exception) -> str:
    if isinstance(error, ShapeError):
        return f"{error.code}: {error.diagnostics[0].message}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:200] if lines else type(error).__name__


def _reveal(chooser: Chooser, position: int, point: Point, arguments: Mapping[str, Any]) -> None:
    """Lets masks show something of each row: where one hides all of it, there is no valid result to compare."""
    for each in chooser.joints[position].grown:
        leaf = chooser.expanded.leaves[each.leaf]
        if not leaf.scalar and each.bucket in point.padded and each.fill in (0, False):
            reveal(value_at(leaf.path, arguments), each.axis)


__all__ = ["EXAMPLES", "PaddingCheck", "PaddingReport", "Target", "Trial"]
