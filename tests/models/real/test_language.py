"""Language models do under their files what ``docs/models.md`` says: one graph and one program an alternative.

The page is made by running all of it with inductor; what is slow and much like another model is left to that, and
to the library's entries of the same models.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="models run through torch")
pytest.importorskip("transformers", reason="half of the entries are its models")

from tests.models.real import language_entries, own_entries
from tests.models.real.entry import Entry
from tests.models.real.proved import try_cured, try_verified
from tests.models.real.runner import exported, try_compiled, try_program

ENTRIES = (*language_entries.ENTRIES, *own_entries.ENTRIES)
ALL = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
SLOW = (
    "T5ForConditionalGeneration",
    "WhisperModel",
    "LlamaForCausalLM, prefill",
    "LlamaForCausalLM, prefill without a mask",
)
MOST = pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.name not in SLOW], ids=lambda entry: entry.name
)


@MOST
def test_one_graph_an_alternative_serves_its_sizes(entry: Entry) -> None:
    assert try_compiled(entry, entry.make())[0] == len(entry.sizes)


@ALL
def test_one_program_an_alternative_keeps_the_spec(entry: Entry) -> None:
    model = entry.make()
    for case in entry.cases:
        program = exported(entry, model, case)
        try_program(entry, model, case, program)
        try_verified(entry, program, case)


@MOST
def test_the_cure_of_the_bare_spec_is_the_file(entry: Entry) -> None:
    assert try_cured(entry, entry.make(), entries=("export",))["export"] <= 4
