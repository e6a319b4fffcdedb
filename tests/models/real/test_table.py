"""The table of ``docs/models.md`` has a line for each entry, and says of it what the tests run."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="entries are modules of torch")
pytest.importorskip("transformers", reason="half of the entries are models of transformers")

from tests.models.real import table


def test_each_entry_has_its_line() -> None:
    found = {name: table.stated(line) for name, line in table.lines().items()}
    assert found == {entry.name: table.expected(entry) for entry in table.entries()}, (
        "python -m tests.models.real --write"
    )


def test_names_are_unique() -> None:
    names = [entry.name for entry in table.entries()]
    assert len(set(names)) == len(names)


def test_six_sizes_run_and_one_is_refused() -> None:
    for entry in table.entries():
        assert len({tuple(sizes.items()) for sizes in entry.good()}) >= 6, entry.name
        assert entry.bad, entry.name


def test_each_file_is_of_an_entry() -> None:
    from tests.models.real.entry import FILES

    assert {path.name for path in FILES.glob("*.shapes")} == {entry.path.name for entry in table.entries()}
