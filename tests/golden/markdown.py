"""Markdown → sections and fenced blocks, with the lines they stand on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_HEADING = re.compile(r"#{1,6} (?P<title>.*)")
_FENCE = re.compile(r"(?P<indent> {0,8})(?P<fence>`{3,})(?P<info>[^`]*)$")
_NEEDS = re.compile(r"<!-- needs: (?P<module>[\w.]+) -->")


@dataclass
class Block:
    """A fenced block.

    Attributes:
        info: The words of the info string.
        body: The text between the fences, without their indentation.
        line: The 1-based line of its first body line.
        indent: What each line of it is indented by in the file.
    """

    info: list[str]
    body: str
    line: int
    indent: str = ""

    @property
    def language(self) -> str:
        return self.info[0] if self.info else ""

    @property
    def role(self) -> str:
        """The second word of the info string, unless it is an option."""
        return self.info[1] if len(self.info) > 1 and "=" not in self.info[1] else ""

    @property
    def file(self) -> str | None:
        """The name in ``file=NAME``."""
        return next((word.removeprefix("file=") for word in self.info if word.startswith("file=")), None)


@dataclass
class Case:
    """A ``shapes`` block and the expectations that follow it, up to the next one."""

    name: str
    source: Block
    expected: list[Block] = field(default_factory=list)


@dataclass
class Section:
    """What stands under one heading."""

    title: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def files(self) -> dict[str, Block]:
        """The section's named files."""
        return {block.file: block for block in self.blocks if block.file}

    def cases(self) -> list[Case]:
        """The section's cases, numbered from the second on."""
        cases: list[Case] = []
        for block in self.blocks:
            if block.language == "shapes" and not block.role:
                suffix = f" ({len(cases) + 1})" if cases else ""
                cases.append(Case(self.title + suffix, block))
            elif block.language in ("shapes", "text") and block.role not in ("", "output"):
                if not cases:
                    raise ValueError(f"line {block.line}: {' '.join(block.info)} stands before any case")
                cases[-1].expected.append(block)
        return cases


@dataclass
class Document:
    """A markdown file."""

    path: Path
    sections: list[Section]
    needs: str | None = None


def parse(path: Path) -> Document:
    """Returns the sections of the file at ``path``.

    Raises:
        ValueError: A fence is not closed.
    """
    text = path.read_text(encoding="utf-8")
    needs = _NEEDS.search(text)
    sections = [Section(path.stem)]
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if fence := _FENCE.match(lines[at]):
            start = at + 1
            closing = fence["indent"] + fence["fence"]
            at = start
            while at < len(lines) and lines[at].rstrip() != closing:
                at += 1
            if at == len(lines):
                raise ValueError(f"{path}:{start}: the fence is not closed")
            body = "".join(line.removeprefix(fence["indent"]) + "\n" for line in lines[start:at])
            sections[-1].blocks.append(Block(fence["info"].split(), body, start + 1, fence["indent"]))
        elif heading := _HEADING.match(lines[at]):
            sections.append(Section(heading["title"].strip()))
        at += 1
    return Document(path, [section for section in sections if section.blocks], needs["module"] if needs else None)


def replace_bodies(path: Path, edits: list[tuple[Block, str]]) -> None:
    """Rewrites blocks of the file at ``path``; the last one first, so that line numbers stay right."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for block, body in sorted(edits, key=lambda edit: -edit[0].line):
        start, end = block.line - 1, block.line - 1 + block.body.count("\n")
        lines[start:end] = [block.indent + line if line else line for line in body.removesuffix("\n").split("\n")]
    path.write_text("\n".join(lines), encoding="utf-8")
