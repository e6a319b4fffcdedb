"""What a rule about a mistake sees: the unexpected token, its neighbors, and what could have stood there."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Final

from ....diagnostics import Annotation, Diagnostic, Edit, Fix, Severity, Source, Span
from ....layout.tokens import CLOSERS, OPENERS, Token, scan

STATEMENTS: Final = ("language", "from", "const", "dim", "int", "let", "type", "where", "def", "class")
CLAUSES: Final = ("case", "otherwise", "bucket", "rank", "values", "drop", "keep", "hint", "eager", "backed")
DTYPES: Final = frozenset(
    [
        "Tensor",
        "Scalar",
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "long",
        "half",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "float",
        "double",
        "complex64",
        "complex128",
        "floating",
        "integral",
        "complexfloating",
        "number",
    ]
)
COMPARATORS: Final = ("==", "!=", "<", "<=", ">", ">=")

_AHEAD: Final = 64  # tokens behind the unexpected one that rules may look at


class Place:
    """Where a parse stopped.

    Attributes:
        source: The text.
        offset: Where the unexpected token begins; the end of the chunk if there is none.
        kind: Its terminal: ``NAME``, ``INT``, …, its text for keywords and operators, ``_NL``, ``_INDENT``,
            ``_DEDENT``, ``$END``; empty where no terminal fits the characters.
        text: Its text.
        expected: The terminals that could have stood there, named like ``kind``.
        start, end: The chunk of text that was being parsed: a statement, or a clause.
        in_lines: Whether the text is made of statements or clauses; else it is a piece of one.
        in_dims: Whether it is what stands inside ``Tensor[…]``.
    """

    def __init__(
        self,
        source: Source,
        offset: int,
        kind: str,
        text: str,
        expected: Collection[str],
        chunk: tuple[int, int],
        rule: str = "file",
    ) -> None:
        self.in_lines, self.in_dims = rule in ("file", "clauses_fragment"), rule == "dims_fragment"
        self.source, self.offset, self.kind, self.text = source, offset, kind, text
        self.expected = frozenset(expected)
        self.start, self.end = chunk
        if self.end <= offset:  # the fault is the indentation of a row that begins here
            row_end = source.text.find("\n", offset)
            self.end = row_end if row_end >= 0 else len(source.text)
        self._behind: list[Token] = []
        self._ahead: list[Token] = []
        for token in scan(source.text, self.start, self.end):
            if token.kind in ("space", "comment"):
                continue
            if token.end <= offset:
                self._behind.append(token)
            else:
                self._ahead.append(token)
                if len(self._ahead) > _AHEAD:
                    break

    def before(self, count: int = 1) -> Token:
        """Returns the token ``count`` before the unexpected one, newlines not counted; an empty one if there is none."""
        found = 0
        for token in reversed(self._behind):
            found += token.kind != "newline"
            if found == count:
                return token
        return Token("none", "", self.start)

    def after(self, count: int = 1) -> Token:
        """Returns the token ``count`` behind the unexpected one on its line (0: itself); an empty one if there is none."""
        if count < len(self._ahead) and all(token.kind != "newline" for token in self._ahead[: count + 1]):
            return self._ahead[count]
        return Token("none", "", self.end)

    @property
    def token(self) -> Token:
        """The unexpected token as `scan` sees it."""
        return self._ahead[0] if self._ahead else Token("none", "", self.end)

    @cached_property
    def opened(self) -> list[Token]:
        """The brackets that are open before the unexpected token, the innermost last."""
        stack: list[Token] = []
        for token in self._behind:
            if token.text in OPENERS:
                stack.append(token)
            elif token.text in CLOSERS and stack:
                stack.pop()
        return stack

    @cached_property
    def line(self) -> list[Token]:
        """The tokens of the logical line before the unexpected one, without newlines."""
        line: list[Token] = []
        depth = 0
        behind = list(self._behind)
        while self.kind in ("_NL", "$END") and behind and behind[-1].kind == "newline":
            behind.pop()  # comments and blank lines behind the line that ended too early
        for token in behind:
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
            if token.kind == "newline" and depth <= 0:
                line, depth = [], 0
            elif token.kind != "newline":
                line.append(token)
        return line

    @property
    def word(self) -> str:
        """The first word of the logical line."""
        return self.line[0].text if self.line else self.token.text

    @property
    def row(self) -> Token:
        """The first token of the row that begins at the unexpected token, or behind it if that is a newline."""
        return next((token for token in self._ahead if token.kind != "newline"), Token("none", "", self.end))

    @property
    def starts_row(self) -> bool:
        """Whether the unexpected token is the first of its row."""
        return not self._behind or self._behind[-1].kind == "newline"

    @property
    def next_row(self) -> tuple[str, str]:
        """The indentation and the first word (or sign) of the first row with a token behind the row of ``offset``."""
        text, at = self.source.text, self.source.text.find("\n", self.offset)
        while at >= 0:
            end = text.find("\n", at + 1)
            row = text[at + 1 : end if end >= 0 else len(text)]
            stripped = row.strip()
            if stripped and not stripped.startswith("#"):
                first = next(scan(stripped), Token("none", "", 0))
                return row[: len(row) - len(row.lstrip(" \t"))], first.text
            at = end
        return "", ""

    @property
    def at_end(self) -> bool:
        """Whether the statement ended too early."""
        return self.kind in ("_NL", "$END", "_INDENT", "_DEDENT") or self.token.kind in ("none", "newline")

    @property
    def span(self) -> Span:
        """The unexpected token's span; at the end of a statement, the place behind what was last read."""
        if self.at_end:
            end = self.before().end
            return self.source.span(end, end)
        return self.span_of(self.token)

    def span_of(self, *tokens: Token) -> Span:
        """Returns the span from the first of ``tokens`` to the last."""
        return self.source.span(tokens[0].start, tokens[-1].end)

    def takes(self, *terminals: str) -> bool:
        """Returns whether one of ``terminals`` could have stood here."""
        return not self.expected.isdisjoint(terminals)


def problem(
    message: str,
    at: Span,
    label: str = "",
    *,
    also: tuple[Span, str] | None = None,
    note: str = "",
    help: str = "",
    fix: tuple[str, Iterable[tuple[Span, str]]] | None = None,
    safe: bool = False,
    code: str = "syntax-error",
) -> Diagnostic:
    """Returns an error.

    Args:
        message: The headline.
        at: What is wrong.
        label: Written under it.
        also: A second place and its label.
        note: A fact.
        help: What to write.
        fix: What a machine can do about it: a description, and spans with what replaces them.
        safe: Whether the fix cannot be anything else than what was meant: only then a machine may apply it unasked.
        code: The fault.
    """
    annotations = (Annotation(at, label), *([Annotation(*also)] if also else []))
    edits = Fix(fix[0], tuple(Edit(span, text) for span, text in fix[1]), safe) if fix else None
    notes, helps = (note,) if note else (), (help,) if help else ()
    return Diagnostic(code, Severity.ERROR, message, annotations, notes, helps, edits)
