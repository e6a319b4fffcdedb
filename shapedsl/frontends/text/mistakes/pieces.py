"""Pieces that are right in Python or elsewhere in the language, but not where they stand."""

from __future__ import annotations

from ....diagnostics import Diagnostic
from .place import COMPARATORS, DTYPES, Place, problem


def _among_dims(place: Place) -> bool:
    """Returns whether the place is one for a dim."""
    if not place.opened:
        return place.in_dims
    opener = place.opened[-1]
    return opener.text == "[" and any(b.end == opener.start and b.text in DTYPES for b in place.line)


def static_dim(place: Place) -> Diagnostic | None:
    """Explains ``Tensor[None, D]`` and ``Tensor[:, D]``."""
    if place.token.text not in ("None", ":") or not place.takes("_") or not _among_dims(place):
        return None
    if place.before().text not in ("[", ",", ""):
        return None
    return problem("a dim that is taken from the example is `_`", place.span, fix=("write `_`", [(place.span, "_")]))


def size_for_type(place: Place) -> Diagnostic | None:
    """Explains ``Tensor<B, D>``, and ``Tensor[B] float32``."""
    before, text = place.before(), place.token.text
    if text == "<" and before.text in DTYPES and place.word in ("def", "type"):
        message = f"the dims of a tensor stand in square brackets: `{before.text}[…]`"
        return problem(message, place.span_of(before, place.token))
    if before.text == "]" and text in DTYPES and place.opened and place.takes(",") and place.word == "def":
        return problem(f"the dtype stands before the dims: `{text}[…]`", place.span)
    return None


def quoted_name(place: Place) -> Diagnostic | None:
    """Explains ``Tensor["B", "D"]``, as annotations have it."""
    if place.token.kind != "string" or not _among_dims(place):
        return None
    name = place.token.text[1:-1]
    fix = (f"write `{name}`", [(place.span, name)]) if name.isidentifier() else None
    return problem("sizes are written without quotes", place.span, fix=fix, help="" if fix else "delete the quotes")


def or_none(place: Place) -> Diagnostic | None:
    """Explains ``Tensor[B] or None``."""
    if place.token.text != "or" or not place.takes("|") or place.after().text != "None":
        return None
    return problem("what may be absent is `T | None`", place.span, fix=("write `|`", [(place.span, "|")]), safe=True)


def declared_order(place: Place) -> Diagnostic | None:
    """Explains ``dim B hint 8 in [0, 8]`` and ``dim B in {1, 2}``."""
    if place.word not in ("dim", "int", "const") or place.opened:
        return None
    if place.token.text in ("in", "multiple") and any(token.text in ("hint", "multiple") for token in place.line[1:]):
        advice = f"write `{place.word} B in [lo, hi] multiple of m hint n`, each of the three or none"
        return problem(f"`{place.token.text}` stands too late", place.span, help=advice)
    if place.token.text == "{" and place.before().text == "in":
        advice = "a set is a condition: `where B in {1, 2}`"
        return problem("a declared range is `[lo, hi]`, both ends included", place.span, help=advice)
    return None


def predicates(place: Place) -> Diagnostic | None:
    """Explains ``B < 3 D > 2``, and what a text of predicates alone need not say."""
    if not place.in_lines and not place.in_dims and place.takes("=="):
        if place.token.text == "=":
            return problem(
                "sizes are compared with `==`", place.span, fix=("write `==`", [(place.span, "==")]), safe=True
            )
        if [token.text for token in place.line] == ["where"]:
            return problem("only the predicates stand here", place.span_of(*place.line), help="leave out `where`")
    compared = any(token.text in COMPARATORS for token in place.line)
    is_predicate = not place.in_dims and (not place.in_lines or place.word in ("where", "case")) and compared
    if is_predicate and not place.opened and place.takes("and") and place.token.kind in ("name", "number"):
        at = place.source.span(place.before().end, place.before().end)
        return problem("a comma is missing between two predicates", at, also=(place.span, "this begins the next"))
    return None


def head_of_block(place: Place) -> Diagnostic | None:
    """Explains ``case B == 1:`` with a block, ``where:`` and ``otherwise B == 3``."""
    if place.opened or not place.line:
        return None
    if place.word == "case" and place.token.text == ":" and place.after().kind in ("none", "newline"):
        advice = "write `case small:`, and in its block `where …`; or all on one line, without the colon"
        return problem("a case with a block has a name, not a predicate", place.span, help=advice)
    if place.word == "where" and place.token.text == ":" and len(place.line) == 1:
        return problem("`where` takes no colon", place.span, help="write `where B < 32`, one line each")
    if place.word == "otherwise" and place.token.kind in ("name", "number") and len(place.line) == 1:
        return problem("`otherwise` has no predicate: it is the rest", place.span, help="write `case` for a condition")
    return None
