"""The documents agree with the code and with each other. What they show is run by the runner of markdown tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import shapedsl
from shapedsl.diagnostics import CODES
from tests.golden import markdown

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# What `sh` blocks may show unexecuted: installing, and running this very test suite.
UNEXECUTED = {"pip install -e '.[torch]' && shapedsl demo", "pip install -e '.[dev]' && pytest"}


def test_readme_opens_with_the_two_commands() -> None:
    readme = markdown.parse(ROOT / "README.md")
    shown = [block.body.strip() for section in readme.sections for block in section.blocks if block.language == "sh"]
    assert set(shown) == UNEXECUTED


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_blocks_are_executed_or_plainly_not_code(path: Path) -> None:
    """A block in a language that the runner does not know would be an example that nobody runs."""
    known = {"shapes", "python", "console", "text", ""} | ({"sh"} if path.name == "README.md" else set())
    blocks = [block for section in markdown.parse(path).sections for block in section.blocks]
    stubs = [block for block in blocks if block.language == "pyi"]
    assert all(block.file for block in stubs)  # written for the commands of the page to read
    assert {block.language for block in blocks if block not in stubs} <= known


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]+`", "code", text)  # brackets in it are no link
    for target in re.findall(r"\]\((?!https?://)([^)#\s]+)", text):
        assert (path.parent / target).exists(), target


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "codes").glob("*.md")}
    assert pages == set(CODES)


def test_pages_of_codes_show_their_code() -> None:
    for code in CODES:
        page = (ROOT / "docs" / "codes" / f"{code}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {code}\n"), code
        assert "## What it does" in page, code
        assert f"[{code}]" in page or f"`{code}`" in page or code in page.partition("\n")[2], code


def test_the_table_of_codes_is_whole() -> None:
    text = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[`([\w-]+)`\]\(codes/", text, re.MULTILINE) == list(CODES)


def test_version_is_the_same_everywhere() -> None:
    written = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert written
    assert shapedsl.__version__ == written[1]
    assert f"## {written[1]}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_documents_name_every_public_name() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    missing = [name for name in shapedsl.__all__ if not name.startswith("_") and not re.search(rf"\b{name}\b", text)]
    assert missing == []
