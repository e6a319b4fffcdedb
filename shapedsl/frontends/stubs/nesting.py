"""How deep a text nests, found before it is parsed: the parser's stack would end, and the process with it.

A bound from the tokens alone. Of what stands between two commas each operator, dot, bracket, string and keyword
may nest the next one's node; so do the conditions of an ``elif`` chain and the blocks around a line.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# One step each; what is not listed (names, numbers, blanks) nests nothing.
_TOKEN: Final = re.compile(
    r"""
      (?P<comment>\#[^\r\n]*)
    | (?P<joined>\\(?:\r\n?|\n))
    | (?P<line>\r\n?|\n)
    | (?P<long>[bBuUrRfFtT]{0,2}(?:\'\'\'|\"\"\"))
    | (?P<string>[bBuUrRfFtT]{0,2}(?:'(?:[^\\'\r\n]|\\.)*'|"(?:[^\\"\r\n]|\\.)*"))
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<comma>[,;])
    | (?P<word>\w+)
    | (?P<step>\.\.\.|->|:=|\*\*=?|//=?|<<=?|>>=?|[-+*/%@&|^<>=!]=|[-+*/%@&|^~<>=.])
    | (?P<other>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
_ENDS: Final = {quote: re.compile(rf"(?:[^\\]|\\.)*?{quote}", re.DOTALL) for quote in ("'''", '"""')}
_BLANK: Final = re.compile(r"[^\S\r\n]+|\f")
_SIGNS: Final = re.compile(r"[-+*/%@&|^~<>=.]")
_FORMATTED: Final = re.compile(r"""[rR]?[fFtT][rR]?['"]""")
_MANY: Final = 2000  # operators in a string, where the ends of strings are in doubt
_NESTING: Final = {"not", "or", "and", "if", "else", "lambda", "await", "for", "in", "is", "yield", "async"}
_KEPT: Final = {"lambda", "for"}  # a comma within what they head ends nothing
_CHAINED: Final = ("elif", "else", "except", "finally", "case")


class Nesting(NamedTuple):
    """How deep a text nests.

    Attributes:
        depth: How many nodes stand in each other, at most.
        brackets: How many brackets do.
        pattern: How many brackets do in a line that begins with ``case``.
        at: Where the deepest place is.
    """

    depth: int
    brackets: int
    pattern: int
    at: int


def nesting_of(text: str) -> Nesting:
    """Returns how deep a text nests, an upper bound."""
    return _Scan(text).run()


class _Scan:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._levels: list[int] = [0]  # per open bracket: steps since the last comma
        self._kept: list[int] = [0]  # per open bracket: steps that no comma ends
        self._sum = 0
        self._chains: dict[int, int] = {}  # per indentation: how many `elif` follow each other
        self._base = 0
        self._depth = self._brackets = self._pattern = self._at = 0
        self._pattern_line = False
        self._endless: set[str] = set()  # quotes that are opened and never closed
        self._doubtful = False  # whether the ends of strings are

    def run(self) -> Nesting:
        begins, position, text = True, 0, self._text
        while position < len(text):
            blank = _BLANK.match(text, position)
            token = _TOKEN.match(text, position if blank is None else blank.end())
            if token is None:
                break
            kind, word, start = token.lastgroup, token.group(), token.start()
            position = token.end()
            if kind == "long":
                kind, position = "string", self._long(word, position)
                word = text[start:position]
            if begins and kind not in ("comment", "line"):
                self._begin(start, word)
                begins = False
            if kind == "line" and len(self._levels) == 1:
                self._reset()
                begins = True
            elif kind is not None:
                self._take(kind, word, start)
        return Nesting(self._depth, self._brackets, self._pattern, self._at)

    def _take(self, kind: str, word: str, start: int) -> None:
        match kind:
            case "open":
                self._levels.append(0)
                self._kept.append(0)
                self._step(0, start)
            case "close":
                if len(self._levels) > 1:
                    self._sum -= self._levels.pop() + self._kept.pop()
                self._step(1, start)
            case "comma":
                self._sum -= self._levels[-1]
                self._levels[-1] = 0
            case "string":
                self._step(1, start)
                self._string(word)
            case "step":
                self._step(1, start)
            case "word" if word in _NESTING:
                self._step(1, start, kept=word in _KEPT)
            case _:
                pass

    def _long(self, opening: str, position: int) -> int:
        """Returns where a string of several lines ends; where it begins, if it never does."""
        quote = opening[-3:]
        if quote in self._endless:
            return position
        end = _ENDS[quote].match(self._text, position)
        if end is None:
            self._endless.add(quote)
            return position
        return end.end()

    def _begin(self, start: int, word: str) -> None:
        """Notes where a line stands, and whether it goes on with what the line before began."""
        line = max(self._text.rfind("\n", 0, start), self._text.rfind("\r", 0, start)) + 1
        indent = len(self._text[line:start].expandtabs())
        self._chains = {at: count for at, count in self._chains.items() if at <= indent}
        self._chains[indent] = self._chains.get(indent, 0) + 1 if word in _CHAINED else 1
        self._base = sum(self._chains.values())
        self._pattern_line = word == "case"
        self._step(0, start)

    def _reset(self) -> None:
        self._levels, self._kept, self._sum = [0], [0], 0

    def _step(self, steps: int, at: int, *, kept: bool = False) -> None:
        (self._kept if kept else self._levels)[-1] += steps
        self._sum += steps
        brackets = len(self._levels) - 1
        depth = self._sum + self._base + brackets
        if depth > self._depth:
            self._depth, self._at = depth, at
        self._brackets = max(self._brackets, brackets)
        if self._pattern_line:
            self._pattern = max(self._pattern, brackets)

    def _string(self, word: str) -> None:
        """Counts what stands in a string: an f-string holds expressions.

        Such an expression may hold the very quotes that this pass takes for the end of the f-string. Then a brace is
        left open; and from there on what looks like a string may be code.
        """
        formatted = _FORMATTED.match(word) is not None
        if formatted:
            braces = word.replace("{{", "").replace("}}", "")
            self._doubtful = self._doubtful or braces.count("{") != braces.count("}")
        if not formatted and not self._doubtful:
            return
        inner = deepest = 0
        for sign in word:
            if sign in "([{":
                inner += 1
                deepest = max(deepest, inner)
            elif sign in ")]}" and inner:
                inner -= 1
        open_ = len(self._levels) - 1 + deepest
        self._brackets = max(self._brackets, open_)
        self._depth = max(self._depth, self._sum + self._base + open_)
        if self._doubtful and len(word) > _MANY and len(_SIGNS.findall(word)) > _MANY:
            self._depth = max(self._depth, _MANY)


__all__ = ["Nesting", "nesting_of"]
