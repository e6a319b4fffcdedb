"""Text → statements, all syntax errors of a file in one run.

A text without an error is read in one go. Where there is one, the text is read again in chunks:
a chunk begins at each line that begins with a statement's or clause's keyword (see `chunks`). A chunk that cannot be
read is reported, the automaton is put back to where it stood before it, and the next one is read;
in place of a broken ``def`` or ``class`` line a stand-in opens the block, so that what is inside is
checked too. (Lark's own recovery would stay inside an open bracket until the end of the file.)
"""

from __future__ import annotations

import gc
import re
from functools import cache
from typing import Any, Final

from ...diagnostics import Report, Source
from . import limits
from .automaton import Automaton, SyntaxFault
from .build_statements import BROKEN, Builder
from .lexer import column_of, first_column
from .limits import UnreadableError
from .syntax import Broken
from .tables import Tables, load

_IN_LINES: Final = ("file", "clauses_fragment")  # the start rules of texts that are made of lines

_DECLARED: Final = re.compile(r"\s*(?:let|const|type)[ \t]+([A-Za-z_]\w*(?:[ \t]*,[ \t]*[A-Za-z_]\w*)*)", re.ASCII)
_STAND_INS: Final = {
    "def": [("def", "def"), ("NAME", BROKEN), ("(", "("), (")", ")"), (":", ":")],
    "class": [("class", "class"), ("NAME", BROKEN), (":", ":")],
    "case": [("case", "case"), ("NAME", BROKEN), (":", ":")],
    "otherwise": [("otherwise", "otherwise"), (":", ":")],
}


@cache
def tables() -> Tables:
    """Returns the parse tables; loaded once."""
    return load()


def parse(source: Source, report: Report, start: str, *, column: int = 0) -> Any:
    """Returns what the start rule ``start`` makes of a text; None if it is a fragment with an error.

    Args:
        source: The text.
        report: Receives every error of the text.
        start: A name of `tables.STARTS`.
        column: The indentation of the outermost lines.
    """
    text = source.text
    if len(text) > limits.TEXT:
        report.error("input-too-large", f"a text of more than {limits.TEXT} characters", at=source.span(0, 0))
        return [] if start == "file" else None
    collecting = gc.isenabled()
    gc.disable()  # nothing here is garbage: each collection would walk all that was made so far
    try:
        found = Report()
        automaton = Automaton(tables(), Builder(source, found), start, column)
        try:
            if start == "file":
                automaton.indent(first_column(text), 0)
            automaton.run(text, 0, len(text), flat=start not in _IN_LINES)
            result = automaton.finish(len(text))
        except (SyntaxFault, UnreadableError) as error:
            if start in _IN_LINES:
                return _Recovery(source, report, start, column).run()
            _report(error, source, report, (0, len(text)), start)
            return None
        for diagnostic in found:
            report.add(diagnostic)
        return result
    finally:
        if collecting:
            gc.enable()


def _report(
    error: SyntaxFault | UnreadableError, source: Source, report: Report, chunk: tuple[int, int], start: str = "file"
) -> None:
    if isinstance(error, UnreadableError):
        error.tell(report)
    else:
        from .syntax_errors import explain  # most files have no error

        report.add(explain(source, error.start, error.kind, error.text, error.expected, chunk, start))


class _Recovery:
    """Reads a text with errors, chunk by chunk."""

    def __init__(self, source: Source, report: Report, start: str, column: int) -> None:
        self.source = source
        self.report = report
        self.automaton = Automaton(tables(), _PersistentBuilder(source, report), start, column)
        self.errors = 0
        self.is_file = start == "file"
        self.broken: set[str] = set()  # lets, consts and types that could not be read

    def run(self) -> Any:
        """Returns what could be read."""
        from .chunks import chunk_starts  # most files have no error

        text, automaton = self.source.text, self.automaton
        starts = chunk_starts(text)
        bounds = list(zip(starts, [*starts[1:], len(text)], strict=True))
        for i, (start, end) in enumerate(bounds):
            following = self._column(bounds[i + 1][0]) if i + 1 < len(bounds) else -1
            self._read(start, end, following)
            if self.errors >= limits.SYNTAX_ERRORS:
                self.report.error(
                    "input-too-large",
                    f"more than {limits.SYNTAX_ERRORS} syntax errors",
                    at=self.source.span(end, end),
                    note="what follows was not read",
                )
                break
        self._enter(automaton.indents[0][0], len(text))
        try:
            automaton.feed("$END", "", len(text), len(text))
        except SyntaxFault:  # a body of which no clause could be read
            return []
        result = automaton.values[-1]
        return [*result, Broken(frozenset(self.broken))] if self.broken and self.is_file else result

    def _column(self, offset: int) -> int:
        text = self.source.text
        offset += not offset and text.startswith("\ufeff")
        end = offset
        while end < len(text) and text[end] in " \t":
            end += 1
        return column_of(text[offset:end])

    def _read(self, start: int, end: int, following: int) -> None:
        """Reads one chunk, or reports it and leaves the automaton as it was.

        Args:
            start: Its offset, at the beginning of a line.
            end: Behind its last line.
            following: The column of the next chunk, -1 if there is none.
        """
        automaton, text = self.automaton, self.source.text
        column = self._column(start)
        if text[start:end].strip(" \t\r\n\ufeff") and not text[start:end].lstrip(" \t\ufeff").startswith(("#", "\n")):
            self._enter(column, start)
        saved = self._saved()
        reported = len(self.report)
        try:
            automaton.run(text, start, end)
            if list(automaton.tables.actions[automaton.states[-1]]) == ["_INDENT"] and following <= column:
                raise SyntaxFault("_NL", "", self._last_line_end(start, end), frozenset(("_INDENT",)))
            automaton.settle()
        except (SyntaxFault, UnreadableError) as error:
            self._restore(saved)
            self.errors += 1
            declared = _DECLARED.match(text, start, end)
            if declared:
                self.broken.update(name.strip() for name in declared[1].split(","))
            _report(error, self.source, self.report, (start, end))
            if following > column:
                from .chunks import meant

                self._stand_in(meant(text[start:end].split(None, 1)[0].rstrip(":")), end)
        else:
            self.errors += len(self.report) - reported

    def _last_line_end(self, start: int, end: int) -> int:
        return start + len(self.source.text[start:end].rstrip())

    def _enter(self, column: int, at: int) -> None:
        """Opens and closes blocks for a line at ``column``, whatever the automaton thinks of it."""
        indents = self.automaton.indents
        while len(indents) > 1 and column < indents[-1][0]:
            if indents.pop()[1]:
                self._close_block(at)
        if column > indents[-1][0]:
            opens = "_INDENT" in self.automaton.tables.actions[self.automaton.states[-1]]
            if opens:
                self.automaton.feed("_INDENT", "", at, at)
            else:
                place = at + len(self.source.text[at:]) - len(self.source.text[at:].lstrip(" \t"))
                self.errors += 1
                _report(SyntaxFault("_INDENT", "", place, frozenset()), self.source, self.report, (at, at))
            indents.append((column, opens))

    def _close_block(self, at: int) -> None:
        saved = self._saved()
        try:
            self.automaton.feed("_DEDENT", "", at, at)
        except SyntaxFault:  # every line of the block was broken
            self._restore(saved)
            for kind in ("...", "_NL", "_DEDENT"):
                self.automaton.feed(kind, kind, at, at)

    def _stand_in(self, keyword: str, at: int) -> None:
        saved = self._saved()
        try:
            for kind, text in (*_STAND_INS.get(keyword, ()), ("_NL", "\n")):
                self.automaton.feed(kind, text, at, at)
        except SyntaxFault:
            self._restore(saved)

    def _saved(self) -> tuple[list[Any], ...]:
        a = self.automaton
        return list(a.states), list(a.values), list(a.starts), list(a.ends), list(a.indents)

    def _restore(self, saved: tuple[list[Any], ...]) -> None:
        a = self.automaton
        a.states[:], a.values[:], a.starts[:], a.ends[:], a.indents[:] = saved


class _PersistentBuilder(Builder):
    """A builder whose lists of lines are never changed, so that the automaton can be put back."""

    def grow(self, start: int, end: int, lines: list[Any], line: Any) -> list[Any]:  # noqa: ARG002
        return [*lines, line]

    def def_(self, start: int, end: int, head: Any, body: list[Any]) -> Any:
        from dataclasses import replace

        return super().def_(start, end, replace(head, names=set(head.names)), body)
