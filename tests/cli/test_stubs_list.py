"""``shapedsl stubs --list``: what the stub library has."""

from __future__ import annotations

from .helpers import run


def test_a_line_for_each_spec() -> None:
    done = run("stubs", "--list")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    at = lines.index("torch.nn.modules.sparse.EmbeddingBag")
    assert lines[at + 1].endswith("# one row a bag")
    assert lines[at + 2].startswith("    forward@2(input: integral[N], offsets: integral[B + include_last_offset]")


def test_the_specs_of_an_entry() -> None:
    done = run("stubs", "--list", "GroupNorm")
    assert done.exit_code == 0
    assert "def forward(" in done.output
    assert "dim *spatial in [1, inf]" in done.output


def test_an_unknown_entry() -> None:
    done = run("stubs", "--list", "GruppenNorm")
    assert done.exit_code == 2
    assert "the library has no entry `GruppenNorm`" in done.output


def test_without_files() -> None:
    done = run("stubs")
    assert done.exit_code == 2
    assert "Missing argument" in done.output
