"""Statements, arguments and elements → the stretches of text that go with them.

Before::

    mark_dynamic(x, 0); y = 1      # a statement with its `;`
    export(m, args, strict=False, prefer_deferred_runtime_asserts_over_guards=True)      # an argument with its comma
    if wide:
        mark_dynamic(x, 1)         # a block's only statement

After::

    y = 1                          # a statement with its `;`
    export(m, args, strict=False)      # an argument with its comma
    if wide:
        # a block's only statement
        pass

Comments are the user's: those of a deleted line stay behind on lines of their own, but for what only tools read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, cast

from .comments import comments_in, is_pragma
from .scopes import scopes_of

if TYPE_CHECKING:
    import libcst as cst

    from ....stubs.tree import Tree
    from .plan import Plan

Cut = tuple[int, int, str]  # a stretch of text, half-open, and what takes its place

_COMMA: Final = re.compile(r"(?:\s|\\|#[^\r\n]*)*,")
_SEMICOLON: Final = re.compile(r"(?:[ \t\f]|\\\r?\n)*;[ \t\f]*")
_COMMENT: Final = re.compile(r"[ \t\f]*(#[^\r\n]*)?")
_LINE_END: Final = re.compile(r"\r\n?|\n|\Z")
_BLANK: Final = re.compile(r"[ \t\f]*(?:\r\n?|\n)")


def edits_of(plan: Plan) -> list[Cut]:
    """Returns the edits of a plan's deletions; they do not overlap, and leave a text that parses.

    Lines that the plan adds above or in a statement that goes take its place.

    Args:
        plan: Its ``deleted`` are statements, large and small; arguments of calls; names of an ``import``.
    """
    import libcst as cst

    tree = plan.tree
    scopes = scopes_of(tree)
    gone = dict.fromkeys(plan.deleted)
    inside = [node for node in gone if any(each in gone for each in scopes.above(node))]
    for node in inside:
        del gone[node]
    # Lines of which all statements go, blocks of which all lines go: what holds them goes, or is left with a `pass`.
    for node in list(gone):
        line = scopes.parent(node)
        if isinstance(line, cst.SimpleStatementLine) and all(each in gone for each in line.body):
            for each in line.body:
                gone.pop(each, None)
            gone[line] = None
    cuts: list[Cut] = []
    done: set[cst.CSTNode] = set()
    for node in gone:
        parent = scopes.parent(node)
        if parent is None or parent in done:
            continue
        done.add(parent)
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            cuts += _lines(plan, parent.body, gone)
        elif isinstance(parent, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            cuts += _small(tree, parent.body, gone)
        else:
            items = _items(node, parent)
            if items:
                cuts += _commas(tree, items, gone)
    return _joined(cuts)


def _joined(cuts: Iterable[Cut]) -> list[Cut]:
    """Returns the cuts in order, those that touch or overlap joined."""
    found: list[Cut] = []
    for start, end, text in sorted(cuts):
        if found and start < found[-1][1]:
            before = found.pop()
            found.append((before[0], max(end, before[1]), before[2] + text))
        else:
            found.append((start, end, text))
    return found


# -------------------------------------------------------------------------------- whole lines


def _lines(plan: Plan, body: Sequence[cst.CSTNode], gone: dict[cst.CSTNode, None]) -> Iterator[Cut]:
    """Yields the cuts of a block's statements, each with its lines."""
    tree = plan.tree
    text = tree.source.text
    is_empty = all(each in gone for each in body)
    starts_file = bool(body) and margin_of(text, tree.extent(body[0])[0]) == ""
    for index, node in enumerate(body):
        if node not in gone:
            continue
        start, end = tree.extent(node)
        margin = margin_of(text, start)
        begin = start - len(margin)
        end = line_end(text, end)
        newline = _newline(text)
        stay = [*comments_in(text, start, end), *plan.lines_in(start, end)]
        kept = [f"{margin}{line}{newline}" for line in stay]
        if is_empty and not starts_file and index == len(body) - 1:
            kept.append(f"{margin}pass{newline}")
        if not kept:
            end = _blank_lines(text, begin, end)
        yield begin, end, "".join(kept)


def margin_of(text: str, start: int) -> str:
    """Returns the blanks that the line of ``start`` begins with; empty if anything else stands before it."""
    begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    margin = text[begin:start]
    return margin.lstrip("\ufeff") if not margin.strip("\ufeff \t\f") else ""


def _newline(text: str) -> str:
    found = _LINE_END.search(text)
    return (found[0] if found is not None else "") or "\n"


def line_end(text: str, at: int) -> int:
    """Returns where the line ends that a statement ends in, behind its newline."""
    while at > 0 and text[at - 1] in "\r\n":  # a compound statement ends with its last line's newline
        at -= 1
        if text[at - 1 : at + 1] == "\r\n":
            at -= 1
        break
    found = _LINE_END.search(text, at)
    return len(text) if found is None else found.end()


def _blank_lines(text: str, begin: int, end: int) -> int:
    """Returns the end of the blank lines that follow a deletion, where blank ones stand before it already."""
    before = re.search(r"((?:^[ \t\f]*(?:\r\n?|\n))*)\Z", text[max(0, begin - 200) : begin], re.MULTILINE)
    count = len(_BLANK.findall(before[1])) if before is not None else 0
    if begin == 0:
        count = 100
    while count:
        found = _BLANK.match(text, end)
        if found is None or found.end() == end:
            break
        end = found.end()
        count -= 1
    return end


# ---------------------------------------------------------------------- statements of one line


def _small(tree: Tree, body: Sequence[cst.CSTNode], gone: dict[cst.CSTNode, None]) -> Iterator[Cut]:
    """Yields the cuts of small statements that share their line with others."""
    text = tree.source.text
    if all(each in gone for each in body):  # of `if x: a; b`
        yield tree.extent(body[0])[0], tree.extent(body[-1])[1], "pass"
        return
    for index, node in enumerate(body):
        if node not in gone:
            continue
        start, end = tree.extent(node)
        after = next((each for each in body[index + 1 :]), None)
        if after is not None:
            yield start, tree.extent(after)[0], ""
            continue
        before = next(each for each in reversed(body[:index]) if each not in gone)
        found = _SEMICOLON.match(text, end)
        yield tree.extent(before)[1], found.end() if found is not None else end, ""


# ------------------------------------------------------------------------ what commas separate


def _items(node: cst.CSTNode, parent: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """Returns the siblings of an argument, an element or an imported name."""
    for name in ("args", "elements", "names", "params"):
        items: object = getattr(parent, name, None)
        if isinstance(items, (list, tuple)):
            siblings = cast("Sequence[cst.CSTNode]", items)
            if node in siblings:
                return siblings
    return ()


def _commas(tree: Tree, items: Sequence[cst.CSTNode], gone: dict[cst.CSTNode, None]) -> Iterator[Cut]:
    text = tree.source.text
    for index, node in enumerate(items):
        if node not in gone:
            continue
        start, end = tree.extent(node)
        comma = _COMMA.match(text, end) if index + 1 < len(items) else _last_comma(text, end)
        stop = end if comma is None else comma.end()
        margin = margin_of(text, start)
        begins_line = _begins_line(text, start - len(margin))
        tail = _COMMENT.match(text, stop)
        after = stop if tail is None else tail.end()
        ends_line = _LINE_END.match(text, after) is not None
        if begins_line and ends_line:  # a line of its own
            comment = tail[1] if tail is not None else None
            kept = "" if comment is None or is_pragma(comment) else f"{margin}{comment}{_newline(text)}"
            yield start - len(margin), line_end(text, after), kept
        elif index + 1 < len(items) and not ends_line:
            yield start, tree.extent(items[index + 1])[0], ""
        else:  # the last of its line: the comma before it goes, unless others follow
            before = [each for each in items[:index] if each not in gone]
            if not before:
                yield start, stop, ""
                continue
            previous = tree.extent(before[-1])[1]
            if index + 1 < len(items) or comma is not None:
                found = _COMMA.match(text, previous)
                previous = previous if found is None else found.end()
            yield previous, stop, ""


def _begins_line(text: str, at: int) -> bool:
    """Returns whether a line begins at ``at``, one that the line before it does not continue in."""
    return at == 0 or (text[at - 1] in "\r\n" and not text[:at].rstrip("\r\n").endswith("\\"))


def _last_comma(text: str, end: int) -> re.Match[str] | None:
    """Returns the comma behind the last of several; none, if the bracket closes first."""
    return _COMMA.match(text, end)


__all__ = ["Cut", "edits_of", "line_end", "margin_of"]
