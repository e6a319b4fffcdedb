"""Where a space goes between two tokens of a logical line, and what of a line is more than space.

Black's rules: ``2 * B + 1``, ``x**2``, ``-B``, ``*batch``, ``x: T = _`` but ``x=_``, ``name@2``.

The grammar's soft keywords are told from names without a parser: two operands never stand side by
side, so a name behind an operand is a keyword (``dim B hint 8``), and the first word of a line is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .tokens import CLOSERS, OPENERS, Token

_TIGHT_BEHIND: Final = frozenset("([{.@")
_TIGHT_BEFORE: Final = frozenset(")]},:.@")
_WORD_OPERATORS: Final = frozenset(("and", "or", "not", "in"))
# A keyword behind a keyword, where a name could stand too.
_PAIRS: Final = frozenset(
    [("multiple", "of"), ("sorted", "from"), *((a, b) for a in ("shared", "left") for b in ("left", "pad", "at", "as"))]
)


def comment_text(comment: str) -> str:
    """Returns a comment with a space behind its ``#`` and none at its end."""
    body = comment.rstrip()
    return body if body[1:2] in ("", " ", "#", "!", ":", "\t") else f"# {body[1:]}"


def string_text(text: str) -> str:
    """Returns a string in double quotes where the quotes are all that changes."""
    body = text[1:-1]
    return f'"{body}"' if text[0] == "'" and '"' not in body and "\\" not in body else text


def spacing(tokens: Sequence[Token]) -> list[tuple[bool, bool]]:
    """Returns for each of a logical line's tokens what goes before it.

    Args:
        tokens: Of one logical line, comments included.

    Returns:
        Pairs: whether a space goes before the token, and whether it is a bracket that hugs a name, as a call's does.
    """
    result: list[tuple[bool, bool]] = []
    before: Token | None = None
    operand = False  # whether `before` ends an operand
    unary = False  # whether `before` is an operator before its only operand
    untyped = False  # in a def's parameters, before the `:` of the current one
    stack: list[str] = []
    in_def = bool(tokens) and tokens[0].text == "def"
    for token in tokens:
        text = token.text
        if token.kind == "comment":
            result.append((False, False))
            continue
        call = text in ("(", "[") and operand
        if before is None or before.text in _TIGHT_BEHIND or text in _TIGHT_BEFORE or unary or call:
            space = False
        elif text == "**" or before.text == "**":
            space = not operand and text == "**"
        elif "=" in (text, before.text) and untyped and in_def and stack == ["("]:
            space = False
        else:
            space = True
        result.append((space, call))

        unary = (text in ("-", "+", "*", "**") and not operand) or text == "?"
        if text == "?" or token.kind in ("number", "string") or text in CLOSERS:
            operand_next = True
        elif token.kind == "name":
            pair = before is not None and (before.text, text) in _PAIRS
            attribute = before is not None and before.text in (".", "@", "?")
            operand_next = attribute or (
                before is not None and text not in _WORD_OPERATORS and not operand and not pair
            )
        else:
            operand_next = text == "..."
        if text in OPENERS:
            stack.append(text)
            untyped = untyped or len(stack) == 1
        elif text in CLOSERS and stack:
            stack.pop()
        elif text == "," and stack == ["("]:
            untyped = True
        elif text == ":" and stack == ["("]:
            untyped = False
        before, operand = token, operand_next
    return result


def essence(tokens: Sequence[Token]) -> list[str]:
    """Returns what formatting must not change: the texts of ``tokens`` without comments and commas that say nothing."""
    result: list[str] = []
    commas: list[tuple[bool, int]] = []  # of each open bracket: whether it hugs a name, and how many commas it had
    pairs = [pair for pair in zip(tokens, spacing(tokens), strict=True) if pair[0].kind != "comment"]
    for token, (_, call) in pairs:
        text = string_text(token.text) if token.kind == "string" else token.text
        if text in OPENERS:
            commas.append((call, 0))
        elif text in CLOSERS and commas:
            hugging, count = commas.pop()
            is_single_tuple = text == ")" and not hugging and count == 1
            if result[-1] == "," and not is_single_tuple:
                result.pop()
        elif text == "," and commas:
            commas[-1] = (commas[-1][0], commas[-1][1] + 1)
        result.append(text)
    return result
