"""The parse tables: compiled from ``grammar/shapes.lark`` by Lark, kept beside it, read without Lark.

Building LALR tables takes a quarter of a second and importing Lark a tenth; reading them takes two
milliseconds. So they are prebuilt into ``grammar/shapes.tables.json``, which wheels and sdists
carry like the grammar itself. The file names the checksum of the grammar it was made from: after
an edit of the grammar it does not fit, and the tables are built in memory, by the same code.

    python -m shapedsl.frontends.text.grammar       # writes the file again

What is kept is a plain LALR(1) automaton: for each state, what to do on a terminal (shift to a
state, or reduce a rule) and where to go on a rule's name. Terminals that the grammar spells out are
named by their text (``def``, ``**``), the others by their name (``NAME``, ``_NL``).
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any, Final

from ...assets import asset

STARTS: Final = ("file", "dims_fragment", "type_fragment", "where_fragment", "clauses_fragment")
END: Final = "$END"
FORMAT: Final = 1
GRAMMAR: Final = "grammar/shapes.lark"
TABLES: Final = "grammar/shapes.tables.json"


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
        stored: Any = json.loads(asset(TABLES).read_bytes())
    except (OSError, ValueError):
        stored = {}
    try:
        grammar: bytes | None = asset(GRAMMAR).read_bytes()
    except OSError:
        grammar = None
    if stored.get("format") == FORMAT and (grammar is None or stored.get("grammar") == checksum(grammar)):
        return _thaw(stored)
    if grammar is None:
        raise FileNotFoundError(f"{asset(GRAMMAR)}: the installation of shapedsl is incomplete")
    from .grammar import build  # imports Lark, which the prebuilt tables spare

    return _thaw(build(grammar))


def checksum(grammar: bytes) -> int:
    """Returns what the tables are recognized by; line endings do not count."""
    return zlib.crc32(grammar.replace(b"\r\n", b"\n"))


def _thaw(stored: dict[str, Any]) -> Tables:
    words = stored["words"]
    rows = [{words[i]: action for i, action in zip(row[::2], row[1::2], strict=True)} for row in stored["rows"]]
    return Tables(
        actions=[rows[i] for i in stored["actions"]],
        gotos=[rows[i] for i in stored["gotos"]],
        rules=[Rule(origin, action, length, tuple(layout)) for origin, action, length, layout in stored["rules"]],
        starts={start: (first, last) for start, (first, last) in stored["starts"].items()},
        keywords=frozenset(stored["keywords"]),
        reserved=frozenset(stored["reserved"]),
    )
