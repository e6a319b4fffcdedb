"""Whether a text follows the grammar: the automaton runs, nothing is built, no IR is imported.

`format` asks first, since most files are correct; `parse` then says what is wrong with the others.
"""

from __future__ import annotations

from typing import Any

from ...diagnostics import Source, Span
from . import limits
from .automaton import Automaton, SyntaxFault
from .lexer import first_column
from .limits import UnreadableError
from .tables import load


class _AnyMethod(type):
    """A class that has a method for every rule of the grammar."""

    def __getattr__(cls, name: str) -> object:
        del name
        return _nothing


def _nothing(*_: object) -> None:
    return None


class _Recognizer(metaclass=_AnyMethod):
    """The builder that builds nothing."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def span(self, start: int, end: int) -> Span:
        """Returns a span, for the message about what is too large."""
        return self._source.span(start, end)


def is_readable(source: Source) -> bool:
    """Returns whether ``source`` parses. Errors of meaning (``a / b``, an unknown dtype) are none here."""
    text = source.text
    if len(text) > limits.TEXT:
        return False
    builder: Any = _Recognizer(source)
    automaton = Automaton(load(), builder, "file")
    try:
        automaton.indent(first_column(text), 0)
        automaton.run(text, 0, len(text))
        automaton.finish(len(text))
    except (SyntaxFault, UnreadableError):
        return False
    return True
