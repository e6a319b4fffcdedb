"""Text → text in the canonical layout, for ``shapedsl fmt``.

Made from the tokens, not from the tree, so that nothing can be lost: what is written is what was
read, with other space around it. Before::

    dim B  in [ 0,1024 ]
    def f(x:Tensor[B,2*B]) :   # doubles
      where B<32
      # end

After::

    dim B in [0, 1024]
    def f(x: Tensor[B, 2 * B]):  # doubles
        where B < 32
        # end

Invariants: the tokens (but for commas that say nothing, and quotes), the blocks and the comments
survive, which is checked on every run; formatting twice is formatting once. This module and what it
imports load neither sympy nor torch, and build no IR: the command must start fast.
"""

from __future__ import annotations

import gc
from itertools import islice

from ...diagnostics import Report, Source
from ...layout import INDENT, Row, lay_out
from ...layout.spacing import comment_text, essence
from ...layout.tokens import CLOSERS, OPENERS, Line, lines_of
from .recognize import is_readable


def format_text(source: Source, report: Report) -> str | None:
    """Returns the text of ``source`` in canonical layout, or None, with the reasons in ``report``, if it has errors.

    Args:
        source: A ``.shapes`` file's text.
        report: Receives the syntax errors, or ``not-formatted`` if something would have been lost.
    """
    if not is_readable(source):
        from .parse import parse  # all that makes IR: needed to say what is wrong, not to format

        found = Report()
        parse(source, found, "file")
        for diagnostic in found:
            report.add(diagnostic)
        if found.errors:
            return None
    collecting = gc.isenabled()
    gc.disable()  # a million tokens are no garbage, and each collection would walk them
    try:
        lines = _lines(source.text)
        formatted = _laid_out(lines, source.text)
        kept = formatted is not None and _substance(_lines(formatted)) == _substance(lines)
    finally:
        if collecting:
            gc.enable()
    if not kept:
        report.error(
            "not-formatted",
            f"formatting {source.name} would have changed what it says, so it was left alone",
            help="please report this text as a bug of the formatter",
        )
        return None
    return formatted


def layout(text: str) -> str | None:
    """Returns ``text``, which is correct, in canonical layout; None if its brackets do not pair."""
    return _laid_out(_lines(text), text)


def _lines(text: str) -> list[Line]:
    return _joined(lines_of(text))


def _laid_out(lines: list[Line], text: str) -> str | None:
    if not all(_paired(line) for line in lines):
        return None
    rows: list[Row] = []
    before = -1  # the level of the line before
    for line, level in zip(lines, _levels(lines), strict=True):
        blanks = 0 if level > before else min(line.blanks, 1 if level else 2)
        rows += [Row("")] * blanks
        rows += _line_rows(line, level * INDENT, text)
        before = level
    return "".join(f"{row}\n" for row in _aligned(rows))


def _joined(lines: list[Line]) -> list[Line]:
    """Returns ``lines`` with a body that is only ``...`` behind its ``:``, and any other clause on a line of its own."""
    result: list[Line] = []
    for index, line in enumerate(lines):
        head = result[-1] if result else None
        if (
            [token.text for token in line.tokens] == ["..."]
            and _ends_block(lines, index)
            and head is not None
            and head.comment is None
            and not _silences(line)
            and [token.text for token in (*head.tokens[:1], *head.tokens[-1:])] in (["def", ":"], ["class", ":"])
        ):
            result[-1] = Line(head.column, head.blanks, head.tokens + line.tokens, line.comment)
            continue
        end = _head_end(line)
        if end and [token.text for token in line.tokens[end:]] not in ([], ["..."]) and not _silences(line):
            result.append(Line(line.column, line.blanks, line.tokens[:end]))
            line = Line(line.column + 1, 0, line.tokens[end:], line.comment)
        result.append(line)
    return result


def _silences(line: Line) -> bool:
    """Returns whether a line's comment is ``# shapedsl: ignore[…]``: it speaks of what stands on its row."""
    return line.comment is not None and "shapedsl:" in line.comment.text


def _ends_block(lines: list[Line], index: int) -> bool:
    following = (later.column for later in islice(lines, index + 1, None) if later.tokens)
    return next(following, 0) < lines[index].column


def _head_end(line: Line) -> int:
    """Returns how many tokens a def's head has, its colon included; 0 if ``line`` begins no def."""
    if not line.tokens or line.tokens[0].text != "def":
        return 0
    depth = 0
    for index, token in enumerate(line.tokens):
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if token.text == ":" and not depth:
            return index + 1
    return 0


def _paired(line: Line) -> bool:
    stack: list[str] = []
    for token in line.tokens:
        if token.text in OPENERS:
            stack.append(token.text)
        elif token.text in CLOSERS and (not stack or stack.pop() != CLOSERS[token.text]):
            return False
    return not stack


def _levels(lines: list[Line]) -> list[int]:
    """Returns how deep each line lies in blocks.

    A comment on its own goes with the statement behind it, unless it is indented deeper: then it
    stays in the block that it ends.
    """
    levels: list[int] = []
    columns = [0]  # of the open blocks
    pending: list[Line] = []  # comments whose level the next statement decides
    for line in [*lines, Line(0, 0)]:
        if not line.tokens and line.comment is not None:
            pending.append(line)
            continue
        open_before = list(columns)
        while len(columns) > 1 and line.column < columns[-1]:
            columns.pop()
        if line.column > columns[-1]:
            columns.append(line.column)
        level = len(columns) - 1
        for comment in pending:
            inside = [i for i, column in enumerate(open_before) if column <= comment.column]
            levels += [max([level, *inside]) if level < len(open_before) - 1 else level]
        pending = []
        levels.append(level)
    return levels[:-1]


def _line_rows(line: Line, indent: int, text: str) -> list[Row]:
    """Returns the rows of a logical line, the comment at its end on the last."""
    if line.comment is None:
        return lay_out(line.tokens, text, indent)
    comment = comment_text(line.comment.text)
    if not line.tokens:
        return [Row(" " * indent, comment)]
    # Breaking the line would move the comment away from what it speaks of.
    keep = _silences(line) and "\n" not in text[line.tokens[0].start : line.comment.start]
    rows = lay_out(line.tokens, text, indent, keep=keep)
    column = line.comment.start - (text.rfind("\n", 0, line.comment.start) + 1)
    rows[-1] = rows[-1]._replace(comment=comment, column=column)
    return rows


def _aligned(rows: list[Row]) -> list[str]:
    """Returns the rows as text: comments two spaces behind, or in one column where neighbors shared one."""
    result: list[str] = []
    start = 0
    while start < len(rows):
        row, end = rows[start], start + 1
        if not row.text.strip():
            result.append(row.text + row.comment if row.comment else "")
        elif not row.comment:
            result.append(row.text)
        else:
            while end < len(rows) and rows[end].comment and rows[end].text.strip() and rows[end].column == row.column:
                end += 1
            run = rows[start:end]
            width = max(len(r.text) for r in run)
            result += [f"{r.text:<{width}}  {r.comment}" for r in run]
        start = end
    return result


def _substance(lines: list[Line]) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """Returns what formatting keeps: the statements with their levels, and the comments."""
    statements = [
        (level, essence(line.tokens)) for line, level in zip(lines, _levels(lines), strict=True) if line.tokens
    ]
    comments = [token.text for line in lines for token in line.tokens if token.kind == "comment"]
    comments += [line.comment.text for line in lines if line.comment is not None]
    return statements, sorted(comment_text(comment) for comment in comments)
