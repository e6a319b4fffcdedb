"""The parse tables: compiled from ``grammar/shapes.lark`` by Lark, kept beside it, read without Lark.

Building LALR tables takes a quarter of a second and importing Lark a tenth; reading them takes two
milliseconds. So they are prebuilt into ``grammar/shapes.tables.json``, which wheels and sdists
carry like the grammar itself. The file names the checksum of the grammar it was made from: after
an edit of the grammar it does not fit, and the tables are built in memory, by the same code.

    python -m shapedsl.frontends.text.tables        # writes the file again

What is kept is a plain LALR(1) automaton: for each state, what to do on a terminal (shift to a
state, or reduce a rule) and where to go on a rule's name. Terminals that the grammar spells out are
named by their text (``def``, ``**``), the others by their name (``NAME``, ``_NL``).
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ...assets import asset

if TYPE_CHECKING:
    from lark import Lark

STARTS: Final = ("file", "dims_fragment", "type_fragment", "where_fragment", "clauses_fragment")
END: Final = "$END"
_FORMAT: Final = 1
_GRAMMAR: Final = "grammar/shapes.lark"
_TABLES: Final = "grammar/shapes.tables.json"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the grammar.

    Attributes:
        origin: The name that it defines.
        action: The builder's method: the alias, else the name.
        length: How many symbols it takes from the stack.
        layout: Which of them the method receives, by index; -1 for an optional part that is absent.
    """

    origin: str
    action: str
    length: int
    layout: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """A LALR(1) automaton.

    Attributes:
        actions: By state, then terminal: the state to shift to if >= 0, else ``-1 - rule`` to reduce.
        gotos: By state, then rule name: the next state.
        rules: By number.
        starts: By start rule: the first state and the accepting one.
        keywords: Words that are terminals somewhere.
        reserved: Those of them that are never names.
    """

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    rules: list[Rule]
    starts: dict[str, tuple[int, int]]
    keywords: frozenset[str]
    reserved: frozenset[str]


def load() -> Tables:
    """Returns the tables: the prebuilt ones if they fit the grammar, else freshly built ones."""
    try:
        stored = json.loads(asset(_TABLES).read_bytes())
    except (OSError, ValueError):
        stored = None
    try:
        grammar: bytes | None = asset(_GRAMMAR).read_bytes()
    except OSError:
        grammar = None
    fits = isinstance(stored, dict) and stored.get("format") == _FORMAT
    if fits and (grammar is None or stored.get("grammar") == checksum(grammar)):
        return _thaw(stored)
    if grammar is None:
        raise FileNotFoundError(f"{asset(_GRAMMAR)}: the installation of shapedsl is incomplete")
    return _thaw(build(grammar))


def checksum(grammar: bytes) -> int:
    """Returns what the tables are recognized by; line endings do not count."""
    return zlib.crc32(grammar.replace(b"\r\n", b"\n"))


def _thaw(stored: dict[str, Any]) -> Tables:
    words = stored["words"]
    rows = [{words[i]: action for i, action in zip(row[::2], row[1::2])} for row in stored["rows"]]
    return Tables(
        actions=[rows[i] for i in stored["actions"]],
        gotos=[rows[i] for i in stored["gotos"]],
        rules=[Rule(origin, action, length, tuple(layout)) for origin, action, length, layout in stored["rules"]],
        starts={start: (first, last) for start, (first, last) in stored["starts"].items()},
        keywords=frozenset(stored["keywords"]),
        reserved=frozenset(stored["reserved"]),
    )


def compile_grammar(grammar: str) -> Lark:
    """Returns Lark's own parser for the grammar, with a tree for a result; tests compare with it."""
    from lark import Lark
    from lark.indenter import Indenter

    class Layout(Indenter):
        """Lark's indentation post-lexer."""

        NL_type = "_NL"
        OPEN_PAREN_types = ["LPAR", "LSQB", "LBRACE"]
        CLOSE_PAREN_types = ["RPAR", "RSQB", "RBRACE"]
        INDENT_type = "_INDENT"
        DEDENT_type = "_DEDENT"
        tab_len = 8

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
    lark = compile_grammar(grammar.decode())
    table: Any = lark.parser.parser._parse_table  # type: ignore[attr-defined]  # Lark has no public name for it
    spelled = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    numbers = {rule: i for i, rule in enumerate(lark.rules)}

    words: dict[str, int] = {}
    rows: dict[tuple[int, ...], int] = {}

    def frozen(row: dict[str, int]) -> int:
        flat: list[int] = []
        for word, value in sorted(row.items()):
            flat += [words.setdefault(word, len(words)), value]
        return rows.setdefault(tuple(flat), len(rows))

    actions: list[int] = []
    gotos: list[int] = []
    origins = {rule.origin.name for rule in lark.rules}
    for state in range(len(table.states)):
        on_terminal: dict[str, int] = {}
        on_rule: dict[str, int] = {}
        for symbol, (action, argument) in table.states[state].items():
            if symbol in origins:
                on_rule[symbol] = argument
            else:
                reduces = type(argument) is not int
                on_terminal[spelled.get(symbol, symbol)] = -1 - numbers[argument] if reduces else argument
        actions.append(frozen(on_terminal))
        gotos.append(frozen(on_rule))

    name = next(t for t in lark.terminals if t.name == "NAME").pattern.to_regexp()
    keywords = sorted(word for word in spelled.values() if word.isidentifier())
    return {
        "format": _FORMAT,
        "grammar": checksum(grammar),
        "words": list(words),
        "rows": list(rows),
        "actions": actions,
        "gotos": gotos,
        "rules": [
            [rule.origin.name, rule.alias or rule.origin.name.partition("{")[0], len(rule.expansion), _layout(rule)]
            for rule in lark.rules
        ],
        "starts": {start: [table.start_states[start], table.end_states[start]] for start in STARTS},
        "keywords": keywords,
        "reserved": [word for word in keywords if not re.fullmatch(name, word)],
    }


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
    target = asset(_TABLES) if path is None else os.fspath(path)
    data = json.dumps(build(asset(_GRAMMAR).read_bytes()), separators=(",", ":"))
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(target), delete=False, encoding="ascii") as file:
        file.write(data + "\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, target)


if __name__ == "__main__":
    write()
