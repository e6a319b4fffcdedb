"""Markdown cases of conversion: a program, what it becomes, its specs, and what is said.

A section holds one case::

    ```python                 the program
    ```python torch           what `--to python` makes of it; without the block, the program stays as it is
    ```python shapedsl        what `--to python --style shapedsl` makes of it, where that is looked at
    ```shapes                 the specs of its sites, by hand; compared by meaning
    ```text report            a line a site, with its verdict, and a line a finding

``--bless`` rewrites texts and reports, never specs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import shapedsl as sd
from shapedsl import pipeline
from shapedsl.diagnostics import Report, Source
from tests.golden.markdown import Block, Section, parse

FOLDER = Path(__file__).parent / "cases"


@dataclass
class Case:
    """One section.

    Attributes:
        path: Of the file.
        title: Of the section.
        program: The block with the program.
        expected: What it becomes, by the second word of the info string.
        shapes: Its specs.
        report: What is said.
    """

    path: Path
    title: str
    program: Block
    expected: dict[str, Block] = field(default_factory=dict)
    shapes: Block | None = None
    report: Block | None = None

    @property
    def name(self) -> str:
        return f"{self.path.stem}: {self.title}"


def cases() -> Iterator[Case]:
    """Yields the cases of all files."""
    for path in sorted(FOLDER.glob("*.md")):
        for section in parse(path).sections:
            yield _case(path, section)


def _case(path: Path, section: Section) -> Case:
    program, *others = section.blocks
    case = Case(path, section.title, program)
    for block in others:
        if block.language == "python":
            case.expected[block.role] = block
        elif block.language == "shapes":
            case.shapes = block
        else:
            case.report = block
    return case


def convert(
    text: str, *, style: Literal["torch", "shapedsl"] = "torch", target: Literal["python", "shapes"] = "python"
) -> tuple[Any, Report]:
    """Returns what a program called ``program.py`` becomes, and what was found."""
    report = Report()
    result = pipeline.convert_source(Source("program.py", text), report, style=style, target=target)
    return result, report


def said(result: Any, report: Report) -> str:
    """Returns a line a site, then a line a finding that is no note."""
    lines = [f"{site.line}:{site.column} {site.api} {site.name}: {site.verdict or 'kept'}" for site in result.sites]
    for found in report:
        if found.span is not None and found.severity.value != "note":
            line, column = found.span.source.position(found.span.start)
            lines.append(f"{line}:{column} {found.severity.value}[{found.code}]: {found.message}")
    return "".join(f"{line}\n" for line in lines)


def difference(want: str, got: str) -> str:
    """Returns how two texts differ; nothing if they do not."""
    return "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), "expected", "got", lineterm=""))


def spec_differences(want: str, got: str) -> list[str]:
    """Returns how two files of specs differ in meaning; specs are matched by name."""
    wanted, found = sd.loads(want) if want else {}, sd.loads(got) if got else {}
    problems = [f"specs of {list(found)}, not of {list(wanted)}"] if set(wanted) != set(found) else []
    for name in wanted:
        if name in found and wanted[name] != found[name]:
            relation = sd.compare(wanted[name], found[name])
            if relation.relation != "equal":
                problems.append(f"{name} is {relation.relation}: {found[name]}")
    return problems
