"""Tokens of one logical line → rows of text: black's spacing, and black's way to break what is too long.

Before::

    def f( x:Tensor[B,2*B+1],mask : bool[ B ]|None=_ )->(Tensor[B],Tensor[B,2*B+1],Tensor[B,2*B+1]) :

After::

    def f(
        x: Tensor[B, 2 * B + 1],
        mask: bool[B] | None = _,
    ) -> (Tensor[B], Tensor[B, 2 * B + 1], Tensor[B, 2 * B + 1]):

Nothing here knows the grammar beyond where a comma before a closing bracket says something (a
1-tuple) or may not stand (a range).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .spacing import comment_text, spacing, string_text
from .tokens import CLOSERS, OPENERS, Token

WIDTH: Final = 88
INDENT: Final = 4


class Row(NamedTuple):
    """A line of output.

    Attributes:
        text: With its indentation.
        comment: The comment at its end, or "".
        column: The column at which the comment stood, or -1.
    """

    text: str
    comment: str = ""
    column: int = -1


class Comment(NamedTuple):
    """A comment inside brackets. ``own`` if it stood on a line of its own."""

    text: str
    own: bool
    column: int


class Piece(NamedTuple):
    """A token and whether a space goes before it."""

    text: str
    space: bool


@dataclass(slots=True)
class Item:
    """What stands between two commas.

    Attributes:
        parts: Pieces and groups.
        before: Comments on lines of their own before it.
        within: Comments on lines of their own behind its first token: they go before it, or, behind the last item, after.
        after: The comment at its end.
    """

    parts: list[Piece | Group] = field(default_factory=list["Piece | Group"])
    before: list[str] = field(default_factory=list[str])
    within: list[str] = field(default_factory=list[str])
    after: Comment | None = None


@dataclass(slots=True)
class Group:
    """A bracket pair.

    Attributes:
        opener: The opening bracket.
        space: Whether a space goes before it.
        call: Whether it hugs a name: parameters, arguments, a subscript.
        ranges: Whether it is ``in [lo, hi]``.
        items: What its commas separate.
        comma: Whether a comma stood before the closing bracket.
        head: The comment behind the opening bracket.
        tail: Comments on lines of their own before the closing bracket.
        flat: The group on one row; None if a comment or the trailing comma forbids that.
        inside: Its rows once broken, with the indentation they were made for.
    """

    opener: str
    space: bool
    call: bool
    ranges: bool
    items: list[Item] = field(default_factory=list[Item])
    comma: bool = False
    head: Comment | None = None
    tail: list[str] = field(default_factory=list[str])
    flat: str | None = None
    inside: tuple[int, list[Row]] | None = None

    @property
    def is_single_tuple(self) -> bool:
        """Whether it is ``(T,)``, whose comma makes it a tuple."""
        return self.opener == "(" and not self.call and self.comma and len(self.items) == 1

    @property
    def takes_comma(self) -> bool:
        """Whether one item a row is written with a comma behind the last."""
        if self.ranges or not self.items:
            return False
        return len(self.items) > 1 or self.is_single_tuple or self.opener == "{" or (self.opener == "(" and self.call)


def lay_out(tokens: Sequence[Token], source: str, indent: int, *, keep: bool = False) -> list[Row]:
    """Returns the rows of a logical line.

    Args:
        tokens: Of the line, brackets paired, comments inside brackets included.
        source: The text they come from: it tells which comments stand alone.
        indent: Columns before it.
        keep: Leave it on one row, however long, if no comment forbids it.
    """
    parts = _tree(tokens, source)
    in_order = bool(tokens) and tokens[0].text == "def"
    flat = _flat(parts)
    if flat is not None and (keep or indent + len(flat) <= WIDTH):
        return [Row(" " * indent + flat)]
    return _rows(parts, indent, "", in_order)


# --------------------------------------------------------------------------------------- trees


def _tree(tokens: Sequence[Token], source: str) -> list[Piece | Group]:
    """Returns the pieces and groups of a logical line."""
    top = item = Item()
    stack: list[tuple[Group, Item]] = []  # the open groups, each with the item that it stands in
    word = ""  # the token before, for `in [`
    for token, (space, call) in zip(tokens, spacing(tokens), strict=True):
        text = token.text
        if token.kind == "comment":
            _place_comment(token, source, stack[-1][0], item)
        elif text in OPENERS:
            stack.append((Group(text, space, call, ranges=text == "[" and word == "in"), item))
            item = Item()
        elif text in CLOSERS:
            group, outer = stack.pop()
            _close(group, item)
            outer.parts.append(group)
            item = outer
        elif text == "," and stack:
            item.before += item.within
            stack[-1][0].items.append(item)
            item = Item()
        else:
            item.parts.append(Piece(string_text(text) if token.kind == "string" else text, space))
        word = text
    return top.parts


def _place_comment(token: Token, source: str, group: Group, item: Item) -> None:
    """Puts a comment inside ``group``, where ``item`` is being read, behind what it stands behind."""
    line_start = source.rfind("\n", 0, token.start) + 1
    own = not source[line_start : token.start].strip()
    comment = Comment(comment_text(token.text), own, token.start - line_start)
    if own:
        (item.within if item.parts else item.before).append(comment.text)
    elif not item.parts and not group.items and group.head is None and not item.before:
        group.head = comment
    elif not item.parts and group.items and group.items[-1].after is None and not item.before:
        group.items[-1].after = comment
    elif item.parts and item.after is None:
        item.after = comment
    else:
        item.before.append(comment.text)


def _close(group: Group, item: Item) -> None:
    """Ends ``group``, whose last item is ``item`` (empty behind a trailing comma and in empty brackets)."""
    if item.parts:
        group.items.append(item)
        group.tail = item.within
    else:
        group.comma = bool(group.items)
        group.tail = item.before
    many = len(group.items) > 1 or (group.opener == "(" and group.call)
    magic = group.comma and many and not group.ranges  # as black has it: a trailing comma keeps the group broken
    if magic or group.head or group.tail or any(i.before or i.after for i in group.items):
        return
    items = [_flat(i.parts) for i in group.items]
    if None not in items:
        inner = ", ".join(item for item in items if item is not None)
        group.flat = group.opener + inner + ("," if group.is_single_tuple else "") + OPENERS[group.opener]


def _flat(parts: Sequence[Piece | Group]) -> str | None:
    """Returns ``parts`` on one row, or None if a group among them cannot be on one."""
    texts: list[str] = []
    for part in parts:
        text = part.text if isinstance(part, Piece) else part.flat
        if text is None:
            return None
        texts.append(f" {text}" if part.space and texts else text)
    return "".join(texts)


# ------------------------------------------------------------------------------------ breaking


def _rows(parts: Sequence[Piece | Group], indent: int, suffix: str, in_order: bool) -> list[Row]:
    """Returns ``parts`` and ``suffix`` as rows, breaking as few groups as let them fit.

    Args:
        parts: Of a line or an item.
        indent: Columns before the first row.
        suffix: Goes behind the last: a comma.
        in_order: Break the first groups first (a def's parameters); else the last ones.
    """
    groups = [i for i, part in enumerate(parts) if isinstance(part, Group)]
    forced = frozenset(i for i in groups if _part_flat(parts[i]) is None)
    loose = [i for i in groups if i not in forced and _breakable(parts[i])]
    loose = loose[:_TRIED] if in_order else loose[: -_TRIED - 1 : -1]
    choices = [forced]
    if not in_order:
        choices += [forced | {i} for i in loose]
    choices += [forced.union(loose[: n + 1]) for n in range(len(loose))]

    best: list[Row] = []
    overflow = -1
    for choice in choices:
        rows = _with_broken(parts, choice, indent, suffix)
        width = max(len(row.text) for row in rows)
        if width <= WIDTH:
            return rows
        if overflow < 0 or width < overflow:
            best, overflow = rows, width
    return best


_TRIED: Final = 6  # groups of one line that are considered for breaking: enough for text that people write


def _part_flat(part: Piece | Group) -> str | None:
    return part.flat if isinstance(part, Group) else part.text


def _breakable(part: Piece | Group) -> bool:
    """Whether breaking ``part`` may help. Short lists of short items read best on one row."""
    if isinstance(part, Piece) or not part.items or part.ranges:
        return False
    return len(part.flat or "") > WIDTH // 2 or any(len(item.parts) > 1 for item in part.items)


def _with_broken(parts: Sequence[Piece | Group], broken: frozenset[int], indent: int, suffix: str) -> list[Row]:
    """Returns the rows in which exactly the groups at the indices ``broken`` are broken."""
    rows: list[Row] = []
    current = " " * indent
    for index, part in enumerate(parts):
        current += " " if part.space and index else ""
        if isinstance(part, Piece):
            current += part.text
        elif index not in broken:
            current += part.flat or ""
        else:
            head = part.head
            rows.append(Row(current + part.opener, head.text if head else "", head.column if head else -1))
            rows += _inside(part, indent + INDENT)
            current = " " * indent + OPENERS[part.opener]
    rows.append(Row(current + suffix))
    return rows


def _inside(group: Group, indent: int) -> list[Row]:
    """Returns the rows between the brackets of a broken group; cached, since several choices contain them."""
    if group.inside is not None and group.inside[0] == indent:
        return group.inside[1]
    rows: list[Row] = []
    margin = " " * indent
    if _is_plain_set(group):
        group.inside = (indent, _filled([f"{_flat(item.parts)}," for item in group.items], indent))
        return group.inside[1]
    for index, item in enumerate(group.items):
        rows += [Row(margin, text) for text in item.before]
        last = index == len(group.items) - 1
        inner = _item_rows(item.parts, indent, "" if last and not group.takes_comma else ",")
        if item.after is not None:
            inner[-1] = inner[-1]._replace(comment=item.after.text, column=item.after.column)
        rows += inner
    rows += [Row(margin, text) for text in group.tail]
    group.inside = (indent, rows)
    return rows


def _is_plain_set(group: Group) -> bool:
    """Returns whether a group is a set of numbers (or names) without comments: as many as fit go on a row."""
    return (
        group.opener == "{"
        and not group.tail
        and all(isinstance(p, Piece) and p.text != ":" for item in group.items for p in item.parts)
        and not any(item.before or item.within or item.after for item in group.items)
    )


def _filled(words: list[str], indent: int) -> list[Row]:
    rows: list[str] = []
    for word in words:
        if rows and len(rows[-1]) + 1 + len(word) <= WIDTH:
            rows[-1] += f" {word}"
        else:
            rows.append(" " * indent + word)
    return [Row(row) for row in rows]


def _item_rows(parts: Sequence[Piece | Group], indent: int, suffix: str) -> list[Row]:
    """Returns the rows of an item; a long predicate is broken before each ``or`` (else ``and``) first."""
    flat = _flat(parts)
    if flat is not None and indent + len(flat) + len(suffix) <= WIDTH:
        return [Row(" " * indent + flat + suffix)]
    for word in ("or", "and"):
        cuts = [i for i, part in enumerate(parts) if isinstance(part, Piece) and part.text == word and i]
        if cuts:
            starts = [0, *cuts]
            pieces = [parts[start:end] for start, end in zip(starts, [*cuts, len(parts)], strict=True)]
            rows = [row for piece in pieces[:-1] for row in _item_rows(piece, indent, "")]
            return rows + _item_rows(pieces[-1], indent, suffix)
    return _rows(parts, indent, suffix, in_order=False)
