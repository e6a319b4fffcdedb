"""What the table of ``docs/models.md`` says of an entry, measured: artifacts of inductor, traces of a cure, errors."""

from __future__ import annotations

from dataclasses import dataclass

from tests.models.real.entry import Entry
from tests.models.real.runner import exported, try_compiled, try_program


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        graphs: How many graphs serve all sizes.
        sizes: How many those are.
        cures: What the cure adds to the bare spec.
        traces: How many traces it takes; None where it was not run.
        artifacts: How many programs and compiled artifacts there are.
        verified: How many of them keep the spec, and compute what the model does.
        worst: The largest error.
        backend: What compiled them.
    """

    graphs: int
    sizes: int
    cures: tuple[str, ...]
    traces: int | None
    artifacts: int
    verified: int
    worst: float
    backend: str


def measure(entry: Entry) -> Row:
    """Returns the row of ``entry``; takes as long as its backend does."""
    model = entry.make()
    graphs, worst, verified = 0, 0.0, 0
    if entry.compiles:
        graphs, worst = try_compiled(entry, model, entry.backend)
        verified += entry.graphs
    for case in entry.cases:
        worst = max(worst, try_program(entry, model, case, exported(entry, model, case)))
        verified += 1
    backend = entry.backend if entry.lowering == "unbacked" else f"{entry.backend}, {entry.lowering}"
    return Row(graphs, len(entry.good()), entry.cures, None, entry.artifacts, verified, worst, backend)


__all__ = ["Row", "measure"]
