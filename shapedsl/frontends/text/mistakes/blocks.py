"""Heads, colons and indentation."""

from __future__ import annotations

from ....diagnostics import Diagnostic
from .place import CLAUSES, STATEMENTS, Place, problem


def _margin(place: Place, offset: int) -> tuple[int, str]:
    """Returns where the row of ``offset`` starts, and its indentation."""
    start = place.source.text.rfind("\n", 0, offset) + 1
    row = place.source.text[start:offset]
    return start, row[: len(row) - len(row.lstrip(" \t"))]


def tabs(place: Place) -> Diagnostic | None:
    """Explains an indentation that is wrong because tabs and spaces are mixed."""
    if place.kind not in ("_INDENT", "_DEDENT") and not place.starts_row:
        return None
    start, margin = _margin(place, place.row.start)
    if "\t" not in margin or not (place.kind in ("_INDENT", "_DEDENT") or place.starts_row):
        return None
    span = place.source.span(start, start + len(margin))
    spaces = margin.expandtabs(4)
    fix = (f"indent with {len(spaces)} spaces", [(span, spaces)])
    return problem("a tab in the indentation", span, "a tab counts as up to 8 spaces here", fix=fix)


def colon(place: Place) -> Diagnostic | None:
    """Explains a head without its colon."""
    if not place.at_end or not place.takes(":") or place.opened or place.word not in ("def", "class"):
        return None
    at = place.source.span(place.before().end, place.before().end)
    has_block = _has_block(place)
    written = ":" if has_block else ": ..."
    name = "a def" if place.word == "def" else "a class"
    advice = "" if has_block else "without clauses the body is `...`"
    return problem(
        f"{name}'s head ends with `:`",
        at,
        "`:` is missing",
        help=advice,
        fix=(f"write `{written}`", [(at, written)]),
        safe=has_block or _stands_alone(place),
    )


def _has_block(place: Place) -> bool:
    """Returns whether the row behind the head is indented deeper than it."""
    below = place.next_row[0].expandtabs(8)
    return len(below) > len(_margin(place, place.line[0].start)[1].expandtabs(8))


def _stands_alone(place: Place) -> bool:
    """Returns whether nothing behind a head without a block can have been meant to stand in it.

    ``where B < 3`` in the column of its ``def`` would become a line of the file, and hold for other defs too.
    """
    following = place.next_row[1]
    return following in ("", "class") or (following in ("def", "from", "type") and place.word == "def")


def body(place: Place) -> Diagnostic | None:
    """Explains a head with nothing behind or under it."""
    if not place.at_end or place.before().text != ":" or place.opened or not place.line:
        return None
    if place.kind == "_INDENT" and not place.takes("_INDENT"):
        return None
    if not place.takes("_INDENT", "_NL"):
        return None
    head = place.before()
    word = place.word
    at = place.span_of(head)
    if word in ("case", "otherwise"):
        return problem(
            f"this {word} has no block", at, help="indent its lines below it, or write its predicates behind it"
        )
    fix = ("write `...`", [(place.source.span(head.end, head.end), " ...")])
    return problem(
        f"this {word} has no body",
        at,
        help="indent its clauses below it; without any, the body is `...`",
        fix=fix,
        safe=_stands_alone(place),
    )


def misplaced(place: Place) -> Diagnostic | None:
    """Explains a clause that stands where only statements do, and a statement that stands in a def."""
    word = place.row.text
    if not place.starts_row or place.kind in ("_INDENT", "_DEDENT") or place.takes(word) or place.opened:
        return None
    _, margin = _margin(place, place.row.start)
    span = place.span_of(place.row)
    if word in CLAUSES and place.takes(*STATEMENTS):
        if margin:
            return problem(f"`{word}` cannot stand here", span, "this is a clause of a def")
        label = "at the start of the line it belongs to none"
        return problem(f"`{word}` is a clause of a def", span, label, help="indent it under its def")
    if word in STATEMENTS and margin and place.takes(*CLAUSES, *STATEMENTS):
        return problem(
            f"`{word}` cannot stand here", span, "this is a statement of a file or class", help="remove its indentation"
        )
    return None


def indentation(place: Place) -> Diagnostic | None:
    """Explains a row that is indented though nothing opens a block, or to no block's column."""
    start, margin = _margin(place, place.row.start)
    if place.kind == "_INDENT" or (place.starts_row and margin and place.start <= start and not place.line):
        span = place.span_of(place.row)
        word = place.row.text
        before = _row_before(place.source.text, start)
        if before.partition("#")[0].rstrip().endswith(": ..."):
            return problem(
                "this line is indented, but the line above opens no block",
                span,
                "its `...` says that there are no clauses",
                help="delete that `...`, and indent its clauses alike",
            )
        if ("\t" in margin) is not before.startswith("\t") and before[:1].isspace():
            return problem("tabs and spaces are mixed", span, help="indent all lines of a block with spaces")
        if word in (*CLAUSES, *STATEMENTS):
            advice = "indent it like the line above it" if word in CLAUSES else "remove its indentation"
        else:
            advice = "remove its indentation"
        return problem("this line is indented, but the line above opens no block", span, help=advice)
    if place.kind == "_DEDENT":
        return problem(
            "this indentation matches no block above",
            place.span_of(place.row),
            help="align it with the block it belongs to",
        )
    return None


def _row_before(text: str, start: int) -> str:
    """Returns the row with a token before the one that begins at ``start``."""
    for row in reversed(text[max(0, start - 400) : start].splitlines()):
        if row.strip() and not row.lstrip().startswith("#"):
            return row
    return ""


def unfinished(place: Place) -> Diagnostic | None:
    """Explains a statement that ends where something must follow."""
    if not place.at_end or not place.line:
        return None
    last, word = place.before(), place.word
    missing = {
        "dim": "a name",
        "int": "a name",
        "let": "a name and an expression: `let S = 2 * B`",
        "where": "a predicate: `where B < 32`",
        "case": "a predicate: `case B == 1`",
        "bucket": "a size and its members: `bucket B in {8, 16, 32}`",
        "type": "a name and a type: `type Cache[N] = float32[B, N]`",
        "const": "a name and its value: `const LIMIT = 4096`, or `= _` for a static size",
        "def": "a name and parameters: `def f(x: Tensor[B]): ...`",
        "class": "a name: `class net.Net:`",
        "from": 'a file and names: `from "common.shapes" import B`',
        "language": "a version: `language 1`",
        "values": "a parameter and a range: `values ids in [0, V - 1]`",
        "rank": "a variadic and its length: `rank batch = 2`",
        "drop": "an output: `drop return[1]`",
        "keep": "an output: `keep return[1]`",
        "hint": "a name and its size: `hint B = 8`",
    }
    if len(place.line) == 1 and word in missing:
        return problem(f"`{word}` needs {missing[word]}", place.span_of(last))
    if last.text == ",":
        return problem(
            "this line ends with a comma", place.span_of(last), help="delete it, or put what follows in brackets"
        )
    if last.text in (
        "+",
        "-",
        "*",
        "//",
        "%",
        "**",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "=",
        "and",
        "or",
        "not",
        "in",
        "|",
        "->",
    ):
        advice = "continue the line, or put the whole expression in brackets: newlines inside them are free"
        return problem(f"something is missing after `{last.text}`", place.span_of(last), help=advice)
    return None
