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

from ...diagnostics import Span
from ...ir import Alternative, Signature
from .blocks import MARGIN, Def, find_def, line_end, next_line, next_statement, statement


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
    place = find_def(text, span.start, span.end)
    if place is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    edits: list[tuple[int, int, str]] = []
    if returns is not None and signature.returns is None:
        edits.append((place.close, place.close, f" -> {returns}"))
    inside = place.margin + MARGIN
    rest = text[place.colon + 1 : line_end(text, place.colon)]
    first = rest.partition("#")[0].strip() if '"' not in rest and "'" not in rest else rest.strip()
    removed = [statement(text, start, place.end) for start in _starts(replaced)]
    stays = [text.rfind("\n", 0, start) + 1 for start in _starts(after)]
    inline = bool(first)
    if inline:
        start = place.colon + 1
        if first == "...":
            at = text.index("...", start)
            edits.append((start, at + 3, ""))
            insert = next_line(text, at)
        else:
            if removed:
                return None
            edits.append((start, start + len(rest) - len(rest.lstrip()), f"{newline}{inside}"))
            insert = place.end
    else:
        body = text[next_line(text, place.colon) : place.end]
        own = next((row for row in body.splitlines() if row.strip() and not row.lstrip().startswith("#")), inside)
        inside = own[: len(own) - len(own.lstrip())]
        dots = _dots(text, place, inside)
        gone = {start for start, _ in removed}
        removed += [(a, b) for a, b in dots if not signature.alternatives or next_statement(text, b) in gone]
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


def _dots(text: str, place: Def, inside: str) -> list[tuple[int, int]]:
    """Returns the lines of the body that are ``...``: separators of buckets, or a body that says nothing."""
    found: list[tuple[int, int]] = []
    at = next_line(text, place.colon)
    while at < place.end:
        end = next_line(text, at)
        if text[at:end].strip() == "..." and text[at:end].startswith(inside):
            found.append((at, end))
        at = end
    return found


__all__ = ["with_clauses"]
