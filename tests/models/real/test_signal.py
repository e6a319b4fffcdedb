"""Models over time do under their files what ``docs/models.md`` says, and padding changes nothing but what is dropped."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="models run through torch")

import shapedsl as sd
from tests.models.real import signal_entries
from tests.models.real.entry import Entry
from tests.models.real.proved import try_cured, try_verified
from tests.models.real.runner import exported, try_compiled, try_program

ALL = pytest.mark.parametrize("entry", signal_entries.ENTRIES, ids=lambda entry: entry.name)


@ALL
def test_one_graph_an_alternative_serves_its_sizes(entry: Entry) -> None:
    assert try_compiled(entry, entry.make())[0] == entry.graphs


@ALL
def test_one_program_an_alternative_keeps_the_spec(entry: Entry) -> None:
    model = entry.make()
    for case in entry.cases:
        program = exported(entry, model, case)
        try_program(entry, model, case, program)
        try_verified(entry, program, case)


@ALL
def test_the_cure_of_the_bare_spec_is_the_file(entry: Entry) -> None:
    assert try_cured(entry, entry.make(), entries=("export",))["export"] <= 4


@pytest.mark.parametrize(
    "entry", [each for each in signal_entries.ENTRIES if each.members], ids=lambda entry: entry.name
)
def test_padding_changes_nothing(entry: Entry) -> None:
    """Slots are filled with what they should not be, too, and what is said of them holds."""
    report = sd.check_padding(entry.make(), entry.written(), n=2)
    assert report.passed, str(report)
