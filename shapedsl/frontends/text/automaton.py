"""Runs the parse tables over a text: tokens in, the builder's results out, no tree in between.

A stack machine with four parallel stacks: states, values, and where each value starts and ends. The
offsets come from tokens alone, so no node has to know its own extent for its parent to have one.

Measured against Lark's own parser making its tree with positions, on the same tables and file:
about a third of the time, builder included (`tests/benchmarks/tree.py` holds the ratio).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from . import limits
from .lexer import (
    CLOSERS,
    FLOAT,
    INT,
    MARGIN,
    NEWLINE,
    OPENERS,
    OTHER,
    STRING,
    SYMBOL,
    TOKEN,
    WORD,
    column_of,
    is_keyword,
)
from .limits import fail
from .tables import END, Rule, Tables

if TYPE_CHECKING:  # the formatter recognizes text without building anything
    from .build_sizes import SizeBuilder


_SETTLE: Final = object()  # as a token's text: reduce, but do not shift


class SyntaxFault(Exception):
    """A token that cannot stand where it stands.

    Attributes:
        kind: Its terminal; empty where no terminal fits the characters.
        text: As written.
        start: Its offset.
        expected: The terminals that could have stood there.
    """

    def __init__(self, kind: str, text: str, start: int, expected: frozenset[str]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.text = text
        self.start = start
        self.expected = expected


class Automaton:
    """The state of one parse.

    Attributes:
        states, values, starts, ends: The stacks. ``states`` has one element more: the start state.
        indents: Columns of the open blocks, and whether the parser was told of each.
        feed: Takes one token: its terminal, text, start and end.
    """

    def __init__(self, tables: Tables, builder: SizeBuilder, start: str, column: int = 0) -> None:
        first, self.accepting = tables.starts[start]
        self.tables = tables
        self.states: list[int] = [first]
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.indents: list[tuple[int, bool]] = [(column, True)]
        self.builder = builder
        self.feed = self._stepper(_steps(tables, type(builder)))

    def _stepper(self, steps: list[_Step]) -> Callable[[str, Any, int, int], None]:
        """Returns `feed`: a closure, since it runs once a token and attributes cost."""
        actions, gotos, accepting = self.tables.actions, self.tables.gotos, self.accepting
        states, values, starts, ends = self.states, self.values, self.starts, self.ends
        builder = self.builder

        def feed(kind: str, value: Any, start: int, end: int) -> None:
            state = states[-1]
            while True:
                action = actions[state].get(kind)
                if action is None:
                    if kind == END and state == accepting:
                        return
                    raise SyntaxFault(kind, value, start, frozenset(actions[state]))
                if action >= 0:
                    if value is _SETTLE:
                        return
                    states.append(action)
                    values.append(value)
                    starts.append(start)
                    ends.append(end)
                    return
                length, origin, method, pick = steps[-1 - action]
                if method is None and length == 1:  # an alias for its only part: just another state
                    state = states[-1] = gotos[states[-2]][origin]
                    continue
                if length:
                    parts = values[-length:]
                    first, last = starts[-length], ends[-1]
                    del values[-length:], states[-length:], starts[-length:], ends[-length:]
                else:
                    parts = []
                    first = last = ends[-1] if ends else 0
                if method is None:
                    assert pick is not None  # see `_pick`
                    values.append(pick(parts))
                elif pick is None:
                    values.append(method(builder, first, last, *parts))
                else:
                    values.append(method(builder, first, last, *pick(parts)))
                starts.append(first)
                ends.append(last)
                state = gotos[states[-1]][origin]
                states.append(state)

        return feed

    def run(self, text: str, start: int, end: int, *, flat: bool = False) -> None:
        """Reads ``text[start:end]``.

        Args:
            text: The source's whole text.
            start, end: Whole logical lines of it.
            flat: There are no lines: a newline is a space everywhere.

        Raises:
            SyntaxFault: A token cannot stand where it stands.
            UnreadableError: The text is too large, in one way or another.
        """
        feed, states = self.feed, self.states
        actions, keywords, reserved = self.tables.actions, self.tables.keywords, self.tables.reserved
        depth = 1 if flat else 0
        last = start  # where the last token ended; newlines and blocks stand there
        in_line = True  # whether the next token continues a line
        column = -1  # of the line that begins with the next token
        for match in TOKEN.finditer(text, start, end):
            group = match.lastindex
            assert group is not None  # some group matches any character
            if group >= NEWLINE:
                if group == NEWLINE and depth <= 0:
                    if in_line and last > start:
                        feed("_NL", "\n", last, last)
                    in_line = False
                    column = column_of(match[MARGIN])
                continue
            if not in_line:
                in_line = True
                self.indent(column, last)
            first, last = match.span(group)
            if group == WORD:
                word = match[WORD]
                row = actions[states[-1]]
                if word in keywords and (
                    word in reserved or (word in row and ("NAME" not in row or is_keyword(word, text, last)))
                ):
                    feed(word, word, first, last)
                else:
                    feed("NAME", word, first, last)
            elif group == SYMBOL:
                symbol = match[SYMBOL]
                if symbol in OPENERS:
                    depth += 1
                    if depth > limits.BRACKETS:
                        message = f"brackets nested more than {limits.BRACKETS} deep"
                        fail("input-too-large", message, self.builder.span(first, last))
                elif symbol in CLOSERS:
                    depth -= 1
                feed(symbol, symbol, first, last)
            elif group == INT:
                feed("INT", match[INT], first, last)
            elif group == STRING:
                feed("STRING", match[STRING], first, last)
            elif group == FLOAT:
                feed("FLOAT", match[FLOAT], first, last)
            else:
                raise SyntaxFault("", match[OTHER], first, frozenset(actions[states[-1]]))
        if not flat and last > start and (depth > 0 or in_line):
            feed("_NL", "\n", last, last)

    def indent(self, column: int, at: int) -> None:
        """Opens or closes blocks so that the next line, at ``column``, stands in its block."""
        indents = self.indents
        if column > indents[-1][0]:
            self.feed("_INDENT", "", at, at)
            indents.append((column, True))
            return
        while column < indents[-1][0]:
            if len(indents) == 1 or column > indents[-2][0]:
                raise SyntaxFault("_DEDENT", "", at, frozenset())  # a column of no open block
            if indents.pop()[1]:
                self.feed("_DEDENT", "", at, at)

    def settle(self) -> None:
        """Makes what the last line is complete for, without waiting for the next line's first token."""
        row = self.tables.actions[self.states[-1]]
        with suppress(SyntaxFault):
            self.feed(next((kind for kind in row if kind != END), END), _SETTLE, 0, 0)  # END would end the file

    def finish(self, at: int) -> Any:
        """Returns the result of the start rule, all open blocks closed."""
        self.indent(self.indents[0][0], at)
        self.feed(END, "", at, at)
        return self.values[-1]


_Step: TypeAlias = "tuple[int, str, Callable[..., Any] | None, Callable[[list[Any]], Any] | None]"


_step_cache: dict[type[SizeBuilder], list[_Step]] = {}


def _steps(tables: Tables, builder: type[SizeBuilder]) -> list[_Step]:
    """Returns for each rule: its length, its name, the builder's method, and how its parts are picked."""
    cached = _step_cache.get(builder)
    if cached is not None:
        return cached
    steps: list[_Step] = []
    for rule in tables.rules:
        method = getattr(builder, rule.action, None) or getattr(builder, f"{rule.action}_", None)
        steps.append((rule.length, rule.origin, method, _pick(rule, method is None)))
    _step_cache[builder] = steps
    return steps


def _pick(rule: Rule, alone: bool) -> Callable[[list[Any]], Any] | None:
    """Returns what makes a method's arguments of a rule's parts; None if it takes them as they are.

    Args:
        rule: The rule.
        alone: It has no method: the result is its only part.
    """
    layout = rule.layout
    if alone:
        if len(layout) != 1:
            raise TypeError(f"no method builds the rule {rule.action}")  # a fault of the grammar, not of a text
        return itemgetter(layout[0]) if layout[0] >= 0 else lambda _: None
    if layout == tuple(range(rule.length)):
        return None
    if -1 not in layout and len(layout) > 1:
        return itemgetter(*layout)
    return lambda parts: [None if i < 0 else parts[i] for i in layout]
