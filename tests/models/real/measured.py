"""What the table of ``docs/models.md`` says of an entry, measured: artifacts of inductor, traces of a cure, errors."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from tests.models.real.entry import Entry
from tests.models.real.proved import try_cured, try_verified, try_verified_artifacts
from tests.models.real.runner import exported, try_compiled, try_program

torch = pytest.importorskip("torch", reason="models run through torch")

_SAMPLES = 6  # sizes that are drawn of each alternative, beside those of the entry


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        graphs: How many graphs serve all sizes.
        sizes: How many those are.
        cures: What the cure adds to the bare spec.
        traces: How many traces it takes, by entry point.
        artifacts: How many programs and compiled artifacts there are.
        verified: How many of them keep the spec, and compute what the model does.
        worst: The largest error.
        backend: What compiled them.
    """

    graphs: int
    sizes: int
    cures: tuple[str, ...]
    traces: Mapping[str, int]
    artifacts: int
    verified: int
    worst: float
    backend: str


def measure(entry: Entry) -> Row:
    """Returns the row of ``entry``; takes as long as its backend does."""
    model = entry.make()
    traces = try_cured(entry, model)
    graphs, worst, verified = 0, 0.0, 0
    with torch._dynamo.config.patch(dict(entry.dynamo)):
        if entry.compiles:
            also = functools.partial(try_verified_artifacts, entry, model, samples=_SAMPLES)
            graphs, worst = try_compiled(entry, model, entry.backend, also)
            verified += graphs
        for case in entry.cases:
            program = exported(entry, model, case)
            worst = max(worst, try_program(entry, model, case, program))
            worst = max(worst, try_verified(entry, program, case, model, _SAMPLES))
            verified += 1
    backend = entry.backend if entry.lowering == "unbacked" else f"{entry.backend}, {entry.lowering}"
    return Row(graphs, len(entry.good()), entry.cures, traces, entry.artifacts, verified, worst, backend)


__all__ = ["Row", "measure"]
