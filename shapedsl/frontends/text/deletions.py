"""Edits that delete constraints from a text, each so that what is left still reads.

Before and after, deleting what the comment names::

    where A <= B, B <= 64, B <= C     # B <= 64          where A <= B, B <= C
    where B >= 0                      # B >= 0           the line is gone, or `...` if nothing else is in the body
    where 0 <= B <= 1024              # B >= 0           where B <= 1024
    where A <= B < C <= D             # B < C            where A <= B and C <= D
    where B in [2, 64]                # B >= 2           where B <= 64
    dim B in [2, 64] hint 8           # B <= 64          dim B in [2, inf] hint 8
    dim B in [2, 64] multiple of 8    # B % 8 == 0       dim B in [2, 64]

Made from the tokens, so that the rest stays as it was written. Two edits of one predicate overlap, so that they
are not applied together: the text is read again first. A comment at the end of a line stays where the line goes;
where one inside of what goes would be lost, there is no edit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ...diagnostics import Edit, Fix, Source
from ...ir import Compare, Constraint, Level, Origin
from ...layout.tokens import CLOSERS, OPENERS, Line, Token, lines_of, scan

_WORDS = frozenset(("and", "in", "inf"))  # no names
_COMPARATORS = frozenset(("==", "!=", "<", "<=", ">", ">="))


def deletions(source: Source, groups: Sequence[Sequence[Constraint]]) -> list[Fix | None]:
    """Returns, for each group of constraints, the fix that deletes it; None where there is none.

    One that deletes what a file declares is not safe: another file may import it without what it follows from.

    Args:
        source: What was read.
        groups: All that can be deleted; a group stands at one place.
    """
    if not groups:
        return []
    text = _Text(source)
    for group in groups:
        text.mark(group)
    return [text.fix(group) for group in groups]


@dataclass(slots=True)
class _Element:
    """One predicate of a ``where``, with its message.

    Attributes:
        tokens: All of it.
        parts: How many constraints it is.
        gone: Which of them can be deleted.
    """

    tokens: Sequence[Token]
    parts: int
    gone: set[int]

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


@dataclass(slots=True)
class _Where:
    """A ``where``.

    Attributes:
        line: Its place among the lines.
        keyword: Its first token.
        end: Where its last one ends, which may be a comma.
        elements: Its predicates.
    """

    line: int
    keyword: Token
    end: int
    elements: list[_Element]

    @property
    def is_gone(self) -> bool:
        """Whether nothing of it is needed."""
        return all(len(element.gone) == element.parts for element in self.elements)


class _Text:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = [line for line in lines_of(source.text) if line.tokens]
        self._starts = [line.tokens[0].start for line in self.lines]
        self._wheres: dict[int, _Where | None] = {}

    def mark(self, group: Sequence[Constraint]) -> None:
        """Notes that ``group`` can be deleted."""
        if group[0].origin is Origin.WHERE and (found := self._element(group)) is not None:
            found[1].gone.update(constraint.part for constraint in group)

    def fix(self, group: Sequence[Constraint]) -> Fix | None:
        """Returns what deletes ``group``."""
        if group[0].origin is Origin.DECLARED:
            fix = self._declared(group)
            return replace(fix, safe=group[0].level is not Level.FILE) if fix is not None else None
        found = self._element(group)
        if found is None:
            return None
        where, element = found
        at = where.elements.index(element)
        if group[0].level is not Level.DEF and not where.is_gone and not self._keeps_names(where):
            return None
        parts = {constraint.part for constraint in group}
        if len(parts) < element.parts and (element.gone != set(range(element.parts)) or min(parts) > 0):
            return self._shorter(element, parts)
        if at == 0 and where.is_gone:
            return self._whole(where)
        needed = [i for i, each in enumerate(where.elements) if len(each.gone) < each.parts] or [0]
        if at < needed[0]:
            return self._cut(element.start, where.elements[at + 1].start, "delete it")
        return self._cut(where.elements[at - 1].end, element.end, "delete it")

    # ------------------------------------------------------------------------------------ wheres

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _element(self, group: Sequence[Constraint]) -> tuple[_Where, _Element] | None:
        span = group[0].span
        if span is None or span.source is not self.source:
            return None
        number = self._line(span.start)
        if number not in self._wheres:
            self._wheres[number] = _where(number, self.lines[number]) if number >= 0 else None
        where = self._wheres[number]
        for element in where.elements if where is not None else ():
            if element.start <= span.start and span.end <= element.end:
                fits = all(constraint.part < element.parts for constraint in group)
                return (where, element) if where is not None and fits else None
        return None

    def _keeps_names(self, where: _Where) -> bool:
        """Returns whether all names stay in ``where``: one of a file holds for those defs that bind all of its names."""
        before: set[str] = set()
        after: set[str] = set()
        for element in where.elements:
            tokens = [token for token in element.tokens if token.kind not in ("comment", "string")]
            before.update(token.text for token in tokens if token.kind == "name")
            left, _ = _without(tokens, element.gone, 0, self.source.text)
            after.update(token.text for token in scan(left or "") if token.kind == "name")
        return before - after <= _WORDS

    def _whole(self, where: _Where) -> Fix | None:
        """Deletes a ``where``, and its line if it has one; a body keeps something to say, and a reader its comment."""
        line = self.lines[where.line]
        if any(token.kind == "comment" for token in line.tokens):
            return None
        if line.tokens[0] is not where.keyword:
            return Fix(
                "delete the `where`", (Edit(self.source.span(where.keyword.start, where.end), "..."),), safe=True
            )
        if line.column and self._is_first_of_empty(where):
            return Fix("delete the line", (Edit(self.source.span(where.keyword.start, where.end), "..."),), safe=True)
        if line.comment is not None:
            start, end = where.keyword.start, line.comment.start
            return Fix("delete the `where`", (Edit(self.source.span(start, end), ""),), safe=True)
        text = self.source.text
        start = text.rfind("\n", 0, where.keyword.start) + 1
        end = text.find("\n", where.end)
        return Fix(
            "delete the line", (Edit(self.source.span(start, len(text) if end < 0 else end + 1), ""),), safe=True
        )

    def _is_first_of_empty(self, where: _Where) -> bool:
        """Returns whether the body of ``where`` loses all of its lines, and this is the first."""
        column = self.lines[where.line].column
        body = [where.line]
        for step in (-1, 1):
            at = where.line + step
            while 0 <= at < len(self.lines) and self.lines[at].column >= column:
                if self.lines[at].column == column:
                    body.append(at)
                at += step
        wheres = [self._wheres.get(at) for at in body]
        return where.line == min(body) and all(
            each is not None and each.is_gone and self.lines[each.line].tokens[0] is each.keyword for each in wheres
        )

    def _shorter(self, element: _Element, parts: set[int]) -> Fix | None:
        """Rewrites a predicate without some of its parts."""
        if any(token.kind == "comment" for token in element.tokens):
            return None
        message = element.tokens[-1] if element.tokens[-1].kind == "string" else None
        tokens = element.tokens[:-1] if message is not None else element.tokens
        written, _ = _without(tokens, parts, 0, self.source.text)
        if written is None:
            return None
        return Fix(
            f"write `{' '.join(written.split())}`",
            (Edit(self.source.span(tokens[0].start, tokens[-1].end), written),),
            safe=True,
        )

    def _cut(self, start: int, end: int, description: str) -> Fix | None:
        line = self.lines[self._line(start)]
        if any(token.kind == "comment" and start <= token.start < end for token in line.tokens):
            return None
        return Fix(description, (Edit(self.source.span(start, end), ""),), safe=True)

    # -------------------------------------------------------------------------------- declarations

    def _declared(self, group: Sequence[Constraint]) -> Fix | None:
        span = group[0].span
        if span is None or span.source is not self.source:
            return None
        tokens = self.lines[self._line(span.start)].tokens
        first = next((i for i, token in enumerate(tokens) if token.start == span.start), None)
        if first is None or first == 0:
            return None
        if tokens[first].text == "multiple":
            last = max(i for i, token in enumerate(tokens) if token.end <= span.end)
            return self._cut(tokens[first - 1].end, tokens[last].end, f"delete `{span.text.strip()}`")
        if tokens[first].text != "[":
            return None
        ends = [part for part in _split(tokens[first + 1 : _closing(tokens, first)], ",") if part]
        gone = {c.predicate.op.name for c in group if isinstance(c.predicate, Compare)}
        if len(ends) != 2 or any(token.kind == "comment" for end in ends for token in end):
            return None
        written = [self.source.text[end[0].start : end[-1].end] for end in ends]
        of_ints = any(token.text == "int" for token in tokens[:first] if token.end <= span.start)
        natural = ["-inf" if of_ints else "0", "inf"]
        left = [n if op in gone else w for n, w, op in zip(natural, written, (">=", "<="), strict=True)]
        if left == natural:
            closing = tokens[_closing(tokens, first)]
            return self._cut(tokens[first - 2].end, closing.end, f"delete `in {span.text}`")
        changed = 0 if ">=" in gone else 1
        edit = Edit(self.source.span(ends[changed][0].start, ends[changed][-1].end), left[changed])
        return Fix(f"write `in [{left[0]}, {left[1]}]`", (edit,), safe=True)


# ------------------------------------------------------------------------------------- predicates


def _where(number: int, line: Line) -> _Where | None:
    """Returns the ``where`` that ``line`` is, or ends with."""
    tokens, depth = line.tokens, 0
    for i, token in enumerate(tokens):
        if token.text == "where" and depth == 0 and (i == 0 or tokens[i - 1].text == ":"):
            elements = [
                _Element(element, _count(element), set()) for element in _split(tokens[i + 1 :], ",") if element
            ]
            return _Where(number, token, tokens[-1].end, elements) if elements else None
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
    return None


def _split(tokens: Iterable[Token], separator: str) -> list[list[Token]]:
    """Returns what stands between the separators outside brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in OPENERS) - (token.text in CLOSERS)
        if token.text == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """Returns the index of the bracket that closes the one at ``opening``."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i].text in OPENERS) - (tokens[i].text in CLOSERS)
        if depth == 0:
            return i
    return len(tokens) - 1


def _outside(tokens: Sequence[Token]) -> list[tuple[int, Token]]:
    """Returns the tokens outside brackets, opening brackets included, with their indices."""
    found: list[tuple[int, Token]] = []
    depth = 0
    for i, token in enumerate(tokens):
        depth -= token.text in CLOSERS
        if depth == 0 and token.text not in CLOSERS:
            found.append((i, token))
        depth += token.text in OPENERS
    return found


def _count(tokens: Sequence[Token]) -> int:
    """Returns how many constraints a predicate is."""
    return _without([token for token in tokens if token.kind not in ("comment", "string")], set(), 0, "")[1]


def _without(tokens: Sequence[Token], gone: set[int], number: int, text: str) -> tuple[str | None, int]:
    """Returns a predicate without the parts ``gone``, None if nothing is left; and the number of the next part.

    Args:
        tokens: The predicate, without comments and its message.
        gone: Numbers of parts.
        number: The first part's number.
        text: What the tokens are of.
    """
    outside = _outside(tokens)
    words = [token.text for _, token in outside]
    if "or" not in words and "and" in words:
        conjuncts: list[str] = []
        for conjunct in _split(tokens, "and"):
            written, number = _without(conjunct, gone, number, text)
            conjuncts += [] if written is None else [written]
        return (" and ".join(conjuncts) if conjuncts else None), number
    whole = text[tokens[0].start : tokens[-1].end] if text else ""
    if "or" in words or words[0] == "not":
        return (None if number in gone else whole), number + 1
    if words == ["("]:
        inner, number = _without(tokens[1:-1], gone, number, text)
        return (None if inner is None else f"({inner})"), number
    signs = [i for i, token in outside if token.text in _COMPARATORS]
    if signs:
        return _chain(tokens, signs, gone, number, text)
    opening = next((i for i, token in outside if token.text == "["), None)
    if opening is None or "not" in words:
        return (None if number in gone else whole), number + 1
    return _range(tokens, opening, gone, number, text)


def _chain(
    tokens: Sequence[Token], signs: Sequence[int], gone: set[int], number: int, text: str
) -> tuple[str | None, int]:
    """Returns ``a < b < c`` without some of its links."""
    bounds = [-1, *signs, len(tokens)]
    sides = [tokens[left + 1 : right] for left, right in pairwise(bounds)]
    runs: list[str] = []
    start: int | None = None  # the first side of a run of links that stay
    for link in range(len(signs) + 1):
        stays = link < len(signs) and number + link not in gone
        if stays and start is None:
            start = link
        if not stays and start is not None:
            runs.append(text[sides[start][0].start : sides[link][-1].end] if text else "")
            start = None
    return (" and ".join(runs) if runs else None), number + len(signs)


def _range(tokens: Sequence[Token], opening: int, gone: set[int], number: int, text: str) -> tuple[str | None, int]:
    """Returns ``size in [low, high]`` without one of its ends."""
    low, high = [end for end in _split(tokens[opening + 1 : -1], ",") if end][:2]
    left: list[tuple[str, Sequence[Token]]] = []
    finite = kept = 0
    for sign, end in ((">=", low), ("<=", high)):
        if end[-1].text == "inf":
            continue
        finite += 1
        if number + finite - 1 not in gone:
            kept += 1
            left.append((sign, end))
    if not text or not left:
        return None, number + finite
    if kept == finite:
        return text[tokens[0].start : tokens[-1].end], number + finite
    size = text[tokens[0].start : tokens[opening - 2].end]
    sign, bound = left[0]
    return f"{size} {sign} {text[bound[0].start : bound[-1].end]}", number + finite
