"""Models that see do under their files what ``docs/models.md`` says: one graph and one program an alternative."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="models run through torch")

from tests.models.real import vision_entries
from tests.models.real.entry import Entry
from tests.models.real.proved import try_cured, try_verified
from tests.models.real.runner import Graphs, compiled, exported, largest_error, try_compiled, try_program

ALL = pytest.mark.parametrize("entry", vision_entries.ENTRIES, ids=lambda entry: entry.name)


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
    ("entry", "sizes"),
    [
        (vision_entries.UNET, {"B": 1, "H": 16, "W": 24}),
        (vision_entries.VIT, {"B": 2, "H": 16, "W": 64}),
        (vision_entries.TIMM_VIT, {"B": 2, "H": 64, "W": 16}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_rare_sizes_run_as_they_are(entry: Entry, sizes: dict[str, int]) -> None:
    model, graphs = entry.make(), Graphs()
    fast = compiled(entry, model, graphs)
    (args, kwargs), (again, named) = entry.inputs(**sizes), entry.inputs(**sizes)
    with torch.no_grad():
        assert largest_error(fast(*args, **kwargs), model(*again, **named), 0.0, entry.name) == 0
    assert graphs.count == 0
