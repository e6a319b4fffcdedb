"""Compiles ``grammar/shapes.lark`` into parse tables with Lark; the only module that imports it.

python -m shapedsl.frontends.text.grammar       # writes grammar/shapes.tables.json
"""
# ruff: noqa: D102, N802 - Lark's names

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any, cast

from lark import Lark
from lark.indenter import Indenter

from ...assets import asset
from .tables import FORMAT, GRAMMAR, STARTS, TABLES, checksum


class Layout(Indenter):
    """Lark's indentation post-lexer."""

    @property
    def NL_type(self) -> str:
        return "_NL"

    @property
    def OPEN_PAREN_types(self) -> list[str]:
        return ["LPAR", "LSQB", "LBRACE"]

    @property
    def CLOSE_PAREN_types(self) -> list[str]:
        return ["RPAR", "RSQB", "RBRACE"]

    @property
    def INDENT_type(self) -> str:
        return "_INDENT"

    @property
    def DEDENT_type(self) -> str:
        return "_DEDENT"

    @property
    def tab_len(self) -> int:
        return 8


def compile_grammar(grammar: str) -> Lark:
    """Returns Lark's own parser for the grammar, with a tree for a result; tests compare with it."""
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        postlex=Layout(),
        maybe_placeholders=True,
        propagate_positions=True,
        start=list(STARTS),
    )


def build(grammar: bytes) -> dict[str, Any]:
    """Returns the tables of ``grammar`` as JSON data.

    Raises:
        lark.exceptions.GrammarError: It is not LALR(1).
    """
    lark = cast(Any, compile_grammar(grammar.decode()))
    table = lark.parser.parser._parse_table  # Lark has no public name for it
    spelled = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    # Lark numbers rules and states as its sets happen to be ordered; the file must not change with that.
    rules = sorted(
        lark.rules, key=lambda rule: (rule.origin.name, [symbol.name for symbol in rule.expansion], str(rule))
    )
    numbers = {rule: i for i, rule in enumerate(rules)}
    origins = {rule.origin.name for rule in rules}
    states = _numbered(table)

    words: dict[str, int] = {}
    rows: dict[tuple[int, ...], int] = {}

    def frozen(row: dict[str, int]) -> int:
        flat: list[int] = []
        for word, value in sorted(row.items()):
            flat += [words.setdefault(word, len(words)), value]
        return rows.setdefault(tuple(flat), len(rows))

    actions: list[int] = []
    gotos: list[int] = []
    for state in states:
        on_terminal: dict[str, int] = {}
        on_rule: dict[str, int] = {}
        for symbol, (_, argument) in table.states[state].items():
            if type(argument) is not int:
                on_terminal[spelled.get(symbol, symbol)] = -1 - numbers[argument]
            elif symbol in origins:
                on_rule[symbol] = states[argument]
            else:
                on_terminal[spelled.get(symbol, symbol)] = states[argument]
        actions.append(frozen(on_terminal))
        gotos.append(frozen(on_rule))

    name = next(t for t in lark.terminals if t.name == "NAME").pattern.to_regexp()
    keywords = sorted(word for word in spelled.values() if word.isidentifier())
    return {
        "format": FORMAT,
        "grammar": checksum(grammar),
        "words": list(words),
        "rows": list(rows),
        "actions": actions,
        "gotos": gotos,
        "rules": [
            [rule.origin.name, rule.alias or rule.origin.name.partition("{")[0], len(rule.expansion), _layout(rule)]
            for rule in rules
        ],
        "starts": {start: [states[table.start_states[start]], states[table.end_states[start]]] for start in STARTS},
        "keywords": keywords,
        "reserved": [word for word in keywords if not re.fullmatch(name, word)],
    }


def _numbered(table: Any) -> dict[int, int]:
    """Returns a number for each of Lark's states, by a walk from the start states in the order of names."""
    numbers: dict[int, int] = {}
    waiting = [table.start_states[start] for start in STARTS]
    for state in waiting:  # grows while it is walked
        if state in numbers:
            continue
        numbers[state] = len(numbers)
        edges = sorted(
            (symbol, argument) for symbol, (_, argument) in table.states[state].items() if type(argument) is int
        )
        waiting += [argument for _, argument in edges]
    return numbers


def _layout(rule: Any) -> list[int]:
    """Returns which symbols of Lark's ``rule`` carry meaning: no punctuation, and -1 where ``[…]`` is absent."""
    absent = list(rule.options.empty_indices) or [False] * len(rule.expansion)
    layout: list[int] = []
    index = 0
    for is_absent in absent:
        if is_absent:
            layout.append(-1)
            continue
        symbol = rule.expansion[index]
        if not (symbol.is_term and symbol.filter_out):
            layout.append(index)
        index += 1
    return layout


def write(path: str | os.PathLike[str] | None = None) -> None:
    """Writes the tables atomically.

    Args:
        path: Where; by default beside the grammar.
    """
    target = asset(TABLES) if path is None else os.fspath(path)
    data = json.dumps(build(asset(GRAMMAR).read_bytes()), separators=(",", ":"))
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(target), delete=False, encoding="ascii") as file:
        file.write(data + "\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, target)


if __name__ == "__main__":
    write()
