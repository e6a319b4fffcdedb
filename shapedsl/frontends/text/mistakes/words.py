"""Words of Python and of other languages, and keywords with a letter wrong."""

from __future__ import annotations

from typing import Final

from ....diagnostics import Diagnostic
from .place import CLAUSES, COMPARATORS, STATEMENTS, Place, problem

# What begins a line elsewhere -> what to write here.
_FIRST: Final = {
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
_SAME: Final = {
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
                safe=False,
            )
        return None
    known = (*STATEMENTS, *CLAUSES)
    if first.kind != "name" or first.text in known or len(line) > 1 or place.opened:
        return None
    if line and not place.takes(*STATEMENTS, *CLAUSES) and first.text in place.expected:
        return None
    span = place.span_of(first)
    if first.text in _FIRST:
        same = _SAME.get(first.text)
        fix = (f"write `{same}`", [(span, same)]) if same else None
        return problem(f"`{first.text}` is no statement", span, help=_FIRST[first.text], fix=fix, safe=False)
    in_body = bool(place.source.text[place.source.text.rfind("\n", 0, first.start) + 1 : first.start])
    candidates = known if in_body else STATEMENTS
    meant = closest(first.text, candidates)
    if meant is not None:
        return problem(
            f"`{first.text}` is no statement",
            span,
            f"did you mean `{meant}`?",
            fix=(f"write `{meant}`", [(span, meant)]),
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
            safe=False,
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
        return problem(f"sizes are compared with `{meant}`", whole, fix=(f"write `{meant}`", [(whole, meant)]))
    if place.word == "def" and before.text == ":" and not place.opened and word in _FIRST:
        return problem(f"`{word}` is no clause", span, help=_FIRST[word])
    if word in _INSIDE and before.kind in ("name", "number", "op", "string"):
        return problem(f"`{word}` means nothing here", span, help=_INSIDE[word])
    options = [t for t in place.expected if t.isalpha() and t.islower()]
    near = None if place.takes("NAME") else closest(word, options)
    if near is not None and near != word:
        return problem(
            f"`{word}` means nothing here", span, f"did you mean `{near}`?", fix=(f"write `{near}`", [(span, near)])
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


def closest(word: str, candidates: tuple[str, ...] | list[str]) -> str | None:
    """Returns the candidate that ``word`` is a slip of: one edit away, or two if it is long."""
    best: tuple[int, str] | None = None
    for candidate in candidates:
        limit = 1 if len(candidate) < 5 else 2
        if len(candidate) < 3 or abs(len(candidate) - len(word)) > limit:
            continue
        distance = _distance(word.lower(), candidate)
        if distance <= limit and distance < len(candidate) - 1 and (best is None or (distance, candidate) < best):
            best = (distance, candidate)
    return best[1] if best else None


def _distance(a: str, b: str) -> int:
    """Returns how many insertions, deletions, replacements and swaps of neighbors turn ``a`` into ``b``."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [i]
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, now[-1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, row = row, now
    return row[-1]
