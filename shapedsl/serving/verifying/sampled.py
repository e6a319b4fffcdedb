"""Compare the values of an artifact with those of the original, on sampled sizes.

Before::

    sampled("case large", net, compiled, signature)

After::

    case large: 8 calls, 7 the same, 1 wrong; largest error 1.2 of `return` at B = 64, S = 3

Both are run with clones of the same arguments and the same random numbers, and what they change is put back.
Results, arguments, a module's buffers and, on request, gradients are compared. What draws random numbers
is not: the original gives other numbers than any other code that draws as many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ...diagnostics import ShapeError
from ...ir import Path, Signature
from ...ir.expanded import Expanded
from ...ir.taking import pads
from ...normalize.claims_of_padding import given_up
from ...targets.differences import Difference, differences, uncompared
from ...targets.entry.parameters import parameters_of
from ...targets.gradients import gradients_differ, with_gradients
from ...targets.trials import Bench, Run
from ..dispatch.cases import label as label_of
from .calls import Call, Calls, Sample
from .samples import SAMPLES, given_samples, samples, signature_of
from .values import FAULTS, RAISED, RANDOM, REFUSED, SAME, SKIPPED, UNSTEADY, WRONG, Row, Sampled, badness

MOST_SAID: Final = 300  # letters of what was raised
_CALLED: Final = "in the artifact"
_REFUSALS: Final = ("Guard failed", "Runtime assertion failed", "Expected input at")
_REFUSING: Final = frozenset({"shape-violation", "no-alternative", "rank-mismatch", "dtype-mismatch", "type-mismatch"})


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
    first: bool = False,
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
        like: A call that structure, dtypes and static parts are copied from, and arguments that the spec does not speak
            of; by default the first of ``examples``.
        sizes: Sizes that are given, those of ``const X = _`` among them.
        device: Of the tensors that are made, where there is no ``like``.
        first: Whether the first fault ends it.

    Raises:
        ShapeError: ``missing-input``: the spec has static parts, and there is no example; ``unknown-parameter``.
        TypeError: An example does not fit the parameters of ``target``.
    """
    remarks: list[str] = []
    how = Calls(parameters_of(target, signature_of(spec)))
    calls = given_samples(spec, how, examples)
    wanted = SAMPLES if n is None else n
    if wanted:
        how = how.after(like if like is not None else examples[0] if examples else None)
        values = _receiver(target, signature_of(spec))
        calls += samples(spec, wanted, seed, calls=how, sizes=sizes, values=values, device=device, remarks=remarks)
    ignored = _given_up(signature_of(spec))
    found = compared(label, target, run, calls, grad=grad, tolerance=tolerance, ignored=ignored, first=first)
    return replace(found, remarks=(*remarks, *found.remarks))


def compared(
    label: str,
    target: Callable[..., Any],
    run: Callable[..., Any],
    calls: Sequence[Sample],
    *,
    grad: bool = False,
    tolerance: float | None = None,
    ignored: Mapping[str, Collection[Path]] | None = None,
    holders: Sequence[Any] = (),
    shared: bool | None = None,
    first: bool = False,
) -> Sampled:
    """Returns how ``run`` compares with ``target`` on given calls.

    Args:
        label: What messages call the artifact.
        target: Is right.
        run: The artifact.
        calls: Both are run with.
        grad: Whether gradients are compared.
        tolerance: Allowed relative error.
        ignored: Label of a call → outputs that are not compared.
        holders: What holds the modules that may change; by default ``target``.
        shared: Whether both change the same module; by default a buffer that one of them leaves as it is is no fault.
        first: Whether the first fault ends it.
    """
    return _Comparison(target, run, grad, tolerance, ignored or {}, holders, shared).of(label, calls, first=first)


class _Comparison:
    """One artifact against one original."""

    def __init__(
        self,
        target: Callable[..., Any],
        run: Callable[..., Any],
        grad: bool,
        tolerance: float | None,
        ignored: Mapping[str, Collection[Path]],
        holders: Sequence[Any],
        shared: bool | None,
    ) -> None:
        self.target = target
        self.run = run
        self.tolerance = tolerance
        self.ignored = ignored
        self.shared = shared
        self.grad = grad
        self.bench = Bench(*(holders or (target,)), run)
        self.bench.grad = grad or self.bench.ambient()
        self.remarks: dict[str, None] = {}
        self.changes = False
        self._steady: bool | None = None

    def of(self, label: str, calls: Sequence[Sample], *, first: bool) -> Sampled:
        rows: list[Row] = []
        for call in calls:
            rows.append(self._row(call))
            if first and rows[-1].verdict in FAULTS:
                break
        return Sampled(label, tuple(rows), tuple(self.remarks), self.changes)

    def _row(self, call: Sample) -> Row:
        def row(verdict: str, what: str = "", found: Sequence[Difference] = ()) -> Row:
            return Row(call.label, call.sizes, verdict, what, tuple(found), self.tolerance)

        reference, gradients = self._run(self.target, call, own=False)
        self.changes = self.changes or bool(reference.wrote or reference.buffers or reference.attributes)
        if reference.error is not None:
            return row(SKIPPED, f"the original raises {headline(reference.error)}")
        if reference.drew:
            self.remarks[f"{RANDOM}, so results cannot be compared; a module may be steady in eval mode"] = None
            return row(SKIPPED, RANDOM)
        if not self._is_steady(reference, call):
            self.remarks[f"{UNSTEADY}, so they cannot be compared"] = None
            return row(SKIPPED, UNSTEADY)
        for part in uncompared(reference.result):
            self.remarks[f"{part} is not compared"] = None
        for name in reference.attributes:
            self.remarks[f"the attribute `{name}` of the module changes; it is not compared"] = None
        other, its = self._run(self.run, call, own=True)
        if other.error is not None:
            said = headline(other.error)
            return row(REFUSED if _refuses(other.error) else RAISED, said)
        found = [*self._differences(call, reference, other), *gradients_differ(gradients, its, _CALLED)]
        off = any(badness(each, self.tolerance) > 1 for each in found)
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
            found = [] if again.error is not None else list(self._differences(call, reference, again))
            self._steady = again.error is None and all(badness(each, self.tolerance) <= 1 for each in found)
        return self._steady

    def _differences(self, call: Sample, reference: Run, other: Run) -> Iterator[Difference]:
        ignored = self.ignored.get(call.label, ())
        wrote = reference.wrote or other.wrote
        for each in differences(reference, other, ignored, called=_CALLED):
            if each.path.startswith("argument ") and not wrote and not each.error:
                continue  # torch does not count what code outside of it writes, so it was looked at
            alone = each.path.startswith("buffer ") and math.isinf(each.error) and not each.count
            if not alone or self.shared:
                yield each


def _given_up(signature: Signature) -> dict[str, tuple[Path, ...]]:
    """Returns the outputs that padding drops or leaves padded, by alternative; of a call that a user gives, all of these."""
    found = {
        label_of(each, at): given_up(signature, each) if pads(each) else ()
        for at, each in enumerate(signature.alternatives)
    }
    return {**found, "": tuple(path for paths in found.values() for path in paths)}


def _receiver(target: Any, signature: Signature) -> dict[str, Any]:
    """Returns the object whose attributes a spec speaks of, by the name of its parameter."""
    name = signature.receiver
    if name is None or not any(param.name == name for param in signature.params):
        return {}
    return {name: getattr(target, "__self__", target)}


def _passed(given: Mapping[str, Any], positional: int) -> tuple[list[Any], dict[str, Any]]:
    items = list(given.items())
    return [value for _, value in items[:positional]], dict(items[positional:])


def _refuses(error: Exception) -> bool:
    if isinstance(error, ShapeError):
        return error.code in _REFUSING
    return any(said in str(error) for said in _REFUSALS)


def headline(error: Exception) -> str:
    """Returns what an error says, in one line."""
    if isinstance(error, ShapeError):
        return f"{error.code}: {error.diagnostics[0].message}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:MOST_SAID] if lines else type(error).__name__


__all__ = ["Sampled", "compared", "headline", "sampled"]
