"""Models over time do under their files what ``docs/models.md`` says, and padding changes nothing but what is dropped."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="models run through torch")

from tests.models.real import signal_entries
from tests.models.real.entry import Entry
from tests.models.real.runner import exported, try_compiled, try_program

ALL = pytest.mark.parametrize("entry", signal_entries.ENTRIES, ids=lambda entry: entry.name)


@ALL
def test_one_graph_an_alternative_serves_its_sizes(entry: Entry) -> None:
    assert try_compiled(entry, entry.make())[0] == entry.graphs


@ALL
def test_one_program_an_alternative_serves_its_sizes(entry: Entry) -> None:
    model = entry.make()
    for case in entry.cases:
        try_program(entry, model, case, exported(entry, model, case))
