"""Operators of other languages, brackets of the wrong kind, and signs that are missing."""

from __future__ import annotations

from typing import Final

from ....diagnostics import Diagnostic
from ....layout.tokens import CLOSERS, OPENERS, Token, scan
from .place import CLAUSES, DTYPES, STATEMENTS, Place, problem

# Two tokens that touch -> what was meant.
_TYPOS: Final = {
    ("=", "<"): "<=",
    ("=", ">"): ">=",
    ("<", ">"): "!=",
    ("==", "="): "==",
    ("!=", "="): "!=",
    ("<", "="): "<=",
    (">", "="): ">=",
    ("<", "<"): "",
    (">", ">"): "",
    ("+", "+"): "",
    ("=", "="): "==",
    ("|", "|"): "or",
    ("-", "-"): "-",
    (":", "="): "=",
    (":", ":"): ":",
}
_ONE_MEANING: Final = (("==", "="), ("!=", "="), ("<", ">"), ("|", "|"))  # of two signs, the first of which was taken
_RANGES: Final = "a range is `[lo, hi]`, both ends included"


def typo(place: Place) -> Diagnostic | None:
    """Explains two operators that make one of another language."""
    token, before, after = place.token, place.before(), place.after()
    for first, second in ((before, token), (token, after)):
        meant = _TYPOS.get((first.text, second.text))
        if meant is None or first.end != second.start:
            continue
        span = place.span_of(first, second)
        if (first.text, second.text) == ("=", ">") and place.takes("->") and not place.opened:
            meant = "->"
        if (first.text, second.text) == ("|", "|") and first is before:  # `T || None`: the first one was right
            meant = "|"
        # What the first sign began is right only if the pair can mean nothing else: `let S =< 3` is no comparison.
        certain = place.takes(meant) if first is token else (first.text, second.text) in _ONE_MEANING
        if not meant:
            forms = {"<<": "write `x * 2**n`", ">>": "write `x // 2**n`", "++": "write `x + 1`"}
            return problem(f"there is no `{span.text}`", span, help=forms[span.text])
        fix = (f"write `{meant}`", [(span, meant)])
        return problem(f"`{span.text}` is written `{meant}`", span, fix=fix, safe=certain)
    return None


def equals(place: Place) -> Diagnostic | None:
    """Explains ``=`` for ``==``, and ``==`` or ``:`` for ``=``."""
    text, span = place.token.text, place.span
    if text == "=" and place.takes("==") and place.word in ("where", "case", "def"):
        return problem("sizes are compared with `==`", span, fix=("write `==`", [(span, "==")]), safe=True)
    if text in ("==", ":") and place.takes("=") and not place.opened and place.word not in ("dim", "int"):
        fix = ("write `=`", [(span, "=")])
        certain = text == "=="  # `let S: int = 3` has its `=`
        return problem(f"`{place.word}` takes `=`, not `{text}`", span, fix=fix, safe=certain)
    if text == "=" and place.before().text in ("hint", "multiple", "of", "rank") and place.takes("INT", "NAME"):
        example = "`hint 8`" if place.before().text == "hint" else f"`{place.before().text} …`"
        return problem(
            f"no `=` behind `{place.before().text}`",
            span,
            help=f"write {example}",
            fix=("delete the `=`", [(span, " " if _touches_both(place) else "")]),
            safe=place.takes("INT") and place.after().kind == "number",
        )
    return None


def _touches_both(place: Place) -> bool:
    """Returns whether words stand directly before and behind the unexpected token: without it they would run together."""
    return place.before().end == place.token.start and place.after().start == place.token.end


def declaration(place: Place) -> Diagnostic | None:
    """Explains ``dim B = 8``, ``dim B <= 8``, ``dim B: int``."""
    if place.word not in ("dim", "int") or place.opened or len(place.line) < 2:
        return None
    text, value = place.token.text, place.after()
    name = place.before().text
    if text in ("=", "=="):
        meant = value.text if value.kind == "number" else "8"
        advice = (
            f"`dim {name} hint {meant}` is a size that is often {meant}; `const {name} = {meant}` is always {meant}"
        )
        return problem(f"`{place.word}` declares a size; it gives no value", place.span, help=advice)
    bounds = {
        "<=": f"[0, {value.text}]",
        "<": f"[0, {value.text} - 1]",
        ">=": f"[{value.text}, inf]",
        ">": f"[{value.text} + 1, inf]",
    }
    if text in bounds and value.kind == "number":
        whole = place.span_of(place.token, value)
        meant = f"in {bounds[text]}"
        return problem("a declared range is written `in [lo, hi]`", whole, fix=(f"write `{meant}`", [(whole, meant)]))
    if text == ":":
        return problem(
            f"`{place.word}` takes no type", place.span, help=f"`dim {name}` is a size, `int {name}` any integer"
        )
    return None


def wrong_brackets(place: Place) -> Diagnostic | None:
    """Explains ``Tensor(B, D)``, and ranges and sets in brackets of another kind."""
    line = place.line
    text = place.token.text
    if place.opened and place.opened[-1].text == "(":
        index = _index(line, place.opened[-1])
        name = line[index - 1] if index > 0 else None
        if name is not None and name.text in DTYPES and place.word in ("def", "type"):
            opener, closer = place.opened[-1], _closer(place)
            edits = [(place.span_of(opener), "[")] + ([(place.span_of(closer), "]")] if closer else [])
            what = "the size of a scalar stands" if name.text == "Scalar" else "the dims of a tensor stand"
            message = f"{what} in square brackets: `{name.text}[…]`"
            fix = ("write `[` and `]`", edits) if closer else None
            return problem(message, place.span_of(name, opener), fix=fix, safe=_are_dims(place, opener, closer))
    if place.before().text == "in" and text == "(":
        return problem(_RANGES, place.span, help="write `in [lo, hi]`; a set of sizes is `in {1, 2, 4}`")
    if place.before().text == "in" and place.token.kind == "name":
        return problem(_RANGES, place.span, help="write `in [lo, hi]`; a set of sizes is `in {1, 2, 4}`")
    if place.before().text == "in" and place.token.kind == "number":
        return problem(_RANGES, place.span, help="write `in [lo, hi]`, or `==` for one size")
    return None


def _are_dims(place: Place, opener: Token, closer: Token | None) -> bool:
    """Returns whether what stands in a bracket can be dims as it is: something, and no fields and no types."""
    if closer is None:
        return False
    inside = [t for t in scan(place.source.text, opener.end, closer.start) if t.kind not in ("space", "newline")]
    return bool(inside) and all(t.text not in ("(", "[", "{", ":", "=") for t in inside)


def half_open(place: Place) -> Diagnostic | None:
    """Explains ``in [0, 8)`` and ``in [0:8]``."""
    if not place.opened or place.opened[-1].text != "[" or _word_before(place.line, place.opened[-1]) != "in":
        return None
    if place.token.text in (")", "[") and place.before().text != ",":
        return problem(_RANGES, place.span, "there are no half-open ranges", help="write `[lo, hi - 1]`")
    if place.token.text in (":", "..."):
        return problem(_RANGES, place.span, fix=("write `,`", [(place.span, ",")]))
    return None


def number(place: Place) -> Diagnostic | None:
    """Explains numbers of other kinds: ``1.5``, ``0x10``, ``1__0``."""
    token, before = place.token, place.before()
    if place.kind == "FLOAT" or (token.kind == "number" and not token.text.replace("_", "").isdecimal()):
        return problem("sizes are whole numbers", place.span, "this is none")
    if before.kind == "number" and token.kind == "name" and before.end == token.start and before.text == "0":
        return problem("numbers are decimal", place.span_of(before, token))
    if token.kind == "number" and "_" in token.text:
        return problem("a `_` in a number stands between two digits", place.span)
    return None


def _index(line: list[Token], token: Token) -> int:
    return next((i for i, other in enumerate(line) if other.start == token.start), -1)


def _word_before(line: list[Token], token: Token) -> str:
    index = _index(line, token)
    return line[index - 1].text if index > 0 else ""


def _closer(place: Place) -> Token | None:
    """Returns the `)` that closes the innermost bracket, if it stands near on the same row."""
    depth = 0
    count = 0
    while (token := place.after(count)).kind != "none":
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth < 0:
            return token if token.text == ")" else None
        count += 1
    return None


def arrow(place: Place) -> Diagnostic | None:
    """Explains a return arrow that stands wrong, or is missing."""
    text = place.token.text
    if text == "->":
        if place.opened:
            opener = place.opened[-1]
            want = {"(": ")", "[": "]", "{": "}"}[opener.text]
            return problem(
                f"this `{opener.text}` is not closed before `->`",
                place.span_of(opener),
                also=(place.span, f"`{want}` is missing before this"),
            )
        if place.before().text == ":" and place.word == "def":
            colon = place.before()
            return problem(
                "the return type stands before the colon",
                place.span,
                also=(place.span_of(colon), "this comes last"),
                help="`def f(x: Tensor[B]) -> Tensor[B]: ...`",
            )
        return problem("a stray `->`", place.span, help="it stands between a def's parameters and its return type")
    if place.word == "def" and not place.opened and place.before().text == "->":
        return problem("the return type is missing", place.span_of(place.before()), help="write a type, or delete `->`")
    if place.word == "def" and not place.opened and place.takes("->") and place.before().text == ")":
        span = place.span
        at = place.source.span(place.token.start, place.token.start)
        if text in (*STATEMENTS, *CLAUSES):
            behind = place.source.span(place.before().end, place.before().end)
            return problem(f"`:` is missing before `{text}`", behind, fix=("write `:`", [(behind, ":")]), safe=True)
        if text == "{":
            return problem("`:` is missing; blocks are indented, not bracketed", at, help="`def f(x: Tensor[B]): ...`")
        if text in (">", "-", "=") or place.token.kind == "name":
            if place.token.kind == "name":
                fix, certain = ("write `->`", [(at, "-> ")]), text in DTYPES
                return problem("`->` is missing before the return type", span, fix=fix, safe=certain)
            return problem("the return type follows `->`", span)
    return None


def operand(place: Place) -> Diagnostic | None:
    """Explains ``2B``, ``x++``, and two operands with nothing between."""
    token, before = place.token, place.before()
    if before.kind == "number" and token.kind == "name" and before.end == token.start:
        span = place.span_of(before, token)
        meant = f"{before.text} * {token.text}"
        tight = place.before(2).text in ("**", "//", "/", "%")  # `A // 2B` asks for brackets
        certain = place.takes("*") and not tight and token.text.lower() not in ("k", "m", "g", "e")  # `4K` is a number
        fix = (f"write `{meant}`", [(span, meant)])
        return problem(f"a product is written with `*`: `{meant}`", span, fix=fix, safe=certain)
    starts = token.kind in ("name", "number", "string")
    ends = before.kind in ("name", "number", "string") or before.text in (")", "]", "}", "...")
    if (place.opened or place.in_dims) and starts and ends and place.takes(",") and token.text not in CLAUSES:
        at = place.source.span(before.end, before.end)
        also = (place.span, "this begins the next item")
        return problem("a comma is missing here", at, also=also, fix=("write `,`", [(at, ",")]))
    return None


def empty(place: Place) -> Diagnostic | None:
    """Explains brackets with nothing in them."""
    before, token = place.before(), place.token
    if before.text == "[" and token.text == "]":
        span = place.span_of(before, token)
        if len(place.line) > 1 and place.line[-2].text in DTYPES:
            advice = f"a tensor without dims is `{place.line[-2].text}[()]`; of any rank, `{place.line[-2].text}`"
            return problem("dims are missing", span, help=advice)
        if len(place.line) > 1 and place.line[-2].text == "in":
            return problem(_RANGES, span)
    if before.text == "," and token.text == ",":
        return problem("a comma too many", place.span, fix=("delete it", [(place.span, "")]))
    return None


def default(place: Place) -> Diagnostic | None:
    """Explains a default value that is not ``_``."""
    if place.before().text != "=" or place.word != "def" or not place.opened or not place.takes("_"):
        return None
    if place.token.kind == "name" and place.token.text in DTYPES and place.before(3).text in ("(", ","):
        return problem("a type stands behind `:`, not `=`", place.span_of(place.before()), help="write `x: Tensor[B]`")
    value = _value(place)
    if not value:
        return problem("a default value is written `_`", place.span, "its value makes no difference to shapes")
    whole = place.span_of(*value)
    plain = all(t.kind in ("number", "string") or t.text in ("True", "False", "true", "false", "-") for t in value)
    fix, label = ("write `_`", [(whole, "_")]), "its value makes no difference to shapes"
    return problem("a default value is written `_`", whole, label, fix=fix, safe=plain and len(value) <= 2)


def _value(place: Place) -> list[Token]:
    """Returns the tokens of the default value that begins here, on this row; none if its end is not seen."""
    value: list[Token] = []
    depth = 0
    while (token := place.after(len(value))).kind not in ("none", "newline"):
        if not depth and (token.text in CLOSERS or token.text == ","):
            return value
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        value.append(token)
    return []


def python_type(place: Place) -> Diagnostic | None:
    """Explains ``list[Tensor[B]]`` and its kind."""
    forms = {
        "list": "`[T, ...]`, or `[T, U]` item by item",
        "List": "`[T, ...]`, or `[T, U]` item by item",
        "tuple": "`(T, U)`",
        "Tuple": "`(T, U)`",
        "dict": '`{"key": T}`',
        "Dict": '`{"key": T}`',
        "Optional": "`T | None`",
        "Union": "`T | None`; another union has no spec",
        "Sequence": "`[T, ...]`",
        "Annotated": "`Tensor[B, D]`",
    }
    for opener in reversed(place.opened):
        name = _word_before(place.line, opener)
        if name in forms and opener.text == "[":
            index = _index(place.line, opener)
            return problem(
                f"`{name}[…]` is Python's", place.span_of(place.line[index - 1]), help=f"write {forms[name]}"
            )
    return None


def import_path(place: Place) -> Diagnostic | None:
    """Explains an import of a module instead of a file."""
    if place.word != "from" or place.token.kind not in ("name", "op") or not place.takes("STRING"):
        return None
    return problem(
        "an import names a file", place.span, help='write its path in quotes: `from "common.shapes" import B`'
    )
