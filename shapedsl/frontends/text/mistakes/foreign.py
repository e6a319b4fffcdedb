"""Words that begin a line in other languages, and what to write here."""

from __future__ import annotations

from typing import Final

# What begins a line elsewhere -> what to write here.
FIRST: Final = {
    "assert": "`where B < 32` states what is assumed",
    "assume": "`where B < 32` states what is assumed",
    "require": "`where B < 32` states what is assumed",
    "requires": "`where B < 32` states what is assumed",
    "if": "`case B == 1` begins an alternative, `where` states what always holds",
    "elif": "each alternative is a `case`; they are tried in order",
    "else": "`otherwise` is the last alternative",
    "match": "each alternative is a `case`",
    "default": "`otherwise` is the last alternative",
    "print": "a spec runs nothing; `shapedsl explain FILE` prints what it means",
    "return": "the return type stands in the head: `def f(x: Tensor[B]) -> Tensor[B]: ...`",
    "pass": "an empty body is `...`",
    "import": 'names come from a file: `from "common.shapes" import B`',
    "include": 'names come from a file: `from "common.shapes" import B`',
    "lambda": "a spec names its callable: `def f(x: Tensor[B]): ...`",
    "for": "a spec states what holds for all sizes; there are no loops",
    "while": "a spec states what holds for all sizes; there are no loops",
    "try": "a spec runs nothing",
    "with": "a spec runs nothing",
    "async": "`async` makes no difference to shapes: write `def`",
    "fn": "`def f(x: Tensor[B]): ...`",
    "func": "`def f(x: Tensor[B]): ...`",
    "function": "`def f(x: Tensor[B]): ...`",
    "var": "`dim B` declares a size, `int k` an integer, `let S = 2 * B` names an expression",
    "symbol": "`dim B` declares a size",
    "size": "`dim B` declares a size",
    "struct": "`type Cache[N] = …` names a type; attributes are `object(x: T)`",
    "typedef": "`type Cache[N] = …` names a type",
    "alias": "`let S = 2 * B` names an expression, `type` a type",
    "define": "`let S = 2 * B` names an expression, `const N = 4` an int",
}
# Replaced word for word at the start of a line.
SAME: Final = {
    "assert": "where",
    "assume": "where",
    "require": "where",
    "requires": "where",
    "fn": "def",
    "func": "def",
    "function": "def",
    "symbol": "dim",
    "typedef": "type",
    "default": "otherwise",
}
