"""Each entry of the library for ``torch.nn`` and torchvision, compiled and exported."""

from __future__ import annotations

import pytest

import shapedsl as sd
from shapedsl.api.library import listing
from tests.models.harness import Entry, spec_of, torch, try_compile, try_export
from tests.models.nn_entries import ENTRIES

pytestmark = pytest.mark.filterwarnings("ignore:The tensor attributes self._flat_weights:UserWarning")  # of torch's own

each = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@each
def test_one_graph_serves_all_sizes(entry: Entry) -> None:
    try_compile(entry)


@each
def test_the_program_serves_all_sizes(entry: Entry) -> None:
    try_export(entry)


@each
def test_an_example_finds_the_spec(entry: Entry) -> None:
    module = entry.make()
    args, kwargs = entry.inputs(**entry.good[0])
    found = sd.stub_for(module, args=args, kwargs=kwargs)
    assert found is not None
    assert found.signature.key == spec_of(entry, module).signature.key


def test_each_spec_is_run_by_an_entry() -> None:
    run = {spec_of(entry, entry.make()).signature.key for entry in ENTRIES}
    described = {spec.key for listed in listing() if listed.name.startswith("torch") for spec in listed.specs}
    assert described <= run
