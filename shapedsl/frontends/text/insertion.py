"""Put clauses into the text of a spec, which keeps its layout and its comments.

Before::

    class net.Net:
        def forward(self, ids: int64[B, S]) -> Tensor[B, S]: ...  # the encoder

After::

    class net.Net:
        def forward(self, ids: int64[B, S]) -> Tensor[B, S]:  # the encoder
            bucket S in {64, 128} pad ids with 0  # 310 calls, …
            otherwise eager

Alternatives that the def has already are replaced; what stands between them on lines of its own stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...diagnostics import Span
from ...ir import Alternative, Signature
from ...layout.tokens import CLOSERS, OPENERS, scan

_MARGIN = "    "


class _Def(NamedTuple):
    """Where a def stands in a text: offsets.

    Attributes:
        margin: Its indentation.
        close: Of its parameters: behind the bracket.
        colon: Of its head.
        end: Behind the last line that belongs to it.
    """

    margin: str
    close: int
    colon: int
    end: int


def with_clauses(
    text: str,
    signature: Signature,
    clauses: Sequence[str],
    replaced: Sequence[Alternative],
    after: Sequence[Alternative],
    returns: str | None,
) -> str | None:
    """Returns the text with ``clauses`` in place of some alternatives; None if the def cannot be edited as it stands.

    Args:
        text: The file, in which ``signature`` was read.
        signature: One of its specs.
        clauses: Lines, comments included; without any, the text stays as it is.
        replaced: Alternatives of it that go.
        after: Alternatives of it that stay, and before which the lines go.
        returns: A return type to add, where the def has none.
    """
    span = signature.span
    if span is None or span.source.text != text:
        return None
    if not clauses:
        return text
    place = _find(text, span.start, span.end)
    if place is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    edits: list[tuple[int, int, str]] = []
    if returns is not None and signature.returns is None:
        edits.append((place.close, place.close, f" -> {returns}"))
    inside = place.margin + _MARGIN
    rest = text[place.colon + 1 : _line_end(text, place.colon)]
    first = rest.partition("#")[0].strip() if '"' not in rest and "'" not in rest else rest.strip()
    removed = [_statement(text, start, place.end) for start in _starts(replaced)]
    stays = [text.rfind("\n", 0, start) + 1 for start in _starts(after)]
    inline = bool(first)
    if inline:
        start = place.colon + 1
        if first == "...":
            at = text.index("...", start)
            edits.append((start, at + 3, ""))
            insert = _next_line(text, at)
        else:
            if removed:
                return None
            edits.append((start, start + len(rest) - len(rest.lstrip()), f"{newline}{inside}"))
            insert = place.end
    else:
        body = text[_next_line(text, place.colon) : place.end]
        own = next((row for row in body.splitlines() if row.strip() and not row.lstrip().startswith("#")), inside)
        inside = own[: len(own) - len(own.lstrip())]
        dots = _dots(text, place, inside)
        gone = {start for start, _ in removed}
        removed += [(a, b) for a, b in dots if not signature.alternatives or _next_statement(text, b) in gone]
        removed = sorted(set(removed))
        insert = min((*(start for start, _ in removed), *stays), default=place.end)
        edits += [(a, b, "") for a, b in removed]
    ending = "" if insert == 0 or text[insert - 1 : insert] == "\n" else newline
    edits.append((insert, insert, ending + "".join(f"{inside}{clause}{newline}" for clause in clauses)))
    changed = text
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1]), reverse=True):
        changed = changed[:start] + new + changed[end:]
    return changed


def _starts(alternatives: Sequence[Alternative]) -> list[int]:
    """Returns where alternatives begin: of a run of buckets, each of its lines."""
    spans = [span for each in alternatives for span in (each.span, *_own(each)) if span is not None]
    return sorted({span.start for span in spans})


def _own(each: Alternative) -> list[Span | None]:
    return [bucket.span for bucket in each.buckets] if each.keyword == "bucket" else []


def _find(text: str, start: int, end: int) -> _Def | None:
    """Returns where the def is whose name has this span."""
    line = text.rfind("\n", 0, start) + 1
    head = text[line:start]
    margin = head[: len(head) - len(head.lstrip())]
    depth = 0
    close = colon = -1
    for token in scan(text, end):
        if token.kind != "op":
            continue
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if token.text == ")" and depth == 0 and close < 0:
            close = token.end
        elif token.text == ":" and depth == 0:
            colon = token.start
            break
    if close < 0 or colon < 0:
        return None
    return _Def(margin, close, colon, _block_end(text, colon, len(margin)))


def _block_end(text: str, at: int, indent: int) -> int:
    """Returns the offset behind the last line that belongs to the block whose head is at ``at``, indented by ``indent``."""
    end = after = _logical_end(text, at)
    while after < len(text):
        row = text[after : _line_end(text, after)]
        stripped = row.strip()
        column = len(row) - len(row.lstrip())
        if stripped and not stripped.startswith("#"):
            if column <= indent:
                break
            after = end = _logical_end(text, after)
            continue
        after = _next_line(text, after)
        if stripped and column > indent:
            end = after
    return end


def _logical_end(text: str, at: int) -> int:
    """Returns the offset behind the line that ends the statement which begins at ``at``, brackets closed."""
    depth = 0
    for token in scan(text, at):
        if token.kind == "newline" and depth <= 0:
            return token.end
        if token.kind == "op":
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
    return len(text)


def _statement(text: str, start: int, most: int) -> tuple[int, int]:
    """Returns the whole lines of a clause and of the block below it."""
    line = text.rfind("\n", 0, start) + 1
    indent = len(text[line:start]) - len(text[line:start].lstrip())
    return line, min(_block_end(text, start, indent), most)


def _dots(text: str, place: _Def, inside: str) -> list[tuple[int, int]]:
    """Returns the lines of the body that are ``...``: separators of buckets, or a body that says nothing."""
    found: list[tuple[int, int]] = []
    at = _next_line(text, place.colon)
    while at < place.end:
        end = _next_line(text, at)
        if text[at:end].strip() == "..." and text[at:end].startswith(inside):
            found.append((at, end))
        at = end
    return found


def _next_statement(text: str, at: int) -> int:
    """Returns where the next line begins that is neither blank nor a comment."""
    while at < len(text):
        row = text[at : _line_end(text, at)].strip()
        if row and not row.startswith("#"):
            return at
        at = _next_line(text, at)
    return at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _next_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end + 1 if end >= 0 else len(text)


__all__ = ["with_clauses"]
