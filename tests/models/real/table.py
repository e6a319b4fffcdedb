"""The table of ``docs/models.md``: a row for each entry, measured by ``python -m tests.models.real --write``.

Measuring compiles with inductor and takes minutes, so the figures are kept in the page. What needs no measuring is
compared with the entries by a test: `stated` of an entry and of its line are equal.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.models.real.entry import Entry
from tests.models.real.measured import Row

PAGE = Path(__file__).parents[3] / "docs/models.md"
BEGIN, END = "<!-- table: python -m tests.models.real --write -->\n", "<!-- end -->\n"
MODULES = ("language_entries", "own_entries", "vision_entries", "sparse_entries", "signal_entries")
HEAD = (
    "| model | spec | graphs | cures and traces | artifacts verified | worst error | backend |",
    "|---|---|---|---|---|---|---|",
)


def entries() -> tuple[Entry, ...]:
    """Returns the entries of all modules, in the order of the table."""
    found: list[Entry] = []
    for name in MODULES:
        if (Path(__file__).parent / f"{name}.py").exists():
            found += importlib.import_module(f"{__package__}.{name}").ENTRIES
    return tuple(found)


def lines() -> dict[str, str]:
    """Returns the lines of the page's table by the name of the model."""
    _, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    table, end, _ = rest.partition(END)
    assert begin, f"{PAGE.name} has no place for the table"
    assert end, f"{PAGE.name} has no end of the table"
    rows = [line for line in table.splitlines() if line.startswith("|") and line not in HEAD]
    return {name_of(row): row for row in rows}


def page(rows: Mapping[str, str]) -> str:
    """Returns the page with these lines in its table, in the order of the entries."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    table = [*HEAD, *(rows[entry.name] for entry in entries() if entry.name in rows)]
    return before + begin + "\n" + "".join(f"{line}\n" for line in table) + "\n" + end + after


def line(entry: Entry, row: Row) -> str:
    """Returns an entry's line."""
    cells = [*_static(entry), _cured(row), f"{row.verified} of {row.artifacts}", _error(row.worst), row.backend]
    return f"| {' | '.join(cells)} |"


def stated(text: str) -> tuple[str, ...]:
    """Returns the cells of a line that need no measuring: model, spec, graphs, cures, number of artifacts."""
    model, spec, graphs, cured, verified, *_ = _cells(text)
    return model, spec, graphs, cured.rpartition(" (")[0] or cured, verified.rpartition(" ")[2]


def expected(entry: Entry) -> tuple[str, ...]:
    """Returns what `stated` of the entry's line should be."""
    return (*_static(entry), _cures(entry.cures), str(entry.artifacts))


def name_of(text: str) -> str:
    """Returns the name of the model in a line of the table."""
    return _cells(text)[0].partition(" (")[0]


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip().strip("|").split(" | ")]


def _static(entry: Entry) -> Iterator[str]:
    file, _, name = entry.spec.partition(":")
    yield entry.name + (f" ({entry.note})" if entry.note else "")
    yield f"[{file}](examples/{file})" + (f" `{name}`" if name else "")
    yield f"{entry.graphs} for {len(entry.good())} sizes" if entry.compiles else "none"


def _cures(cures: tuple[str, ...]) -> str:
    return ", ".join(f"`{cure}`" for cure in cures).replace("|", r"\|") or "none needed"


def _cured(row: Row) -> str:
    counts = " + ".join(str(count) for count in row.traces.values())
    return f"{_cures(row.cures)} ({counts} traces)"


def _error(worst: float) -> str:
    return "0" if worst == 0 else f"{worst:.0e}"


__all__ = [
    "BEGIN",
    "END",
    "HEAD",
    "MODULES",
    "PAGE",
    "entries",
    "expected",
    "line",
    "lines",
    "name_of",
    "page",
    "stated",
]
