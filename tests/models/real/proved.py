"""What shapedsl itself says of an entry: `sd.verify` of its artifacts, and `sd.cure` of its bare spec.

`runner` compares artifacts with the model at the sizes that an entry names; here they are verified for all sizes, and
at sizes that are drawn. The cure has to find the file from the spec without the assumptions that a trace needs.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

import shapedsl as sd
from tests.models.real.entry import Entry

torch = pytest.importorskip("torch", reason="models run through torch")


def try_verified(entry: Entry, program: Any, case: str | None, model: Any = None, samples: int | None = None) -> float:
    """Asserts that ``program`` keeps every promise of the spec, and proves what the spec claims of the result.

    Args:
        entry: The entry.
        program: Of one alternative.
        case: Which one.
        model: With it, values are compared at sizes that are drawn, too.
        samples: At how many.

    Returns:
        The largest relative error of what was compared.
    """
    if model is None:
        return _error(sd.verify(program, entry.lowered(case), case=case))
    original = _on_copies(model) if entry.changes else model
    example = entry.inputs(**entry.programs[case][0])
    return _error(sd.verify(program, entry.lowered(case), original, case=case, samples=samples, examples=[example]))


def try_verified_artifacts(entry: Entry, model: Any, fast: Any, samples: int | None = None) -> float:
    """Asserts that compiled artifacts keep every promise of the spec, and compute what the model does.

    What they return is compared at sizes that are drawn; for all sizes it is proved of the programs.

    Returns:
        The largest relative error.
    """
    with torch.no_grad():  # as the runner calls them: with gradients they are other graphs
        if entry.changes:
            report = sd.verify(fast, entry.written(), raises=False)
        else:
            examples = [entry.inputs(**sizes[0]) for sizes in entry.sizes.values()]
            report = sd.verify(fast, entry.written(), model, samples=samples, examples=examples, raises=False)
    assert report.kept, str(report)
    assert all(each.status == "kept" for each in report.promises), str(report)
    return 0.0 if report.samples is None else report.samples.error


def try_cured(entry: Entry, model: Any, entries: Collection[str] | None = None) -> Mapping[str, int]:
    """Asserts that curing the bare spec gives the file's last alternative, no less and no more.

    Returns:
        How often each entry point traced.
    """
    entries = entry.cured_by if entries is None else entries
    last = [*entry.sizes][-1]
    args, kwargs = entry.inputs(**entry.sizes[last][0])
    with torch._dynamo.config.patch(dict(entry.dynamo)):
        cured = sd.cure(model, entry.bare(), args, kwargs, entries=entries, static=entry.static)
    assert cured.cured, str(cured)
    if not entry.cures:
        assert bool(cured.steps) == bool(entry.static), str(cured)
        return cured.traces
    written = entry.written()
    chosen = written.selected(last)[0] if last and not entry.members else written.signature
    relation = sd.compare(sd.Spec(replace(chosen, alternatives=())), cured.spec).relation
    assert relation == ("wider" if entry.narrower else "equal"), f"{relation}: {cured}"
    for each in entry.cures:
        assert cured.spec.ask(each).verdict == "proved", f"{each}: {cured}"
    return cured.traces


def _on_copies(model: Any) -> Callable[..., Any]:
    """Returns the model as a function that leaves its arguments as they are."""

    @functools.wraps(model.forward)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = copy.deepcopy((args, kwargs))
        return model(*args, **kwargs)

    return call


def _error(report: sd.Verification) -> float:
    assert report.kept, str(report)
    assert not report.undecided, str(report)
    return 0.0 if report.samples is None else report.samples.error


__all__ = ["try_cured", "try_verified", "try_verified_artifacts"]
