"""Words and signs that are missing in a statement or clause that is otherwise clear."""

from __future__ import annotations

from ....diagnostics import Diagnostic
from .place import DTYPES, Place, problem


def missing_equals(place: Place) -> Diagnostic | None:
    """Explains ``hint B 8`` and ``rank batch 2``, and statements that end before their ``=``."""
    if not place.takes("=") or place.opened or place.in_dims or place.before().kind != "name":
        return None
    if place.token.kind == "number":
        at = place.source.span(place.token.start, place.token.start)
        return problem("`=` is missing", at, fix=("write `=`", [(at, "= ")]), safe=place.word != "type")
    if not place.at_end:
        return None
    name = place.before().text
    value = {
        "const": f"`const {name} = 4096`, or `const {name} = _` for a static size",
        "let": f"`let {name} = 2 * B`",
        "type": f"`type {name} = float32[B]`",
        "rank": f"`rank {name} = 2`",
    }.get(place.word, f"`hint {name} = 8`")
    end = place.source.span(place.before().end, place.before().end)
    return problem(f"`{name}` needs a value", end, "`=` is missing", help=f"write {value}")


def missing_word(place: Place) -> Diagnostic | None:
    """Explains a missing ``of``, ``in`` or ``with``, and lists and ranges in each other's brackets."""
    at = place.source.span(place.token.start, place.token.start)
    text, before = place.token.text, place.before()
    if place.expected == frozenset(("of",)):
        number = text[2:]
        if text[:2] == "of" and number.isdecimal():
            gap = place.source.span(at.start + 2, at.start + 2)
            message = f"`of` and `{number}` are two words"
            return problem(message, place.span, fix=("write a space", [(gap, " ")]), safe=True)
        fix = ("write `of`", [(at, "of ")])
        return problem("`multiple` is followed by `of`", place.span, fix=fix, safe=place.token.kind == "number")
    if place.word == "bucket" and text == "{" and place.takes("in"):
        return problem("`in` is missing before the members", place.span, fix=("write `in`", [(at, "in ")]), safe=True)
    if place.word == "bucket" and before.text == "in":
        return problem(
            "a bucket lists its members in braces",
            place.span,
            help="write `in {16, 32, 64}`, or `in {16, 32, ..., 256}`",
        )
    if place.word == "values" and before.text == "in":
        return problem("values lie in a range, both ends included", place.span, help="write `in [lo, hi]`")
    if place.word == "bucket" and place.takes("with"):
        advice = f"write `pad {before.text} with 0`" if before.kind == "name" else "write `pad x with 0`"
        return problem("what is padded needs a value", place.span, "`with` is missing", help=advice)
    if place.word in ("drop", "keep") and place.token.kind == "number" and place.takes("NAME"):
        return problem(f"`{place.word}` names an output", place.span, help=f"write `{place.word} return[{text}]`")
    if (
        text == "."
        and before.kind == "name"
        and place.word in ("where", "case", "let", "dim", "int", "const", "bucket")
    ):
        advice = f"name the size in the signature, `{before.text}: Tensor[B]`, and write its name here"
        return problem("a size is written by its name", place.source.span(before.start, place.token.end), help=advice)
    return None


def head(place: Place) -> Diagnostic | None:
    """Explains a def without a name or without brackets, and other heads that went wrong."""
    text, line = place.token.text, place.line
    if place.word == "class" and text == "(" and not place.opened:
        return problem(
            "a class has no bases here", place.span, help="`class net.Net:` names the class whose methods follow"
        )
    if place.word == "case" and len(line) == 2 and line[1].text == ":":
        advice = "write `case B == 1`, or `case small: B == 1` with a name"
        return problem("a case's name is missing before the colon", place.span_of(line[1]), help=advice)
    if place.word == "case" and len(line) == 2 and line[1].kind == place.token.kind == "name" and not place.takes(text):
        at = place.source.span(line[1].end, line[1].end)
        return problem("a case's name ends with `:`", at, fix=("write `:`", [(at, ":")]))
    if place.word != "def":
        return None
    before = place.before(2).text
    if place.opened and len(place.opened) == 1 and place.token.kind == place.before().kind == "name" and before in "(,":
        at = place.source.span(place.before().end, place.before().end)
        is_type = (text in DTYPES or place.after().text == "[") and place.before().text not in DTYPES  # not `Tensor x`
        message, fix = "`:` is missing between the parameter and its type", ("write `:`", [(at, ":")])
        return problem(message, at, fix=fix, safe=is_type)
    if place.opened:
        return None
    if len(place.line) == 1 and place.token.text == "(":
        return problem(
            "this def has no name", place.span, help="name the callable: `def pkg.mod.fn(x: Tensor[B]): ...`"
        )
    no_bracket = all(token.text != "(" for token in place.line)
    if no_bracket and place.takes("(") and place.before().kind in ("name", "number") and len(place.line) > 1:
        at = place.source.span(place.before().end, place.before().end)
        return problem("parameters stand in brackets", at, "`(` is missing", help="`def f(x: Tensor[B]): ...`")
    return None
