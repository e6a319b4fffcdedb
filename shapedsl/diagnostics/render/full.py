"""Diagnostics with the source lines they speak of, in the manner of rustc and ruff.

::

    error[contradiction]: no shape satisfies this spec
      --> net.shapes:7:11
     2 | dim B in [2, 64] multiple of 8
       |          ------- so B <= 64
     7 |     where S >= 200
       |           ^^^^^^^^ needs B >= 100
       = minimal core: B <= 64; S >= 200
       = help: raise B's upper bound to 104, or use S >= 128
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ..diagnostic import Diagnostic, Severity
from ..span import Source
from . import capped
from .glyphs import cells, visible, width
from .style import paint

_WIDEST: Final = 120  # columns of source text; longer lines are cut around their marks
_CONTEXT: Final = 24  # code points kept before the first mark of a cut line
_ALL_LINES: Final = 4  # a span over more lines than this shows its first and its last


@dataclass(frozen=True, slots=True)
class _Mark:
    """A piece of an annotation on one line: columns are 0-based code points, half-open."""

    start: int
    end: int
    label: str
    role: str  # how it is painted; "frame" for a secondary span
    character: str


def render(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Returns ``diagnostics`` as text, a blank line between two, without a newline at the end.

    Of very many, the first are shown, and how many more there are.

    Args:
        diagnostics: Findings, in the order they are shown.
        color: Whether to use ANSI colors; see `style.wants_color`.
    """
    shown, more = capped(diagnostics)
    texts = ["\n".join(_lines(diagnostic, color)) for diagnostic in shown]
    return "\n\n".join([*texts, more] if more else texts)


def _lines(diagnostic: Diagnostic, color: bool) -> Iterator[str]:
    severity = diagnostic.severity.value
    head = paint(f"{severity}[{diagnostic.code}]", severity, color)
    yield f"{head}{paint(': ' + visible(diagnostic.message), 'bold', color)}"

    excerpts = _excerpts(diagnostic)
    digits = max((len(str(number)) for _, marks in excerpts for number in marks), default=0)
    margin = " " * (digits + 2)
    for index, (source, marks) in enumerate(excerpts):
        line, column = _anchor(diagnostic, source)
        arrow = paint("-->" if index == 0 else ":::", "frame", color)
        yield f"{margin[:-1]}{arrow} {visible(source.name)}:{line}:{column}"
        for number in sorted(marks):
            shown, rows = _draw(source.line(number), marks[number], color)
            yield f"{paint(f' {number:>{digits}} |', 'frame', color)} {shown}".rstrip()
            for row in rows:
                yield f"{paint(margin + '|', 'frame', color)} {row}"
    for title, text in footers(diagnostic):
        first, *rest = text.splitlines() or [""]
        yield f"{margin}{paint('=', 'frame', color)} {paint(title + ':', 'bold', color)} {visible(first)}"
        for line_of_text in rest:
            yield f"{margin}{' ' * (len(title) + 4)}{visible(line_of_text)}"


def footers(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """Yields what stands below the source lines, as (title, text): core, witness, notes, helps, the fix."""
    if diagnostic.core:
        many = f"{len(diagnostic.core)} of {diagnostic.core_of} constraints: " if diagnostic.core_of else ""
        yield "minimal core", many + "; ".join(diagnostic.core)
    if diagnostic.witness:
        yield "witness", ", ".join(f"{name} = {size}" for name, size in diagnostic.witness)
    for note in diagnostic.notes:
        yield "note", note
    for text in diagnostic.helps:
        yield "help", text
    if diagnostic.fix is not None and not any(h.startswith(diagnostic.fix.description) for h in diagnostic.helps):
        yield "help", diagnostic.fix.description


def _anchor(diagnostic: Diagnostic, source: Source) -> tuple[int, int]:
    """Returns the line and column that the arrow names: those of the first span in ``source``."""
    span = next(a.span for a in diagnostic.annotations if a.span.source.file is source)
    return span.source.position(span.start)


def _excerpts(diagnostic: Diagnostic) -> list[tuple[Source, dict[int, list[_Mark]]]]:
    """Returns per source, the main one first, the marks of each line that is shown."""
    excerpts: dict[int, tuple[Source, dict[int, list[_Mark]]]] = {}
    for index, annotation in enumerate(diagnostic.annotations):
        main = index == 0
        role, character = (_role(diagnostic.severity), "^") if main else ("frame", "-")
        source = annotation.span.source
        _, marks = excerpts.setdefault(id(source.file), (source.file, {}))
        start, end = annotation.span.start, max(annotation.span.end, annotation.span.start)
        text = source.text[start:end]
        end -= len(text) - len(text.rstrip("\r\n"))  # a span that takes its line's end shows none of the next line
        first, column = source.position(start)
        last, end_column = source.position(max(start, end))
        numbers = range(first, last + 1)
        for number in numbers if len(numbers) <= _ALL_LINES else (first, last):
            line = source.line(number)
            left = column - 1 if number == first else len(line) - len(line.lstrip())
            right = end_column - 1 if number == last else len(line.rstrip())
            label = annotation.label if number == last else ""
            if right > left or number in (first, last):
                mark = _Mark(left, max(right, left + 1), label, role, character)
                marks.setdefault(number, []).append(mark)
    return list(excerpts.values())


def _role(severity: Severity) -> str:
    return severity.value


def _draw(line: str, marks: list[_Mark], color: bool) -> tuple[str, list[str]]:
    """Returns what is shown of ``line`` and the rows of marks and labels below it."""
    first = min(mark.start for mark in marks)
    skipped = 0
    if len(line) > _WIDEST:
        skipped = max(0, first - _CONTEXT)
        if len(line) - skipped < _WIDEST:
            skipped = len(line) - _WIDEST
    columns, shown, column = [0], "", 0
    cut = False
    for text, taken in cells(line[skipped : skipped + _WIDEST + 1]):
        if column + taken > _WIDEST:
            cut = True
            break
        shown += text
        column += taken
        columns.append(column)
    before = "..." if skipped else ""
    shown = before + shown + ("..." if cut or skipped + len(columns) - 1 < len(line) else "")

    def place(offset: int) -> int:
        """Returns the column of a code point; beyond the end of the line there is one more."""
        offset -= skipped
        inside = min(max(offset, 0), len(columns) - 1)
        return columns[inside] + len(before) + (1 if offset > inside else 0)

    rows: list[str] = []
    for group in _groups(marks):
        rows += _group_rows([(place(m.start), max(place(m.end), place(m.start) + 1), m) for m in group], color)
    return shown, rows


def _groups(marks: list[_Mark]) -> list[list[_Mark]]:
    """Returns ``marks`` in groups that can share a row: the main mark's group first, none overlapping within one."""
    groups: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda m: (m.character != "^", m.start)):
        for group in groups:
            if all(mark.end < other.start or other.end < mark.start for other in group):
                group.append(mark)
                break
        else:
            groups.append([mark])
    return [sorted(group, key=lambda m: m.start) for group in groups]


def _group_rows(placed: list[tuple[int, int, _Mark]], color: bool) -> list[str]:
    """Returns a row of marks with the last one's label behind it, and a row for each other label, hung below its mark."""
    underline = _Row(color)
    for start, end, mark in placed:
        underline.put(start, mark.character * (end - start), mark.role)
    *others, (_, end, last) = placed
    if last.label:
        underline.put(end + 1, visible(last.label), last.role)
    rows = [underline]
    hanging = [(start, mark) for start, _, mark in others if mark.label]
    while hanging:
        start, mark = hanging.pop()
        row = _Row(color)
        for left, other in hanging:
            row.put(left, "|", other.role)
        row.put(start, visible(mark.label), mark.role)
        rows.append(row)
    return [row.text for row in rows]


class _Row:
    """A line of text written at columns, left to right."""

    def __init__(self, color: bool) -> None:
        self.text, self._column, self._color = "", 0, color

    def put(self, column: int, text: str, role: str) -> None:
        """Writes ``text`` at ``column``."""
        self.text += " " * (column - self._column) + paint(text, role, self._color)
        self._column = max(column, self._column) + width(text)
