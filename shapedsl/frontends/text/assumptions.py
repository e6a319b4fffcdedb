"""Put assumptions and alternatives into the text of a spec, which keeps its layout and its comments.

Before::

    def net.encode(ids: int64[B, S], mask: bool[B, S]):
        where S <= 512  # the position table
        case short: S <= 64  # most calls
        otherwise

After a line for the def, one for the first alternative, and one in front of it::

    def net.encode(ids: int64[B, S], mask: bool[B, S]):
        where S <= 512  # the position table
        where B >= 1  # net.py:12 asks whether `B == 0`
        case S == 1
        case short:  # most calls
            where S <= 64
            where S >= 2  # net.py:20 asks whether `S > 1`
        otherwise

Nothing is taken away: an alternative on one line becomes a block, and a body that is only ``...`` gets one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ...ir import Alternative, Signature
from ...layout.tokens import CLOSERS, OPENERS, Token, scan
from .blocks import MARGIN, Def, find_def, line_end, logical_end, next_line, statement

_BEFORE: Final = ("where", "dim", "int", "const", "let", "type", "rank")  # what stands above alternatives


class _Edit(NamedTuple):
    """What replaces ``text[start:end]``.

    Attributes:
        start, end: Offsets.
        new: The new text.
        rank: Of several at one place, which comes first.
        rows: Whether it is whole lines.
    """

    start: int
    end: int
    new: str
    rank: int = 0
    rows: bool = False


_BLOCK, _LINE, _FRONT = 0, 1, 2  # ranks: the block of the alternative before comes first


def with_assumptions(
    text: str,
    signature: Signature,
    lines: Sequence[str],
    blocks: Mapping[int, Sequence[str]] | None = None,
    fronts: Mapping[int, Sequence[str]] | None = None,
) -> str | None:
    """Returns the text with lines added to one def; None if the def cannot be edited as it stands.

    Args:
        text: The file, in which ``signature`` was read.
        signature: One of its specs.
        lines: For the def itself; behind its last ``where``.
        blocks: For alternatives, by position: ``case`` and ``otherwise`` only, not one that runs eagerly.
        fronts: Whole clauses, by the position of the alternative that they stand in front of; those of the
            number of alternatives stand behind the last one. A line of a block is indented by itself.
    """
    span = signature.span
    if span is None or span.source.text != text:
        return None
    place = find_def(text, span.start, span.end)
    if place is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    alternatives = signature.alternatives
    edits: list[_Edit] = []
    body, dots = _opened(text, place, newline, edits)
    inside = _margin(text, body, place) if body is not None else place.margin + _unit(place.margin)
    edits += [_Edit(start, end, "") for start, end in dots]
    starts = [_start(each) for each in alternatives]
    if any(start is None for start in starts):
        return None
    rows = [text.rfind("\n", 0, start) + 1 for start in starts if start is not None]
    end = place.end
    if body is None:
        top = end
    else:
        top = _top(text, body, min(rows, default=end))
    if lines:
        edits.append(_insertion(top, inside, lines, newline, _LINE))
    for position, added in sorted((fronts or {}).items()):
        at = end if position >= len(rows) else _above(text, rows[position], top)
        edits.append(_insertion(at, inside, added, newline, _FRONT))
    for position, added in sorted((blocks or {}).items()):
        start = starts[position]
        made = None if start is None or not added else _in_block(text, start, end, added, newline)
        if added and made is None:
            return None
        edits += made or []
    return _applied(text, edits, newline)


def _opened(text: str, place: Def, newline: str, edits: list[_Edit]) -> tuple[int | None, list[tuple[int, int]]]:
    """Returns where the body's lines begin, None if it has none of its own, and lines that say only ``...``.

    What stands behind the colon gets a line of its own.
    """
    rest = text[place.colon + 1 : line_end(text, place.colon)]
    tokens = [token for token in scan(rest) if token.kind not in ("space", "comment", "newline") and token.text.strip()]
    if not tokens:
        body = next_line(text, place.colon)
        return body, _dots(text, body, place.end)
    start = place.colon + 1
    if tokens[0].text == "...":
        edits.append(_Edit(start, start + tokens[0].end, ""))
    else:
        edits.append(_Edit(start, start + tokens[0].start, f"{newline}{place.margin}{_unit(place.margin)}"))
    return None, []


def _dots(text: str, body: int, end: int) -> list[tuple[int, int]]:
    """Returns the lines of a block that says nothing."""
    rows: list[tuple[int, int]] = []
    at = body
    while at < end:
        after = next_line(text, at)
        said = text[at:after].partition("#")[0].strip()
        if said == "..." and "#" not in text[at:after]:
            rows.append((at, after))
        elif said:
            return []
        at = after
    return rows


def _margin(text: str, body: int, place: Def) -> str:
    at = body
    while at < place.end:
        row = text[at : line_end(text, at)]
        if row.strip() and not row.lstrip().startswith("#"):
            return row[: len(row) - len(row.lstrip())]
        at = next_line(text, at)
    return place.margin + _unit(place.margin)


def _unit(margin: str) -> str:
    """Returns by what a block is indented in a text that is indented so."""
    return "\t" if margin.endswith("\t") else MARGIN


def _start(each: Alternative) -> int | None:
    span = each.buckets[0].span if each.keyword == "bucket" and each.buckets else each.span
    return None if span is None else span.start


def _top(text: str, body: int, end: int) -> int:
    """Returns where an assumption goes: behind the last ``where`` before ``end``, else behind what is declared there."""
    found: dict[str, int] = {}
    at = body
    while at < end:
        row = text[at : line_end(text, at)].strip()
        if not row or row.startswith("#"):
            at = next_line(text, at)
            continue
        word = next((token for token in scan(text, at) if token.kind != "space"), None)
        after = logical_end(text, at)
        if word is not None and (word.text in _BEFORE or word.kind == "string"):
            found["where" if word.text == "where" else "other"] = after
        at = after
    if "where" in found:
        return found["where"]
    return max(found.values(), default=body)


def _above(text: str, at: int, most: int) -> int:
    """Returns where the comments begin that stand right above the line at ``at``, but not before ``most``."""
    while at > most:
        before = text.rfind("\n", 0, at - 1) + 1
        if before < most or not text[before:at].lstrip().startswith("#"):
            return at
        at = before
    return at


def _insertion(at: int, margin: str, lines: Sequence[str], newline: str, rank: int) -> _Edit:
    inner = _unit(margin)
    rows = [inner + line.removeprefix(MARGIN) if line.startswith(MARGIN) else line for line in lines]
    return _Edit(at, at, "".join(f"{margin}{row}{newline}" for row in rows), rank, rows=True)


def _in_block(text: str, start: int, most: int, added: Sequence[str], newline: str) -> list[_Edit] | None:
    """Returns what adds lines to the block of the alternative at ``start``, which gets one if it stands on one line."""
    line, end = statement(text, start, most)
    margin = text[line:start]
    if margin.strip():
        return None  # behind something else
    head = [token for token in scan(text, start, logical_end(text, start)) if token.kind not in ("space", "newline")]
    comments = [token for token in head if token.kind == "comment"]
    tokens = [token for token in head if token.kind != "comment"]
    if tokens[-1].text == ":":
        body = logical_end(text, start)
        inside = _margin(text, body, Def(margin, 0, 0, end))
        removed = [_Edit(a, b, "") for a, b in _dots(text, body, end)]
        return [*removed, _insertion(_top(text, body, end), inside, added, newline, _BLOCK)]
    if any(comment.start < tokens[-1].start for comment in comments):
        return None  # one inside of brackets
    name, predicates, hints = _parts(text, tokens)
    inside = margin + _unit(margin)
    rows = [f"where {predicates}"] if predicates else []
    rows += [*added, *([hints] if hints else [])]
    behind = tokens[-1].end
    return [
        _Edit(start, behind, f"{tokens[0].text}{name}:"),
        _insertion(logical_end(text, start), inside, rows, newline, _BLOCK),
    ]


def _parts(text: str, tokens: Sequence[Token]) -> tuple[str, str, str]:
    """Returns the name (with a space before it), the predicates and the hints of an alternative on one line."""
    first = 1
    name = ""
    if len(tokens) > 2 and tokens[1].kind == "name" and tokens[2].text == ":":
        name = f" {tokens[1].text}"
        first = 3
    depth = 0
    last = len(tokens)
    for at, token in enumerate(tokens):
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if token.text == "=" and not depth:  # only hints have one: `hint B = 1`
            last = at - 2
            break
    hints = text[tokens[last].start : tokens[-1].end] if last < len(tokens) else ""
    stated = tokens[first:last]
    while stated and stated[-1].text == ",":
        stated = stated[:-1]
    predicates = text[stated[0].start : stated[-1].end] if stated else ""
    return name, predicates, hints


def _applied(text: str, edits: Sequence[_Edit], newline: str) -> str:
    made = ""
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.rank, edit.end)):
        made += text[at : edit.start]
        if edit.rows and made and not made.endswith("\n"):
            made += newline  # the last line of a file may have none
        made += edit.new
        at = max(at, edit.end)
    return made + text[at:]


__all__ = ["with_assumptions"]
