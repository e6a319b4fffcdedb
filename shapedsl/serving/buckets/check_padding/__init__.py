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

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ....diagnostics import Report
from ....ir import Predicate
from ....ir.expanded import Expanded
from ....runtime.example import Uniform, choices
from ....runtime.explain import sizes_of, value_at
from ....runtime.parameters import of_spec, python_signature
from ....runtime.solve import Solve, at_structure, solved
from ....runtime.tensors import Tensors
from ....targets.differences import differences, reveal
from ....targets.inputs import make
from ...examples.draw import Given, at_choice, known_of
from .calls import Call, Remarks, is_off
from .poison import hides
from .report import ACCEPTED, DECLARED, SAME, PaddingReport, Trial
from .sizes import Chooser, Point
from .target import Target

EXAMPLES: Final = 10  # of each alternative and structure
_STRUCTURES: Final = 3  # fullest, defaults omitted, optionals absent


class PaddingCheck:
    """Collects the trials of one callable.

    Args:
        target: The callable.
        tensors: What a tensor is.
        solve: Computes variables that cannot be read off.
        tolerance: Relative error that is allowed, of every dtype; None for each dtype's own.
        sizes: Sizes that are given; of those that arguments tell, the arguments' count.
    """

    def __init__(
        self,
        target: Target,
        tensors: Tensors,
        solve: Solve | None = None,
        tolerance: float | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.target = target
        self.sizes = dict(sizes or {})
        self.tensors = tensors
        self.solve = solve
        self.tolerance = tolerance
        self.report = PaddingReport(target.name)
        self.remarks = Remarks(self.report)
        self._steady: set[int] = set()  # alternatives of which equal inputs gave equal results

    def finish(self) -> PaddingReport:
        """Returns the report, with the buckets of which nothing is known."""
        self.remarks.finish()
        for position, alternative in enumerate(self.target.signature.alternatives):
            mine = [trial for trial in self.report.trials if trial.position == position]
            for bucket in alternative.buckets:
                padded = [trial for trial in mine if bucket.variable in trial.padded]
                if bucket.pads is not None and not any(trial.count or trial.unsafe for trial in padded):
                    why = "nothing could be compared" if padded else "no call that pads it was run"
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
        listed = python_signature(of_spec(self.target.signature))
        for expanded, fixed, asked in self._structures(given):
            chooser = Chooser(expanded, given.like)
            for position, alternative in enumerate(expanded.signature.alternatives):
                if not any(bucket.pads is not None for bucket in alternative.buckets):
                    continue
                for at, point in enumerate(chooser.points(position, n, seed, fixed, asked)):
                    args, kwargs = make(expanded, point.sizes, seed + at, given=given.values, like=given.like)
                    arguments = dict(listed.bind(*args, **kwargs).arguments)
                    reveal_masks(chooser, position, point, arguments)
                    self._try(chooser, position, point, arguments)

    def given(self, arguments: Mapping[str, Any]) -> bool:
        """Checks one call; returns whether it is padded."""
        expanded = self._expanded(arguments)
        chooser = Chooser(expanded, arguments)
        sizes = {**self.sizes, **sizes_of(expanded, arguments)}
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
        trial = Call(self.target, chooser, position, point, arguments, self.remarks, self.tolerance)
        plain = trial.plain()
        if plain is None:
            return
        if position not in self._steady:
            again = trial.run(self.target.call)
            if again.error is not None or any(is_off(each, None) for each in differences(plain, again, ())):
                self.remarks.note(
                    f"`{self.target.name}` gives other results for equal inputs, so they cannot be compared"
                )
                return
            self._steady.add(position)
        padded = trial.padded(None)
        found = trial.compared(DECLARED, plain, padded)
        self.report.trials.append(found)
        if found.verdict in (SAME, ACCEPTED) and padded.error is None:
            self.report.trials += trial.poisoned(padded)


def reveal_masks(chooser: Chooser, position: int, point: Point, arguments: Mapping[str, Any]) -> None:
    """Lets masks show something of each row: where one hides all of it, there is no valid result to compare.

    Args:
        chooser: Tells what grows.
        position: Of the alternative that pads.
        point: The sizes.
        arguments: By parameter.
    """
    for each in chooser.joints[position].grown:
        leaf = chooser.expanded.leaves[each.leaf]
        if each.bucket in point.padded and hides(leaf, each.fill, chooser.expanded, point.sizes):
            reveal(value_at(leaf.path, arguments), each.axis)


__all__ = ["EXAMPLES", "PaddingCheck", "PaddingReport", "Target", "Trial", "reveal_masks"]
