"""Explains a syntax error by example: what is wrong, where, and what to write.

A parser knows that a token is unexpected and what it could have taken; a person wants to know that
``=`` is written ``==``. The rules below recognize the mistakes people make (see ``mistakes``). They
are tried in order, the most specific first; where none fits, the message lists what could stand there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from ...diagnostics import Diagnostic, Source
from .mistakes import blocks, brackets, characters, clauses, pieces, punctuation, words
from .mistakes.place import COMPARATORS, Place, problem

_RULES: Final[tuple[Callable[[Place], Diagnostic | None], ...]] = (
    characters.character,
    blocks.tabs,
    blocks.misplaced,
    pieces.quoted_name,
    pieces.static_dim,
    pieces.size_for_type,
    pieces.or_none,
    pieces.declared_order,
    pieces.head_of_block,
    pieces.predicates,
    punctuation.half_open,
    brackets.unpaired,
    punctuation.default,
    punctuation.typo,
    punctuation.number,
    punctuation.wrong_brackets,
    punctuation.arrow,
    punctuation.equals,
    punctuation.declaration,
    punctuation.empty,
    punctuation.python_type,
    punctuation.import_path,
    clauses.missing_equals,
    clauses.missing_word,
    clauses.head,
    brackets.colon_in_bracket,
    blocks.colon,
    blocks.body,
    words.first_word,
    words.no_condition,
    words.inside,
    words.reserved,
    blocks.unfinished,
    punctuation.operand,
    blocks.indentation,
)


def explain(
    source: Source,
    offset: int,
    kind: str,
    text: str,
    expected: Collection[str],
    chunk: tuple[int, int],
    start: str = "file",
) -> Diagnostic:
    """Returns the diagnostic of a syntax error.

    Args:
        source: The text.
        offset: Where the unexpected token begins; the chunk's end if the text ended too early.
        kind: The unexpected token's terminal: ``NAME``, ``INT``, …, its own text for keywords and operators, ``_NL``,
            ``_INDENT``, ``_DEDENT``, ``$END``; empty where no terminal fits the characters.
        text: The token's text.
        expected: The terminals that could have stood there, named as ``kind`` names them.
        chunk: Start and end of the statement or clause that was parsed.
        start: The start rule: a file, or a fragment of one.
    """
    place = Place(source, offset, kind, text, expected, chunk, start)
    for rule in _RULES:
        found = rule(place)
        if found is not None:
            return found
    return _plain(place)


def _plain(place: Place) -> Diagnostic:
    """Returns what can be said of any error: what stands there, and what could."""
    options = _options(place)
    if len(options) == 1:
        label = f"{options[0]} is missing"
    elif 1 < len(options) <= 6:
        label = f"expected {', '.join(options[:-1])} or {options[-1]}"
    else:
        label = ""
    message = "the line ends too early" if place.at_end else f"unexpected `{place.token.text[:40]}`"
    return problem(message, place.span, label)


_READABLE: Final = {
    "NAME": "a name",
    "INT": "a number",
    "FLOAT": "a number",
    "STRING": "a string",
    "_NL": "the end of the line",
    "$END": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
}
_OPERATORS: Final = frozenset(("+", "-", "*", "/", "//", "%", "**"))


def _options(place: Place) -> list[str]:
    """Returns what could stand here in words, operators and comparisons in one word each."""
    options: dict[str, None] = {}
    for terminal in sorted(place.expected):
        if terminal in COMPARATORS:
            options["a comparison"] = None
        elif terminal in _OPERATORS:
            if "+" in place.expected and "INT" not in place.expected:
                options["an operator"] = None
        else:
            options[_READABLE.get(terminal) or f"`{terminal}`"] = None
    return list(options)
