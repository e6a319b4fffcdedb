"""The table of entries is what the tests run."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="entries are modules of torch")
pytest.importorskip("torchvision", reason="one entry is torchvision's")
pytest.importorskip("transformers", reason="half of the entries are models of transformers")


def test_the_page_is_current() -> None:
    from tests.models.table import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.models"


def test_names_are_unique() -> None:
    from tests.models.table import ENTRIES

    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names)


def test_four_sizes_run_and_one_is_refused() -> None:
    from tests.models.table import ENTRIES

    for entry in ENTRIES:
        assert len({tuple(sizes.items()) for sizes in entry.good}) >= 4, entry.name
        assert entry.bad, entry.name
