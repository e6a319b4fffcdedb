"""One regular expression for all tokens, and the words that are keywords.

Lark's contextual lexer compiles an expression for each parser state and makes an object for each
token. Here one expression finds the next token whatever the state, and the parser asks its state
whether a word is a keyword there, which gives the same tokens for a third of the time.
A test lexes with Lark's lexer too and compares.
"""

from __future__ import annotations

import re
from typing import Final

# Groups by number; the parser tells them apart by `lastindex`. Whitespace behind a token goes with
# it, outside its group, so that no part of the expression is tried twice at one place: it stays linear.
WORD, SYMBOL, FLOAT, INT, NEWLINE, MARGIN, STRING, BLANK, OTHER = range(1, 10)

TOKEN: Final = re.compile(
    r"""(?:
        ([A-Za-z_][A-Za-z_0-9]*)
      | (\.\.\.|->|\*\*|//|[=!<>]=|[-+*/%<>=()\[\]{},:.@?|])
      | ([0-9]+(?:_[0-9]+)*(?:\.(?!\.)(?:[0-9]+(?:_[0-9]+)*)?(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))
      | ([0-9]+(?:_[0-9]+)*)
      | ((?:\#[^\n]*)?\r?\n(?:[ \t]*(?:\#[^\n]*)?\r?\n)*([ \t]*)(?:\#[^\n]*)?)
      | (\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | ([ \t]+|\#[^\n]*|\A\ufeff)
      | (.)
    )[ \t]*""",
    re.VERBOSE | re.DOTALL,
)

OPENERS: Final = {"(": ")", "[": "]", "{": "}"}
CLOSERS: Final = {")": "(", "]": "[", "}": "{"}


def column_of(margin: str) -> int:
    """Returns the width of an indentation; a tab reaches to the next multiple of 8, as in Python."""
    return len(margin) if "\t" not in margin else len(margin.expandtabs(8))
