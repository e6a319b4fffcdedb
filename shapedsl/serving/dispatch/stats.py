"""What ran: a row an artifact, as data and as a table.

After (``str`` of it)::

    f: 12 calls, 2 refused
    artifact        calls      %   padded %   mean µs   graphs   compile s   last sizes
    case one            2   16.7          -      31.0        1        0.41   B=1, S=4
    bucket S=64        10   83.3       37.5      55.2        1        1.30   B=5, S=40
    otherwise           0    0.0          -         -        -           -   -

Every call is counted; the second one and every 32nd are timed. What torch takes to compile again, for another dtype
say, is in no column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ...ir import Alternative, Mode
from .cases import label
from .running import LAST, SECONDS, TIMED, Artifact, State, calls_of

if TYPE_CHECKING:
    from .dispatcher import Dispatcher
    from .structure import Structure


@dataclass(frozen=True, slots=True)
class Row:
    """One artifact.

    Attributes:
        artifact: Its alternative, and the members that it is for.
        key: Static sizes and ints that it is for, by name.
        structure: Of the arguments: None-ness, lengths, ranks; numbered from 1 as they are met.
        state: ``"made"``, ``"not made"``, ``"failed"`` or ``"eager"``.
        calls: How many.
        share: Of all calls, 0 to 1.
        padded: Which part of padded tensors was slots, on average, 0 to 1; None where nothing is padded.
        mean_seconds: Of a call, of those that were timed; None if none was.
        graphs: How many torch holds; more than 1 where a dtype, a stride or a static size differed.
        compile_seconds: Of making it and its first call.
        last: The sizes of the last call.
        reason: Why it failed.
        compared: On how many calls it was compared with the function itself; 0 where that was not asked for.
        error: The largest relative error of these; None where results are not alike at all.
    """

    artifact: str
    key: Mapping[str, int]
    structure: int
    state: str
    calls: int
    share: float
    padded: float | None
    mean_seconds: float | None
    graphs: int
    compile_seconds: float
    last: Mapping[str, int]
    reason: str | None = None
    compared: int = 0
    error: float | None = None


class Stats(dict[str, Any]):
    """``calls``, ``refused`` and ``artifacts``, a list of dicts; see `Row`. Printed, it is a table."""

    def __init__(self, name: str, rows: Sequence[Row], refused: int) -> None:
        calls = sum(row.calls for row in rows)
        super().__init__(function=name, calls=calls, refused=refused, artifacts=[asdict(row) for row in rows])
        self.rows = tuple(rows)

    def __str__(self) -> str:
        calls, refused = self["calls"], self["refused"]
        head = f"{self['function']}: {calls:,} call{'' if calls == 1 else 's'}" if calls else ""
        head = head or f"{self['function']}: no calls yet"
        lines = [f"{head}, {refused:,} refused" if refused else head]
        structures = {row.structure for row in self.rows}
        table = [["artifact", "calls", "%", "padded %", "mean µs", "graphs", "compile s", "error", "last sizes"]]
        table += [_cells(row, many=len(structures) > 1) for row in self.rows]
        if not any(row.compared for row in self.rows):
            for cells in table:
                del cells[-2]
        lines += _aligned(table)
        lines += [f"{row.artifact} failed: {row.reason}" for row in self.rows if row.reason]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def stats_of(dispatcher: Dispatcher) -> Stats:
    """Returns what ran so far."""
    found = [row for structure in list(dispatcher.structures.values()) for row in _rows(structure)]
    if not found:
        alternatives = dispatcher.signature.alternatives or (Alternative("all sizes"),)
        found = [_empty(each, at, 0) for at, each in enumerate(alternatives)]
    total = sum(row["calls"] for row in found)
    rows = [Row(**row, share=row["calls"] / total if total else 0.0) for row in found]
    return Stats(dispatcher.name, rows, dispatcher.refused)


def _rows(structure: Structure) -> Iterator[dict[str, Any]]:
    by_position: dict[int, list[Artifact]] = {}
    for artifact in list(structure.artifacts.values()):
        by_position.setdefault(artifact.spec.position, []).append(artifact)
    for at, alternative in enumerate(structure.alternatives):
        artifacts = by_position.get(at, [])
        cell = structure.eager_cells.get(at)
        if cell is not None:
            yield {**_empty(alternative, at, structure.number), **_counted(structure, cell)}
        elif not artifacts:
            yield _empty(alternative, at, structure.number)
        for artifact in artifacts:
            calls = artifact.calls
            yield {
                **_empty(alternative, at, structure.number),
                **_counted(structure, artifact.cell),
                "artifact": artifact.called,
                "key": dict(artifact.key),
                "state": artifact.state.value,
                "padded": artifact.waste / calls if artifact.waste or (calls and artifact.pads) else None,
                "graphs": 0 if artifact.shared else artifact.graphs(),
                "compile_seconds": artifact.seconds,
                "reason": artifact.reason,
                **_compared(artifact),
            }


def _compared(artifact: Artifact) -> dict[str, Any]:
    found = artifact.verified
    if found is None:
        return {}
    return {"compared": found.compared, "error": found.error if math.isfinite(found.error) else None}


def _counted(structure: Structure, cell: Sequence[Any]) -> dict[str, Any]:
    last = {} if cell[LAST] is None else dict(zip(structure.names, cell[LAST], strict=True))
    mean = cell[SECONDS] / cell[TIMED] if cell[TIMED] else None
    return {"calls": calls_of(cell), "mean_seconds": mean, "last": last}


def _empty(alternative: Alternative, position: int, structure: int) -> dict[str, Any]:
    return {
        "artifact": label(alternative, position),
        "key": {},
        "structure": structure,
        "state": "eager" if alternative.mode is Mode.EAGER else State.NEW.value,
        "calls": 0,
        "padded": None,
        "mean_seconds": None,
        "graphs": 0,
        "compile_seconds": 0.0,
        "last": {},
        "reason": None,
        "compared": 0,
        "error": None,
    }


def _cells(row: Row, *, many: bool) -> list[str]:
    name = row.artifact
    if row.key:
        name += f" [{_sizes(row.key)}]"
    if many:
        name += f" (structure {row.structure})"
    eager = row.state == "eager"
    made = row.state == State.MADE.value
    return [
        name,
        f"{row.calls:,}",
        f"{100 * row.share:.1f}",
        "-" if row.padded is None else f"{100 * row.padded:.1f}",
        "-" if row.mean_seconds is None else f"{1e6 * row.mean_seconds:,.1f}",
        "eager" if eager else str(row.graphs) if made else row.state,
        f"{row.compile_seconds:.2f}" if row.compile_seconds else "-",
        "-" if not row.compared else "inf" if row.error is None else f"{row.error:.1e}" if row.error else "0",
        _sizes(row.last) or "-",
    ]


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    last = len(widths) - 1
    return [
        "   ".join(
            f"{cell:<{width}}" if at in (0, last) else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


__all__ = ["Row", "Stats", "stats_of"]
