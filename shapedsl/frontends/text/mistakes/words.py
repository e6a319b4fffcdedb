"""Words of Python and of other languages, and keywords with a letter wrong."""

from __future__ import annotations

from typing import Final

from ....diagnostics import Diagnostic
from ..chunks import begins_line
from ..slips import closest, is_slip
from .foreign import FIRST, SAME
from .place import CLAUSES, COMPARATORS, STATEMENTS, Place, problem

# Inside an expression.
_INSIDE: Final = {
    "if": "there is no conditional expression; use `min`, `max`, or one `case` for each branch",
    "else": "there is no conditional expression; use `min`, `max`, or one `case` for each branch",
    "lambda": "a predicate is written out: `where B < 32`",
    "for": "there are no comprehensions; `{16, 32, ..., 256}` continues a progression",
    "between": "a range is `B in [lo, hi]`, both ends included",
    "divisible": "write `B multiple of 8`, or `B % 8 == 0`",
    "mod": "the remainder is `%`",
    "div": "floor division is `//`",
    "xor": "write `(p and not q) or (q and not p)`",
    "when": "an alternative is `case B == 1`",
    "until": "a range is `B in [lo, hi]`, both ends included",
}


def first_word(place: Place) -> Diagnostic | None:
    """Explains a line that begins with no keyword of the language."""
    line = place.line
    if not place.in_lines:
        return None
    first = line[0] if line else place.token
    if first.kind == "op" and not line:
        if first.text == "@":
            return problem(
                "decorators are for Python", place.span_of(first), help="here a spec is `def f(x: Tensor[B]): ...`"
            )
        if first.text in ("//", "/", "-") and place.starts_row:
            return problem(
                "comments begin with `#`",
                place.span_of(first),
                fix=("write `#`", [(place.span_of(first), "#")]),
            )
        return None
    known = (*STATEMENTS, *CLAUSES)
    if first.kind != "name" or first.text in known or len(line) > 1 or place.opened:
        return None
    if line and not place.takes(*STATEMENTS, *CLAUSES) and first.text in place.expected:
        return None
    span = place.span_of(first)
    if first.text in FIRST:
        same = SAME.get(first.text)
        fix = (f"write `{same}`", [(span, same)]) if same else None
        return problem(f"`{first.text}` is no statement", span, help=FIRST[first.text], fix=fix)
    in_body = bool(place.source.text[place.source.text.rfind("\n", 0, first.start) + 1 : first.start])
    candidates = known if in_body else STATEMENTS
    meant = closest(first.text, candidates)
    if meant is not None:
        return problem(
            f"`{first.text}` is no statement",
            span,
            f"did you mean `{meant}`?",
            fix=(f"write `{meant}`", [(span, meant)]),
            safe=is_slip(first.text, meant, candidates) and begins_line(meant, place.source.text, first.end),
        )
    operator = (line[1] if len(line) > 1 else place.token).text if line else place.after().text
    if operator == "=":
        return problem(
            "an assignment needs a keyword",
            span,
            help=f"`let {first.text} = …` names an expression, `const {first.text} = …` an int",
        )
    if operator in (*COMPARATORS, "+", "-", "*", "//", "%", "in"):
        return problem(
            "a condition needs a keyword",
            span,
            help="`where` states what is assumed",
            fix=("write `where`", [(place.source.span(first.start, first.start), "where ")]),
        )
    if operator == ":":
        return problem("a declaration needs a keyword", span, help=f"`dim {first.text}` declares a size")
    listed = ", ".join(
        f"`{word}`" for word in (STATEMENTS if not in_body else ("where", "dim", "int", "let", *CLAUSES))
    )
    return problem(f"`{first.text}` is no statement", span, help=f"a line begins with one of {listed}")


def inside(place: Place) -> Diagnostic | None:
    """Explains a word of another language in the middle of a line."""
    word, before = place.token.text, place.before()
    span = place.span
    if place.token.kind != "name":
        return None
    if word == "is":
        ends = place.after() if place.after().text == "not" else place.token
        meant = "!=" if ends.text == "not" else "=="
        whole = place.span_of(place.token, ends)
        operand = place.after(2 if ends.text == "not" else 1)
        certain = place.takes("==") and (
            operand.kind == "number" or (operand.kind == "name" and operand.text != "None")
        )
        fix = (f"write `{meant}`", [(whole, meant)])
        return problem(f"sizes are compared with `{meant}`", whole, fix=fix, safe=certain)
    if place.word == "def" and before.text == ":" and not place.opened and word in FIRST:
        return problem(f"`{word}` is no clause", span, help=FIRST[word])
    if word in _INSIDE and before.kind in ("name", "number", "op", "string"):
        return problem(f"`{word}` means nothing here", span, help=_INSIDE[word])
    options = [t for t in place.expected if t.isalpha() and t.islower()]
    near = None if place.takes("NAME") else closest(word, options)
    if near is not None and near != word:
        keyword = word.rstrip("0123456789")
        if keyword in options and keyword != word:
            digits = place.source.span(span.start + len(keyword), span.end)
            gap = ("write a space", [(place.source.span(digits.start, digits.start), " ")])
            return problem(f"`{keyword}` and `{digits.text}` are two words", span, fix=gap, safe=True)
        return problem(
            f"`{word}` means nothing here",
            span,
            f"did you mean `{near}`?",
            fix=(f"write `{near}`", [(span, near)]),
            safe=is_slip(word, near, options),
        )
    return None


def no_condition(place: Place) -> Diagnostic | None:
    """Explains a size where a predicate is needed: ``where B % 8``, ``B and S < 3``."""
    if not place.takes("==") or place.takes(",", ")") or place.token.text == "=":
        return None
    ends = (
        place.at_end
        or place.token.text in ("and", "or", ",", ")", "eager", "backed", "hint")
        or place.token.kind == "string"
    )
    if not ends or not place.line:  # a fragment's size may stand on the line before
        return None
    start = place.line[-1]
    for token in reversed(place.line):
        if token.text in ("where", "case", "and", "or", "not", ",", ":", "("):
            break
        start = token
    span = place.span_of(start, place.line[-1])
    example = f"{span.text} == 0" if "%" in span.text else f"{span.text} == 1"
    return problem(
        "this is a size, not a condition", span, "compare it with something", help=f"for example `{example}`"
    )


def reserved(place: Place) -> Diagnostic | None:
    """Explains a reserved word where a name is needed."""
    words = ("and", "or", "not", "in", "None", "_", "inf", "true", "false")
    if place.token.text not in words or not place.takes("NAME") or place.takes("INT", *COMPARATORS):
        return None
    return problem(
        f"`{place.token.text}` is reserved and cannot be a name",
        place.span,
        code="reserved-name",
        help="choose another name",
    )
