"""``shapedsl stubs --list``: what the stub library has."""

from __future__ import annotations

from pathlib import Path

import pytest

from .helpers import run


def test_a_line_for_each_spec() -> None:
    done = run("stubs", "--list")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    at = lines.index("torch.nn.modules.sparse.EmbeddingBag")
    assert lines[at + 1].endswith("# one row a bag")
    assert lines[at + 2].startswith("    forward@2(input: ")
    assert "[N], offsets: " in lines[at + 2]
    assert "[B + include_last_offset]" in lines[at + 2]


def test_the_specs_of_an_entry() -> None:
    done = run("stubs", "--list", "GroupNorm")
    assert done.exit_code == 0
    assert "def forward(" in done.output
    assert "dim *spatial in [1, inf]" in done.output


def test_an_unknown_entry() -> None:
    done = run("stubs", "--list", "GruppenNorm")
    assert done.exit_code == 2
    assert "the library has no entry `GruppenNorm`" in done.output


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("Lin", "did you mean `Linear`?"),
        ("groupnorm", "did you mean `GroupNorm`?"),
        ("nn.Conv2D", "did you mean `Conv1d` or `Conv2d`?"),
        ("Zzz", "`--list` alone shows them all"),
    ],
)
def test_an_unknown_entry_has_neighbors(name: str, help_: str) -> None:
    assert run("stubs", "--list", name).output == (
        f"error[unknown-spec]: the library has no entry `{name}`\n  = help: {help_}\n"
    )


def test_no_line_has_the_spaces_of_broken_ones() -> None:
    assert not [line for line in run("stubs", "--list").output.splitlines() if "[ " in line or ", ]" in line]


def test_a_list_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "linear.txt"
    done = run("stubs", "--list", "Linear", "-o", str(path))
    assert (done.exit_code, done.output) == (0, "")
    assert path.read_text() == run("stubs", "--list", "Linear").output


@pytest.mark.parametrize("option", [("--to", "pyi"), ("--const", "N=3")])
def test_what_means_nothing_with_a_list_is_refused(option: tuple[str, str]) -> None:
    done = run("stubs", "--list", *option)
    assert done.exit_code == 2
    assert "With --list, neither --to nor --const means anything." in done.output


def test_without_files() -> None:
    done = run("stubs")
    assert done.exit_code == 2
    assert "Missing argument" in done.output
