"""One regular expression for all tokens, and the words that are keywords.

Lark's contextual lexer compiles an expression for each parser state and makes an object for each
token. Here one expression finds the next token whatever the state, and the parser asks its state
whether a word is a keyword there, which gives the same tokens for a third of the time.
A test lexes with Lark's lexer too and compares.
"""

from __future__ import annotations

import re
from typing import Final

# Groups by number; the parser tells them apart by `lastindex`, and what counts stands below NEWLINE.
# Whitespace behind a token goes with it, outside its group, so that no part of the expression is
# tried twice at one place: it stays linear.
WORD, SYMBOL, FLOAT, INT, STRING, OTHER, NEWLINE, MARGIN, BLANK = range(1, 10)

TOKEN: Final = re.compile(
    r"""(?:
        ([A-Za-z_][A-Za-z_0-9]*)
      | (\.\.\.|->|\*\*|//|[=!<>]=|[-+*/%<>=()\[\]{},:.@?|])
      | ([0-9]+(?:_[0-9]+)*(?:\.(?!\.)(?:[0-9]+(?:_[0-9]+)*)?(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))
      | ([0-9]+(?:_[0-9]+)*)
      | (\"\"\"(?:[^"\\]|\\.|"(?!""))*\"\"\"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | ((?!\#|\r?\n|[ \t]|\A\ufeff).)
      | (\r?\n([ \t]*))
      | (\#[^\n]*|[ \t]+|\ufeff)
    )[ \t]*""",
    re.VERBOSE | re.DOTALL,
)

OPENERS: Final = {"(": ")", "[": "]", "{": "}"}
CLOSERS: Final = {")": "(", "]": "[", "}": "{"}


def column_of(margin: str) -> int:
    """Returns the width of an indentation; a tab reaches to the next multiple of 8, as in Python."""
    return len(margin) if "\t" not in margin else len(margin.expandtabs(8))


def first_column(text: str) -> int:
    """Returns the width of the first row's indentation; 0 if no token stands on it: what follows a newline is seen."""
    row = text.removeprefix("\ufeff")
    margin = row[: len(row) - len(row.lstrip(" \t"))]
    return 0 if row[len(margin) : len(margin) + 1] in ("", "\n", "\r", "#") else column_of(margin)


# Behind a comma (`case B < 2, hint < 3`, `dim B, hint`) a keyword could end the list or name its next element.
_KEYWORD_BEFORE: Final = {
    "hint": re.compile(r"[ \t]*(?:[A-Za-z_]\w*[ \t]*=(?!=)|[0-9(]|(?!(?:in|and|or|not|multiple|hint)\b)[A-Za-z_])"),
    "eager": re.compile(r"[ \t]*(?:$|\#|hint\b)", re.MULTILINE),
    "backed": re.compile(r"[ \t]*(?:$|\#|hint\b)", re.MULTILINE),
    "multiple": re.compile(r"\s+of\b"),
    "sorted": re.compile(r"\s+from\b"),
}


def is_keyword(word: str, text: str, end: int) -> bool:
    """Returns whether a word that could be a keyword or a name is the keyword, by what follows it at ``end``."""
    before = _KEYWORD_BEFORE.get(word)
    return before is None or before.match(text, end) is not None
